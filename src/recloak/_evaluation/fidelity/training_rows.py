"""A release as the people who train on it see it: distinct rows, and which of them stand for whom.

All members of a group share one row in a pure or padded release, and a release of drawn rows has several rows per
group. Rows that are equal in all items and labels are kept once, so that a split into training and test cells never
has the answer of one copy in the training part of another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Public
from recloak._attacks.public_view import ReleaseView
from recloak._core.errors import InternalError
from recloak._core.results import sizes_only
from recloak._evaluation.recommenders import as_training_set
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings


@dataclass(frozen=True, eq=False, slots=True)
class TrainingRows:
    """The distinct rows of a release and the people behind them.

    Group g is served by the rows ``group_rows[group_indptr[g]:group_indptr[g + 1]]``.
    """

    rows: Ratings  # one user of it is one distinct row
    weights: NDArray[np.int64]  # (n_rows,) released people with this row
    owner: NDArray[np.int32]  # (n_users,) the group of each user of the source
    group_indptr: NDArray[np.int64]  # (n_groups + 1,)
    group_rows: NDArray[np.int64]

    __repr__ = sizes_only

    @classmethod
    def of(
        cls, rows: Ratings, weights: NDArray[np.integer], group: NDArray[np.integer], owner: NDArray[np.integer]
    ) -> TrainingRows:
        """Return the distinct ones of some rows, each of a group; ``owner`` has the group of each user."""
        first, number = _distinct(rows)
        n_groups = int(max(group.max(initial=-1), owner.max(initial=-1))) + 1
        order = np.argsort(group, kind="stable")
        indptr = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=n_groups))))
        if (np.diff(indptr)[owner] == 0).any():
            raise InternalError("a group with members has no row")
        counts = np.bincount(number, weights, minlength=len(first)).astype(np.int64)
        return cls(select_rows(rows, first), counts, owner.astype(np.int32), indptr, number[order])

    @classmethod
    def of_release(cls, release: ReleaseView, ratings: Ratings) -> TrainingRows:
        """Return the rows of a release folder of ``ratings``."""
        if (drawn := release.drawn) is not None:
            return cls.of(drawn.rows, np.ones(drawn.rows.n_users, np.int64), drawn.profile, release.public.owner)
        return cls.of_public(release.public, ratings.item_ids)

    @classmethod
    def of_public(cls, public: Public, item_ids: IdMap) -> TrainingRows:
        """Return the rows of a release in which every profile is the row of one group."""
        groups = np.arange(public.n_profiles)
        return cls.of(as_training_set(public, item_ids), public.weights, groups, public.owner)

    @classmethod
    def of_original(cls, ratings: Ratings) -> TrainingRows:
        """Return the ratings themselves: every user is a row and a group."""
        everyone = np.arange(ratings.n_users)
        ones = np.ones(ratings.n_users, np.int64)
        return cls(ratings, ones, everyone.astype(np.int32), np.arange(ratings.n_users + 1), everyone)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.group_indptr) - 1

    def of_people(self, users: NDArray[np.integer], items: NDArray[np.integer]) -> TrainingRows:
        """Return the part for some users and items, both renumbered in the order given.

        Rows that serve none of these users are left out.
        """
        groups = np.unique(self.owner[users])
        lengths = np.diff(self.group_indptr)[groups]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        places = np.repeat(self.group_indptr[groups] - indptr[:-1], lengths) + np.arange(indptr[-1])
        kept, renumbered = np.unique(self.group_rows[places], return_inverse=True)
        rows = select_items(select_rows(self.rows, kept), items)
        owner = np.searchsorted(groups, self.owner[users]).astype(np.int32)
        return TrainingRows(rows, self.weights[kept], owner, indptr, renumbered)


def _distinct(rows: Ratings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first place of each distinct row, and the number of the distinct row that each row equals."""
    numbers: dict[bytes, int] = {}
    first: list[int] = []
    number = np.empty(rows.n_users, np.int64)
    for row in range(rows.n_users):
        cells = rows.row(row)
        key = rows.items[cells].tobytes() + rows.values[cells].tobytes()
        if (found := numbers.setdefault(key, len(first))) == len(first):
            first.append(row)
        number[row] = found
    return np.array(first, np.int64), number


def select_rows(ratings: Ratings, rows: NDArray[np.integer]) -> Ratings:
    """Return some rows of a table, numbered in the order given."""
    matrix = ratings.matrix[rows]
    indptr, items = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    ids = IdMap.of(np.arange(len(rows)))
    return Ratings(indptr, items, matrix.data, ids, ratings.item_ids, ratings.scale, kind=ratings.kind)


def select_items(ratings: Ratings, items: NDArray[np.integer]) -> Ratings:
    """Return the columns of some ascending items of a table, numbered in that order."""
    number = np.full(ratings.n_items, -1, np.int32)
    number[items] = np.arange(len(items))
    chosen = np.zeros(ratings.n_items, bool)
    chosen[items] = True
    kept = ratings.where(chosen[ratings.items])
    columns = number[kept.items]
    ids = kept.user_ids, kept.item_ids.take(chosen)
    return Ratings(kept.indptr, columns, kept.values, *ids, kept.scale, kind=kept.kind)
