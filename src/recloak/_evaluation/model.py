"""The values of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from recloak._core.results import Result, counted, plural, table_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Errors over the pairs that have a prediction, and the share of pairs that have one (coverage)."""

    rmse: float | None
    mae: float | None
    coverage: float
    n: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Ranking:
    """nDCG@10 among a user's held-out items, and recall@10 of the liked ones among all items."""

    ndcg: float | None
    recall: float | None
    n_users: int
    catalogue: float | None = None  # share of all items that stand among anybody's first ten, where it was counted

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        shares = {} if self.catalogue is None else {"catalogue@10": self.catalogue}
        return {"ndcg@10": self.ndcg, "recall@10": self.recall, **shares, "n_users": self.n_users}


@dataclass(frozen=True, slots=True)
class RecommenderScore:
    """The accuracy and ranking of a recommender."""

    accuracy: Accuracy
    ranking: Ranking | None = None

    def to_json(self) -> dict[str, Any]:
        """Return accuracy and ranking in one dict."""
        return {**self.accuracy.to_json(), **(self.ranking.to_json() if self.ranking else {})}


@dataclass(frozen=True, slots=True)
class SelfRank:
    """The rank of users' own profiles among all profiles by similarity to the user."""

    quantiles: dict[str, float]  # of the rank
    first: float  # share of users whose own profile is the nearest
    shares: tuple[float, ...]  # users by twentieth of the ranking, the paper's figure 5
    n_profiles: int
    n_users: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "shares": list(self.shares)}


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Result):
    """The result of an evaluation.

    Attributes
    ----------
    target_deviation, similar_user_deviation : Accuracy
        Errors when held-out ratings are predicted by the profile of the own group, and of similar users.
    self_rank : SelfRank
        The rank of users' own profiles among all profiles by similarity.
    recommenders : dict
        Name -> ``original`` and ``release`` -> accuracy and ranking.
    baselines : dict
        Predictors that need no release: the mean of each item, and popularity.

    Examples
    --------
    >>> import recloak
    >>> result = recloak.evaluate(recloak.synth(users=60, items=40, ratings=900, seed=1), holdout=0.1, k=3, seed=1)
    >>> result.target_deviation.n, result.to_polars()["side"].unique().sort().to_list()
    (90, ['baseline', 'original', 'release'])
    """

    target_deviation: Accuracy
    similar_user_deviation: Accuracy
    self_rank: SelfRank
    recommenders: dict[str, dict[str, RecommenderScore]]  # name -> original | release
    baselines: dict[str, RecommenderScore]
    shape: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None

    @classmethod
    def of_target(cls, accuracy: Accuracy) -> Self:
        """Return an evaluation in which only the target deviation was measured."""
        return cls(accuracy, Accuracy(None, None, 0.0, 0), SelfRank({}, float("nan"), (), 0, 0), {}, {})

    def __repr__(self) -> str:
        held_out = plural(self.target_deviation.n, "held-out rating")
        covered = f"target deviation over {100 * self.target_deviation.coverage:.1f} % of them"
        return counted(self, held_out, covered, plural(len(self.recommenders), "recommender"))

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each predictor: errors, coverage and ranking, on the original and on the release."""
        return table_of(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        own = {"target deviation": self.target_deviation, "similar user deviation": self.similar_user_deviation}
        scores = [(name, "release", RecommenderScore(accuracy)) for name, accuracy in own.items()]
        scores += [(name, side, one) for name, sides in self.recommenders.items() for side, one in sides.items()]
        scores += [(name, "baseline", one) for name, one in self.baselines.items()]
        for name, side, one in scores:
            ranking = (one.ranking or Ranking(None, None, 0)).to_json()
            yield {"name": name, "side": side, **one.accuracy.to_json(), **ranking}

    def to_json(self) -> dict[str, Any]:
        """Return the evaluation in the form that the command line prints."""
        if not self.self_rank.n_users:  # only this was measured, as on Spark
            return {"target_deviation": self.target_deviation.to_json()}
        return {
            "target_deviation": self.target_deviation.to_json(),
            "similar_user_deviation": self.similar_user_deviation.to_json(),
            "self_rank": self.self_rank.to_json(),
            "recommenders": {name: _to_json(sides) for name, sides in self.recommenders.items()},
            "baselines": _to_json(self.baselines),
            "shape": self.shape,
            "seed": self.seed,
        }


NOT_APPLICABLE = ("rmse", "mae", "target_deviation", "similar_user_deviation", "self_rank")  # to presence and counts


@dataclass(frozen=True, slots=True, repr=False)
class UseEvaluation(Evaluation):
    """The result of an evaluation of presence or counts: rankings; what is about ratings is not applicable.

    Attributes
    ----------
    n_items : int
        How many items took part, the most used ones.
    values : str
        What the release shows: ``presence`` or ``counts``.
    """

    n_items: int = 0
    values: str = "presence"

    def __repr__(self) -> str:
        held_out, row = plural(self.target_deviation.n, "held-out use"), 100 * self.target_deviation.coverage
        return counted(self, held_out, f"{row:.1f} % in the own row", plural(len(self.recommenders), "recommender"))

    @property
    def best(self) -> dict[str, tuple[str, float]]:
        """The best recommender on each side, with its nDCG@10."""
        return {side: max(self._ndcgs(side), key=lambda one: one[1]) for side in ("original", "release")}

    def _ndcgs(self, side: str) -> list[tuple[str, float]]:
        scores = ((name, sides[side].ranking) for name, sides in self.recommenders.items())
        return [(name, (ranking.ndcg if ranking else None) or 0.0) for name, ranking in scores]

    def to_json(self) -> dict[str, Any]:
        """Return the evaluation in the form that the command line prints."""
        held_out = {"n": self.target_deviation.n, "in_own_row": self.target_deviation.coverage}
        told = {"values": self.values, "not_applicable": list(NOT_APPLICABLE), "held_out": held_out}
        if not self.recommenders:  # only this was measured, as on Spark
            return told
        return {
            **told,
            "n_items": self.n_items,
            "recommenders": {name: _rankings(sides) for name, sides in self.recommenders.items()},
            "baselines": _rankings(self.baselines),
            **self.shape,
            "seed": self.seed,
        }


def _rankings(scores: dict[str, RecommenderScore]) -> dict[str, Any]:
    return {name: score.ranking.to_json() if score.ranking else None for name, score in scores.items()}


def _to_json(scores: dict[str, RecommenderScore]) -> dict[str, Any]:
    return {name: score.to_json() for name, score in scores.items()}


def accuracy_of(predicted: NDArray[np.floating], truth: NDArray[np.floating]) -> Accuracy:
    """Compare predictions (nan where there is none) with held-out ratings."""
    covered = ~np.isnan(predicted)
    n, n_covered = len(truth), int(covered.sum())
    if not n_covered:
        return Accuracy(None, None, 0.0, n)
    error = predicted[covered].astype(np.float64) - truth[covered]
    return Accuracy(float(np.sqrt(np.mean(error**2))), float(np.abs(error).mean()), n_covered / n, n)
