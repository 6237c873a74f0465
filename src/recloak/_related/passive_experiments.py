"""The experiments of section 6 of paper 003: one parameter varied at a time, every method on the same releases.

What several runs share is made once: the releases of every gap fall on moments of the shortest one, so that the true
rankings (and those of RP, from ratings that were disturbed once) are found once per moment; a setting that several
figures show is run once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from recloak._core.progress import task
from recloak._core.randomness import Rng
from recloak._ratings.model import Ratings
from recloak._related.ceiling import mean_ceiling
from recloak._related.lists import perturbed
from recloak._related.measures import cost
from recloak._related.methods import METHODS
from recloak._related.model import Holders, ListRelease, Lists
from recloak._related.nightly import Step, make_release
from recloak._related.options import EVIDENCE, BoundOptions, MethodOptions, ProtocolOptions
from recloak._related.similarity import nearest
from recloak._related.simulation import schedule

PARAMETERS: dict[str, tuple[float, ...]] = {
    "delta": (0.05, 0.1, 0.2, 0.3, 0.5),
    "window": (2, 4, 6),
    "gap": (5, 10, 15),
    "top": (3, 5, 10),
}
DEFAULTS: dict[str, float] = {"window": 4, "gap": 5, "delta": 0.1, "top": 5}
_OF_PAPER = [method for method in METHODS.values() if method.is_printed]
SAFE_SERIES = {f"{one.label}, {evidence}": (one.name, evidence) for evidence in EVIDENCE for one in _OF_PAPER}
SERIES = {**SAFE_SERIES, **{one.label: (one.name, "fresh") for one in METHODS.values() if one.uses_noise}}
PRINTED = {f"{one.label}, total": f"printed {one.label}" for one in _OF_PAPER}


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """One method at one setting, over all its releases; means are over the releases after the first."""

    recall: float
    targeted_recall: float
    suppressed: float  # per release
    max_breach: float
    seconds: float  # of anonymising, all releases, CPU time


Run = tuple[str, float, float, float, float]  # series, window, gap, delta, top
Notes = MutableMapping[str, dict[str, float]]  # outcomes that are known already, by the name of their run


@dataclass(frozen=True, slots=True)
class PassiveReproduction:
    """All outcomes by run, and for each delta the recall that no method can exceed under *total*."""

    outcomes: dict[Run, ExperimentResult]
    printed: dict[str, ExperimentResult]  # the algorithm to the letter, at the default setting
    ceilings: dict[float, float]
    n_releases: int

    def curve(self, series: str, parameter: str, figure: str) -> dict[float, float]:
        """Give one figure of a series along a parameter."""
        return {
            value: getattr(self.outcomes[_run(series, {**DEFAULTS, parameter: value})], figure)
            for value in PARAMETERS[parameter]
        }

    def default(self, series: str) -> ExperimentResult:
        """Give the outcome of a series at the default setting."""
        return self.outcomes[_run(series, DEFAULTS)]

    def to_json(self) -> dict[str, Any]:
        """Give everything by name."""
        names = ("series", *DEFAULTS)
        return {
            "defaults": DEFAULTS,
            "n_releases": self.n_releases,
            "outcomes": [
                {**dict(zip(names, run, strict=True)), **asdict(found)} for run, found in self.outcomes.items()
            ],
            "printed": {name: asdict(found) for name, found in self.printed.items()},
            "ceilings": [{"delta": delta, "recall": recall} for delta, recall in self.ceilings.items()],
        }


def reproduce_passive(
    ratings: Ratings, *, literal: bool = True, rng: Rng = 0, notes: Notes | None = None
) -> PassiveReproduction:
    """Run every method at every setting; ``notes`` takes each outcome as it is known, and gives it when run again."""
    bench = _Bench(ratings, Holders.of(ratings), perturbed(ratings, rng), {}, {} if notes is None else notes)
    wanted = dict.fromkeys(_runs())
    printed = list(PRINTED) if literal else []
    outcomes: dict[Run, ExperimentResult] = {}
    with task("experiments", len(wanted) + len(printed)) as advance:
        for run in wanted:
            outcomes[run] = bench.outcome(run)
            advance(1)
        told = {}
        for series in printed:
            told[PRINTED[series]] = bench.outcome(_run(series, DEFAULTS), literal=True)
            advance(1)
    times = bench.times(DEFAULTS["gap"])
    return PassiveReproduction(outcomes, told, bench.ceilings(times), len(times))


def _run(series: str, setting: dict[str, float]) -> Run:
    return series, setting["window"], setting["gap"], setting["delta"], setting["top"]


def _runs() -> Iterator[Run]:
    for parameter, values in PARAMETERS.items():
        for value in values:
            for series in SERIES:
                yield _run(series, {**DEFAULTS, parameter: value})


@dataclass(frozen=True, eq=False, slots=True)
class _Bench:
    """What all runs share."""

    ratings: Ratings
    holders: Holders
    disturbed: Ratings
    rankings: dict[tuple[int, bool], Lists]  # by time, and whether from disturbed ratings
    notes: Notes

    def times(self, gap: float) -> list[int]:
        return schedule(self.ratings, ProtocolOptions(gap=gap))

    def ranking(self, time: int, *, disturbed: bool = False) -> Lists:
        """Give the ranking of a moment, deep enough for every run."""
        key = (time, disturbed)
        if key not in self.rankings:
            depth = max(MethodOptions().depth, *(int(top) for top in PARAMETERS["top"]))
            source = self.disturbed if disturbed else self.ratings
            self.rankings[key] = nearest(source.until(time), depth)
        return self.rankings[key]

    def outcome(self, run: Run, *, literal: bool = False) -> ExperimentResult:
        """Give what a run comes to, from the notes where it is known."""
        name = " ".join(map(str, run)) + (" to the letter" if literal else "")
        if name not in self.notes:
            self.notes[name] = asdict(_summary(self.steps(run, literal=literal)))
        return ExperimentResult(**self.notes[name])

    def steps(self, run: Run, *, literal: bool) -> list[Step]:
        """Release along the schedule of a run."""
        series, window, gap, delta, top = run
        name, evidence = SERIES[series]
        method = MethodOptions(method=name, top=int(top), literal=literal)
        bound = BoundOptions(delta=delta, window=int(window), evidence=evidence)
        made: list[ListRelease] = []
        steps = []
        for time in self.times(gap):
            used = self.ranking(time, disturbed=METHODS[name].uses_noise)
            step = make_release(tuple(made), used, self.holders, time, bound, method)
            made.append(step.release)
            true = self.ranking(time).cut(method.top)
            steps.append(replace(step, true=true, cost=cost(step.release.lists, true)))
        return steps

    def ceilings(self, times: list[int]) -> dict[float, float]:
        """Give for every delta the recall that no method can exceed under *total*."""
        true = [self.ranking(time).cut(int(DEFAULTS["top"])) for time in times]
        return {delta: mean_ceiling(true, times, self.holders, delta) for delta in PARAMETERS["delta"]}


def _summary(steps: list[Step]) -> ExperimentResult:
    """Bring the releases of a run together."""
    later = steps[1:]
    return ExperimentResult(
        recall=_mean(later, lambda step: step.cost.recall),
        targeted_recall=_mean(later, lambda step: step.cost.targeted_recall),
        suppressed=_mean(later, lambda step: step.cost.suppressed),
        max_breach=max(step.verdict.max_breach for step in steps),
        seconds=sum(step.cpu_seconds for step in steps),
    )


def _mean(steps: list[Step], figure: Callable[[Step], float | None]) -> float:
    """Give the mean of a figure over the releases that have it; 1 where none has (no list differs)."""
    values = [value for value in map(figure, steps) if value is not None]
    return float(np.mean(values)) if values else 1.0
