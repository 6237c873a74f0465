"""Regularised matrix factorisation that finds its own regularisation (variational Bayes).

A rating is ``r_ui = mu + b_u + b_i + p_u . q_i + noise``; factors and biases are normal around 0, each column with a
variance of its own. User rows and item rows are solved in turns (`recloak.publish.rows`), and after each round the
variances and the noise become what the beliefs imply (Lim & Teh 2007; Raiko, Ilin & Karhunen 2007). Each step lowers
one number, the free energy. Users of whom little is known stay near their bias and a factor that explains nothing
fades, on any scale and without a knob to turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak.progress import Advance, task
from recloak.publish.model import Padding
from recloak.publish.rows import Beliefs, Rows, solve_rows
from recloak.publish.start import start_biases, start_directions
from recloak.randomness import Randomness
from recloak.ratings import Ratings

_START_ROUNDS = 3
_FACTOR_SHARE = 0.15  # variance of a factor at the start, in standard deviations of the ratings
_BIAS_SHARE = 0.3  # variance of a bias at the start, in variances of the ratings
_NOISE_SHARE = 0.6  # variance of the noise at the start, likewise
_LEAST_SHARE = 1e-6  # no variance falls below this share of the ratings' own


def _ignore(_: float) -> None:
    """Tell nobody."""


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
    """Give one factorisation after the other, each a round better, without end; tell each half of a round."""
    by_user, by_item = sides(ratings)
    items, levels = _start(by_user, by_item, rank, rng)
    while True:
        users, _ = solve_rows(by_user, items, mu=levels.mu, noise=levels.noise, prior=levels.user_prior)
        advance(1)
        items, errors = solve_rows(by_item, users, mu=levels.mu, noise=levels.noise, prior=levels.item_prior)
        advance(1)
        levels = _levels(levels, users, items, errors, ratings.n_ratings)
        yield Factorisation(users, items, levels, _energy(levels, users, items, ratings.n_ratings))


def sides(ratings: Ratings) -> tuple[Rows, Rows]:
    """Give the ratings by user and by item."""
    columns = ratings.by_item()
    return (
        Rows(ratings.indptr, ratings.items, ratings.values),
        Rows(columns.indptr, columns.users, columns.values),
    )


def _start(by_user: Rows, by_item: Rows, rank: int, rng: Randomness) -> tuple[Beliefs, Levels]:
    """Give the first beliefs about the items, and the first levels."""
    mu, spread = float(by_user.values.mean(dtype=np.float64)), float(by_user.values.std(dtype=np.float64)) or 1.0
    biases = start_biases(by_user, by_item, mu, _START_ROUNDS)
    guess = rng.stream("directions").standard_normal((len(by_item), rank), dtype=np.float32)
    directions = start_directions(by_user, by_item, mu, biases, guess, _START_ROUNDS)
    size = np.float32(np.sqrt(_FACTOR_SHARE * spread * len(by_item)))
    mean = np.column_stack((directions * size, biases[1]))
    prior = np.array([_FACTOR_SHARE * spread] * rank + [_BIAS_SHARE * spread**2])
    levels = Levels(mu, _NOISE_SHARE * spread**2, prior, prior, _LEAST_SHARE * spread**2)
    return Beliefs(mean, np.zeros_like(mean)), levels


def _levels(levels: Levels, users: Beliefs, items: Beliefs, errors: NDArray[np.float32], n_ratings: int) -> Levels:
    """Give the levels that make the beliefs most likely."""
    noise = max(float(errors.sum(dtype=np.float64)) / n_ratings, levels.least)
    return Levels(levels.mu, noise, _prior(users, levels.least), _prior(items, levels.least), levels.least)


def _prior(beliefs: Beliefs, least: float) -> NDArray[np.float64]:
    """Give each column's mean square over the rows with ratings."""
    squares = np.square(beliefs.mean).sum(0, dtype=np.float64) + beliefs.variance.sum(0, dtype=np.float64)
    return np.maximum(squares / np.count_nonzero(beliefs.known), least)


def _energy(levels: Levels, users: Beliefs, items: Beliefs, n_ratings: int) -> float:
    """Give the free energy per rating, but for a constant, at the levels just found."""
    costs = _cost(users, levels.user_prior) + _cost(items, levels.item_prior)
    return 0.5 * float(np.log(levels.noise)) + costs / n_ratings


def _cost(beliefs: Beliefs, prior: NDArray[np.float64]) -> float:
    """Give how far the beliefs have moved from the prior, in nats."""
    return float(0.5 * (np.log(prior) - np.log(beliefs.variance[beliefs.known])).sum(dtype=np.float64))
