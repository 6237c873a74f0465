"""The gaps of a draft, and the cheapest change that hides its writer from every attacker of the panel.

A change may leave mentions out, name a series instead of a title, say no opinion, add popular titles, and wait. Every
part has a price in mentions (`COSTS`). For each way to wait, to say no opinion and to add, `keep` adds the mentions one
by one, the least telling first, as long as the writer stays hidden; the cheapest result is the advice. What is tried,
and in which order, depends on public numbers and on the writer's own ratings only, and the only thing learned of other
people on the way is whether a set of mentions hides: nothing that the writer could not ask one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recloak._mentions.advisor_index import AdvisorIndex
from recloak._mentions.draft_question import MOST_ADDS, Question, Spoken, as_series, most_adds
from recloak._mentions.draft_rank_kernels import added_up, keep, later_effects, mention_effects, moment_effects, no_gaps
from recloak._mentions.model import NO_TIME
from recloak._mentions.panel import members
from recloak._mentions.panel_kernels import DAY, MOST_MOMENTS, PANEL

WAITS = (0, 7, 30, 90, 365)  # days
ADDS = (0, 1, 2, 3, 5, 8, 12, 20, 30, 40, MOST_ADDS)  # as far as `most_adds` of the draft allows
COSTS = {"drop": 1.0, "series": 0.5, "add": 0.15, "opinion": 0.25}  # in mentions left out
_WAIT_COSTS = dict(zip(WAITS, (0.0, 0.25, 0.5, 0.75, 1.0), strict=True))
_NOTHING_LEFT = 1.0  # price of having nothing left to post
LEARNED_MARGIN = 1.2  # in guarded advice, for attackers whose constants come from the sample
MOST_TRIED = 16  # of a longer draft the most telling mentions are tried; the others stay

TIMELESS = tuple(name for name in members(("titles", "opinions")) if name != "learned")

Effects = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Way:
    """How a draft is changed as a whole."""

    days: int = 0
    strip: bool = False
    n_adds: int = 0

    def cost(self, n_opinions: int) -> float:
        """Return the price, without what is left out."""
        return _WAIT_COSTS[self.days] + COSTS["opinion"] * n_opinions * self.strip + COSTS["add"] * self.n_adds


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
    _tables: dict[tuple[int, bool], DraftTables] = field(init=False, default_factory=dict)
    _postings: dict[int, Posting] = field(init=False, default_factory=dict)
    _added: dict[int, Effects] = field(init=False, default_factory=dict)
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
        """Return by how much a place is divided: what a sample taught, everybody may teach better."""
        sure = self.index.guard is None or "times" not in self.uses
        return np.array([1.0 if sure or name in TIMELESS else LEARNED_MARGIN for name in names])

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

    def tables(self, days: int = 0, *, strip: bool = False) -> DraftTables:
        """Return the effects of the draft, some days later or without opinions."""
        if (days, strip) not in self._tables:
            self._tables[days, strip] = self._make_tables(days, strip=strip)
        return self._tables[days, strip]

    def _make_tables(self, days: int, *, strip: bool) -> DraftTables:
        now, (vague, vague_of) = self.question.draft.changed(strip=strip), self._series
        if days:
            made = self.tables(strip=strip)
            return DraftTables(
                self._later(made.effects, now, days),
                self._posting(days),
                self._later(made.vague, vague, days),
                vague_of,
            )
        said = self.tables().vague if strip else self.mention_effects(vague)  # a series is named without opinion
        return DraftTables(self.mention_effects(now), self._posting(0), said, vague_of)

    def _later(self, effects: Effects, spoken: Spoken, days: int) -> Effects:
        arrays = (spoken.items, spoken.times, days * DAY, spoken.mine, spoken.muted)
        later: Effects = later_effects(effects, *arrays, self.index.pool, self.index.known)
        return later

    def _posting(self, days: int) -> Posting:
        """Return the moments of the draft, some days later, as far as nothing was posted on those days before."""
        if days not in self._postings:
            times = self.question.draft.changed(days=days).times
            timed = len(self.index.pool.times) > 0
            said = set((days_in(self.question.earlier) // DAY).tolist())
            new = [time for time in first_of_days(times).tolist() if timed and time // DAY not in said]
            places = {time // DAY: place for place, time in enumerate(new)}
            of = [-1 if time == NO_TIME else places.get(time // DAY, -1) for time in times.tolist()]
            last = of[int(times.argmax())] if of else -1
            effects = self._moments(np.array(new, np.int64))
            self._postings[days] = Posting(effects, np.array(of, np.int64), last)
        return self._postings[days]

    def added(self, n_adds: int, days: int = 0) -> Effects:
        """Return the effects of each of the first decoys, some days later."""
        n_adds = min(n_adds, len(self.question.decoys))
        made = self._added.get(days)
        if made is None or len(made) < n_adds:
            decoys = self.question.decoys.at(range(n_adds))
            made = self._later(self.added(n_adds), decoys, days) if days else self.mention_effects(decoys)
            self._added[days] = made
        return made[:n_adds]

    def after(self, days: int = 0, *, strip: bool = False) -> Effects:
        """Return the gaps once the whole draft is posted."""
        tables = self.tables(days, strip=strip)
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
        tables = self.tables(way.days, strip=way.strip)
        tried = set(self.tried.tolist())
        fixed = [n for n in range(len(self.question.draft)) if n not in tried]
        posted = tables.posted(fixed, with_last=way.n_adds > 0)
        gaps = self.with_all(tables, fixed, posted)
        if way.n_adds:
            decoys = self.added(way.n_adds, way.days)
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

    First without waiting; then with each wait, where attackers who know no times would let more stay.
    """
    n_opinions = int(np.isfinite(gaps.question.draft.opinions).sum())
    adds = [n for n in ADDS if n <= most_adds(len(gaps.question.draft))]
    stripped = (False, True) if n_opinions else (False,)
    best = _cheapest(gaps, [Way(0, strip, n) for strip in stripped for n in adds], border, None)
    if waiting_helps(gaps, border, best):
        some = [n for n in adds if best is None or n in (0, best.way.n_adds, adds[-1])]
        strip = stripped[-1] if best is None else best.way.strip
        best = _cheapest(gaps, [Way(days, strip, n) for days in WAITS[1:] for n in some], border, best)
    return best


def waiting_helps(gaps: DraftGaps, border: float, best: HidingChange | None) -> bool:
    """Return whether more could stay if nobody knew times."""
    if "times" not in gaps.uses or not (gaps.question.draft.times != NO_TIME).any():
        return False
    way = Way() if best is None else best.way
    hidden, state = gaps.keep(way, border, TIMELESS)
    return hidden and (best is None or int((state == 0).sum()) < len(best.drop))


def _cheapest(gaps: DraftGaps, ways: list[Way], border: float, best: HidingChange | None) -> HidingChange | None:
    n_opinions = int(np.isfinite(gaps.question.draft.opinions).sum())
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
