"""The ledger of first holdings: which release first knew that a user holds an item.

A holding counts from the release that first saw it, whatever time its rating carries: a rating that is changed is not a
new holding, and one that comes late or is dated ahead counts when it arrives. What was held once stays held, also when
the rating is taken back: an observer may know it. Only a user who is forgotten leaves the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.errors import InputError
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._related.model import Holders, require_times


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Batch:
    """Holdings that one release was the first to see, by the ledger's own numbers; users ascend."""

    release: int
    time: int  # of that release
    users: NDArray[np.int32]
    items: NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Ledger:
    """All first holdings of a history. Users and items are numbered in the order in which they were first seen."""

    user_ids: pl.Series  # by number; null for somebody who was forgotten
    item_ids: pl.Series  # by number
    batches: tuple[Batch, ...]

    def __repr__(self) -> str:
        return f"<Ledger: {self.n_holdings} holdings>"

    @property
    def n_holdings(self) -> int:
        """Number of holdings."""
        return sum(len(batch.users) for batch in self.batches)

    @property
    def n_users(self) -> int:
        """Number of users, those included who were forgotten."""
        return len(self.user_ids)

    @classmethod
    def empty(cls, ratings: Ratings) -> Ledger:
        """Return a ledger without holdings, for ids of the kind that ratings have."""
        return cls(ratings.user_ids.ids.clear(), ratings.item_ids.ids.clear(), ())

    def items(self) -> IdMap:
        """Return the items in the order of their ids, as all other code numbers them."""
        return IdMap.of(self.item_ids)

    def ranks(self) -> NDArray[np.int32]:
        """Return the number in `items` of every item of the ledger."""
        return _ranks(self.item_ids)

    def is_held(self) -> NDArray[np.bool_]:
        """Return of every item, by number, whether somebody holds it who was not forgotten."""
        items = _joined([batch.items for batch in self.batches], np.int32)
        held: NDArray[np.bool_] = np.bincount(items, minlength=len(self.item_ids)) > 0
        return held

    def holders(self) -> Holders:
        """Return who holds which item since when; items are numbered as in `items`."""
        rank = self.ranks()
        users = _joined([batch.users for batch in self.batches], np.int32)
        items = _joined([batch.items for batch in self.batches], np.int32)
        ends = np.cumsum([len(batch.users) for batch in self.batches], dtype=np.int64)
        moments = np.array([batch.time for batch in self.batches], np.int64)
        columns, rows = _begins(rank[items], len(rank)), _begins(users, self.n_users)
        holders, times = np.empty(len(users), np.int32), np.empty(len(users), np.int64)
        _fill_columns(users, rank[items], ends, moments, rows, columns.copy(), holders, times)
        return Holders(columns, holders, times, self.n_users)


def _begins(numbers: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """Return where each number's entries begin once they are sorted, and the end of the last."""
    return np.concatenate(([0], np.cumsum(np.bincount(numbers, minlength=n)))).astype(np.int64)


@njit(cache=True)
def _fill_columns(users, items, ends, moments, rows, places, holders, times):  # type: ignore[no-untyped-def]
    """Write the holders of each item by user, and since when; batch after batch, users ascending in each."""
    by_user, since, batch = np.empty(len(users), np.int32), np.empty(len(users), np.int32), 0
    place = rows[:-1].copy()
    for p in range(len(users)):
        while p >= ends[batch]:
            batch += 1
        by_user[place[users[p]]] = items[p]
        since[place[users[p]]] = batch
        place[users[p]] += 1
    for u in range(len(rows) - 1):
        for p in range(rows[u], rows[u + 1]):
            at = places[by_user[p]]
            holders[at] = u
            times[at] = moments[since[p]]
            places[by_user[p]] += 1


def _joined(parts: list[NDArray[np.int32]], kind: type) -> NDArray[np.int32]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)


def _ranks(ids: pl.Series) -> NDArray[np.int32]:
    """Return the place of each id in the order of all."""
    ranks = np.empty(len(ids), np.int32)
    ranks[ids.arg_sort().to_numpy()] = np.arange(len(ids), dtype=np.int32)
    return ranks


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Arrivals:
    """Ratings beside a ledger: the ledger's numbers of their users and items, and which holdings are new."""

    ledger: Ledger  # with the new users and items, but without the new holdings
    users: NDArray[np.int32]  # ledger number of each user of the ratings
    items: NDArray[np.int32]  # ledger number of each item of the ratings
    is_new: NDArray[np.bool_]  # per rating

    @property
    def n_new(self) -> int:
        """Number of holdings that the ledger does not know."""
        return int(self.is_new.sum())

    def entered(self, ratings: Ratings, release: int, time: int) -> tuple[Ledger, Batch]:
        """Return the ledger with the new holdings, and these alone."""
        users, items = self.users[ratings.users()[self.is_new]], self.items[ratings.items[self.is_new]]
        order = np.lexsort((items, users))
        batch = Batch(release, time, users[order], items[order])
        return Ledger(self.ledger.user_ids, self.ledger.item_ids, (*self.ledger.batches, batch)), batch


def arrivals(ledger: Ledger, ratings: Ratings) -> Arrivals:
    """Compare ratings with a ledger."""
    user_ids, users = _numbered(ledger.user_ids, ratings.user_ids, "user")
    item_ids, items = _numbered(ledger.item_ids, ratings.item_ids, "item")
    known = Ledger(user_ids, item_ids, ledger.batches)
    is_new = np.ones(ratings.n_ratings, np.bool_)
    if ledger.n_holdings:
        indptr, held = _rows(known)
        _mark_new(ratings.indptr, ratings.items, users, items, indptr, held, np.int64(len(item_ids)), is_new)
    return Arrivals(known, users, items, is_new)


def _numbered(known: pl.Series, ids: IdMap, name: str) -> tuple[pl.Series, NDArray[np.int32]]:
    """Return the known ids followed by the new ones, and the number of each id."""
    if len(known) and known.dtype != ids.ids.dtype:
        kinds = {True: "texts", False: "whole numbers"}
        is_text = known.dtype == pl.String
        raise InputError(f"the history's {name} ids are {kinds[is_text]}, those of the ratings {kinds[ids.is_text]}")
    there = known.drop_nulls()
    places = np.flatnonzero(known.is_not_null().to_numpy())
    sorted_ids = there.arg_sort().to_numpy()
    found = IdMap(there.gather(sorted_ids)).encode(ids.ids) if len(there) else np.full(len(ids), -1, np.int32)
    numbers = np.where(found >= 0, places[sorted_ids][found] if len(there) else 0, -1)
    fresh = np.flatnonzero(found < 0)
    numbers[fresh] = len(known) + np.arange(len(fresh))
    return pl.concat([known.cast(ids.ids.dtype), ids.ids.gather(fresh)]), numbers.astype(np.int32)


def _rows(ledger: Ledger) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the items of every user of a ledger."""
    users = _joined([batch.users for batch in ledger.batches], np.int32)
    items = _joined([batch.items for batch in ledger.batches], np.int32)
    begins, held = _begins(users, ledger.n_users), np.empty(len(items), np.int32)
    _fill_rows(users, items, begins[:-1].copy(), held)
    return begins, held


@njit(cache=True)
def _fill_rows(users, items, places, held):  # type: ignore[no-untyped-def]
    """Write the items of each user one after the other."""
    for p in range(len(users)):
        held[places[users[p]]] = items[p]
        places[users[p]] += 1


@njit(cache=True)
def _mark_new(indptr, items, user_numbers, item_numbers, held_by, held, n_items, is_new):  # type: ignore[no-untyped-def]
    """Clear the mark of every rating whose holding is in the ledger."""
    holder = np.full(n_items, np.int64(-1))
    for u in range(len(indptr) - 1):
        number = user_numbers[u]
        if number + 1 < len(held_by):
            for p in range(held_by[number], held_by[number + 1]):
                holder[held[p]] = u
            for p in range(indptr[u], indptr[u + 1]):
                if holder[item_numbers[items[p]]] == u:
                    is_new[p] = False


def adopted(ratings: Ratings, releases: list[tuple[int, int]]) -> Ledger:
    """Return the ledger of a history that was kept without one: arrival as the ratings' own times tell it.

    ``releases`` are the numbers and times of its releases; ratings after the last one are left out.
    """
    require_times(ratings)
    assert ratings.times is not None
    ledger = Ledger.empty(ratings)
    before = np.iinfo(np.int64).min
    everything = arrivals(ledger, ratings)
    ledger = everything.ledger
    for number, time in releases:
        fresh = Arrivals(ledger, everything.users, everything.items, (ratings.times > before) & (ratings.times <= time))
        ledger, _ = fresh.entered(ratings, number, time)
        before = time
    return ledger
