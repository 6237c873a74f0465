"""Drawn rows against the source and the private mapping: whether a row is a person's own, or too near to one.

Three things can be tested; each has a line that chance passes about once in a million releases:

1. **Names.** Every member's name was given to a row of the group by lot. If rows were nearer to the member of the same
   name than to the others of the group, names would tell who is who.
2. **Closest records.** For a sample of drawn rows the nearest person, by the items in common (Jaccard), and whether the
   row is nearer to that person than any other person is. People among themselves say how often that happens by chance:
   each in turn is taken for somebody who is not in the data. A copied row is always nearer.
3. **Rare items.** An item that fewer people rated than the release says is drawn for all groups alike. Its drawn
   ratings must not stand in the groups of its raters more often than those groups have ratings.

What is not tested: which links between items were used, and what an attacker learns who adds up the rows of a group;
`recloak audit` measures the second.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings

_MOST_ROWS = 800  # drawn rows, and people, whose nearest person is looked for
_LINE = 5.0  # standard deviations above chance
_LEAST = 1e-9
Rows: TypeAlias = Any  # a sparse matrix of ones, (n_rows, n_items)


class DrawnFindings(NamedTuple):
    """What was found: in standard deviations above chance, and shares from 0 to 1."""

    own_names: float
    near: float  # drawn rows that are nearer to a person than any other person is
    near_by_chance: float  # the same of people
    near_above: float
    rare: float
    n_rows: int

    def problems(self) -> list[str]:
        """Say what chance does not explain."""
        told = []
        if self.own_names > _LINE:
            told.append("drawn rows are nearer to the member of the same name than to others of the group")
        if self.near_above > _LINE:
            told.append(
                f"{self.near:.0%} of the drawn rows are nearer to a person than any other person is, where of people "
                f"only {self.near_by_chance:.0%} are"
            )
        if self.rare > _LINE:
            told.append("items that few people rated stand in the groups of their raters more often than by chance")
        return told

    def measured(self) -> list[str]:
        """Say what was measured, and what that is not."""
        return [
            f"names were given by lot: rows are {self.own_names:+.1f} standard deviations nearer to the member of the "
            "same name than to others of the group",
            f"closest records: {self.near:.1%} of {self.n_rows} drawn rows are nearer to a person than any "
            f"other person is ({self.near_by_chance:.1%} of people, each taken for somebody who is not in the data)",
            f"rare items: {self.rare:+.1f} standard deviations more often in the groups of their raters than elsewhere",
            "not tested: which links between items were used, and what the rows of a group tell together (recloak "
            "audit)",
        ]


def check_drawn(
    rows: Rows, groups: NDArray[np.int64], original: Ratings, users: NDArray[np.int64], holders: int,
    draw: np.random.Generator,
) -> DrawnFindings:  # fmt: skip
    """Compare drawn rows with people.

    Row r was drawn for group ``groups[r]``, and user u of the original has the name of row ``users[u]``.
    """
    people = presence_of(original)
    own = people[np.argsort(users)]  # by name: person behind row r of that name
    drawn_near, usually_near = _nearest(rows, people, draw), _nearest_of_people(people, draw)
    above = _above(drawn_near.mean(), len(drawn_near), usually_near.mean(), len(usually_near))
    return DrawnFindings(
        own_names(rows, own, groups),
        float(drawn_near.mean()),
        float(usually_near.mean()),
        above,
        rare_items(rows, own, groups, holders),
        len(drawn_near),
    )


def presence_of(ratings: Ratings) -> Rows:
    """Return who rated what, as ones."""
    ones = np.ones(ratings.n_ratings, np.float64)
    return scipy.sparse.csr_array((ones, ratings.items, ratings.indptr), shape=(ratings.n_users, ratings.n_items))


def rows_shown(names: NDArray[np.integer], items: NDArray[np.integer], n_rows: int, item_ids: IdMap) -> Rows:
    """Return the drawn rows as ones, from their cells; names count from 1."""
    shape = (n_rows, len(item_ids))
    return scipy.sparse.csr_array((np.ones(len(items)), (names - 1, items)), shape=shape)


def own_names(rows: Rows, own: Rows, groups: NDArray[np.int64]) -> float:
    """Return by how many standard deviations rows are nearer to the member of their name than by lot.

    In a group of n the sum of s_rr over a random assignment has the mean sum(s) / n and the variance
    sum((s_ru - row mean - column mean + mean)^2) / (n - 1).
    """
    excess, variance = 0.0, 0.0
    order = np.argsort(groups, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        if len(some) < 2:
            continue
        near = _jaccard(rows[some], own[some])
        centred = near - near.mean(axis=0) - near.mean(axis=1, keepdims=True) + near.mean()
        excess += float(np.trace(centred))
        variance += float((centred**2).sum()) / (len(some) - 1)
    return float(excess / max(np.sqrt(variance), _LEAST))


def _jaccard(one: Rows, other: Rows) -> NDArray[np.float64]:
    """Return the items in common over all items of either, for every two rows."""
    common = (one @ other.T).toarray()
    sizes = np.diff(one.indptr)[:, None] + np.diff(other.indptr)[None, :]
    return np.asarray(common / np.maximum(sizes - common, 1))


def _nearest(rows: Rows, people: Rows, draw: np.random.Generator) -> NDArray[np.bool_]:
    """Return for some rows whether they are nearer to their nearest person than any other person is."""
    some = np.sort(draw.permutation(rows.shape[0])[:_MOST_ROWS])
    near = _jaccard(rows[some], people)
    best = near.argmax(axis=1)
    return np.asarray(near.max(axis=1) > _next_person(people, best, best))


def _nearest_of_people(people: Rows, draw: np.random.Generator) -> NDArray[np.bool_]:
    """Return the same for some people, each in turn taken out of the data."""
    some = np.sort(draw.permutation(people.shape[0])[:_MOST_ROWS])
    near = _jaccard(people[some], people)
    near[np.arange(len(some)), some] = -1
    best = near.argmax(axis=1)
    return np.asarray(near.max(axis=1) > _next_person(people, best, some))


def _next_person(people: Rows, whose: NDArray[np.int64], left_out: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how near the nearest other person is to each, somebody left out."""
    near = _jaccard(people[whose], people)
    place = np.arange(len(whose))
    near[place, whose] = -1
    near[place, left_out] = -1
    return np.asarray(near.max(axis=1))


def _above(share: float, n: int, usual: float, n_usual: int) -> float:
    """Return by how many standard deviations a share lies above another."""
    both = (share * n + usual * n_usual + 1) / (n + n_usual + 2)
    return float((share - usual) / np.sqrt(both * (1 - both) * (1 / n + 1 / n_usual)))


def rare_items(rows: Rows, own: Rows, groups: NDArray[np.int64], holders: int) -> float:
    """Return by how many standard deviations rare items stand more often in groups that have a rater than elsewhere."""
    raters = np.diff(own.tocsc().indptr)
    rare = np.flatnonzero((raters > 0) & (raters < holders))
    n_groups = int(groups.max()) + 1
    cells = np.bincount(groups, np.diff(rows.indptr), minlength=n_groups)
    hits, expected, variance = 0.0, 0.0, 0.0
    shown, rated = rows[:, rare].tocsc(), own[:, rare].tocsc()
    for item in range(len(rare)):
        there = groups[shown.indices[shown.indptr[item] : shown.indptr[item + 1]]]
        of_raters = np.unique(groups[rated.indices[rated.indptr[item] : rated.indptr[item + 1]]])
        share = cells[of_raters].sum() / cells.sum()
        hits += np.isin(there, of_raters).sum()
        expected += share * len(there)
        variance += share * (1 - share) * len(there)
    return float((hits - expected) / np.sqrt(variance + 1))
