"""The experiments of section 6 of paper 003: one parameter varied at a time, every method on the same releases.

Work that several runs share is done once: the releases of every gap fall on times of the shortest one, so that the true
rankings (and those of RP, from ratings with noise) are computed once per time; a setting that several figures show is
run once.
"""

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from recloak._core.progress import task
from recloak._core.randomness import Rng
from recloak._ratings.model import Ratings
from recloak._related.measures import cost, mean_ceiling
from recloak._related.methods import METHODS
from recloak._related.model import Holders, Lists
from recloak._related.options import EVIDENCE, BoundOptions, MethodOptions, ProtocolOptions
from recloak._related.release_making import Before, CheckedRelease, make_release
from recloak._related.similarity import nearest
from recloak._related.simulation import perturbed, schedule

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
SavedOutcomes = MutableMapping[str, dict[str, float]]  # outcomes of an earlier run, by the name of their setting


@dataclass(frozen=True, slots=True)
class PassiveReproduction:
    """All outcomes by run, and for each delta the recall that no method can exceed under *total*."""

    outcomes: dict[Run, ExperimentResult]
    printed: dict[str, ExperimentResult]  # the algorithm to the letter, at the default setting
    ceilings: dict[float, float]
    n_releases: int

    def curve(self, series: str, parameter: str, figure: str) -> dict[float, float]:
        """Return one figure of a series along a parameter."""
        runs = {value: _run(series, {**DEFAULTS, parameter: value}) for value in PARAMETERS[parameter]}
        return {value: getattr(self.outcomes[run], figure) for value, run in runs.items()}

    def default(self, series: str) -> ExperimentResult:
        """Return the outcome of a series at the default setting."""
        return self.outcomes[_run(series, DEFAULTS)]

    def to_json(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        names = ("series", *DEFAULTS)
        return {
            "defaults": DEFAULTS,
            "n_releases": self.n_releases,
            "outcomes": [{**dict(zip(names, run, strict=True)), **asdict(one)} for run, one in self.outcomes.items()],
            "printed": {name: asdict(one) for name, one in self.printed.items()},
            "ceilings": [{"delta": delta, "recall": recall} for delta, recall in self.ceilings.items()],
        }


def reproduce_passive(
    ratings: Ratings, *, literal: bool = True, rng: Rng = 0, saved: SavedOutcomes | None = None
) -> PassiveReproduction:
    """Run every method at every setting; each outcome is put into ``saved``, and outcomes in it are not run again."""
    runner = _Runner(ratings, Holders.of(ratings), perturbed(ratings, rng), {}, {} if saved is None else saved)
    runs, printed_series = dict.fromkeys(_runs()), PRINTED if literal else {}
    outcomes: dict[Run, ExperimentResult] = {}
    printed: dict[str, ExperimentResult] = {}
    with task("experiments", len(runs) + len(printed_series)) as advance:
        for run in runs:
            outcomes[run] = runner.outcome(run)
            advance(1)
        for series, name in printed_series.items():
            printed[name] = runner.outcome(_run(series, DEFAULTS), literal=True)
            advance(1)
    times = runner.times(DEFAULTS["gap"])
    return PassiveReproduction(outcomes, printed, runner.ceilings(times), len(times))


def _run(series: str, setting: dict[str, float]) -> Run:
    return series, setting["window"], setting["gap"], setting["delta"], setting["top"]


def _runs() -> Iterator[Run]:
    for parameter, values in PARAMETERS.items():
        for value in values:
            for series in SERIES:
                yield _run(series, {**DEFAULTS, parameter: value})


@dataclass(frozen=True, eq=False, slots=True)
class _Runner:
    """Runs settings; keeps what all runs share."""

    ratings: Ratings
    holders: Holders
    noisy_ratings: Ratings
    rankings: dict[tuple[int, bool], Lists]  # by time, and whether from noisy ratings
    saved: SavedOutcomes

    def times(self, gap: float) -> list[int]:
        return schedule(self.ratings, ProtocolOptions(gap=gap))

    def ranking(self, time: int, *, noisy: bool = False) -> Lists:
        """Return the ranking at a time, deep enough for every run."""
        if (time, noisy) not in self.rankings:
            depth = max(MethodOptions().depth, *(int(top) for top in PARAMETERS["top"]))
            ratings = self.noisy_ratings if noisy else self.ratings
            self.rankings[time, noisy] = nearest(ratings.until(time), depth)
        return self.rankings[time, noisy]

    def outcome(self, run: Run, *, literal: bool = False) -> ExperimentResult:
        name = " ".join(map(str, run)) + (" to the letter" if literal else "")
        if name not in self.saved:
            self.saved[name] = asdict(_summary(self.steps(run, literal=literal)))
        return ExperimentResult(**self.saved[name])

    def steps(self, run: Run, *, literal: bool) -> list[CheckedRelease]:
        """Return the releases along the schedule of a run."""
        series, window, gap, delta, top = run
        name, evidence = SERIES[series]
        method = MethodOptions(method=name, top=int(top), literal=literal)
        bound = BoundOptions(delta=delta, window=int(window), evidence=evidence, min_support=1)
        before = Before()
        steps = []
        for time in self.times(gap):
            ranking = self.ranking(time, noisy=METHODS[name].uses_noise)
            step = make_release(before, ranking, self.holders, time, bound, method)
            before = before.after(step.release, bound)
            true = self.ranking(time).cut(method.top)
            steps.append(replace(step, true=true, cost=cost(step.release.lists, true)))
        return steps

    def ceilings(self, times: list[int]) -> dict[float, float]:
        true = [self.ranking(time).cut(int(DEFAULTS["top"])) for time in times]
        return {delta: mean_ceiling(true, times, self.holders, delta) for delta in PARAMETERS["delta"]}


def _summary(steps: list[CheckedRelease]) -> ExperimentResult:
    later = steps[1:]
    return ExperimentResult(
        recall=_mean(later, lambda step: step.cost.recall),
        targeted_recall=_mean(later, lambda step: step.cost.targeted_recall),
        suppressed=_mean(later, lambda step: step.cost.suppressed),
        max_breach=max(step.verdict.max_breach for step in steps),
        seconds=sum(step.cpu_seconds for step in steps),
    )


def _mean(steps: list[CheckedRelease], figure: Callable[[CheckedRelease], float | None]) -> float:
    """Return the mean of a figure over the releases that have it; 1 if none has (no list differs)."""
    values = [value for value in map(figure, steps) if value is not None]
    return float(np.mean(values)) if values else 1.0
