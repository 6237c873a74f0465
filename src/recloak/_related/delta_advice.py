"""What each delta would cost on given data, before anything is published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from recloak._core.progress import task
from recloak._core.results import Tabular, counted, plural
from recloak._ratings.model import Ratings
from recloak._related.ceiling import mean_ceiling
from recloak._related.model import Holders, Lists
from recloak._related.options import EVIDENCE, BoundOptions, MethodOptions, ProtocolOptions, SimilarityOptions
from recloak._related.periods import lists_by_period
from recloak._related.simulation import schedule, simulate

DELTAS = (0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class DeltaCost:
    """What one delta would cost."""

    evidence: str
    delta: float
    recall: float
    targeted_recall: float
    last_recall: float  # at the last release: a ratchet shows here
    max_breach: float
    ceiling: float | None  # largest recall that any method can reach (total only)

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, repr=False)
class DeltaAdvice(Tabular):
    """What every delta that was tried would cost, by meaning and delta."""

    rows: tuple[DeltaCost, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[DeltaCost]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return counted(self, plural(len(self.rows), "setting"))

    def to_polars(self) -> pl.DataFrame:
        """Return a row per meaning and delta."""
        figures = {name: pl.Float64 for name in DeltaCost.__slots__ if name != "evidence"}
        return pl.DataFrame([one.to_json() for one in self.rows], schema={"evidence": pl.String, **figures})

    def to_json(self) -> dict[str, Any]:
        """Return the rows, ready for JSON."""
        return {"advice": [one.to_json() for one in self.rows]}


def advise(
    ratings: Ratings,
    *,
    deltas: tuple[float, ...] = DELTAS,
    evidence: tuple[str, ...] = EVIDENCE,
    protocol: ProtocolOptions | None = None,
    window: int | None = 4,
    method: MethodOptions | None = None,
    similarity: SimilarityOptions | None = None,
) -> DeltaAdvice:
    """Replay the ratings as if lists had been published all along, for every delta and meaning."""
    protocol, method = protocol or ProtocolOptions(gap=10.0), method or MethodOptions()
    times, holders = schedule(ratings, protocol), Holders.of(ratings)
    rankings = list(lists_by_period(ratings, times, method.depth, similarity))
    found = []
    with task("settings", len(deltas) * len(evidence)) as advance:
        for meaning in evidence:
            for delta in deltas:
                bound = BoundOptions(delta=delta, evidence=meaning, window=window and min(window, max(len(times), 2)))
                found.append(_cost(ratings, rankings, times, holders, protocol, bound, method))
                advance(1)
    return DeltaAdvice(tuple(found))


def _cost(
    ratings: Ratings,
    rankings: list[Lists],
    times: list[int],
    holders: Holders,
    protocol: ProtocolOptions,
    bound: BoundOptions,
    method: MethodOptions,
) -> DeltaCost:
    run = simulate(ratings, protocol=protocol, bound=bound, method=method, rankings=rankings, compare=False)
    most = None
    if bound.evidence == "total":
        most = mean_ceiling([ranking.cut(method.top) for ranking in rankings], times, holders, bound.delta)
    return DeltaCost(
        bound.evidence,
        bound.delta,
        run.mean("recall"),
        run.mean("targeted_recall"),
        run.records[-1].cost["recall"],
        run.max_breach,
        most,
    )
