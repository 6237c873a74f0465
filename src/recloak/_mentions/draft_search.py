"""The gaps of a draft, and the cheapest change that hides its writer from every attacker of the panel.

A change may leave mentions out, name a series instead of a title, say no opinion and add popular titles. Every part
has a price in mentions (`COSTS`). For each way to say no opinion and to add, `keep` adds the mentions one by one, the
least telling first, as long as the writer stays hidden; the cheapest result is the advice. What is tried, and in which
order, depends on public numbers and on the writer's own ratings only, and the only thing learned of other people on
the way is whether a set of mentions hides: nothing that the writer could not ask one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recloak._mentions.advisor_index import AdvisorIndex
from recloak._mentions.draft_question import MOST_ADDS, Question, Spoken, as_series, most_adds
from recloak._mentions.draft_rank_kernels import added_up, keep, mention_effects, moment_effects, no_gaps
from recloak._mentions.model import NO_TIME
from recloak._mentions.panel import members
from recloak._mentions.panel_kernels import DAY, MOST_MOMENTS, PANEL

ADDS = (0, 1, 2, 3, 5, 8, 12, 20, 30, 40, MOST_ADDS)  # as far as `most_adds` of the draft allows
COSTS = {"drop": 1.0, "series": 0.5, "add": 0.15, "opinion": 0.25}  # in mentions left out
_NOTHING_LEFT = 1.0  # price of having nothing left to post
EXACT_MARGIN = 1.5  # for attackers who use times
GUARDED_MARGIN = 1.2  # less, because a sample has fewer people to stand before the writer
MOST_TRIED = 16  # of a longer draft the most telling mentions are tried; the others stay

_TIMED_IF_KNOWN = ("knowing_time", "knowing_half", "learned")
TIMELESS = tuple(name for name in members(("titles", "opinions")) if name not in _TIMED_IF_KNOWN)

Effects = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Way:
    """How a draft is changed as a whole."""

    strip: bool = False
    n_adds: int = 0

    def cost(self, n_opinions: int) -> float:
        """Return the price, without what is left out."""
        return COSTS["opinion"] * n_opinions * self.strip + COSTS["add"] * self.n_adds


@dataclass(frozen=True, slots=True)
class HidingChange:
    """A change that hides: the way, and the positions in the draft to leave out and to name by their series."""

    way: Way
    drop: tuple[int, ...]
    series: tuple[int, ...]
    cost: float


@dataclass(eq=False, slots=True)
class DraftGaps:
    """The gaps and effects of one question, worked out where they are first needed."""

    index: AdvisorIndex
    question: Question
    most_tried: int = MOST_TRIED
    attackers: NDArray[np.int64] = field(init=False)
    margins: NDArray[np.float64] = field(init=False)  # by attacker
    uses: tuple[str, ...] = field(init=False)
    tried: NDArray[np.int64] = field(init=False)  # positions in the draft, the most telling last
    before: Effects = field(init=False)  # gaps by what was said earlier
    _tables: dict[bool, DraftTables] = field(init=False, default_factory=dict)
    _added: Effects | None = field(init=False, default=None)
    _series: tuple[Spoken, NDArray[np.int64]] = field(init=False)

    def __post_init__(self) -> None:
        question, index = self.question, self.index
        self.uses = _uses(question, timed=len(index.pool.times) > 0)
        self.attackers = np.array([PANEL.index(name) for name in members(self.uses)], np.int64)
        self.margins = self._margins(members(self.uses))
        evidence = question.evidence(index, question.draft)
        order = np.lexsort((-index.raters[question.draft.items], evidence))
        self.tried = order[-self.most_tried :] if self.most_tried else order[:0]
        self._series = as_series(index, question, question.draft)
        gaps = no_gaps(int(index.listed[question.user]), index.pool)
        if len(question.earlier):
            gaps = gaps + self._total(question.earlier)
        moments = self._moments(days_in(question.earlier)[-MOST_MOMENTS:])
        self.before = added_up(gaps, moments, np.arange(len(moments)))

    def _margins(self, names: tuple[str, ...]) -> NDArray[np.float64]:
        """Return by how much a place is divided: others may have learned to weigh times better."""
        margin = EXACT_MARGIN if self.index.guard is None else GUARDED_MARGIN
        return np.array([1.0 if "times" not in self.uses or name in TIMELESS else margin for name in names])

    def mention_effects(self, spoken: Spoken, *, total: bool = False) -> Effects:
        """Return the effects of mentions, of each or of all together."""
        q, index = self.question, self.index
        arrays = (spoken.items, spoken.times, spoken.opinions, spoken.mine, spoken.muted)
        effects: Effects = mention_effects(*arrays, q.appetite, q.norm, index.pool, index.known, total)
        return effects

    def _total(self, spoken: Spoken) -> Effects:
        return self.mention_effects(spoken, total=True)[0]

    def _moments(self, times: NDArray[np.int64]) -> Effects:
        if not len(self.index.pool.times):
            times = times[:0]
        effects: Effects = moment_effects(times, self.question.moments, self.index.pool, self.index.known)
        return effects

    def tables(self, *, strip: bool = False) -> DraftTables:
        """Return the effects of the draft, as it is or without opinions."""
        if strip not in self._tables:
            self._tables[strip] = self._make_tables(strip=strip)
        return self._tables[strip]

    def _make_tables(self, *, strip: bool) -> DraftTables:
        draft, (vague, vague_of) = self.question.draft, self._series
        if strip:
            made = self.tables()  # a series is named without opinion
            return DraftTables(self.mention_effects(draft.unvoiced()), made.posting, made.vague, vague_of)
        return DraftTables(self.mention_effects(draft), self._posting(), self.mention_effects(vague), vague_of)

    def _posting(self) -> Posting:
        """Return the moments of the draft, as far as nothing was posted on those days before."""
        times = self.question.draft.times
        timed = len(self.index.pool.times) > 0
        said = set((days_in(self.question.earlier) // DAY).tolist())
        new = [time for time in first_of_days(times).tolist() if timed and time // DAY not in said]
        places = {time // DAY: place for place, time in enumerate(new)}
        of = [-1 if time == NO_TIME else places.get(time // DAY, -1) for time in times.tolist()]
        last = of[int(times.argmax())] if of else -1
        return Posting(self._moments(np.array(new, np.int64)), np.array(of, np.int64), last)

    def added(self, n_adds: int) -> Effects:
        """Return the effects of each of the first decoys."""
        n_adds = min(n_adds, len(self.question.decoys))
        if self._added is None or len(self._added) < n_adds:
            self._added = self.mention_effects(self.question.decoys.at(range(n_adds)))
        return self._added[:n_adds]

    def after(self, *, strip: bool = False) -> Effects:
        """Return the gaps once the whole draft is posted."""
        tables = self.tables(strip=strip)
        return self.with_all(tables, range(len(tables.effects)), range(len(tables.moments)))

    def with_all(self, tables: DraftTables, said: Iterable[int], moments: Iterable[int]) -> Effects:
        """Return the gaps once some mentions are posted at some moments."""
        gaps = self.before
        for effects, some in ((tables.effects, said), (tables.moments, moments)):
            places = np.fromiter(some, np.int64)
            gaps = added_up(gaps, effects, places) if len(places) else gaps
        return gaps

    def keep(self, way: Way, border: float, names: tuple[str, ...] | None = None) -> tuple[bool, NDArray[np.int64]]:
        """Return whether something can stay on this way before some attackers, and how each tried mention stays."""
        attackers = self.attackers if names is None else np.array([PANEL.index(name) for name in names], np.int64)
        borders = border * (self.margins if names is None else self._margins(names))
        tables = self.tables(strip=way.strip)
        tried = set(self.tried.tolist())
        fixed = [n for n in range(len(self.question.draft)) if n not in tried]
        posted = tables.posted(fixed, with_last=way.n_adds > 0)
        gaps = self.with_all(tables, fixed, posted)
        if way.n_adds:
            decoys = self.added(way.n_adds)
            gaps = added_up(gaps, decoys, np.arange(len(decoys)))
        moment_of = tables.moment_of.copy()
        for moment in posted:
            moment_of[moment_of == moment] = -1
        hidden, state = keep(
            gaps,
            tables.effects,
            tables.vague,
            tables.vague_of,
            tables.moments,
            moment_of,
            self.tried,
            attackers,
            borders,
        )
        return bool(hidden), state


@dataclass(frozen=True, eq=False, slots=True)
class Posting:
    """When a draft is posted: the effects of each moment, and which moment each mention has."""

    moments: Effects  # (n_moments, n_attackers, n_candidates)
    moment_of: NDArray[np.int64]  # (n_draft,) -1: none of its own
    last: int  # the moment of the last mention, with which decoys are posted, -1: none of its own


@dataclass(frozen=True, eq=False, slots=True)
class DraftTables:
    """The effects of a draft: of each mention, of its moments, and of naming a series instead."""

    effects: Effects  # (n_draft, n_attackers, n_candidates)
    posting: Posting
    vague: Effects
    vague_of: NDArray[np.int64]  # (n_draft,) place in ``vague``, -1: none

    @property
    def moments(self) -> Effects:
        """The effects of each moment."""
        return self.posting.moments

    @property
    def moment_of(self) -> NDArray[np.int64]:
        """The moment of each mention."""
        return self.posting.moment_of

    def posted(self, said: list[int], *, with_last: bool) -> list[int]:
        """Return the moments of some mentions, and the last one if something is added."""
        last = {self.posting.last} if with_last else set()
        return sorted({*self.moment_of[said].tolist(), *last} - {-1})


def days_in(spoken: Spoken) -> NDArray[np.int64]:
    """Return the first time of each day with mentions."""
    return first_of_days(spoken.times)


def first_of_days(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first of the known times of each day, ascending."""
    known = np.sort(times[times != NO_TIME])
    return known[np.diff(known // DAY, prepend=np.int64(NO_TIME)) != 0]


def _uses(question: Question, *, timed: bool) -> tuple[str, ...]:
    said = (question.earlier, question.draft)
    opinions = ("opinions",) if any(np.isfinite(one.opinions).any() for one in said) else ()
    times = ("times",) if timed and any((one.times != NO_TIME).any() for one in said) else ()
    return ("titles", *opinions, *times)


def cheapest_change(gaps: DraftGaps, border: float) -> HidingChange | None:
    """Return the cheapest change that hides the writer, or None where even saying nothing does not.

    Waiting is no such change: whoever knows that people wait shifts the times back.
    """
    n_opinions = int(np.isfinite(gaps.question.draft.opinions).sum())
    adds = [n for n in ADDS if n <= most_adds(len(gaps.question.draft))]
    ways = [Way(strip, n) for strip in ((False, True) if n_opinions else (False,)) for n in adds]
    best = None
    for way in sorted(ways, key=lambda one: one.cost(n_opinions)):
        cost = way.cost(n_opinions)
        if best is not None and cost >= best.cost:
            break
        found = _along(gaps, way, cost, border)
        if found is not None and (best is None or found.cost < best.cost):
            best = found
    return best


def _along(gaps: DraftGaps, way: Way, cost: float, border: float) -> HidingChange | None:
    hidden, state = gaps.keep(way, border)
    if not hidden:
        return None
    drop = tuple(n for n in sorted(gaps.tried.tolist()) if state[n] == 0)
    series = tuple(n for n in sorted(gaps.tried.tolist()) if state[n] == 1)
    cost += _NOTHING_LEFT * (len(drop) == len(gaps.question.draft))
    return HidingChange(way, drop, series, cost + COSTS["drop"] * len(drop) + COSTS["series"] * len(series))
