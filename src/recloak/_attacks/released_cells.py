"""What is true of the released cells, and how the released rows of some targets look: shared by the cell attacks."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Public
from recloak._attacks.public_columns import columns_for, columns_of, labels_for, lengths, place_of
from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._ratings.model import Ratings

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
    parts = np.zeros((_BLOCKS, len(sizes), len(n_raters)), np.int64)
    columns = columns_for(public, np.empty(0, np.int64))  # no label is looked at
    in_shares(_tally, _BLOCKS, columns, members_of(public), rows, size_of, parts, little=2)
    cells = parts.sum(axis=0)
    cells[:, 0] = np.bincount(size_of, lengths(public), len(sizes)).astype(np.int64) - cells.sum(axis=1)
    return n_raters / np.maximum(sizes, 1)[:, None], cells


@njit(cache=True, nogil=True)
def _tally(share, n_shares, columns, members, rows, size_of, cells):  # type: ignore[no-untyped-def]
    """Count the cells that somebody rated by size of the group and number of raters, in blocks of groups."""
    n_blocks, n_groups = len(cells), len(size_of)
    for block in range(share, n_blocks, n_shares):
        n_raters = np.empty(len(columns.indptr) - 1, np.int32)
        for item in range(len(n_raters)):
            n_raters[item] = 0
        for group in range(block * n_groups // n_blocks, (block + 1) * n_groups // n_blocks):
            users = members.users[members.starts[group] : members.starts[group + 1]]
            for user in users:
                for item in rows.items[rows.indptr[user] : rows.indptr[user + 1]]:
                    n_raters[item] += 1
            for user in users:
                for item in rows.items[rows.indptr[user] : rows.indptr[user + 1]]:
                    if n_raters[item] and place_of(columns, item, np.int32(group)) >= 0:
                        cells[block, size_of[group], n_raters[item]] += 1
                    n_raters[item] = 0


def count_raters(public: Public, ratings: Ratings, profiles: NDArray[np.integer]) -> NDArray[np.int16]:
    """Count the members of each profile who rated each item: (n_profiles, n_items)."""
    members, found = members_of(public), np.zeros((len(profiles), ratings.n_items), np.int16)
    for place, profile in enumerate(profiles):
        for user in members.users[members.starts[profile] : members.starts[profile + 1]]:
            found[place, ratings.items[ratings.row(int(user))]] += 1
    return found


def raters_of(
    public: Public, ratings: Ratings, profiles: NDArray[np.integer], items: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count for each (profile, item) pair the members who really rated the item (k'), and add up their ratings."""
    rows = _Rows(ratings.indptr, ratings.items, ratings.values)
    n_raters, total = np.zeros(len(items), np.int64), np.zeros(len(items))
    in_shares(_ask_members, len(items), members_of(public), rows, profiles, items, n_raters, total)
    return n_raters, total


@njit(cache=True, nogil=True)
def _ask_members(share, n_shares, members, rows, profiles, items, n_raters, total):  # type: ignore[no-untyped-def]
    for c in range(share * len(items) // n_shares, (share + 1) * len(items) // n_shares):
        for user in members.users[members.starts[profiles[c]] : members.starts[profiles[c] + 1]]:
            place, high = rows.indptr[user], rows.indptr[user + 1]
            stop = high
            while place < high:
                middle = (place + high) // 2
                if rows.items[middle] < items[c]:
                    place = middle + 1
                else:
                    high = middle
            if place < stop and rows.items[place] == items[c]:
                n_raters[c] += 1
                total[c] += rows.values[place]


def rows_of(public: Public, profiles: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the released rows of a few profiles, `NOT_RELEASED` (nan) where they lack an item: (len, n_items)."""
    if public.factors is not None:
        return public.factors.block(profiles, slice(None))
    distinct, place = np.unique(profiles.astype(np.int32, copy=False), return_inverse=True)
    rows = np.full((len(distinct), public.n_items), NOT_RELEASED, np.float32)
    in_shares(_fill_rows, public.n_items, columns_of(public), distinct, rows)
    return rows[place]


def cells_of(public: Public, profiles: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the released cells of some profiles and items, nan where there is none: (n_profiles, n_items)."""
    if public.factors is not None:
        return public.factors.block(profiles, items)
    pairs = np.repeat(profiles.astype(np.int32), len(items)), np.tile(items.astype(np.int32), len(profiles))
    return labels_for(public, *pairs).reshape(len(profiles), len(items))


@njit(cache=True, nogil=True)
def _fill_rows(share, n_shares, columns, profiles, rows):  # type: ignore[no-untyped-def]
    n_items = len(columns.indptr) - 1
    for item in range(share * n_items // n_shares, (share + 1) * n_items // n_shares):
        for row in range(len(profiles)):
            place = place_of(columns, np.int32(item), profiles[row])
            if place >= 0:
                rows[row, item] = columns.values[columns.codes[place]]
