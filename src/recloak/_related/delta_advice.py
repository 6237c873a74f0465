"""Which delta is to be had at which recall on given data: a table, before anything is published."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from recloak._core.progress import task
from recloak._ratings.model import Ratings
from recloak._related.ceiling import mean_ceiling
from recloak._related.model import Holders, Lists
from recloak._related.options import EVIDENCE, BoundOptions, MethodOptions, ProtocolOptions, SimilarityOptions
from recloak._related.periods import lists_by_period
from recloak._related.simulation import schedule, simulate

DELTAS = (0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class DeltaAdvice:
    """What one delta costs."""

    evidence: str
    delta: float
    recall: float
    targeted_recall: float
    last_recall: float  # at the last release: a ratchet shows here
    max_breach: float
    ceiling: float | None  # largest recall that any method can reach (total only)

    def to_json(self) -> dict[str, Any]:
        """Give the figures by name."""
        return asdict(self)


def advise(
    ratings: Ratings,
    *,
    deltas: tuple[float, ...] = DELTAS,
    evidence: tuple[str, ...] = EVIDENCE,
    protocol: ProtocolOptions | None = None,
    window: int | None = 4,
    method: MethodOptions | None = None,
    similarity: SimilarityOptions | None = None,
) -> list[DeltaAdvice]:
    """Replay the ratings as if lists had been published all along, for every delta and meaning."""
    protocol, method = protocol or ProtocolOptions(gap=10.0), method or MethodOptions()
    times, holders = schedule(ratings, protocol), Holders.of(ratings)
    rankings = list(lists_by_period(ratings, times, method.depth, similarity))
    found = []
    with task("settings", len(deltas) * len(evidence)) as advance:
        for meaning in evidence:
            for delta in deltas:
                bound = BoundOptions(delta=delta, evidence=meaning, window=window and min(window, max(len(times), 2)))
                found.append(_advice(ratings, rankings, times, holders, protocol, bound, method))
                advance(1)
    return found


def _advice(
    ratings: Ratings,
    rankings: list[Lists],
    times: list[int],
    holders: Holders,
    protocol: ProtocolOptions,
    bound: BoundOptions,
    method: MethodOptions,
) -> DeltaAdvice:
    run = simulate(ratings, protocol=protocol, bound=bound, method=method, rankings=rankings, compare=False)
    most = None
    if bound.evidence == "total":
        most = mean_ceiling([ranking.cut(method.top) for ranking in rankings], times, holders, bound.delta)
    return DeltaAdvice(
        bound.evidence,
        bound.delta,
        run.mean("recall"),
        run.mean("targeted_recall"),
        run.records[-1].cost["recall"],
        run.max_breach,
        most,
    )
