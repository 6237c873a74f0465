"""The experiments of section 6 of paper 003: one parameter varied at a time, every method on the same releases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from recloak.progress import task
from recloak.randomness import Rng
from recloak.ratings import Ratings
from recloak.related.model import Lists
from recloak.related.options import BoundOptions, MethodOptions, ProtocolOptions
from recloak.related.similarity import nearest
from recloak.related.simulate import schedule, simulate

PARAMETERS: dict[str, tuple[float, ...]] = {
    "window": (2, 4, 6),
    "gap": (5, 10, 15),
    "delta": (0.05, 0.1, 0.3, 0.5),
    "top": (3, 5, 10),
}
DEFAULTS: dict[str, float] = {"window": 4, "gap": 5, "delta": 0.1, "top": 5}
SERIES = {
    "PERM, fresh": ("perm", "fresh"),
    "SUPP, fresh": ("supp", "fresh"),
    "PERM, total": ("perm", "total"),
    "SUPP, total": ("supp", "total"),
    "RP": ("rp", "fresh"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One method at one setting, over all its releases."""

    series: str
    parameter: str
    value: float
    recall: float
    targeted_recall: float
    suppressed: float  # per release
    max_breach: float
    seconds: float  # of anonymising, all releases


@dataclass(frozen=True, slots=True)
class Reproduction:
    """All outcomes: the varied ones, and the printed algorithm at the default setting."""

    outcomes: tuple[Outcome, ...]
    literal: tuple[Outcome, ...]
    n_releases: int

    def to_json(self) -> dict[str, Any]:
        """Give everything by name."""
        return {
            "defaults": DEFAULTS,
            "n_releases": self.n_releases,
            "outcomes": [asdict(one) for one in self.outcomes],
            "literal": [asdict(one) for one in self.literal],
        }


def reproduce_passive(ratings: Ratings, *, literal: bool = True, rng: Rng = None) -> Reproduction:
    """Run every method at every setting; a setting that several figures share is run once."""
    known: dict[tuple[str, tuple[float, ...]], Outcome] = {}
    rankings: dict[tuple[float, bool], list[Lists]] = {}
    outcomes = []
    wanted = list(_settings())
    with task("experiments", len(wanted)) as advance:
        for series, parameter, value in wanted:
            setting = {**DEFAULTS, parameter: value}
            key = (series, tuple(setting.values()))
            if key not in known:
                known[key] = _run(ratings, series, setting, rankings, rng)
            one = known[key]
            outcomes.append(Outcome(**{**asdict(one), "parameter": parameter, "value": value}))
            advance(1)
    printed = [_run(ratings, name, DEFAULTS, rankings, rng, literal=True) for name in ("PERM, total", "SUPP, total")]
    n_releases = len(schedule(ratings, ProtocolOptions(gap=DEFAULTS["gap"])))
    return Reproduction(tuple(outcomes), tuple(printed) if literal else (), n_releases)


def _settings() -> Iterator[tuple[str, str, float]]:
    for parameter, values in PARAMETERS.items():
        for value in values:
            for series in SERIES:
                yield series, parameter, value


def _run(
    ratings: Ratings,
    series: str,
    setting: dict[str, float],
    rankings: dict[tuple[float, bool], list[Lists]],
    rng: Rng,
    *,
    literal: bool = False,
) -> Outcome:
    name, evidence = SERIES[series]
    method = MethodOptions(method=name, top=int(setting["top"]), literal=literal)
    protocol = ProtocolOptions(gap=setting["gap"])
    bound = BoundOptions(delta=setting["delta"], window=int(setting["window"]), evidence=evidence)
    given = None
    if name != "rp":
        key = (setting["gap"], True)
        if key not in rankings:
            rankings[key] = [nearest(ratings.until(time), method.depth) for time in schedule(ratings, protocol)]
        given = rankings[key]
    run = simulate(
        ratings,
        protocol=protocol,
        bound=bound,
        method=method,
        rankings=given,
        compare=False,
        rng=rng if rng is not None else 0,
    )
    later = run.later
    return Outcome(
        series=f"{series}, printed" if literal else series,
        parameter="",
        value=0.0,
        recall=run.mean("recall"),
        targeted_recall=run.mean("targeted_recall"),
        suppressed=sum(record.cost["suppressed"] for record in later) / max(len(later), 1),
        max_breach=run.max_breach,
        seconds=sum(record.seconds for record in run.records),
    )
