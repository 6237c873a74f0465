"""A factorisation trained with differential privacy, as a yardstick: what a theorem costs in accuracy.

Alternating least squares in which only the items are shown (Chien et al. 2021, "Private alternating least squares:
practical private matrix completion with tighter rates"). The equations of an item are sums over its raters,

    A_i = sum_u z_u z_u^T,    c_i = sum_u t_ui z_u,    z_u = (p_u, 1),    |p_u| <= 1,    |t_ui| <= 1,

over at most M ratings of each person, so one person moves all sums together by at most sqrt(6 M) (biases alone:
sqrt(2 M)). Gaussian noise on
them makes each round zero-concentrated differentially private for whole people; the rounds add up. Everybody then
solves their own row from their own ratings and the items, which shows nothing to anybody. Ratings are taken on a scale
from -1 to 1. We differ from the paper in drawing the M ratings evenly.

The noise comes from a seed, because nothing of this is published.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._ratings.model import Ratings, Scale
from recloak._releases.statistics.privacy_budget import budget_for

MOST_RATINGS = 40  # of a person
_RANK, _ROUNDS = 4, 3
_BIASES, _FACTORS = 2, 6  # square of what one rating adds to the sums: 1 + 1, and |z|^4 + |z|^2 with |z|^2 <= 2
_MEAN_SHARE = 0.05  # of the budget, for the mean of all ratings
_RIDGE = 0.1 * np.array([5.0] * _RANK + [1.0])  # of a person's own row, which is shown to nobody
_RATING_VARIANCE, _BIAS_VARIANCE, _FACTOR_VARIANCE = 0.2, 0.06, 0.02  # of ratings from -1 to 1: rounded, no secret

_FURTHEST = 1.5  # no number of an item is larger: beyond the scale it is noise

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class _Chosen:
    """The ratings that teach the items."""

    users: NDArray[np.integer]
    items: NDArray[np.integer]
    values: Floats  # on a scale from -1 to 1
    n_items: int

    def summed(self, weights: Floats) -> Floats:
        """Return the sum over the raters of each item."""
        return np.asarray(np.bincount(self.items, weights, minlength=self.n_items), np.float64)


@dataclass(frozen=True, eq=False, slots=True)
class PrivateItems:
    """What is shown: factors and bias of each item, and what it costs one person at most."""

    sides: Floats  # (n_items, rank + 1), the last is the bias
    scale: Scale
    epsilon: float
    delta: float

    def rows(self, ratings: Ratings) -> Floats:
        """Return the row that each person solves alone, from their own ratings: (n_users, rank + 1)."""
        return _own_rows(_centred(ratings), self.sides)

    def predict(self, ratings: Ratings, users: NDArray[np.integer], items: NDArray[np.integer]) -> Floats:
        """Return predictions for people who know their own ratings."""
        rows, half = self.rows(ratings), max(self.scale.span / 2, 1e-9)
        found = (rows[users, :-1] * self.sides[items, :-1]).sum(axis=1) + rows[users, -1] + self.sides[items, -1]
        return np.asarray(self.scale.clip(self.scale.low + half * (1 + found)))


def train_private_items(
    ratings: Ratings, *, epsilon: float, delta: float, rng: np.random.Generator, taught: NDArray[np.bool_] | None = None
) -> PrivateItems:
    """Train items with differential privacy for whole people, on those who are ``taught`` (default: everybody)."""
    rho, chosen, centred = budget_for(epsilon, delta), _choose(ratings, rng, taught), _centred(ratings)
    each = (1 - _MEAN_SHARE) * rho / (_ROUNDS + 1)
    mean = _noisy_mean(chosen, int(ratings.n_users if taught is None else taught.sum()), _MEAN_SHARE * rho, rng)
    sides = _solved_items(chosen, np.zeros((ratings.n_users, 1)), mean, _deviation(_BIASES, each), rng)
    sides = np.column_stack((rng.normal(0, 0.1, (ratings.n_items, _RANK)), sides))  # a direction to start from
    for _ in range(_ROUNDS):
        rows = _own_rows(centred, sides)
        sides = _solved_items(chosen, rows, mean, _deviation(_FACTORS, each), rng)
    return PrivateItems(sides, ratings.scale, epsilon, delta)


def _deviation(squares: int, rho: float) -> float:
    """Return the noise that costs rho where one rating moves the sums by at most so much, squared."""
    return float(np.sqrt(squares * MOST_RATINGS / (2 * rho)))


def _noisy_mean(chosen: _Chosen, n_people: int, rho: float, rng: np.random.Generator) -> float:
    """Return the mean over people of their mean rating; one of them moves the sum by at most 1."""
    counts = np.bincount(chosen.users, minlength=1)
    sums = np.bincount(chosen.users, chosen.values, minlength=1)
    total = float((sums / np.maximum(counts, 1)).sum()) + float(rng.normal(0, np.sqrt(1 / (2 * rho))))
    return float(np.clip(total / max(n_people, 1), -1, 1))


def _centred(ratings: Ratings) -> scipy.sparse.csr_array:
    """Return the ratings on a scale from -1 to 1; a zero is kept as an entry."""
    half = max(ratings.scale.span / 2, 1e-9)
    values = (ratings.values.astype(np.float64) - ratings.scale.low) / half - 1
    return scipy.sparse.csr_array((values, ratings.items, ratings.indptr), shape=ratings.shape)


def _choose(ratings: Ratings, rng: np.random.Generator, taught: NDArray[np.bool_] | None) -> _Chosen:
    """Return at most so many ratings of each person who is taught, drawn evenly."""
    users, order = ratings.users(), rng.permutation(ratings.n_ratings)
    order = order[np.argsort(users[order], kind="stable")]  # a random order within each user
    kept = order[np.arange(len(order)) - ratings.indptr[users[order]] < MOST_RATINGS]
    if taught is not None:
        kept = kept[taught[users[kept]]]
    return _Chosen(users[kept], ratings.items[kept], _centred(ratings).data[kept], ratings.n_items)


def _solved_items(chosen: _Chosen, rows: Floats, mean: float, deviation: float, rng: np.random.Generator) -> Floats:
    """Solve every item from its noisy equations; rows of a bias alone give biases alone."""
    z, width = np.column_stack((_inside(rows[:, :-1]), np.ones(len(rows)))), rows.shape[1]
    wanted = np.clip(chosen.values - mean - rows[chosen.users, -1], -1, 1)
    left, right = np.empty((chosen.n_items, width, width)), np.empty((chosen.n_items, width))
    for f, g in itertools.combinations_with_replacement(range(width), 2):
        noise = rng.normal(0, deviation, chosen.n_items)
        left[:, f, g] = left[:, g, f] = chosen.summed(z[chosen.users, f] * z[chosen.users, g]) + noise
    for f in range(width):
        right[:, f] = chosen.summed(wanted * z[chosen.users, f]) + rng.normal(0, deviation, chosen.n_items)
    sides = np.linalg.solve(_positive(left, deviation), right[:, :, None])[:, :, 0]
    return np.asarray(np.clip(sides, -_FURTHEST, _FURTHEST) + np.append(np.zeros(width - 1), mean))


def _positive(matrices: Floats, deviation: float) -> Floats:
    """Return the matrices without negative directions, and with the ridge that suits noise on both sides.

    Of n noisy ratings with variance s^2, noise d on their sum and a prior variance v, the ridge is s^2 / v + d^2 / n v.
    """
    sizes, turns = np.linalg.eigh(matrices)
    n_raters = np.maximum(matrices[:, -1, -1], deviation)
    prior = np.array([_FACTOR_VARIANCE] * (matrices.shape[1] - 1) + [_BIAS_VARIANCE])
    ridge = (_RATING_VARIANCE + deviation**2 / n_raters)[:, None] / prior
    found = (turns * np.maximum(sizes, 0)[:, None, :]) @ turns.transpose(0, 2, 1)
    return np.asarray(found + ridge[:, :, None] * np.eye(matrices.shape[1]))


def _inside(factors: Floats) -> Floats:
    """Return rows no longer than 1: this is what limits one person's part in the sums."""
    return np.asarray(factors / np.maximum(np.linalg.norm(factors, axis=1, keepdims=True), 1))


def _own_rows(centred: scipy.sparse.csr_array, sides: Floats) -> Floats:
    """Return each person's factors and bias by ridge regression of their own ratings: (n_users, rank + 1)."""
    rated = scipy.sparse.csr_array((np.ones_like(centred.data), centred.indices, centred.indptr), shape=centred.shape)
    z: Floats = np.column_stack((sides[:, :-1], np.ones(len(sides))))
    width = z.shape[1]
    outer = rated @ (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    left = outer.reshape(-1, width, width) + np.diag(_RIDGE)
    right = centred @ z - rated @ (z * sides[:, -1:])
    return np.asarray(np.linalg.solve(left, right[:, :, None])[:, :, 0])
