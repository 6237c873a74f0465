"""Pad: a prediction for every cell, kept as factors and biases (Predictive Anonymization, section 4).

The paper allows any predictor and uses a regularised SVD. So does this: a predictor is any callable that makes a
`Padding` from ratings, and the default is a regularised factorisation by alternating least squares. Rated cells keep
their rating; whoever builds a released cell puts the rating in place of the prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recloak.options import Options, option
from recloak.progress import task
from recloak.publish.als import solve_rows
from recloak.publish.model import Padding
from recloak.randomness import Randomness, Rng, randomness
from recloak.ratings import Columns, Ratings


@dataclass(frozen=True, kw_only=True)
class PadOptions(Options):
    """How missing cells are predicted."""

    predictor: str = option("svd", "how missing ratings are predicted", choices=("svd", "bias", "mean"))
    rank: int = option(32, "number of factors of the svd predictor", at_least=0, at_most=512)
    iterations: int = option(10, "rounds of alternating least squares", at_least=1)
    regularisation: float = option(
        0.06, "weight of the factors' penalty per rating, in standard deviations of the ratings", above=0
    )
    bias_regularisation: float = option(5.0, "weight of the biases' penalty, in ratings", above=0)


class Predictor(Protocol):
    """Anything that makes a prediction for every cell."""

    def __call__(self, ratings: Ratings, rng: Randomness, /) -> Padding:
        """Learn from ratings; all chance comes from ``rng``."""
        ...


def pad(ratings: Ratings, options: PadOptions | None = None, *, rng: Rng = None) -> Padding:
    """Predict every cell of the ratings."""
    return predictor(options or PadOptions())(ratings, randomness(rng).child("pad"))


def predictor(options: PadOptions) -> Predictor:
    """Give the predictor that the options name."""
    if options.predictor == "mean":
        return lambda ratings, _: item_means(ratings)
    if options.predictor == "bias":
        return lambda ratings, _: bias_model(ratings, options.bias_regularisation)
    return lambda ratings, rng: factorise(ratings, options, rng)


def item_means(ratings: Ratings) -> Padding:
    """Predict a cell by its item's mean: ``r_ui = mu + b_i``, b_i = 0 for an item without ratings."""
    mu = _mean(ratings)
    n_raters = ratings.popularity
    sums = np.bincount(ratings.items, ratings.values - np.float64(mu), minlength=ratings.n_items)
    item_bias = sums / np.maximum(n_raters, 1)
    return _flat(ratings, mu, np.zeros(ratings.n_users, np.float32), item_bias.astype(np.float32))


def bias_model(ratings: Ratings, bias_ridge: float, *, rounds: int = 5) -> Padding:
    """Predict a cell by ``r_ui = mu + b_u + b_i``, both biases drawn towards 0 by ``bias_ridge`` ratings."""
    return _flat(ratings, _mean(ratings), *_biases(ratings, ratings.by_item(), bias_ridge, rounds))


def factorise(ratings: Ratings, options: PadOptions, rng: Randomness) -> Padding:
    """Predict a cell by ``r_ui = mu + b_u + b_i + p_u . q_i``, fitted by alternating least squares."""
    mu, columns = _mean(ratings), ratings.by_item()
    spread = float(ratings.values.std(dtype=np.float64)) if ratings.n_ratings else 0.0
    ridge, bias_ridge = options.regularisation * (spread or 1.0), options.bias_regularisation
    _, item_bias = _biases(ratings, columns, bias_ridge, rounds=2)
    start = rng.stream("factors").standard_normal((ratings.n_items, options.rank), dtype=np.float32)
    item_factors = start * np.float32(0.1 * np.sqrt(spread))
    with task("padding", 2 * options.iterations) as advance:
        for _ in range(options.iterations):
            user_factors, user_bias = solve_rows(
                ratings.indptr, ratings.items, ratings.values, item_factors, item_bias,
                mu=mu, ridge=ridge, bias_ridge=bias_ridge,
            )  # fmt: skip
            advance(1)
            item_factors, item_bias = solve_rows(
                columns.indptr, columns.users, columns.values, user_factors, user_bias,
                mu=mu, ridge=ridge, bias_ridge=bias_ridge,
            )  # fmt: skip
            advance(1)
    return Padding(mu, user_bias, item_bias, user_factors, item_factors, ratings.scale)


def _mean(ratings: Ratings) -> float:
    return float(ratings.values.mean(dtype=np.float64)) if ratings.n_ratings else 0.0


def _biases(
    ratings: Ratings, columns: Columns, bias_ridge: float, rounds: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Fit user and item biases in turns: the factorisation of rank 0."""
    mu = _mean(ratings)
    item_bias, no_items = np.zeros(ratings.n_items, np.float32), np.zeros((ratings.n_items, 0), np.float32)
    no_users = np.zeros((ratings.n_users, 0), np.float32)
    user_bias = np.zeros(ratings.n_users, np.float32)
    for _ in range(rounds):
        _, item_bias = solve_rows(
            columns.indptr, columns.users, columns.values, no_users, user_bias,
            mu=mu, ridge=1.0, bias_ridge=bias_ridge,
        )  # fmt: skip
        _, user_bias = solve_rows(
            ratings.indptr, ratings.items, ratings.values, no_items, item_bias,
            mu=mu, ridge=1.0, bias_ridge=bias_ridge,
        )  # fmt: skip
    return user_bias, item_bias


def _flat(ratings: Ratings, mu: float, user_bias: NDArray[np.float32], item_bias: NDArray[np.float32]) -> Padding:
    """Make a padding without factors."""
    none = np.zeros((ratings.n_users, 0), np.float32), np.zeros((ratings.n_items, 0), np.float32)
    return Padding(mu, user_bias, item_bias, *none, ratings.scale)
