"""The values of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.results import Result, counted, plural, table_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How near predictions came: errors over the pairs that have a prediction, coverage apart from them."""

    rmse: float | None
    mae: float | None
    coverage: float
    n: int

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Ranking:
    """How well the top ten serve: nDCG@10 among a user's held-out items, recall@10 of the liked ones among all."""

    ndcg: float | None
    recall: float | None
    n_users: int

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        return {"ndcg@10": self.ndcg, "recall@10": self.recall, "n_users": self.n_users}


@dataclass(frozen=True, slots=True)
class Scored:
    """A recommender's accuracy and ranking."""

    accuracy: Accuracy
    ranking: Ranking | None = None

    def to_json(self) -> dict[str, Any]:
        """Give plain values, accuracy and ranking side by side."""
        return {**self.accuracy.to_json(), **(self.ranking.to_json() if self.ranking else {})}


@dataclass(frozen=True, slots=True)
class SelfRank:
    """Where a user's own profile stands among all by similarity to the user; 0 is the nearest, 1 the farthest."""

    quantiles: dict[str, float]  # of the rank
    first: float  # share of users whose own profile is the nearest
    shares: tuple[float, ...]  # users by twentieth of the ranking, the paper's figure 5
    n_profiles: int
    n_users: int

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        return {**asdict(self), "shares": list(self.shares)}


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Result):
    """Everything an evaluation found.

    Attributes
    ----------
    target_deviation, similar_user_deviation : Accuracy
        How near the released row of the own group, and of similar users, comes to held-out ratings.
    self_rank : SelfRank
        Where a user's own profile stands among all.
    recommenders : dict
        Name -> ``original`` and ``release`` -> accuracy and ranking.
    baselines : dict
        What needs no release: the mean of each item, and popularity.

    Examples
    --------
    >>> import recloak
    >>> found = recloak.evaluate(recloak.synth(users=60, items=40, ratings=900, seed=1), holdout=0.1, k=3, seed=1)
    >>> found.target_deviation.n, found.to_polars()["side"].unique().sort().to_list()
    (90, ['baseline', 'original', 'release'])
    """

    target_deviation: Accuracy
    similar_user_deviation: Accuracy
    self_rank: SelfRank
    recommenders: dict[str, dict[str, Scored]]  # name -> original | release
    baselines: dict[str, Scored]
    shape: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None

    @classmethod
    def of_target(cls, found: Accuracy) -> Evaluation:
        """Return an evaluation of which the target deviation alone was measured."""
        nothing = Accuracy(None, None, 0.0, 0)
        return cls(found, nothing, SelfRank({}, float("nan"), (), 0, 0), {}, {})

    def __repr__(self) -> str:
        target = self.target_deviation
        covered = f"target deviation over {100 * target.coverage:.1f} % of them"
        return counted(
            self, plural(target.n, "held-out rating"), covered, plural(len(self.recommenders), "recommender")
        )

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each predictor: errors, coverage and ranking, on the original and on the release."""
        return table_of(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        no_ranking = Ranking(None, None, 0)
        own = {"target deviation": self.target_deviation, "similar user deviation": self.similar_user_deviation}
        scored = [(name, "release", Scored(accuracy)) for name, accuracy in own.items()]
        scored += [(name, side, one) for name, sides in self.recommenders.items() for side, one in sides.items()]
        scored += [(name, "baseline", one) for name, one in self.baselines.items()]
        for name, side, one in scored:
            ranking = (one.ranking or no_ranking).to_json()
            yield {"name": name, "side": side, **one.accuracy.to_json(), **ranking}

    def to_json(self) -> dict[str, Any]:
        """Give the evaluation in the form of the command line's contract."""
        if not self.self_rank.n_users:  # nothing else was measured, as on Spark
            return {"target_deviation": self.target_deviation.to_json()}
        return {
            "target_deviation": self.target_deviation.to_json(),
            "similar_user_deviation": self.similar_user_deviation.to_json(),
            "self_rank": self.self_rank.to_json(),
            "recommenders": {
                name: {side: scored.to_json() for side, scored in sides.items()}
                for name, sides in self.recommenders.items()
            },
            "baselines": {name: scored.to_json() for name, scored in self.baselines.items()},
            "shape": self.shape,
            "seed": self.seed,
        }


def accuracy_of(predicted: NDArray[np.floating], truth: NDArray[np.floating]) -> Accuracy:
    """Compare predictions (nan: none) with held-out ratings."""
    covered = ~np.isnan(predicted)
    n, n_covered = len(truth), int(covered.sum())
    if not n_covered:
        return Accuracy(None, None, 0.0, n)
    error = predicted[covered].astype(np.float64) - truth[covered]
    return Accuracy(float(np.sqrt(np.mean(error**2))), float(np.abs(error).mean()), n_covered / n, n)
