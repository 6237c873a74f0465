"""The bias model: a cell is the mean of all, plus what is usual for its row, plus what is usual for its item.

    r_ui = mu + b_u + b_i,    b_i = sum_u (r_ui - mu - b_u) / (n_i + ridge),    b_u likewise

solved in turns. An infinite ridge leaves a side out: without both it is the global mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.results import sizes_only
from recloak._ratings.model import Ratings

_ROUNDS = 10


@dataclass(frozen=True, eq=False, slots=True)
class Biases:
    """A fitted bias model."""

    mu: float
    user: NDArray[np.float64]  # (n_users,)
    item: NDArray[np.float64]  # (n_items,)

    __repr__ = sizes_only

    def predict(self, users: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.float64]:
        """Predict one cell per (row, item) pair, not clipped."""
        return self.mu + self.user[users] + self.item[items]


def fit_biases(ratings: Ratings, *, user_ridge: float, item_ridge: float) -> Biases:
    """Fit the biases of both sides in turns, items first."""
    users, items, values = ratings.users(), ratings.items, ratings.values.astype(np.float64)
    mu = float(values.mean()) if len(values) else 0.0
    user, item = np.zeros(ratings.n_users), np.zeros(ratings.n_items)
    for _ in range(_ROUNDS):
        item = _shrunken_means(values - mu - user[users], items, ratings.n_items, item_ridge)
        user = _shrunken_means(values - mu - item[items], users, ratings.n_users, user_ridge)
    return Biases(mu, user, item)


def _shrunken_means(
    values: NDArray[np.float64], owner: NDArray[np.int32], n_owners: int, ridge: float
) -> NDArray[np.float64]:
    counts = np.bincount(owner, minlength=n_owners)
    return np.bincount(owner, values, minlength=n_owners) / np.maximum(counts + ridge, 1e-9)
