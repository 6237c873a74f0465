"""The protocol of paper 003 over timestamped data: a first release, then one after each further share of ratings."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from recloak._core.errors import InputError, OptionError
from recloak._core.progress import task
from recloak._core.randomness import Rng, randomness
from recloak._core.results import Tabular, counted, plural
from recloak._ratings.model import Ratings
from recloak._related.history import History, published
from recloak._related.measures import cost
from recloak._related.methods import METHODS
from recloak._related.model import Holders, ListRelease, Lists, require_times, require_window
from recloak._related.options import BoundOptions, MethodOptions, ProtocolOptions, SimilarityOptions
from recloak._related.publish_lists import settings_of, store_release
from recloak._related.release_making import Before, CheckedRelease, make_release
from recloak._related.similarity import lists_by_period
from recloak._related.verifier import verify_next


def schedule(ratings: Ratings, protocol: ProtocolOptions) -> list[int]:
    """Return the times of the releases: ratings are counted in the order of their times."""
    require_times(ratings)
    assert ratings.times is not None
    if not ratings.n_ratings:
        raise InputError("there are no ratings to simulate with")
    ordered = np.sort(ratings.times)
    shares = np.arange(protocol.initial, 100.0 + 1e-9, protocol.gap)
    counts = np.ceil(shares / 100.0 * len(ordered) - 1e-9).astype(
        np.int64
    )  # rounding adds a rating where there are many
    places = np.clip(counts, 1, len(ordered)) - 1
    times: list[int] = np.unique(ordered[places]).tolist()
    return times[: protocol.releases]


def perturbed(ratings: Ratings, rng: Rng = None, *, variance: float = 1.0) -> Ratings:
    """Add zero-mean uniform noise to every rating once, as when it arrives (Polat and Du 2003; RP in paper 003)."""
    reach = np.sqrt(3.0 * variance)
    noise = randomness(rng).stream("related", "rp").uniform(-reach, reach, ratings.n_ratings)
    return replace(ratings, values=(ratings.values + noise).astype(np.float32))


@dataclass(frozen=True, slots=True)
class SimulatedRelease:
    """The cost of one release of a simulation, and what it gave away."""

    number: int
    time: int
    n_ratings: int
    cost: dict[str, Any]
    breach_before: float  # of the true lists
    breach_after: float
    passed: bool
    seconds: float  # of anonymising
    seconds_all: float  # with similarity and verification


@dataclass(frozen=True, slots=True, repr=False)
class Simulation(Tabular):
    """Releases along timestamped ratings: the cost of each, and what it gave away."""

    bound: BoundOptions
    method: MethodOptions
    protocol: ProtocolOptions
    records: tuple[SimulatedRelease, ...]
    releases: tuple[ListRelease, ...]

    def __repr__(self) -> str:
        largest = f"surest inference {self.max_breach:.4f} (delta {self.bound.delta:g})"
        return counted(self, plural(len(self.records), "release"), f"mean recall {self.mean('recall'):.3f}", largest)

    @property
    def later(self) -> tuple[SimulatedRelease, ...]:
        """The releases after the first, which has nothing to be compared with."""
        return self.records[1:]

    def mean(self, figure: str) -> float:
        """Return the mean of a cost figure over the later releases; releases without it are left out."""
        values = [record.cost[figure] for record in self.later if record.cost[figure] is not None]
        return float(np.mean(values)) if values else 1.0

    def to_polars(self) -> pl.DataFrame:
        """Return a row per release: what it cost, and the largest breach before and after."""
        rows = [asdict(record) for record in self.records]
        return pl.DataFrame([{**row, **row.pop("cost")} for row in rows], infer_schema_length=None)

    def to_json(self) -> dict[str, Any]:
        """Return settings, every release and the means, ready for JSON."""
        figures = ("recall", "targeted_recall", "staleness", "order_agreement")
        return {
            "protocol": self.protocol.to_mapping(),
            "bound": self.bound.to_mapping(),
            "method": self.method.to_mapping(),
            "mean": {figure: self.mean(figure) for figure in figures},
            "max_breach": self.max_breach,
            "max_breach_before": self.max_breach_before,
            "passed": all(record.passed for record in self.records),
            "releases": [asdict(record) for record in self.records],
        }

    @property
    def max_breach(self) -> float:
        """The worst breach of all pairs of a window."""
        return max((record.breach_after for record in self.records), default=0.0)

    @property
    def max_breach_before(self) -> float:
        """The worst breach of the true lists."""
        return max((record.breach_before for record in self.records), default=0.0)


def simulate(
    ratings: Ratings,
    *,
    protocol: ProtocolOptions | None = None,
    bound: BoundOptions | None = None,
    method: MethodOptions | None = None,
    similarity: SimilarityOptions | None = None,
    history: History | None = None,
    rng: Rng = None,
    rankings: list[Lists] | None = None,
    compare: bool = True,
) -> Simulation:
    """Run the protocol; with a history an interrupted run continues where it stopped.

    ``rankings`` are the true rankings of every release, if known already; ``compare`` also finds the worst breach of
    the unprotected lists.
    """
    protocol, bound, method = protocol or ProtocolOptions(), bound or BoundOptions(), method or MethodOptions()
    times = schedule(ratings, protocol)
    require_window(bound, len(times))
    similarity = (similarity or SimilarityOptions()).replace(min_support=bound.min_support)
    holders, settings = Holders.of(ratings), settings_of(bound, method, similarity)
    stored = _stored(history, ratings, times, settings)
    records, made = [record for record, _ in stored], [release for _, release in stored]
    before, true_before = Before(), Before()
    for release in made:
        before = before.after(release, bound)
    with task("releases", len(times)) as advance:
        advance(len(made))
        started = clock.perf_counter()  # before the ranking, which is part of a step
        left = times[len(made) :]
        both = _rankings(ratings, left, method, similarity, rng, rankings and rankings[len(made) :])
        for time, (ranking, true_ranking) in zip(left, both, strict=True):
            checked = make_release(before, ranking, holders, time, bound, method)
            true = ListRelease(checked.release.number, time, true_ranking.cut(method.top))
            record = _record(checked, true, true_before if compare else None, holders, bound, started)
            if history is not None:
                store_release(history, checked, ratings.item_ids, {**settings, "record": asdict(record)})
            records.append(record)
            made.append(checked.release)
            before, true_before = before.after(checked.release, bound), true_before.after(true, bound)
            advance(1)
            started = clock.perf_counter()
    return Simulation(bound, method, protocol, tuple(records), tuple(made))


def _rankings(
    ratings: Ratings,
    times: list[int],
    method: MethodOptions,
    similarity: SimilarityOptions | None,
    rng: Rng,
    known: list[Lists] | None,
) -> Iterator[tuple[Lists, Lists]]:
    """Return for every release the ranking that the method uses, and the true one."""
    rankings = known or lists_by_period(ratings, times, method.depth, similarity)
    if not METHODS[method.method].uses_noise:
        return ((true, true) for true in rankings)
    noisy = lists_by_period(perturbed(ratings, rng), times, method.depth, similarity)
    return zip(noisy, rankings, strict=True)


def _record(
    checked: CheckedRelease,
    true: ListRelease,
    true_before: Before | None,
    holders: Holders,
    bound: BoundOptions,
    started: float,
) -> SimulatedRelease:
    """Return the figures of a release; with ``true_before`` also the worst breach of the unprotected lists."""
    before = 0.0
    if true_before is not None:
        seen = true_before.window if bound.window else true_before.sights
        before = verify_next(seen, true, holders, bound).max_breach
    release = checked.release
    return SimulatedRelease(
        number=release.number,
        time=release.time,
        n_ratings=int((holders.times <= release.time).sum()),
        cost=cost(release.lists, true.lists).to_json(),
        breach_before=before,
        breach_after=checked.verdict.max_breach,
        passed=checked.verdict.is_kept,
        seconds=checked.seconds,
        seconds_all=clock.perf_counter() - started,
    )


def _stored(
    history: History | None, ratings: Ratings, times: list[int], settings: dict[str, Any]
) -> list[tuple[SimulatedRelease, ListRelease]]:
    """Return the releases that an earlier run has stored; refuse a history of another run."""
    if history is None:
        return []
    known = history.releases
    for one, time in zip(known, times, strict=False):
        same = {name: one.settings.get(name) for name in settings} == settings
        if one.time != time or not same or "record" not in one.settings:
            raise OptionError(f"{history.name}: holds releases of other settings or data; choose another store")
    if len(known) > len(times):
        raise OptionError(f"{history.name}: holds {len(known)} releases, this simulation has only {len(times)}")
    lists = published(history, ratings.item_ids)
    return [(SimulatedRelease(**one.settings["record"]), release) for one, release in zip(known, lists, strict=True)]
