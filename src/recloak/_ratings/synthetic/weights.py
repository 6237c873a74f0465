"""Weights at which drawing items without replacement meets a wanted popularity.

A user who takes the first n of items that arrive at rates w_i has taken item i with probability about
1 - exp(-theta_n w_i), where theta_n is such that n are taken. Heavy users have seen every popular item, so weights
proportional to popularity would leave the popular items short. We solve both margins,

    sum_i 1 - exp(-theta_n w_i) = n          for each activity n,
    sum_n users(n) (1 - exp(-theta_n w_i)) = popularity_i   for each item i,

by turns, over bins of similar users and of similar items (iterative proportional fitting of a saturating table).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BINS = 96
_ROUNDS = 30
_HALVINGS = 40
_FULL = 0.98  # a margin that fills its line wholly has no finite weight


def balanced_weights(activity: NDArray[np.int64], popularity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give a weight per item; only ratios matter."""
    n, users = _binned(activity.astype(np.float64))  # (bins,) activity and number of users
    c, items = _binned(popularity)  # (bins,) popularity and number of items
    n, c = np.minimum(n, _FULL * len(popularity)), np.minimum(c, _FULL * len(activity))
    theta, w = n / len(popularity), c / c.mean()
    for _ in range(_ROUNDS):
        theta = _solved(w, items, n)
        w = _solved(theta, users, c)
    return np.exp(np.interp(np.log(popularity), np.log(c), np.log(w)))


def _binned(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Put values into bins of equal log width; give each bin's mean and size."""
    logs = np.log(values)
    edges = np.linspace(logs.min(), logs.max() + 1e-9, _BINS + 1)
    where = np.clip(np.digitize(logs, edges) - 1, 0, _BINS - 1)
    size = np.bincount(where, minlength=_BINS).astype(np.float64)
    mean = np.bincount(where, values, minlength=_BINS)[size > 0] / size[size > 0]
    return mean, size[size > 0]


def _solved(rates: NDArray[np.float64], sizes: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve ``sum_j sizes_j (1 - exp(-x_k rates_j)) = wanted_k`` for each x_k, by halving its logarithm."""
    low, high = np.full(len(wanted), -40.0), np.full(len(wanted), 40.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        met = -np.expm1(-np.exp(middle)[:, None] * rates) @ sizes
        low, high = np.where(met < wanted, middle, low), np.where(met < wanted, high, middle)
    return np.exp((low + high) / 2)
