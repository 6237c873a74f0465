"""Small histories for the tests: ratings that arrive period by period, and how to release lists along them."""

import numpy as np

from recloak._ratings.model import Ratings
from recloak._related.model import Holders, ListRelease
from recloak._related.options import ALL_RELEASES, BoundOptions, MethodOptions
from recloak._related.release_making import Before, make_release
from recloak._related.similarity import nearest

NEVER = 99  # a time after every release: somebody who rates everything, so that every item is known
DAY = 86_400


def ratings_of(matrices):
    """Return ratings from one users x items matrix per period: a cell is rated at the first period that shows it."""
    n_users, n_items = np.array(matrices[0]).shape
    rows = [(n_users, item, 1.0, NEVER) for item in range(n_items)]
    seen = np.zeros((n_users, n_items), bool)
    for period, matrix in enumerate(matrices):
        cells = (np.array(matrix) > 0) & ~seen
        rows += [(u, i, float(matrix[u][i]), period) for u, i in zip(*np.nonzero(cells), strict=True)]
        seen |= cells
    users, items, values, times = (np.array(column) for column in zip(*rows, strict=True))
    return Ratings.from_arrays(users, items, values, times)


def random_history(rng):
    """Draw ratings, the number of periods, the length of lists and the depth of the ranking."""
    n_users, n_items, n_periods = rng.integers(2, 9), rng.integers(3, 8), rng.integers(2, 6)
    rated = rng.random((n_users, n_items)) < rng.uniform(0.2, 0.8)
    born, values = rng.integers(0, n_periods, rated.shape), rng.integers(1, 6, rated.shape)
    matrices = [np.where(rated & (born <= period), values, 0) for period in range(n_periods)]
    return ratings_of(matrices), int(n_periods), int(rng.integers(1, 4)), int(rng.integers(0, 4))


def random_bound(rng):
    """Draw a bound."""
    return BoundOptions(
        delta=float(rng.choice([0, 0.1, 0.34, 0.5, 0.67, 0.8, 1])),
        horizon=["all", "all", "3", "8", "1h"][rng.integers(5)],
        min_support=[1, 1, 2, 3][rng.integers(4)],
        window=[None, None, None, 2, 3, ALL_RELEASES][rng.integers(6)],
        evidence=["fresh", "fresh", "total"][rng.integers(3)],
        knowledge=[None, None, 1, 2][rng.integers(4)],
    )


def true_releases(ratings, n_periods, top):
    """Release the true lists after every period."""
    return [ListRelease(t + 1, t, nearest(ratings.until(t), top)) for t in range(n_periods)]


def safe_releases(ratings, n_periods, top, bound, method="perm", *, more=3, budget=10**9):
    """Release anonymised lists after every period."""
    how = MethodOptions(top=top, method=method, candidates=top + more, budget=budget)
    holders, before = Holders.of(ratings), Before()
    made: list[ListRelease] = []
    for time in range(n_periods):
        ranking = nearest(ratings.until(time), top + more)
        made.append(make_release(before, ranking, holders, time, bound, how).release)
        before = before.after(made[-1], bound)
    return made
