"""(b, l)-diversity against the source: every b items rated together by someone stand in at least l distinct rows.

Distinct rows are counted, not groups: two groups with the same row give an adversary no doubt, so they count once.
For every b at once it is enough that each user's whole set of items stands in l rows.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.errors import OptionError
from recloak._core.threads import in_shares
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.model.release_format import Diversity
from recloak._releases.verifier.claims import Claims
from recloak._releases.verifier.part_findings import shown_cells

_MOST_SETS = 1e10


class Starved(NamedTuple):
    """How many users have items that stand together in too few rows, and how many items stand in none at all."""

    n_users: int
    n_missing: int

    def problems(self, diversity: Diversity) -> list[str]:
        """Say which promise of diversity is broken, if any."""
        if self.n_missing:
            return ["an item that someone rated in the original is not in the release"]
        if not self.n_users:
            return []
        kind = "the sets" if diversity.b is None else f"sets of {diversity.b}"
        return [
            f"diversity {diversity} does not hold: {kind} of items of {self.n_users} users "
            f"stand in fewer than {diversity.l} distinct rows"
        ]


def starved_users(bits: NDArray[np.uint64], original: Ratings, diversity: Diversity) -> Starved:
    """Compare users of the original with the rows that hold each item (`item_bits`)."""
    _require_feasible(original, diversity)
    n_missing = int(np.count_nonzero((original.popularity > 0) & ~bits.any(axis=1)))
    if n_missing:
        return Starved(0, n_missing)
    starved, b = np.zeros(original.n_users, np.int64), diversity.b or 0
    in_shares(_count_starved, original.n_users, original.indptr, original.items, bits, b, diversity.l, starved)
    return Starved(int(np.count_nonzero(starved)), 0)


def _require_feasible(original: Ratings, diversity: Diversity) -> None:
    """Refuse to enumerate more sets than can be enumerated; the whole sets are always cheap."""
    if diversity.b is None:
        return
    sizes, n_users = np.unique(original.activity, return_counts=True)
    n_sets = float(sum(math.comb(int(n), diversity.b) * int(m) for n, m in zip(sizes, n_users, strict=True)))
    if n_sets > _MOST_SETS:
        raise OptionError(
            f"diversity {diversity} means {n_sets:.1e} sets of items to look at, more than {_MOST_SETS:.0e}; "
            f"check all,{diversity.l}, which covers every B"
        )


def item_bits(claims: Claims, models: NDArray[np.int64], item_ids: IdMap) -> NDArray[np.uint64]:
    """Return which distinct rows hold an item, one bit each, by item; ``models`` names one holder of each row."""
    place = np.full(claims.n_names, -1, np.int64)
    place[models - 1] = np.arange(len(models))
    bits = np.zeros((len(item_ids), -(-len(models) // 64)), np.uint64)
    for names, items in shown_cells(claims, claims.cell_parts, item_ids):
        _set_bits(place[names - 1], items, bits)
    return bits


def every_row(items: NDArray[np.int32], n_items: int, n_rows: int) -> NDArray[np.uint64]:
    """Return the bits of items that all of some rows hold; other items are held by none."""
    bits = np.zeros((n_items, -(-n_rows // 64)), np.uint64)
    bits[items] = ~np.uint64(0)
    bits[items, -1] >>= np.uint64(-n_rows % 64)
    return bits


@njit(cache=True, nogil=True)
def _set_bits(places, numbers, bits):  # type: ignore[no-untyped-def]
    for r in range(len(places)):
        if places[r] >= 0 and numbers[r] >= 0:
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
    """Return whether the chosen items stand together in the wanted number of rows; stop as soon as they do."""
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
