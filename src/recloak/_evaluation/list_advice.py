"""Which delta and which horizon: replay the ratings under each, and measure what is kept and what an observer infers.

Beside our settings stand three other ways to publish (`list_baselines`), measured by the same observer on the same
targets. Only a setting that protects is recommended: one whose yield is, even by the upper end of its interval, at most
two thirds of that of true lists. Of these count the ones that keep enough of the true lists (or else the one that keeps
most), of these the ones whose yield cannot be told from the lowest, and of these the one that keeps most. Where no
setting protects, or where that could not be measured, none is recommended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recloak._attacks.learned_observer import CONTROL, observe, observe_each
from recloak._attacks.options import ObserverOptions
from recloak._attacks.yields import ACCURACIES, Observation
from recloak._core.intervals import Share
from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._core.results import Result, counted, plural
from recloak._evaluation import list_baselines as baselines
from recloak._ratings.model import Ratings
from recloak._related.measures import cost
from recloak._related.model import ListRelease, Lists
from recloak._related.options import BoundOptions, MethodOptions, ProtocolOptions, SimilarityOptions
from recloak._related.similarity import lists_by_period
from recloak._related.simulation import schedule, simulate

DELTAS = (0.1, 0.3)
HORIZONS = ("30d", "all")
OURS, TRUE, RARER, LATER, NOISE = "bound", "true lists", "every n-th night", "delay by n nights", "noise"
JUDGED_AT = 0.3  # accuracy at which yields are compared: the surest inferences are too few to tell settings apart
PROTECTS_BELOW = 2 / 3  # of the yield of true lists: a setting that leaves more of it is not recommended
_NIGHTS = (2, 4)
_NOISES = (("person", 10.0), ("rating", 100.0))  # what is hidden, and the epsilon of all releases together


@dataclass(frozen=True, slots=True)
class AdvisedSetting:
    """One way to publish: what it keeps, and what an observer infers from it."""

    way: str
    name: str
    delta: float | None
    horizon: str | None
    evidence: str | None
    recall: float  # mean over the releases after the first
    last_recall: float
    max_breach: float | None
    observation: Observation

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        head = {"way": self.way, "name": self.name, "delta": self.delta, "horizon": self.horizon}
        figures = {"recall": self.recall, "last_recall": self.last_recall, "max_breach": self.max_breach}
        return {**head, "evidence": self.evidence, **figures, "observer": self.observation.to_json()}


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class ListAdvice(Result):
    """Every setting that was tried, other ways to publish beside them, and a recommendation in one sentence."""

    settings: tuple[AdvisedSetting, ...]
    others: tuple[AdvisedSetting, ...]
    control: Observation  # the observer without any moves
    n_releases: int
    least_recall: float

    def __len__(self) -> int:
        return len(self.settings)

    def __iter__(self) -> Iterator[AdvisedSetting]:
        return iter(self.settings)

    def __repr__(self) -> str:
        return counted(self, plural(len(self.settings), "setting"), f"{len(self.others)} others")

    @property
    def best(self) -> AdvisedSetting | None:
        """The recommended setting; None if no setting is known to protect."""
        protecting = [one for one in self.settings if self._protects(one)]
        kept = [one for one in protecting if one.recall >= self.least_recall]
        if not kept:
            return max(protecting, key=lambda one: (one.recall, -_yield(one)), default=None)
        lowest = min(kept, key=lambda one: (_yield(one), -one.recall))
        alike = [one for one in kept if _yield(one) <= _highest(lowest)]
        return max(alike, key=lambda one: (one.recall, -_yield(one)))

    @property
    def strongest(self) -> AdvisedSetting:
        """The setting with the lowest yield; where none was measured, the one with the smallest delta."""
        measured = [one for one in self.settings if one.observation.is_measured]
        if not measured:
            return min(self.settings, key=lambda one: (one.delta or 0.0, one.horizon != "all"))
        return min(measured, key=lambda one: (_yield(one), -one.recall))

    def _protects(self, one: AdvisedSetting) -> bool:
        """Return whether a setting's yield was measured and is clearly below that of true lists."""
        true = self._true_yield
        return bool(true) and one.observation.is_measured and _highest(one) <= PROTECTS_BELOW * true

    @property
    def _true_yield(self) -> float:
        return _yield(self.others[0])

    @property
    def sentence(self) -> str:
        """The recommendation in plain words, or why there is none."""
        return self._not_recommended() if self.best is None else self._recommended(self.best)

    def _recommended(self, best: AdvisedSetting) -> str:
        what = f"Publish with {_asked(best)}: it keeps {best.recall:.1%} of the true lists"
        if best.recall < self.least_recall:
            what += (
                f", less than the {self.least_recall:.0%} that you asked for, but no setting that protects keeps more"
            )
        return (
            f"{what}, and an observer infers {_with_interval(best)} of what people add with {JUDGED_AT:.0%} of the "
            f"inferences right, where true lists give {self._true_yield:.1%} and no moves "
            f"{self.control.at(JUDGED_AT) or 0:.1%}."
        )

    def _not_recommended(self) -> str:
        one, true = self.strongest, self._true_yield
        keeps = f"{_asked(one)}, which keeps {one.recall:.1%} of the true lists"
        if not (one.observation.is_measured and self.others[0].observation.is_measured):
            return (
                "None of the tried settings is known to protect: what an observer infers could not be measured, for "
                f"too little was added between releases. The strictest tried is {keeps}."
            )
        if not true:
            return (
                "None of the tried settings is known to protect: even from true lists the observer infers nothing with "
                f"{JUDGED_AT:.0%} of the inferences right, so there is nothing to compare with. The strongest tried is "
                f"{keeps} and leaves a yield of {_with_interval(one)} where true lists give 0.0%."
            )
        return (
            f"None of the tried settings protects much: with {JUDGED_AT:.0%} of the inferences right an observer "
            f"infers {true:.1%} of what people add from true lists, and no setting clearly leaves at most two thirds "
            f"of that. The strongest tried is {keeps} and leaves a yield of {_with_interval(one)} where true lists "
            f"give {true:.1%}."
        )

    def to_polars(self) -> pl.DataFrame:
        """Return a row per setting and per other way: recall, breach and the yields."""
        rows = []
        for one in (*self.settings, *self.others):
            row = {name: value for name, value in one.to_json().items() if name != "observer"}
            rows.append({**row, **{f"yield_{level}": one.observation.at(level) for level in ACCURACIES}})
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_json(self) -> dict[str, Any]:
        """Return every setting and the recommendation, ready for JSON."""
        return {
            "recommended": {**_chosen(self.best), "sentence": self.sentence},
            "strongest": _chosen(self.strongest),
            "advice": [one.to_json() for one in self.settings],
            "others": [one.to_json() for one in self.others],
            "control": self.control.to_json(),
            "releases": self.n_releases,
        }


def _asked(one: AdvisedSetting) -> str:
    return f"--delta {one.delta:g} --horizon {one.horizon}"


def _chosen(one: AdvisedSetting | None) -> dict[str, Any]:
    return {"delta": one and one.delta, "horizon": one and one.horizon}


def _with_interval(one: AdvisedSetting) -> str:
    found = _yielded(one)
    return f"{found.rate:.1%} ({found.low:.1%} to {found.high:.1%})"


def _yield(one: AdvisedSetting) -> float:
    return one.observation.at(JUDGED_AT) or 0.0


def _highest(one: AdvisedSetting) -> float:
    return _yielded(one).high


def _yielded(one: AdvisedSetting) -> Share:
    return next(each.yielded for each in one.observation.yields or () if each.accuracy == JUDGED_AT)


def advise(
    ratings: Ratings,
    *,
    deltas: Sequence[float] = DELTAS,
    horizons: Sequence[str] = HORIZONS,
    evidence: Sequence[str] = ("fresh",),
    least_recall: float = 0.9,
    protocol: ProtocolOptions | None = None,
    bound: BoundOptions | None = None,
    method: MethodOptions | None = None,
    similarity: SimilarityOptions | None = None,
    observer: ObserverOptions | None = None,
    rng: Rng = None,
) -> ListAdvice:
    """Replay the ratings under every setting and in every other way, and attack each."""
    protocol, method = protocol or ProtocolOptions(gap=10.0), method or MethodOptions()
    bound, streams = bound or BoundOptions(), randomness(rng)
    similarity = (similarity or SimilarityOptions()).replace(min_support=bound.min_support)
    times = schedule(ratings, protocol)
    rankings = list(lists_by_period(ratings, times, method.depth, similarity))
    true = [
        ListRelease(n + 1, time, each.cut(method.top))
        for n, (time, each) in enumerate(zip(times, rankings, strict=True))
    ]
    asked = [bound.replace(delta=delta, horizon=horizon, evidence=meaning)
             for meaning in evidence for horizon in horizons for delta in deltas]  # fmt: skip
    trial = _Trial(ratings, true, observer or ObserverOptions(), streams)
    with task("ways to publish", len(asked) + 1) as advance:
        others, control = trial.others(bound.min_support)
        advance(1)
        settings = []
        for one in asked:
            run = simulate(ratings, protocol=protocol, bound=one, method=method, rankings=rankings, compare=False)
            settings.append(trial.of_bound(one, [release.lists for release in run.releases], run.max_breach))
            advance(1)
    return ListAdvice(
        settings=tuple(settings),
        others=tuple(others),
        control=control,
        n_releases=len(times),
        least_recall=least_recall,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Trial:
    """What every way to publish is measured with."""

    ratings: Ratings
    true: list[ListRelease]
    options: ObserverOptions
    streams: Randomness

    def observed(self, releases: Sequence[ListRelease]) -> Observation:
        return observe(releases, self.ratings, self.options, rng=self.streams)

    def dated(self, lists: Sequence[Lists]) -> list[ListRelease]:
        return [ListRelease(one.number, one.time, shown) for one, shown in zip(self.true, lists, strict=True)]

    def of_bound(self, bound: BoundOptions, lists: Sequence[Lists], max_breach: float) -> AdvisedSetting:
        """Return the figures of one of our settings."""
        name = f"delta {bound.delta:g}, horizon {bound.horizon}"
        about = bound.delta, bound.horizon, bound.evidence
        return AdvisedSetting(OURS, name, *about, *self.recalls(lists), max_breach, self.observed(self.dated(lists)))

    def others(self, min_support: int) -> tuple[list[AdvisedSetting], Observation]:
        """Return the figures of the other ways, true lists first, and what an observer infers without any moves."""
        seen, control = observe_each(self.true, self.ratings, self.options, withouts=((), CONTROL), rng=self.streams)
        found = [self._other(TRUE, "every night", [one.lists for one in self.true], seen)]
        for n in _NIGHTS:
            if len(self.true) > 2 * n:
                rarer = self.observed(self.true[::n])  # what was added between the releases that are shown
                found.append(self._other(RARER, f"every {n} nights", baselines.every_nth(self.true, n), rarer))
                found.append(self._other(LATER, f"{n} nights later", baselines.delayed(self.true, n), seen))
        found += [self._noisy(unit, epsilon, min_support) for unit, epsilon in _NOISES]
        return found, control

    def _noisy(self, unit: str, epsilon: float, min_support: int) -> AdvisedSetting:
        times, top = [one.time for one in self.true], self.true[0].lists.top
        made = baselines.noisy_lists(
            self.ratings, times, top, epsilon=epsilon, unit=unit, min_support=min_support, rng=self.streams
        )
        lists = list(made)
        return self._other(NOISE, f"epsilon {epsilon:g} per {unit}", lists, self.observed(self.dated(lists)))

    def _other(self, way: str, name: str, lists: Sequence[Lists], seen: Observation) -> AdvisedSetting:
        return AdvisedSetting(way, name, None, None, None, *self.recalls(lists), None, seen)

    def recalls(self, lists: Sequence[Lists]) -> tuple[float, float]:
        """Return the mean recall over the releases after the first, and that of the last."""
        each = [cost(shown, one.lists).recall for one, shown in zip(self.true, lists, strict=True)]
        return float(np.mean(each[1:] or each)), each[-1]
