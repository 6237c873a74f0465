"""Regularised matrix factorisation that finds its own regularisation (variational Bayes).

A rating is ``r_ui = mu + b_u + b_i + p_u . q_i + noise``; factors and biases are normal around 0, each column with a
variance of its own. User rows and item rows are solved in turns (`_releases.row_solver`), and after each round the
variances and the noise become what the beliefs imply (Lim & Teh 2007; Raiko, Ilin & Karhunen 2007). Each step lowers
one number, the free energy. Users of whom little is known stay near their bias and a factor that explains nothing
fades, on any scale and without a knob to turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.progress import Advance, task
from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings
from recloak._releases.factor_start import start_biases, start_directions
from recloak._releases.model.steps import Padding
from recloak._releases.row_solver import Beliefs, RatingRows, solve_rows

START_ROUNDS = 3
_FACTOR_SHARE = 0.15  # variance of a factor at the start, in standard deviations of the ratings
_BIAS_SHARE = 0.3  # variance of a bias at the start, in variances of the ratings
_NOISE_SHARE = 0.6  # variance of the noise at the start, likewise
_LEAST_SHARE = 1e-6  # no variance falls below this share of the ratings' own


def _ignore(_: float) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False, slots=True)
class Levels:
    """The mean and the variances that hold for everybody; a prior has the factors' variances, then the bias's."""

    mu: float
    noise: float
    user_prior: NDArray[np.float64]  # (rank + 1,)
    item_prior: NDArray[np.float64]  # (rank + 1,)
    least: float


@dataclass(frozen=True, eq=False, slots=True)
class Factorisation:
    """Beliefs about both sides, and their free energy per rating: half the log of the noise, and what it cost."""

    users: Beliefs
    items: Beliefs
    levels: Levels
    energy: float

    def padding(self, ratings: Ratings) -> Padding:
        """Predict by the means."""
        users, items, rank = self.users.mean, self.items.mean, self.users.rank
        biases = users[:, rank].copy(), items[:, rank].copy()
        return Padding(self.levels.mu, *biases, users[:, :rank].copy(), items[:, :rank].copy(), ratings.scale)


def factorise(ratings: Ratings, *, rank: int, iterations: int, tolerance: float, rng: Randomness) -> Factorisation:
    """Factorise in at most so many rounds; stop when a round lowers the energy by less than ``tolerance``."""
    with task("padding", 2 * iterations) as advance:
        previous = np.inf
        for n, found in enumerate(rounds(ratings, rank, rng, advance), start=1):
            if n == iterations or previous - found.energy < tolerance:
                break
            previous = found.energy
    return found


def rounds(ratings: Ratings, rank: int, rng: Randomness, advance: Advance = _ignore) -> Iterator[Factorisation]:
    """Yield one factorisation after the other, each a round better, without end; report each half of a round."""
    by_user, by_item = sides(ratings)
    items, levels = _start(by_user, by_item, rank, rng)
    while True:
        users, _ = solve_rows(by_user, items, mu=levels.mu, noise=levels.noise, prior=levels.user_prior)
        advance(1)
        items, errors = solve_rows(by_item, users, mu=levels.mu, noise=levels.noise, prior=levels.item_prior)
        advance(1)
        sums, error = (side_sums(users), side_sums(items)), float(errors.sum(dtype=np.float64))
        levels = next_levels(levels, *sums, error, ratings.n_ratings)
        yield Factorisation(users, items, levels, energy_of(levels, *sums, ratings.n_ratings))


def sides(ratings: Ratings) -> tuple[RatingRows, RatingRows]:
    """Return the ratings by user and by item."""
    columns = ratings.by_item()
    return (
        RatingRows(ratings.indptr, ratings.items, ratings.values),
        RatingRows(columns.indptr, columns.users, columns.values),
    )


def _start(by_user: RatingRows, by_item: RatingRows, rank: int, rng: Randomness) -> tuple[Beliefs, Levels]:
    """Return the first beliefs about the items, and the first levels."""
    mu, spread = float(by_user.values.mean(dtype=np.float64)), float(by_user.values.std(dtype=np.float64)) or 1.0
    biases = start_biases(by_user, by_item, mu, START_ROUNDS)
    directions = start_directions(by_user, by_item, mu, biases, first_guess(len(by_item), rank, rng), START_ROUNDS)
    return first_items(directions, biases[1], spread), first_levels(mu, spread, rank)


def first_guess(n_items: int, rank: int, rng: Randomness) -> NDArray[np.float32]:
    """Draw the item directions to begin with."""
    return rng.stream("directions").standard_normal((n_items, rank), dtype=np.float32)


def first_items(directions: NDArray[np.float32], item_bias: NDArray[np.float32], spread: float) -> Beliefs:
    """Return the first beliefs about the items, from their main directions and biases."""
    size = np.float32(np.sqrt(_FACTOR_SHARE * spread * len(directions)))
    mean = np.column_stack((directions * size, item_bias))
    return Beliefs(mean, np.zeros_like(mean))


def first_levels(mu: float, spread: float, rank: int) -> Levels:
    """Return the first levels of ratings with a mean and a standard deviation."""
    prior = np.array([_FACTOR_SHARE * spread] * rank + [_BIAS_SHARE * spread**2])
    return Levels(mu, _NOISE_SHARE * spread**2, prior, prior, _LEAST_SHARE * spread**2)


class SideSums(NamedTuple):
    """What the beliefs about a side add up to over its rows with ratings; the sums of blocks can be added."""

    n_known: float
    squares: NDArray[np.float64]  # (rank + 1,) of mean^2 + variance
    logs: float  # of the logarithms of all variances

    def plus(self, other: SideSums) -> SideSums:
        """Add the sums of another block."""
        return SideSums(self.n_known + other.n_known, self.squares + other.squares, self.logs + other.logs)


def side_sums(beliefs: Beliefs) -> SideSums:
    """Add up the beliefs about a block of rows."""
    squares = np.square(beliefs.mean).sum(0, dtype=np.float64) + beliefs.variance.sum(0, dtype=np.float64)
    logs = np.log(beliefs.variance[beliefs.known]).sum(dtype=np.float64)
    return SideSums(float(np.count_nonzero(beliefs.known)), squares, float(logs))


def next_levels(levels: Levels, users: SideSums, items: SideSums, error: float, n_ratings: int) -> Levels:
    """Return the levels that make the beliefs most likely; ``error`` is the expected sum of squared errors."""
    noise = max(error / n_ratings, levels.least)
    return Levels(levels.mu, noise, _prior(users, levels.least), _prior(items, levels.least), levels.least)


def _prior(sums: SideSums, least: float) -> NDArray[np.float64]:
    """Return each column's mean square over the rows with ratings."""
    return np.maximum(sums.squares / sums.n_known, least)


def energy_of(levels: Levels, users: SideSums, items: SideSums, n_ratings: int) -> float:
    """Return the free energy per rating, but for a constant, at the levels just found."""
    costs = _cost(users, levels.user_prior) + _cost(items, levels.item_prior)
    return 0.5 * float(np.log(levels.noise)) + costs / n_ratings


def _cost(sums: SideSums, prior: NDArray[np.float64]) -> float:
    """Return how far the beliefs have moved from the prior, in nats."""
    return 0.5 * (sums.n_known * float(np.log(prior).sum()) - sums.logs)
