"""The protocol of paper 003 over timestamped data: a first release, then one after every further share of ratings."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recloak._core.errors import InputError, OptionError
from recloak._core.progress import task
from recloak._core.randomness import Rng
from recloak._ratings.model import Ratings
from recloak._related import history
from recloak._related.history import Store
from recloak._related.lists import perturbed
from recloak._related.measures import cost
from recloak._related.methods import METHODS
from recloak._related.model import Holders, ListRelease, Lists, require_times, require_window
from recloak._related.nightly import Step, keep, make_release, settings_of
from recloak._related.options import BoundOptions, MethodOptions, ProtocolOptions, SimilarityOptions
from recloak._related.periods import lists_by_period
from recloak._related.verifier import verify


def schedule(ratings: Ratings, protocol: ProtocolOptions) -> list[int]:
    """Give the times of the releases: ratings are counted in the order of their times."""
    require_times(ratings)
    assert ratings.times is not None
    if not ratings.n_ratings:
        raise InputError("there are no ratings to simulate with")
    ordered = np.sort(ratings.times)
    shares = np.arange(protocol.initial, 100.0 + 1e-9, protocol.gap)
    places = np.maximum(np.ceil(shares / 100.0 * len(ordered) - 1e-9).astype(np.int64), 1) - 1
    return np.unique(ordered[places]).tolist()


@dataclass(frozen=True, slots=True)
class Record:
    """What one step of a simulation gave; ready for JSON."""

    number: int
    time: int
    n_ratings: int
    cost: dict[str, Any]
    breach_before: float  # of the true lists
    breach_after: float
    passed: bool
    seconds: float  # of anonymising
    seconds_all: float  # with similarity and verification


@dataclass(frozen=True, slots=True)
class Simulation:
    """A whole run."""

    bound: BoundOptions
    method: MethodOptions
    protocol: ProtocolOptions
    records: tuple[Record, ...]
    releases: tuple[ListRelease, ...]

    @property
    def later(self) -> tuple[Record, ...]:
        """The releases after the first, which has nothing to be compared with."""
        return self.records[1:]

    def mean(self, figure: str) -> float:
        """Give the mean of a cost figure over the later releases; releases without it are left out."""
        values = [record.cost[figure] for record in self.later if record.cost[figure] is not None]
        return float(np.mean(values)) if values else 1.0

    def to_json(self) -> dict[str, Any]:
        """Give settings, every step and the means."""
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
    store: Store | None = None,
    rng: Rng = None,
    rankings: list[Lists] | None = None,
    compare: bool = True,
) -> Simulation:
    """Run the protocol; with a store a run that was broken off goes on where it stopped.

    ``rankings`` gives the true rankings of every release where they are known already; ``compare`` also looks for the
    worst breach of the unprotected lists.
    """
    protocol, bound, method = protocol or ProtocolOptions(), bound or BoundOptions(), method or MethodOptions()
    times = schedule(ratings, protocol)
    require_window(bound, len(times))
    holders = Holders.of(ratings)
    done = _done(store, ratings, times, settings_of(bound, method, similarity))
    records, made = [record for record, _ in done], [release for _, release in done]
    true: list[ListRelease] = []
    with task("releases", len(times)) as advance:
        advance(len(made))
        started = clock.perf_counter()  # before the ranking, which is part of a step
        for number, ranking in _rankings(ratings, times, method, similarity, rng, rankings, start=len(made)):
            step = make_release(tuple(made), ranking[0], holders, times[number], bound, method)
            true.append(ListRelease(number + 1, times[number], ranking[1].cut(method.top)))
            record = _record(step, ranking[1], true, holders, bound, started, compare=compare)
            if store is not None:
                settings = settings_of(bound, method, similarity)
                keep(store, step, ratings, {**settings, "record": asdict(record)})
            records.append(record)
            made.append(step.release)
            advance(1)
            started = clock.perf_counter()
    return Simulation(bound, method, protocol, tuple(records), tuple(made))


def _rankings(
    ratings: Ratings,
    times: list[int],
    method: MethodOptions,
    similarity: SimilarityOptions | None,
    rng: Rng,
    given: list[Lists] | None,
    *,
    start: int,
) -> Iterator[tuple[int, tuple[Lists, Lists]]]:
    """Give for every release the ranking that is worked with, and the true one."""
    left = times[start:]
    rankings = given[start:] if given else lists_by_period(ratings, left, method.depth, similarity)
    if not METHODS[method.method].uses_noise:
        yield from ((start + n, (true, true)) for n, true in enumerate(rankings))
        return
    noisy = lists_by_period(perturbed(ratings, rng), left, method.depth, similarity)
    yield from ((start + n, both) for n, both in enumerate(zip(noisy, rankings, strict=True)))


def _record(
    step: Step,
    ranking: Lists,
    true: list[ListRelease],
    holders: Holders,
    bound: BoundOptions,
    started: float,
    *,
    compare: bool,
) -> Record:
    before = 0.0
    if compare:
        window = true[len(true) - 1 - bound.span(len(true)) :]
        before = verify(window, holders, bound.replace(window=None), newest_only=True, every=False).max_breach
    price = cost(step.release.lists, ranking.cut(step.release.lists.top))
    n_ratings = int((holders.times <= step.release.time).sum())
    return Record(
        number=step.release.number,
        time=step.release.time,
        n_ratings=n_ratings,
        cost=price.to_json(),
        breach_before=before,
        breach_after=step.verdict.max_breach,
        passed=step.verdict.passed,
        seconds=step.seconds,
        seconds_all=clock.perf_counter() - started,
    )


def _done(
    store: Store | None, ratings: Ratings, times: list[int], settings: dict[str, Any]
) -> list[tuple[Record, ListRelease]]:
    """Give the releases that an earlier run has stored, refusing a store of another run."""
    if store is None:
        return []
    known = history.releases(store)
    for one, time in zip(known, times, strict=False):
        same = {name: one.settings.get(name) for name in settings} == settings
        if one.time != time or not same or "record" not in one.settings:
            raise OptionError(f"{store.name}: holds releases of other settings or data; choose another store")
    if len(known) > len(times):
        raise OptionError(f"{store.name}: holds {len(known)} releases, this simulation has only {len(times)}")
    lists = history.published(store, ratings.item_ids)
    return [(Record(**one.settings["record"]), release) for one, release in zip(known, lists, strict=True)]
