"""The protocol of paper 003 over timestamped data: a first release, then one after every further share of ratings."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recloak._core.errors import InputError, OptionError
from recloak._core.progress import task
from recloak._core.randomness import Rng
from recloak._core.results import Tabular, counted, plural
from recloak._ratings.model import Ratings
from recloak._related.history import History, published
from recloak._related.lists import perturbed
from recloak._related.measures import cost
from recloak._related.methods import METHODS
from recloak._related.model import Holders, ListRelease, Lists, require_times, require_window
from recloak._related.nightly import CheckedRelease, keep, make_release, settings_of
from recloak._related.options import BoundOptions, MethodOptions, ProtocolOptions, SimilarityOptions
from recloak._related.periods import lists_by_period
from recloak._related.verifier import verify

if TYPE_CHECKING:
    import polars as pl


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
class SimulatedRelease:
    """What one release of a simulation cost and gave away."""

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
    """Releases along the whole of timestamped ratings: what each cost and gave away."""

    bound: BoundOptions
    method: MethodOptions
    protocol: ProtocolOptions
    records: tuple[SimulatedRelease, ...]
    releases: tuple[ListRelease, ...]

    def __repr__(self) -> str:
        largest = f"largest breach {self.max_breach:.4f} (delta {self.bound.delta:g})"
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
        import polars as pl  # noqa: PLC0415 (only where somebody asks for a table)

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
    """Run the protocol; with a history a run that was broken off goes on where it stopped.

    ``rankings`` holds the true rankings of every release where they are known already; ``compare`` also looks for the
    worst breach of the unprotected lists.
    """
    protocol, bound, method = protocol or ProtocolOptions(), bound or BoundOptions(), method or MethodOptions()
    times = schedule(ratings, protocol)
    require_window(bound, len(times))
    holders = Holders.of(ratings)
    done = _done(history, ratings, times, settings_of(bound, method, similarity))
    records, made = [record for record, _ in done], [release for _, release in done]
    true: list[ListRelease] = []
    with task("releases", len(times)) as advance:
        advance(len(made))
        started = clock.perf_counter()  # before the ranking, which is part of a step
        for number, ranking in _rankings(ratings, times, method, similarity, rng, rankings, start=len(made)):
            checked = make_release(tuple(made), ranking[0], holders, times[number], bound, method)
            true.append(ListRelease(number + 1, times[number], ranking[1].cut(method.top)))
            record = _record(checked, ranking[1], true, holders, bound, started, compare=compare)
            if history is not None:
                settings = settings_of(bound, method, similarity)
                keep(history, checked, ratings, {**settings, "record": asdict(record)})
            records.append(record)
            made.append(checked.release)
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
    """Yield for every release the ranking that is worked with, and the true one."""
    left = times[start:]
    rankings = given[start:] if given else lists_by_period(ratings, left, method.depth, similarity)
    if not METHODS[method.method].uses_noise:
        yield from ((start + n, (true, true)) for n, true in enumerate(rankings))
        return
    noisy = lists_by_period(perturbed(ratings, rng), left, method.depth, similarity)
    yield from ((start + n, both) for n, both in enumerate(zip(noisy, rankings, strict=True)))


def _record(
    checked: CheckedRelease,
    ranking: Lists,
    true: list[ListRelease],
    holders: Holders,
    bound: BoundOptions,
    started: float,
    *,
    compare: bool,
) -> SimulatedRelease:
    before = 0.0
    if compare:
        window = true[len(true) - 1 - bound.span(len(true)) :]
        before = verify(window, holders, bound.replace(window=None), newest_only=True, every=False).max_breach
    release = checked.release
    price = cost(release.lists, ranking.cut(release.lists.top))
    n_ratings = int((holders.times <= release.time).sum())
    return SimulatedRelease(
        number=release.number,
        time=release.time,
        n_ratings=n_ratings,
        cost=price.to_json(),
        breach_before=before,
        breach_after=checked.verdict.max_breach,
        passed=checked.verdict.passed,
        seconds=checked.seconds,
        seconds_all=clock.perf_counter() - started,
    )


def _done(
    history: History | None, ratings: Ratings, times: list[int], settings: dict[str, Any]
) -> list[tuple[SimulatedRelease, ListRelease]]:
    """Return the releases that an earlier run has stored, refusing a history of another run."""
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
