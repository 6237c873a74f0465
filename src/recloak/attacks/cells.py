"""What is true of each released cell, and how the released rows of some targets look: shared by the cell attacks."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from recloak.attacks.matching import find_in_column
from recloak.attacks.model import Public
from recloak.ratings import Ratings

NOT_RELEASED = np.nan


def is_complete(public: Public) -> bool:
    """Tell whether every profile has every item, as in a padded release."""
    return len(public.profiles) == public.n_profiles * public.n_items


def raters_per_cell(public: Public, ratings: Ratings) -> NDArray[np.int32]:
    """Count for each released cell the members of the group who really rated the item (k')."""
    columns = ratings.by_item()
    return _count_raters(
        public.indptr,
        public.profiles,
        public.owner,
        columns.indptr,
        columns.users,
        np.zeros(len(public.profiles), np.int32),
    )


@njit(cache=True, parallel=True)
def _count_raters(indptr, profiles, owner, user_indptr, users, n_raters):  # type: ignore[no-untyped-def]
    for item in prange(len(indptr) - 1):
        for r in range(user_indptr[item], user_indptr[item + 1]):
            place = find_in_column(profiles, indptr[item], indptr[item + 1], owner[users[r]])
            if place >= 0:
                n_raters[place] += 1
    return n_raters


def rows_of(public: Public, profiles: NDArray[np.integer]) -> NDArray[np.float32]:
    """Give the released rows of a few profiles, `NOT_RELEASED` (nan) where they lack an item: (len, n_items)."""
    distinct, place = np.unique(profiles, return_inverse=True)
    slot = np.full(public.n_profiles, -1, np.int64)
    slot[distinct] = np.arange(len(distinct))
    rows = np.full((len(distinct), public.n_items), NOT_RELEASED, np.float32)
    _fill_rows(public.indptr, public.profiles, public.labels, slot, rows)
    return rows[place]


@njit(cache=True, parallel=True)
def _fill_rows(indptr, profiles, labels, slot, rows):  # type: ignore[no-untyped-def]
    for item in prange(len(indptr) - 1):
        for place in range(indptr[item], indptr[item + 1]):
            if slot[profiles[place]] >= 0:
                rows[slot[profiles[place]], item] = labels[place]
