"""What is true of the released cells, and how the released rows of some targets look: shared by the cell attacks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from recloak.attacks.columns import columns_of, lengths, place_of
from recloak.attacks.model import Public
from recloak.ratings import Ratings

NOT_RELEASED = np.nan
_BLOCKS = 16


class Members(NamedTuple):
    """The users of each profile: profile p is ``users[starts[p]:starts[p + 1]]``."""

    users: NDArray[np.int64]
    starts: NDArray[np.int64]


def members_of(public: Public) -> Members:
    """List the users of each profile, by the truth."""
    users = np.argsort(public.owner, kind="stable")
    return Members(users, np.searchsorted(public.owner[users], np.arange(public.n_profiles + 1)))


class _Rows(NamedTuple):
    """The original ratings as compiled functions take them."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]


def count_cells(public: Public, ratings: Ratings) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Count the released cells by the share k'/|C| of the group's members who really rated the item.

    Gives the shares that can be and the cells of each, both (n_sizes, largest + 1): nothing as large as the release.
    """
    sizes, size_of = np.unique(public.weights, return_inverse=True)
    n_raters = np.arange(int(sizes.max(initial=0)) + 1)
    rows = _Rows(ratings.indptr, ratings.items, ratings.values)
    parts = _tally(columns_of(public), members_of(public), rows, size_of, (_BLOCKS, len(sizes), len(n_raters)))
    cells = parts.sum(axis=0)
    cells[:, 0] = np.bincount(size_of, lengths(public), len(sizes)).astype(np.int64) - cells.sum(axis=1)
    return n_raters / np.maximum(sizes, 1)[:, None], cells


@njit(cache=True, parallel=True)
def _tally(columns, members, rows, size_of, shape):  # type: ignore[no-untyped-def]
    """Count the cells that somebody rated by size of the group and number of raters, in blocks of groups."""
    cells, n_groups = np.zeros(shape, np.int64), len(size_of)
    for block in prange(shape[0]):
        n_raters = np.zeros(len(columns.indptr) - 1, np.int32)
        for group in range(block * n_groups // shape[0], (block + 1) * n_groups // shape[0]):
            users = members.users[members.starts[group] : members.starts[group + 1]]
            for user in users:
                for item in rows.items[rows.indptr[user] : rows.indptr[user + 1]]:
                    n_raters[item] += 1
            for user in users:
                for item in rows.items[rows.indptr[user] : rows.indptr[user + 1]]:
                    if n_raters[item] and place_of(columns, item, group) >= 0:
                        cells[block, size_of[group], n_raters[item]] += 1
                    n_raters[item] = 0
    return cells


def raters_of(
    public: Public, ratings: Ratings, profiles: NDArray[np.integer], items: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count for each (profile, item) pair the members who really rated the item (k'), and add up their ratings."""
    rows = _Rows(ratings.indptr, ratings.items, ratings.values)
    n_raters, total = np.zeros(len(items), np.int64), np.zeros(len(items))
    _ask_members(members_of(public), rows, profiles, items, n_raters, total)
    return n_raters, total


@njit(cache=True, parallel=True)
def _ask_members(members, rows, profiles, items, n_raters, total):  # type: ignore[no-untyped-def]
    for c in prange(len(items)):
        for user in members.users[members.starts[profiles[c]] : members.starts[profiles[c] + 1]]:
            start, stop = rows.indptr[user], rows.indptr[user + 1]
            place = start + np.searchsorted(rows.items[start:stop], items[c])
            if place < stop and rows.items[place] == items[c]:
                n_raters[c] += 1
                total[c] += rows.values[place]


def rows_of(public: Public, profiles: NDArray[np.integer]) -> NDArray[np.float32]:
    """Give the released rows of a few profiles, `NOT_RELEASED` (nan) where they lack an item: (len, n_items)."""
    distinct, place = np.unique(profiles, return_inverse=True)
    rows = np.full((len(distinct), public.n_items), NOT_RELEASED, np.float32)
    _fill_rows(columns_of(public), distinct, rows)
    return rows[place]


@njit(cache=True, parallel=True)
def _fill_rows(columns, profiles, rows):  # type: ignore[no-untyped-def]
    for item in prange(len(columns.indptr) - 1):
        for row in range(len(profiles)):
            place = place_of(columns, item, profiles[row])
            if place >= 0:
                rows[row, item] = columns.values[columns.codes[place]]
