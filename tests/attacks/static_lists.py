"""What the related-item lists of a single release tell about single people.

An observer knows one item j that somebody rated, looks at its list once, and bets that the same person rated every
entry of it. If one person alone rated j, or an entry rests on one person who rated both, the list is that person's own
items, and every bet is right. No change over time is needed, so the bound on changes does not help; a least number of
people behind every entry does (`min_support`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.intervals import Share, wilson
from recloak._core.threads import in_shares
from recloak._ratings.model import Ratings
from recloak._related.model import EMPTY, Lists

SURE = 0.5  # a bet that is right at least so often tells something about the person
FEW = 5  # people; a list or an entry that rests on fewer points at somebody


@dataclass(frozen=True, slots=True)
class StaticExposure:
    """What one release tells about single people."""

    lists: int
    entries: int
    lists_of_one: int  # lists of items that one person rated: that person's own items
    entries_of_one: Share  # entries whose two items one person alone rated together
    to_items_of_one: Share  # entries that point to an item that one person rated
    sure_and_few: Share  # entries that are right with at least a half about one of fewer than five people
    bets: Share  # bets on rated items, over all people and lists, that are right
    people: Share  # people of whom at least one item is told so, from one that the observer knows

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        shares = {name: value.to_json() for name, value in self._fields() if isinstance(value, Share)}
        return {**{name: value for name, value in self._fields() if name not in shares}, **shares}

    def _fields(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in asdict(self)]


def static_exposure(lists: Lists, ratings: Ratings) -> StaticExposure:
    """Attack the lists of one release, whose items are numbered as in the ratings behind it."""
    owners, places = np.nonzero(lists.items != EMPTY)
    entries = lists.items[owners, places]
    raters, both = ratings.popularity, np.zeros(len(owners), np.int64)
    columns, told = ratings.by_item(), np.zeros(ratings.n_users, np.bool_)
    in_shares(_co_raters, len(owners), owners, entries, columns.indptr, columns.users, told, both)
    sure = (both >= SURE * raters[owners]) & (raters[owners] < FEW)
    n = len(owners)
    return StaticExposure(
        lists=len(np.unique(owners)),
        entries=n,
        lists_of_one=int((raters[np.unique(owners)] == 1).sum()),
        entries_of_one=wilson(int((both == 1).sum()), max(n, 1)),
        to_items_of_one=wilson(int((raters[entries] == 1).sum()), max(n, 1)),
        sure_and_few=wilson(int(sure.sum()), max(n, 1)),
        bets=wilson(int(both.sum()), max(int(raters[owners].sum()), 1)),
        people=_people(owners[sure], entries[sure], ratings),
    )


def _people(owners: NDArray[np.intp], entries: NDArray[np.int32], ratings: Ratings) -> Share:
    """Count the people who rated both items of an entry that is sure and rests on few."""
    columns, told = ratings.by_item(), np.zeros(ratings.n_users, np.bool_)
    for j, i in zip(owners.tolist(), entries.tolist(), strict=True):
        first, second = (columns.users[columns.indptr[k] : columns.indptr[k + 1]] for k in (j, i))
        told[np.intersect1d(first, second, assume_unique=True)] = True
    return wilson(int(told.sum()), max(int((ratings.activity > 0).sum()), 1))


@njit(cache=True, nogil=True)
def _co_raters(share, n_shares, owners, entries, starts, users, told, both):
    """Count the people who rated both items of each entry."""
    holds = np.zeros(len(told), np.int64)  # 1 + the item whose raters are marked
    for e in range(len(owners)):
        j = owners[e]
        if j % n_shares != share:
            continue
        if e == 0 or owners[e - 1] != j:
            for p in range(starts[j], starts[j + 1]):
                holds[users[p]] = j + 1
        for p in range(starts[entries[e]], starts[entries[e] + 1]):
            both[e] += holds[users[p]] == j + 1
