"""Small releases for the tests: random factors and a grouping by hand, so that no step before is needed."""

import numpy as np
from numpy.typing import NDArray

from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.options import PublishOptions
from recloak._releases.publishing import make_release
from recloak._releases.release import Release


def some_padding(ratings: Ratings, rank: int = 3, seed: int = 0) -> Padding:
    """Make predictions around the middle of the scale."""
    rng = np.random.default_rng(seed)
    n_users, n_items = ratings.shape

    def draw(*shape: int) -> NDArray[np.float32]:
        return np.asarray(rng.normal(0, 0.3, shape), np.float32)

    middle = (ratings.scale.low + ratings.scale.high) / 2
    return Padding(middle, draw(n_users), draw(n_items), draw(n_users, rank), draw(n_items, rank), ratings.scale)


def some_grouping(n_users: int, k: int, seed: int = 0) -> Grouping:
    """Cut users in random order into groups of k to 2k - 1."""
    order = np.random.default_rng(seed).permutation(n_users)
    labels = np.empty(n_users, np.int32)
    labels[order] = np.minimum(np.arange(n_users) // k, n_users // k - 1)
    return Grouping(labels, k)


def some_ratings(n_users: int = 12, n_items: int = 6, seed: int = 0, density: float = 0.5) -> Ratings:
    """Draw ratings from 1 to 5; every user and every item has at least one."""
    rng = np.random.default_rng(seed)
    rated = rng.random((n_users, n_items)) < density
    rated[np.arange(n_users), np.arange(n_users) % n_items] = True
    users, items = np.nonzero(rated)
    values = rng.integers(1, 6, len(users)).astype(np.float64)
    values[:2] = 1, 5
    return Ratings.from_arrays(users, items * 10 + 3, values)


def some_release(ratings: Ratings, k: int = 3, seed: int = 0, **options: object) -> Release:
    """Make a release without fitting anything."""
    chosen = PublishOptions.from_mapping({"k": k, **options})
    padding, grouping = some_padding(ratings, seed=seed), some_grouping(ratings.n_users, k, seed)
    return make_release(ratings, padding, grouping, chosen, Randomness(seed))
