"""Fit the row of a group to all ratings of its members, instead of averaging what each member alone would get.

The item side of the model is held still. Of a member u with the ratings t_u for items with numbers Z_u = (q, 1), the
model believes in ``x_u = A_u^-1 Z_u^T t_u``, ``A_u = Z_u^T Z_u + noise diag(1 / prior)``: A_u says how much is known
about x_u in each direction. The row of a group C of size k is the mean of its members weighted by what is known,

    x_C = (sum_u A_u)^-1 sum_u A_u x_u,

which is the ridge regression of all their ratings with k times the noise; a little less was best on data held out
(docs/decisions/labels-and-grid.md). What is not known of an item, the less the more often it was rated, is added to
A_u, as in `_releases.row_solver`.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.profiles import GroupMeans
from recloak._releases.row_solver import Beliefs, RatingRows, solve_rows

_SAMPLE = 200_000  # ratings looked at to measure the noise
_BLOCK = 4_000_000  # ratings brought together at a time
_NOISE_SHARE = 0.7  # of the k-fold noise: what is known of one member tells something of the others
_LEAST_SHARE = 1e-6  # no prior variance falls below this share of the noise: such a factor stays at 0


def fit_groups(ratings: Ratings, padding: Padding, grouping: Grouping) -> GroupMeans:
    """Return bias and factors of each group, fitted to all ratings of its members."""
    noise, prior = rating_levels(ratings, padding)
    beliefs, level = item_beliefs(ratings, padding, noise, prior), noise * grouping.k * _NOISE_SHARE
    found = [
        solve_rows(rows, beliefs, mu=padding.mu, noise=level, prior=prior)[0].mean
        for rows in _pooled(ratings, grouping)
    ]
    rows = np.concatenate(found)
    return GroupMeans(
        np.ascontiguousarray(rows[:, -1]),
        np.ascontiguousarray(rows[:, :-1]),
        (padding.item_bias + np.float32(padding.mu)).astype(np.float32),
        shown_factors(padding.item_factors, ratings.popularity, grouping.k),
    )


def shown_factors(item_factors: NDArray[np.float32], popularity: NDArray[np.int64], k: int) -> NDArray[np.float32]:
    """Return the items' factors by rows (rank, n_items), all 0 for an item with fewer raters than two groups have.

    The factors of an item with few raters point to these very people, and say next to nothing about anybody else.
    """
    shown = np.ascontiguousarray(item_factors.T)
    return shown * (popularity >= 2 * k)


def rating_levels(ratings: Ratings, padding: Padding) -> tuple[float, NDArray[np.float64]]:
    """Measure the noise of the model on evenly spaced ratings, and the mean square of each factor and of the bias."""
    some = np.arange(0, ratings.n_ratings, -(-ratings.n_ratings // _SAMPLE))
    users = np.searchsorted(ratings.indptr, some, side="right") - 1
    residuals = ratings.values[some] - padding.predict(users, ratings.items[some])
    noise = max(float(np.square(residuals, dtype=np.float64).mean()), 1e-6)
    squares = np.square(padding.user_factors, dtype=np.float64).mean(0), np.square(padding.user_bias).mean(dtype="f8")
    return noise, np.maximum(np.append(*squares), _LEAST_SHARE * noise)


def item_beliefs(ratings: Ratings, padding: Padding, noise: float, prior: NDArray[np.float64]) -> Beliefs:
    """Return what is believed about the items: the padding's numbers, each as sure as its ratings can make it."""
    mean = np.column_stack((padding.item_factors, padding.item_bias)).astype(np.float32)
    own = np.maximum(np.square(mean, dtype=np.float64).mean(0), _LEAST_SHARE * noise)
    variance = noise / (ratings.popularity[:, None] * prior + noise / own)
    return Beliefs(mean, variance.astype(np.float32))


def _pooled(ratings: Ratings, grouping: Grouping) -> Iterator[RatingRows]:
    """Return the ratings of each group's members one after the other, some groups at a time."""
    starts, members = grouping.members()
    counts = np.diff(ratings.indptr)[members]
    ends = np.concatenate(([0], np.cumsum(counts)))[starts]  # (n_groups + 1,) ratings before each group
    first = 0
    while first < grouping.n_groups:
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + _BLOCK, side="right")) - 1)
        some, n = slice(starts[first], starts[last]), counts[starts[first] : starts[last]]
        offsets = ratings.indptr[members[some]] - np.cumsum(n) + n
        places = np.arange(ends[last] - ends[first]) + np.repeat(offsets, n)
        yield RatingRows(ends[first : last + 1] - ends[first], ratings.items[places], ratings.values[places])
        first = last
