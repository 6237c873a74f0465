"""Pad: a prediction for every cell, kept as factors and biases (Predictive Anonymization, section 4).

The paper allows any predictor and uses a regularised SVD. So does this: a predictor is any callable that makes a
`Padding` from ratings, and the default is a regularised factorisation. Rated cells keep their rating: whoever builds a
released cell puts the rating in place of the prediction.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from recloak._core.errors import InputError
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.model import Ratings
from recloak._releases.factorise import factorise
from recloak._releases.model.steps import Padding
from recloak._releases.options import RANK, PadOptions

__all__ = ["RANK", "PadOptions", "Predictor", "item_means", "named_predictor", "pad"]


class Predictor(Protocol):
    """Anything that makes a prediction for every cell."""

    def __call__(self, ratings: Ratings, rng: Randomness, /) -> Padding:
        """Learn from ratings; all chance comes from ``rng``."""
        ...


def pad(
    ratings: Ratings, options: PadOptions | None = None, *, predictor: Predictor | None = None, rng: Rng = None
) -> Padding:
    """Predict every cell of the ratings by the predictor that the options name, or by the one given."""
    if not ratings.n_ratings:
        raise InputError("there are no ratings to learn from")
    padding = (predictor or named_predictor(options or PadOptions()))(ratings, randomness(rng).child("pad"))
    if padding.shape != ratings.shape:
        raise InputError(f"a predictor must predict {ratings.shape} users and items, got {padding.shape}")
    return padding


def named_predictor(options: PadOptions) -> Predictor:
    """Give the predictor that the options name."""
    return {"svd": _factors(options), "bias": _factors(options.but(rank=0)), "mean": item_means}[options.predictor]


def item_means(ratings: Ratings, _: Randomness) -> Padding:
    """Predict a cell by its item's mean: ``r_ui = mu + b_i``, b_i = 0 for an item without ratings."""
    n_users, n_items = ratings.shape
    mu = float(ratings.values.mean(dtype=np.float64))
    sums = np.bincount(ratings.items, ratings.values - np.float64(mu), minlength=n_items)
    item_bias = (sums / np.maximum(ratings.popularity, 1)).astype(np.float32)
    no_factors = np.zeros((n_users, 0), np.float32), np.zeros((n_items, 0), np.float32)
    return Padding(mu, np.zeros(n_users, np.float32), item_bias, *no_factors, ratings.scale)


def _factors(options: PadOptions) -> Predictor:
    """Give the predictor by factors and biases; of rank 0 it is the bias model ``r_ui = mu + b_u + b_i``."""

    def predict(ratings: Ratings, rng: Randomness, /) -> Padding:
        found = factorise(
            ratings, rank=options.n_factors, iterations=options.iterations, tolerance=options.tolerance, rng=rng
        )
        return found.padding(ratings)

    return predict
