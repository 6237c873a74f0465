"""The values of related-item lists, and the definition of what a change in a list tells.

The makers of this room, its verifier and the attackers share these definitions and nothing else. R. Chen, M. Xie and
L. V. S. Lakshmanan, *Thwarting Passive Privacy Attacks in Collaborative Filtering*, sections 3 to 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError, OptionError
from recloak._core.intervals import Share
from recloak._ratings.model import Ratings
from recloak._related.options import ALL_RELEASES, BoundOptions, horizon_of

EMPTY = -1  # a position left empty; what is shown closes it (`Lists.closed`)
_EXACT = 2  # known items, one of them moved: every further item is tried
ABSENT = np.int32(2**30)  # the position of an item that is not in a list: below every other


@dataclass(frozen=True, eq=False, slots=True)
class Lists:
    """The related-item lists of one release: row j is the list of item j, best first, `EMPTY` where it is empty."""

    items: NDArray[np.int32]  # (n_items, top)
    scores: NDArray[np.float64] | None = None  # (n_items, top), 0 where empty

    def __post_init__(self) -> None:
        for array in (self.items, self.scores):
            if array is not None:
                array.flags.writeable = False

    @property
    def n_items(self) -> int:
        """Number of items that have a list, even an empty one."""
        return self.items.shape[0]

    @property
    def top(self) -> int:
        """Number of positions of a list."""
        return self.items.shape[1]

    @property
    def n_entries(self) -> int:
        """Number of positions that are taken."""
        return int((self.items != EMPTY).sum())

    def cut(self, top: int) -> Lists:
        """Return the first ``top`` positions of every list."""
        scores = None if self.scores is None else self.scores[:, :top].copy()
        return Lists(self.items[:, :top].copy(), scores)

    def closed(self) -> Lists:
        """Return the lists as a page shows them, without gaps: entries below an empty position move up."""
        order = np.argsort(self.items == EMPTY, axis=1, kind="stable")
        if (order == np.arange(self.top)).all():
            return self
        scores = None if self.scores is None else np.take_along_axis(self.scores, order, axis=1)
        return Lists(np.take_along_axis(self.items, order, axis=1), scores)


def require_proper(lists: Lists) -> None:
    """Raise InputError unless all entries are known items, none in its own list, none twice."""
    items = lists.items
    if items.size and (items.min() < EMPTY or items.max() >= lists.n_items):
        raise InputError(f"a list must hold items numbered 0 to {lists.n_items - 1}, got {items.max()}")
    own = np.flatnonzero((items == np.arange(lists.n_items)[:, None]).any(axis=1))
    if len(own):
        raise InputError(f"an item must not stand in its own list, item number {own[0]} does")
    ordered = np.sort(items, axis=1)
    twice = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != EMPTY)).any(axis=1))
    if len(twice):
        raise InputError(f"an entry must not stand twice in a list, the list of item number {twice[0]} repeats one")


@dataclass(frozen=True, eq=False, slots=True)
class ListRelease:
    """Lists published at a time: they were made from the ratings up to and including it."""

    number: int
    time: int
    lists: Lists


@dataclass(frozen=True, slots=True)
class Residual:
    """What an observer who also knows items whose lists did not move learns from a sample of moves."""

    known: int
    above_delta: Share
    max_breach: float
    mean_breach: float

    @property
    def exact(self) -> bool:
        """Whether these are the worst backgrounds; else a lower bound, found greedily."""
        return self.known <= _EXACT

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return {
            "known": self.known,
            "exact": self.exact,
            "above_delta": self.above_delta.to_json(),
            "max_breach": self.max_breach,
            "mean_breach": self.mean_breach,
        }


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Holders:
    """Who rated which item when: item j is ``users[indptr[j]:indptr[j + 1]]``, users ascending, with their times."""

    indptr: NDArray[np.int64]  # (n_items + 1,)
    users: NDArray[np.int32]  # (n_ratings,)
    times: NDArray[np.int64]  # (n_ratings,)
    n_users: int

    @classmethod
    def of(cls, ratings: Ratings) -> Holders:
        """Return the holders of the items of ratings, which must have times."""
        require_times(ratings)
        columns = ratings.by_item()
        assert columns.times is not None
        return cls(columns.indptr, columns.users, columns.times, ratings.n_users)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.indptr) - 1

    def at(self, item: int, time: int) -> set[int]:
        """Return the users who hold an item at a time."""
        place = slice(int(self.indptr[item]), int(self.indptr[item + 1]))
        return set(self.users[place][self.times[place] <= time].tolist())

    def support(self, time: int) -> NDArray[np.int64]:
        """Return the number of holders of every item at a time."""
        ends = np.concatenate(([0], np.cumsum(self.times <= time, dtype=np.int64)))
        return np.diff(ends[self.indptr])


def require_times(ratings: Ratings) -> None:
    """Raise InputError for ratings without times: they do not show what changed between two releases."""
    if ratings.times is None:
        raise InputError("related-item lists over time need ratings with times, and these carry none")


def populations(
    holders: Holders, target: int, earlier: int, later: int, evidence: str
) -> tuple[set[int], set[int] | None, int]:
    """Return who is counted above the line, who is left out below it, and when the background is known.

    total: Pr = Sup(B + i) / Sup(B), all at the later time (theorem 1 to the letter).
    fresh: Pr = |holders of B at T1 who rated i in (T1, T2]| / |holders of B at T1 without i at T1|.
    """
    after = holders.at(target, later)
    if evidence == "total":
        return after, None, later
    before = holders.at(target, earlier)
    return after - before, before, earlier


def breach(
    holders: Holders, background: Sequence[int], target: int, earlier: int, later: int, evidence: str
) -> tuple[int, int]:
    """Return numerator and denominator of the breach probability of a background for a target, by definition."""
    raters, left_out, known_at = populations(holders, target, earlier, later, evidence)
    holding = set.intersection(*(holders.at(item, known_at) for item in background))
    if left_out is not None:
        holding -= left_out
    return len(holding & raters), len(holding)


def positions_before(earlier: Lists, later: Lists) -> NDArray[np.int32]:
    """Return the position that each entry of the later lists had in the same list earlier, or `ABSENT`."""
    before = np.full(later.items.shape, ABSENT, np.int32)
    for position in range(earlier.top):
        column = earlier.items[:, position]
        before[(later.items == column[:, None]) & (column != EMPTY)[:, None]] = position
    return before


def distinguishes(earlier: Lists, later: Lists) -> NDArray[np.bool_]:
    """Return which entries of the later lists are new in their list or higher than before: (n_items, top)."""
    here = np.arange(later.top, dtype=np.int32)
    higher: NDArray[np.bool_] = here < positions_before(earlier, later)
    return higher & (later.items != EMPTY)


def moved(earlier: Lists, later: Lists) -> dict[int, list[int]]:
    """Return S_i for every item i that distinguishes a list: the items in whose lists it appeared or rose."""
    lists, places = np.nonzero(distinguishes(earlier, later))
    sets: dict[int, list[int]] = {}
    for owner, target in zip(lists.tolist(), later.items[lists, places].tolist(), strict=True):
        sets.setdefault(target, []).append(owner)
    return sets


@dataclass(frozen=True, eq=False, slots=True)
class Sight:
    """What somebody has seen who has looked at every release since one of them, the *start*.

    An entry of the next release is *quiet* if it was in its list in every release since the start, never below the
    position it has now: it distinguishes its list from none of them, and what was added since the start did not bring
    it. Every other entry *moves*.
    """

    start: int  # time of the release at the start
    lasting: NDArray[np.int32]  # (n_items, width) entries that were in their list in every release, `EMPTY` elsewhere
    lowest: NDArray[np.int32]  # (n_items, width) the lowest position that each of them had
    past: NDArray[np.int64]  # keys of what has moved in a release since the start, ascending (`move_keys`)

    @classmethod
    def of(cls, time: int, lists: Lists) -> Sight:
        """Return what is seen from one release alone."""
        here = np.broadcast_to(np.arange(lists.top, dtype=np.int32), lists.items.shape)
        return cls(time, lists.items, here, np.zeros(0, np.int64))

    def moving(self, lists: Lists) -> NDArray[np.bool_]:
        """Return which entries of the next release move: (n_items, top)."""
        here, quiet = np.arange(lists.top, dtype=np.int32), np.zeros(lists.items.shape, np.bool_)
        for column, lowest in zip(self.lasting.T, self.lowest.T, strict=True):
            quiet |= (lists.items == column[:, None]) & (here >= lowest[:, None])
        moving: NDArray[np.bool_] = ~quiet & (lists.items != EMPTY)
        return moving

    def after(self, lists: Lists, changed: NDArray[np.intp] | None = None) -> Sight:
        """Return what is seen once the next release is published.

        ``changed`` are the items whose lists differ from the last release's, if they are known: another list brings
        nothing that was not seen before.
        """
        if changed is not None:
            some = Sight(self.start, self.lasting[changed], self.lowest[changed], np.zeros(0, np.int64))
            return self._with(some.after(Lists(lists.items[changed])), changed, self._moves(lists, changed))
        here = np.broadcast_to(np.arange(lists.top, dtype=np.int32), lists.items.shape)
        lasting, lowest = np.full_like(lists.items, EMPTY), here
        for column, before in zip(self.lasting.T, self.lowest.T, strict=True):
            same = (lists.items == column[:, None]) & (lists.items != EMPTY)
            lasting[same] = lists.items[same]
            lowest = np.where(same, np.maximum(here, before[:, None]), lowest)
        past = np.union1d(self.past, move_keys(lists, self.moving(lists)))
        return Sight(self.start, lasting, np.ascontiguousarray(lowest), past)

    def _moves(self, lists: Lists, changed: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the keys of what moves in some lists."""
        some = Sight(self.start, self.lasting[changed], self.lowest[changed], self.past[:0])
        owners, places = np.nonzero(some.moving(Lists(lists.items[changed])))
        return lists.items[changed[owners], places].astype(np.int64) * lists.n_items + changed[owners]

    def _with(self, some: Sight, changed: NDArray[np.intp], moves: NDArray[np.int64]) -> Sight:
        """Return this with the rows of some items from another sight, and with further moves."""
        lasting, lowest = self.lasting.copy(), self.lowest.copy()
        lasting[changed], lowest[changed] = some.lasting, some.lowest
        return Sight(self.start, lasting, lowest, np.union1d(self.past, moves))


def seen_after(sights: Sequence[Sight], release: ListRelease) -> tuple[Sight, ...]:
    """Return what is seen from every start once a release is published: a release is a start of its own."""
    changed = _changed(sights[-1].lasting, release.lists.items) if sights else None
    return (*(sight.after(release.lists, changed) for sight in sights), Sight.of(release.time, release.lists))


def _changed(last: NDArray[np.int32], items: NDArray[np.int32]) -> NDArray[np.intp] | None:
    """Return the items whose lists differ from those of the last release; None if lists had another length."""
    return np.flatnonzero((last != items).any(axis=1)) if last.shape == items.shape else None


def move_keys(lists: Lists, moving: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the moves of lists as ascending numbers: target times the number of items, plus the item of the list."""
    owners, places = np.nonzero(moving)
    return np.sort(lists.items[owners, places].astype(np.int64) * lists.n_items + owners)


def starts_of(bound: BoundOptions, earlier: Sequence[int], time: int, holders: Holders) -> NDArray[np.int64]:
    """Return the times from which additions count at a release: the earlier releases of the horizon.

    They begin with the last release that is not inside the horizon, so that all that was first seen inside it counts.
    """
    moments = np.asarray(earlier, np.int64)
    kind, length = horizon_of(bound.horizon)
    if kind == "all" or not len(moments):
        return moments
    if kind == "seconds":
        outside = moments <= time - length
    else:
        known = np.sort(holders.times[holders.times <= time])
        outside = len(known) - np.searchsorted(known, moments, side="right") >= length
    return moments[max(int(outside.sum()) - 1, 0) :]


def asked_of(bound: BoundOptions, sights: Sequence[Sight], time: int, holders: Holders) -> tuple[Sight, ...]:
    """Return the sights that a release is asked about: one per start of the horizon, the last release's last.

    Under *total* the probability does not depend on the start, and the longest sight sees all that the others see.
    """
    n = len(starts_of(bound, [sight.start for sight in sights], time, holders))
    asked = tuple(sights[len(sights) - n :])
    return (asked[0], asked[-1]) if bound.evidence == "total" and n > 1 else asked


def pairs(releases: Sequence[ListRelease], bound: BoundOptions) -> Iterator[tuple[ListRelease, ListRelease]]:
    """Yield every two releases that one window covers, earlier first: the paper's comparison."""
    for last in range(1, len(releases)):
        for first in range(last - bound.span(last + 1), last):
            yield releases[first], releases[last]


def require_window(bound: BoundOptions, n_releases: int) -> None:
    """Raise OptionError for a window that is longer than the history."""
    if bound.window is not None and n_releases < bound.window < ALL_RELEASES:
        raise OptionError(
            f"a window of {bound.window} releases is longer than the history of {n_releases}; use window='all'"
        )
