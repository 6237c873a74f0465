"""Recommenders trained on a release and on the original, so that the two can be compared.

In a release all members of a group have one row, so the group is trained on as one row, and a member is served by the
predictions for that row. Group sizes lie in [k, 2k - 1], so no row stands for twice as many people as another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Public
from recloak._attacks.public_view import MOST_CELLS
from recloak._core.errors import InputError
from recloak._core.randomness import Randomness
from recloak._evaluation.neighbours import fit_neighbours
from recloak._ratings.assemble import transpose_rows
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.options import PadOptions
from recloak._releases.pad import pad


class Model(Protocol):
    """A trained recommender: predicts a cell, or a whole row."""

    def predict(self, users: NDArray[np.integer], items: NDArray[np.integer], /) -> NDArray[np.float32]:
        """Predict one cell per (row, item) pair."""
        ...

    def rows(self, users: NDArray[np.integer], /) -> NDArray[np.float32]:
        """Predict every item for a few rows."""
        ...


Fit = Callable[[Ratings, Randomness], Model]


def require_trainable(public: Public) -> None:
    """Refuse a release that does not fit into memory as a training set, before anything is trained."""
    if len(public.codes) > MOST_CELLS:
        raise InputError(
            f"a release to train recommenders on must have at most {MOST_CELLS:,} cells, got {len(public.codes):,}; "
            "publish and evaluate a sample of the users instead"
        )


def as_training_set(public: Public, item_ids: IdMap) -> Ratings:
    """Take a release as ratings whose rows are its profiles."""
    require_trainable(public)
    indptr, items, order = transpose_rows(public.indptr, public.profiles, public.n_profiles)
    groups = IdMap.of(np.arange(public.n_profiles))
    return Ratings(indptr, items, public.labels[order], groups, item_ids, public.scale)


def fit_bias(ratings: Ratings, rng: Randomness) -> Model:
    """Train ``mu + b_u + b_i``."""
    return pad(ratings, PadOptions(predictor="bias"), rng=rng)


def fit_factors(ratings: Ratings, rng: Randomness) -> Model:
    """Train a regularised factorisation with biases."""
    return pad(ratings, PadOptions(), rng=rng)


def fit_item_mean(ratings: Ratings, rng: Randomness) -> Model:
    """Train nothing but the mean of each item: the trivial baseline."""
    return pad(ratings, PadOptions(predictor="mean"), rng=rng)


def fit_item_knn(ratings: Ratings, rng: Randomness) -> Model:
    """Train item neighbours on what the bias model leaves over."""
    return fit_neighbours(ratings, pad(ratings, PadOptions(predictor="bias"), rng=rng))


RECOMMENDERS: dict[str, Fit] = {"factorisation": fit_factors, "item-knn": fit_item_knn, "bias": fit_bias}
