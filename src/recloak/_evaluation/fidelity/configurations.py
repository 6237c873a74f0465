"""The algorithms that compete, each a value: how it is named and how it is trained.

The lists span what a contest sees: trivial predictors, neighbours, factors of several ranks, with too little, enough
and too much regularisation. They are the same for every data set, so that figures can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Generic, TypeVar

from recloak._evaluation.fidelity import ranking_models as ranking
from recloak._evaluation.fidelity import rating_models as rating
from recloak._evaluation.fidelity.ranking_models import ScoreRows
from recloak._evaluation.fidelity.rating_models import Predict
from recloak._evaluation.fidelity.training import Training

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Configuration(Generic[Model]):
    """An algorithm with its parameters."""

    name: str
    fit: Callable[[Training], Model]
    is_quick: bool = False  # whether it is among the few of the quick version


def _bias(name: str, user_ridge: float, item_ridge: float, *, quick: bool = False) -> Configuration[Predict]:
    return Configuration(name, partial(rating.fit_bias, user_ridge=user_ridge, item_ridge=item_ridge), quick)


def _factors(rank: int, ridge: float, *, quick: bool = False) -> Configuration[Predict]:
    fit = partial(rating.fit_least_squares, rank=rank, ridge=ridge, rounds=8)
    return Configuration(f"ALS rank {rank}, ridge {ridge:g}", fit, quick)


RATING: tuple[Configuration[Predict], ...] = (
    _bias("global mean", inf, inf),
    _bias("item mean", inf, 0.0, quick=True),
    _bias("bias, ridge 10", 10.0, 5.0, quick=True),
    Configuration("item neighbours 10", partial(rating.fit_item_neighbours, n=10)),
    Configuration("item neighbours 50", partial(rating.fit_item_neighbours, n=50), is_quick=True),
    Configuration("user neighbours 20", partial(rating.fit_user_neighbours, n=20)),
    Configuration("user neighbours 100", partial(rating.fit_user_neighbours, n=100)),
    _factors(2, 5.0),
    _factors(5, 1.0),
    _factors(5, 5.0),
    _factors(10, 1.0, quick=True),
    _factors(10, 10.0),
    _factors(20, 1.0),
    _factors(20, 3.0),
    _factors(20, 10.0, quick=True),
    _factors(20, 30.0),
)


def _implicit(rank: int) -> Configuration[ScoreRows]:
    fit = partial(ranking.fit_implicit, rank=rank, ridge=10.0, confidence=5.0, rounds=10)
    return Configuration(f"implicit ALS rank {rank}", fit)


RANKING: tuple[Configuration[ScoreRows], ...] = (
    Configuration("popularity", ranking.fit_popularity, is_quick=True),
    Configuration("item cosine 20", partial(ranking.fit_item_cosines, n=20)),
    Configuration("item cosine 100", partial(ranking.fit_item_cosines, n=100), is_quick=True),
    Configuration("user cosine 20", partial(ranking.fit_user_cosines, n=20)),
    Configuration("user cosine 100", partial(ranking.fit_user_cosines, n=100), is_quick=True),
    Configuration("EASE, ridge 20", partial(ranking.fit_ease, ridge=20.0)),
    Configuration("EASE, ridge 500", partial(ranking.fit_ease, ridge=500.0), is_quick=True),
    Configuration("SLIM, 100 nearest", partial(ranking.fit_slim, n=100, ridge=50.0, lasso=2.0)),
    Configuration("PureSVD rank 5", partial(ranking.fit_singular, rank=5)),
    Configuration("PureSVD rank 30", partial(ranking.fit_singular, rank=30), is_quick=True),
    Configuration("PureSVD rank 100", partial(ranking.fit_singular, rank=100)),
    _implicit(8),
    _implicit(32),
    _implicit(64),
)
