"""Profiles: the row of items and labels that all members of a group share, given in blocks on demand.

Two kinds with one face (`Profiles`): `SparseProfiles` hold their cells; `FullProfiles` have a label for every item and
hold only what the labels are made of, so that 1.7 billion cells of a Netflix-sized padded release never exist at once.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.frozen import make_read_only
from recloak._core.results import sizes_only
from recloak._core.threads import in_shares
from recloak._releases.grid import Grid
from recloak._releases.ordered_sums import fused

_ROWS = 16  # rows that walk together over one tile of item factors
_TILE = 1024  # items of a tile: rank 40 in float32 is 160 kB, which stays in the second cache


@dataclass(frozen=True, eq=False, slots=True)
class ProfileCells:
    """A few profiles: row r is ``items[indptr[r]:indptr[r + 1]]`` (ascending) with its ``labels``."""

    indptr: NDArray[np.int64]  # (n_rows + 1,)
    items: NDArray[np.int32]  # (n_cells,)
    labels: NDArray[np.float32]  # (n_cells,)

    __repr__ = sizes_only


class Profiles(Protocol):
    """The profiles of all groups."""

    @property
    def n_items(self) -> int:
        """Number of items there are."""
        ...

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of items in each group's profile."""
        ...

    def rows(self, groups: NDArray[np.integer]) -> ProfileCells:
        """Return the profiles of some groups, in the order asked for; a group may be asked for twice."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class SparseProfiles:
    """Profiles that hold their cells (pure mode)."""

    indptr: NDArray[np.int64]  # (n_groups + 1,)
    items: NDArray[np.int32]  # (n_cells,)
    labels: NDArray[np.float32]  # (n_cells,)
    n_items: int

    __repr__ = sizes_only

    def __post_init__(self) -> None:
        make_read_only(self.indptr, self.items, self.labels)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of items in each group's profile."""
        return np.diff(self.indptr)

    def rows(self, groups: NDArray[np.integer]) -> ProfileCells:
        """Return the profiles of some groups."""
        indptr = np.concatenate(([0], np.cumsum(self.counts[groups])))
        items, labels = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
        _gather(groups.astype(np.int64), self.indptr, self.items, self.labels, indptr, items, labels)
        return ProfileCells(indptr, items, labels)


class GroupMeans(NamedTuple):
    """The mean of the members' predictions, by linearity: ``base_i + bias_g + p_g . q_i`` with mean b_g and p_g."""

    bias: NDArray[np.float32]  # (n_groups,)
    factors: NDArray[np.float32]  # (n_groups, rank)
    base: NDArray[np.float32]  # (n_items,) mu + b_i
    item_factors: NDArray[np.float32]  # (rank, n_items), contiguous


@dataclass(frozen=True, eq=False, slots=True)
class FullProfiles:
    """Profiles with a label for every item (padded mode), computed when asked for.

    A label is the mean over all members of the padded row, in which rated cells keep their rating:
    ``mean prediction + sum(rating - prediction over the raters) / |C|``, then inside the scale, then on the grid.
    """

    means: GroupMeans
    indptr: NDArray[np.int64]  # (n_groups + 1,) of the corrections
    items: NDArray[np.int32]
    corrections: NDArray[np.float32]  # sum(rating - prediction) / |C|
    grid: Grid

    __repr__ = sizes_only

    def __post_init__(self) -> None:
        make_read_only(*self.means, self.indptr, self.items, self.corrections)

    @property
    def n_items(self) -> int:
        """Number of items there are."""
        return len(self.means.base)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of items in each group's profile: all of them."""
        return np.full(len(self.means.bias), self.n_items, np.int64)

    def rows(self, groups: NDArray[np.integer]) -> ProfileCells:
        """Return the profiles of some groups."""
        labels = self._filled(groups, np.empty((len(groups), self.n_items), np.float32))
        indptr = np.arange(len(groups) + 1, dtype=np.int64) * self.n_items
        return ProfileCells(indptr, every_item(len(groups), self.n_items), labels.reshape(-1))

    def columns(self, items: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the labels of some items in every profile, without corrections: (n_groups, len(items))."""
        bias, factors, base, item_factors = self.means
        means = GroupMeans(bias, factors, base[items], np.ascontiguousarray(item_factors[:, items]))
        nothing = np.zeros(len(bias) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
        everybody = np.arange(len(bias))
        return FullProfiles(means, *nothing, self.grid)._filled(
            everybody, np.empty((len(bias), len(items)), np.float32)
        )

    @property
    def coded(self) -> bool:
        """Whether labels are the few values of a grid, whose numbers fit into a byte."""
        return 0 < len(self.grid.values) <= 256

    def codes(self, groups: NDArray[np.integer]) -> NDArray[np.uint8]:
        """Return the labels of some groups as numbers of the grid's values: (len(groups), n_items)."""
        return self._filled(groups, np.empty((len(groups), self.n_items), np.uint8))

    def _filled(self, groups: NDArray[np.integer], table: NDArray[Any]) -> NDArray[Any]:
        corrections = self.indptr, self.items, self.corrections
        work = groups.astype(np.int64), self.means, corrections, self.grid.bare, table.dtype == np.uint8, table
        in_shares(_fill_share, len(groups), *work, little=2 * _ROWS)
        return table


@lru_cache(maxsize=1)
def every_item(n_rows: int, n_items: int) -> NDArray[np.int32]:
    """Return 0, 1, 2, ... for each of some rows; blocks are equally long, so the last answer is kept."""
    items = np.tile(np.arange(n_items, dtype=np.int32), n_rows)
    items.flags.writeable = False
    return items


@njit(cache=True, nogil=True, inline="always")
def on_grid(value, low, high, step, values):  # type: ignore[no-untyped-def]
    """Bring one value inside the scale and, where there is a step, onto the grid (as `Grid.round` does)."""
    value = min(max(value, low), high)
    if step == 0.0:
        return np.float32(value)
    code = int(np.floor((value - low) / step + 0.5))
    return values[min(max(code, 0), len(values) - 1)]


@njit(cache=True, nogil=True)
def _gather(groups, from_indptr, from_items, from_labels, indptr, items, labels):  # type: ignore[no-untyped-def]
    for row in range(len(groups)):
        start, n = from_indptr[groups[row]], indptr[row + 1] - indptr[row]
        for c in range(n):
            items[indptr[row] + c] = from_items[start + c]
            labels[indptr[row] + c] = from_labels[start + c]


@njit(cache=True, nogil=True)
def _add_tile(out, bias, base, factors, item_factors, left):  # type: ignore[no-untyped-def]
    """Fill one row's tile, four factors at a time, so that a value is loaded and stored a quarter as often."""
    n, rank = len(out), len(factors)
    for i in range(n):
        out[i] = base[i] + bias
    for f in range(0, rank - rank % 4, 4):
        a, b, c, d = factors[f], factors[f + 1], factors[f + 2], factors[f + 3]
        p, q = item_factors[f, left : left + n], item_factors[f + 1, left : left + n]
        r, s = item_factors[f + 2, left : left + n], item_factors[f + 3, left : left + n]
        for i in range(n):
            half = fused(b, q[i], fused(a, p[i], out[i]))
            out[i] = fused(d, s[i], fused(c, r[i], half))
    for f in range(rank - rank % 4, rank):
        a, p = factors[f], item_factors[f, left : left + n]
        for i in range(n):
            out[i] = fused(a, p[i], out[i])


@njit(cache=True, nogil=True, inline="always")
def _finish(tile, grid, coded, out):  # type: ignore[no-untyped-def]
    """Bring a tile inside the scale and onto the grid (as `on_grid` does for one value), or give the grid's numbers."""
    low, high, step, values = grid
    for i in range(len(tile)):
        inside = min(max(tile[i], low), high)
        if step == 0.0:
            out[i] = inside
        else:
            code = min(np.int32((inside - low) / step + 0.5), np.int32(len(values) - 1))
            out[i] = code if coded else values[code]


def _fill_share(share: int, n_shares: int, *work: Any) -> None:
    _fill(share, n_shares, *work, np.empty(_TILE, np.float32), np.empty(_ROWS, np.int64))


@njit(cache=True, nogil=True)
def _fill(share, n_shares, groups, means, corrections, grid, coded, table, tile, places):  # type: ignore[no-untyped-def]
    bias, factors, base, item_factors = means
    indptr, items, added = corrections
    n_rows, n_items = table.shape
    for first in range(share * _ROWS, n_rows, n_shares * _ROWS):
        last = min(first + _ROWS, n_rows)
        for row in range(first, last):
            places[row - first] = indptr[groups[row]]
        for left in range(0, n_items, _TILE):
            right = min(left + _TILE, n_items)
            part = tile[: right - left]
            for row in range(first, last):
                group, c = groups[row], places[row - first]
                _add_tile(part, bias[group], base[left:right], factors[group], item_factors, left)
                while c < indptr[group + 1] and items[c] < right:
                    part[items[c] - left] += added[c]
                    c += 1
                places[row - first] = c
                _finish(part, grid, coded, table[row, left:right])
