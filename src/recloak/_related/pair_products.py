"""Products of all pairs of items, each pair once, for ratings on a grid: what a nightly run spends its time on.

A rating becomes a word of 32 bits, its item and its value in quarters; a row ends with a mark. For each rating of item
j only what follows it in its row is read, items above j, so every pair is met once and goes into both lists. Product
and number of co-raters are added up in one word of 64 bits. Whole numbers add up without rounding in any order, so that
the lists are those of the plain sums of `similarity`, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares, n_threads
from recloak._ratings.assemble import transpose_rows
from recloak._ratings.model import Ratings
from recloak._related.model import EMPTY, Lists
from recloak._related.options import SimilarityOptions

GRID = 4.0
_MOST_CODE = 255  # 63.75 in quarters
_MOST_ITEMS = 2**24 - 1
_MOST_RATERS = 2**20 - 1  # of one item; products of two ratings then add up to less than 2^44
_MOST_WORDS = 2**31 - 1
_CODE_BITS = np.uint64(8)
_CODE = np.uint64(255)
_COUNT_BITS = np.uint64(44)
_ONE_RATER = np.uint64(1) << _COUNT_BITS
_PRODUCT = _ONE_RATER - np.uint64(1)
_AHEAD = 32  # rows that are fetched side by side
_END = np.uint64(2**32 - 1)  # of a row


@dataclass(frozen=True, eq=False, slots=True)
class PackedRatings:
    """Ratings as words: where each item's column begins, and the place of each of its ratings among the rows."""

    words: NDArray[np.uint32]  # (n_ratings + n_users,) row after row, each followed by an end
    starts: NDArray[np.int64]  # (n_items + 1,)
    places: NDArray[np.int32]  # (n_ratings,)
    squares: NDArray[np.float64]  # (n_items,) the sum of the squared values

    @classmethod
    def of(cls, ratings: Ratings, weights: NDArray[np.floating]) -> PackedRatings | None:
        """Return ratings packed, or None where they do not fit the words."""
        n_words = ratings.n_ratings + ratings.n_users
        if ratings.n_items > _MOST_ITEMS or n_words > _MOST_WORDS or not _on_grid(weights):
            return None
        words, squares = np.empty(n_words, np.uint32), np.zeros(ratings.n_items, np.int64)
        _pack(ratings.indptr, ratings.items, weights, words, squares)
        starts, users, order = transpose_rows(ratings.indptr, ratings.items, ratings.n_items)
        if int(np.diff(starts).max(initial=0)) > _MOST_RATERS:
            return None
        return cls(words, starts, (order + users).astype(np.int32), squares / GRID**2)


def _on_grid(weights: NDArray[np.floating]) -> bool:
    return bool(_all_on_grid(weights))


@njit(cache=True)
def _all_on_grid(weights):  # type: ignore[no-untyped-def]
    for weight in weights:
        code = weight * GRID
        if not (0 <= code <= _MOST_CODE and code == np.floor(code)):
            return False
    return True


@njit(cache=True)
def _pack(indptr, items, weights, words, squares):  # type: ignore[no-untyped-def]
    for u in range(len(indptr) - 1):
        for p in range(indptr[u], indptr[u + 1]):
            code = np.int64(weights[p] * GRID)
            words[p + u] = (np.int64(items[p]) << 8) | code
            squares[items[p]] += code * code
        words[indptr[u + 1] + u] = _END


def nearest_of_packed(packed: PackedRatings, top: int, options: SimilarityOptions) -> Lists:
    """Return for every item the ``top`` most similar others, by a measure over all ratings of both items."""
    n_items, n_shares = len(packed.squares), n_threads()
    below = np.stack([packed.squares, packed.squares])
    if options.similarity == "conditional":
        below = np.stack([packed.squares**2, np.ones(n_items)])
    found = np.full((n_shares, n_items, top), EMPTY, np.int32)
    keys = np.zeros((n_shares, n_items, top))
    limits = (np.int64(options.min_support), float(options.shrinkage))
    given = (packed.words, packed.starts, packed.places, below, limits, found, keys)
    in_shares(_compare, len(packed.words), *given, n_shares=n_shares)
    _join(found, keys)
    return Lists(found[0].copy(), np.sqrt(keys[0]))


@njit(cache=True)
def insert(found, keys, item, key):  # type: ignore[no-untyped-def]
    """Insert an item into a list that descends by key, if it is good enough; equal keys ascend by item number."""
    last = len(found) - 1
    if key < keys[last] or key == 0.0 or (key == keys[last] and found[last] < item):
        return
    place = last
    while place > 0 and (keys[place - 1] < key or (keys[place - 1] == key and found[place - 1] > item)):
        found[place] = found[place - 1]
        keys[place] = keys[place - 1]
        place -= 1
    found[place] = item
    keys[place] = key


@njit(cache=True)
def consider(j, i, dot, n_both, below, limits, found, keys):  # type: ignore[no-untyped-def]
    """Insert item i into the list of j if it is among the best, by the square of the cosine.

    One rounding, so that equal fractions of whole numbers stay equal. ``below[0, j] * below[1, i]`` divides the square
    of the product of j and i; ``n_both`` is used only if the limits ask for co-raters.
    """
    min_support, shrinkage = limits
    counted = min_support > 1 or shrinkage > 0
    if dot > 0 and i != j and (not counted or n_both >= min_support):
        key = dot * dot / (below[0, j] * below[1, i])
        if counted:
            key *= (n_both / (n_both + shrinkage)) ** 2
        insert(found, keys, i, key)


@njit(cache=True)
def _add_up(j, words, starts, places, ahead, sums, touched):  # type: ignore[no-untyped-def]
    """Add up product and co-raters of item j with those above it; write which have any, return how many.

    The rows are far apart in memory: the first words of several are fetched side by side, into ``ahead``.
    """
    n = 0
    for begin in range(starts[j], starts[j + 1], len(ahead)):
        n_ahead = min(len(ahead), starts[j + 1] - begin)
        for k in range(n_ahead):
            ahead[k] = words[places[begin + k]]
        for k in range(n_ahead):
            x, place = ahead[k] & _CODE, places[begin + k] + 1
            word = np.uint64(words[place])
            while word != _END:
                i = word >> _CODE_BITS
                before = sums[i]
                touched[n] = i
                n += before == 0
                sums[i] = before + _ONE_RATER + x * (word & _CODE)
                place += 1
                word = np.uint64(words[place])
    return n


@njit(cache=True, nogil=True)
def _compare(share, n_shares, words, starts, places, below, limits, found, keys):  # type: ignore[no-untyped-def]
    """Write the best of all pairs of some items with those above them into the lists of this share."""
    n_items, least = len(starts) - 1, limits[0]
    sums, touched = np.zeros(n_items, np.uint64), np.empty(n_items + 1, np.int32)
    ahead = np.empty(_AHEAD, np.uint64)
    found, keys = found[share], keys[share]
    for j in range(share, n_items, n_shares):
        if starts[j + 1] - starts[j] < least:
            continue
        for t in range(_add_up(j, words, starts, places, ahead, sums, touched)):
            i = np.int64(touched[t])
            n_both = np.int64(sums[i] >> _COUNT_BITS)
            if n_both >= least:
                dot = np.float64(sums[i] & _PRODUCT) / (GRID * GRID)
                consider(j, i, dot, n_both, below, limits, found[j], keys[j])
                consider(i, j, dot, n_both, below, limits, found[i], keys[i])
            sums[i] = 0


@njit(cache=True)
def _join(found, keys):  # type: ignore[no-untyped-def]
    """Insert the lists of all shares into those of the first."""
    for s in range(1, len(found)):
        for j in range(found.shape[1]):
            for p in range(found.shape[2]):
                if found[s, j, p] == EMPTY:
                    break
                insert(found[0, j], keys[0, j], found[s, j, p], keys[s, j, p])
