"""(b, l)-diversity against the source: every b items rated together by someone stand in at least l distinct rows.

Distinct rows are counted, not groups: two groups with the same row give an adversary no doubt, so they count once.
For every b at once it is enough that each user's whole set of items stands in l rows.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recloak._core.errors import OptionError
from recloak._core.threads import in_shares
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.model.release_format import TABLES, Diversity
from recloak._releases.verifier.claims import Claims
from recloak._releases.verifier.contents import Contents
from recloak._releases.verifier.table_blocks import blocks

_MOST_SETS = 1e10


def check_diversity(claims: Claims, contents: Contents, original: Ratings, diversity: Diversity) -> list[str]:
    """Say which promise of diversity is broken, if any."""
    if contents.items is None or contents.firsts is None:
        return ["diversity could not be measured"]
    _require_feasible(original, diversity)
    numbers = original_items(contents, original)
    if (numbers < 0).any():
        return ["an item that someone rated in the original is not in the release"]
    bits = _item_bits(claims, contents)
    starved = np.zeros(original.n_users, np.int64)
    b = 0 if diversity.b is None else diversity.b
    in_shares(_count_starved, original.n_users, original.indptr, numbers, bits, b, diversity.l, starved)
    if not starved.any():
        return []
    kind = "the sets" if b == 0 else f"sets of {b}"
    return [
        f"diversity {diversity} does not hold: {kind} of items of {np.count_nonzero(starved)} users "
        f"stand in fewer than {diversity.l} distinct rows"
    ]


def _require_feasible(original: Ratings, diversity: Diversity) -> None:
    """Refuse to enumerate more sets than can be enumerated; the whole sets are always cheap."""
    if diversity.b is None:
        return
    n_sets = float(sum(math.comb(int(n), diversity.b) * int(m) for n, m in _histogram(original.activity)))
    if n_sets > _MOST_SETS:
        raise OptionError(
            f"diversity {diversity} means {n_sets:.1e} sets of items to look at, more than {_MOST_SETS:.0e}; "
            f"check all,{diversity.l}, which covers every B"
        )


def _histogram(values: NDArray[np.int64]) -> list[tuple[int, int]]:
    distinct, counts = np.unique(values, return_counts=True)
    return list(zip(distinct.tolist(), counts.tolist(), strict=True))


def original_items(contents: Contents, original: Ratings) -> NDArray[np.int32]:
    """Give the release's number of each item of the original's ratings, -1 where it is not there."""
    assert contents.items is not None
    ids = contents.items.ids()
    released = IdMap.of(ids)
    number = np.empty(len(ids), np.int32)
    number[released.encode(ids)] = np.arange(len(ids), dtype=np.int32)
    codes = released.encode(original.item_ids.ids)
    return np.where(codes < 0, np.int32(-1), number[codes])[original.items]


def _item_bits(claims: Claims, contents: Contents) -> NDArray[np.uint64]:
    """Read the release again: which distinct rows hold an item, one bit each, by item."""
    assert contents.items is not None and contents.firsts is not None  # noqa: PT018 (one condition)
    table = "ratings" if claims.layout == "long" else "profiles"
    n_rows = claims.n_users if claims.layout == "long" else claims.n_groups
    place = np.full(n_rows, -1, np.int64)
    place[contents.firsts] = np.arange(len(contents.firsts))
    bits = np.zeros((len(contents.items), -(-len(contents.firsts) // 64)), np.uint64)
    for names, ids, _ in blocks(claims.folder / f"{table}.{claims.file_format}", TABLES[claims.layout][table]):
        numbers, _ranks = contents.items.encode(ids)
        _set_bits(place[names.to_numpy() - 1], numbers, bits)
    return bits


@njit(cache=True, nogil=True)
def _set_bits(places, numbers, bits):  # type: ignore[no-untyped-def]
    for r in range(len(places)):
        if places[r] >= 0:
            bits[numbers[r], places[r] >> 6] |= np.uint64(1) << np.uint64(places[r] & 63)


@njit(cache=True, nogil=True)
def _ones(word):  # type: ignore[no-untyped-def]
    """Count the set bits of a word."""
    n = 0
    while word:
        word &= word - np.uint64(1)
        n += 1
    return n


@njit(cache=True, nogil=True)
def _covered(items, chosen, bits, wanted):  # type: ignore[no-untyped-def]
    """Tell whether the chosen items stand together in the wanted number of rows; stop as soon as they do."""
    n = 0
    for w in range(bits.shape[1]):
        word = bits[items[chosen[0]], w]
        for c in chosen[1:]:
            word &= bits[items[c], w]
        n += _ones(word)
        if n >= wanted:
            return True
    return False


@njit(cache=True, nogil=True)
def _count_starved(share, n_shares, indptr, numbers, bits, b, wanted, starved):  # type: ignore[no-untyped-def]
    """Count, for each user, the sets of b items (0: the whole set) that too few rows hold."""
    for user in range(share, len(indptr) - 1, n_shares):
        items = numbers[indptr[user] : indptr[user + 1]]
        size = len(items) if b == 0 else b
        if size == 0 or size > len(items):
            continue
        chosen = np.arange(size)
        while True:
            starved[user] += not _covered(items, chosen, bits, wanted)
            place = size - 1
            while place >= 0 and chosen[place] == len(items) - size + place:
                place -= 1
            if place < 0:
                break
            chosen[place] += 1
            for later in range(place + 1, size):
                chosen[later] = chosen[later - 1] + 1
