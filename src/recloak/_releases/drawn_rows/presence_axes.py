"""Axes of who rated what: correspondence analysis of the ratings as mere presence (Greenacre 1984).

With r_u the number of ratings of a user, c_i that of an item and N all of them, the axes are the main directions of
``B_ui / sqrt(r_u c_i)`` after the first, which is popularity alone. An item's coordinates y_i have mean 0 and variance
1 over all ratings; those of a user are the mean over the user's items, ``f_u = sum_i y_i / r_u``, and
``P(u rated i) is about r_u c_i / N exp(f_u . y_i)``. Since a mean of r_u coordinates has a noise of variance 1 / r_u,
what a coordinate truly varies by is what it is seen to vary by, less the mean of 1 / r_u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.randomness import Randomness
from recloak._ratings.assemble import transpose_rows
from recloak._ratings.model import Ratings
from recloak._releases.drawn_rows.canonical_users import row_places
from recloak._releases.embed import root, times
from recloak._releases.factor_start import orthonormal, residual_product
from recloak._releases.row_solver import RatingRows

AXES = 48
_ROUNDS = 6
_SAMPLE = 20_000  # users that the axes are found on; all users get coordinates
_BLOCK = 20_000  # users whose coordinates are found together
_LEAST = 1e-4  # variance of an axis that explains nothing


class PresenceAxes(NamedTuple):
    """Coordinates of items and users; an item that no rating of the sample names lies at 0."""

    items: NDArray[np.float32]  # (n_items, axes)
    users: NDArray[np.float32]  # (n_users, axes) f_u as seen
    noise: NDArray[np.float32]  # (n_users, 1) 1 / r_u
    spread: NDArray[np.float64]  # (axes,) the variance of f_u without its noise

    def shrunk(self) -> NDArray[np.float32]:
        """Return what is believed of each user: coordinates with little behind them move towards 0."""
        spread = self.spread.astype(np.float32)
        return self.users * (spread / (spread + self.noise))


def find_axes(ratings: Ratings, rng: Randomness, *, n_axes: int = AXES, sample: int = _SAMPLE) -> PresenceAxes:
    """Find the axes on a sample of users, and the coordinates of everybody."""
    stream = rng.stream("axes")
    users = np.sort(stream.permutation(ratings.n_users)[:sample])
    items = _item_axes(ratings, users, n_axes, stream)
    counts = np.maximum(ratings.activity, 1)[:, None].astype(np.float32)
    seen = np.empty((ratings.n_users, items.shape[1]), np.float32)
    for first in range(0, ratings.n_users, _BLOCK):
        part, starts = slice(first, first + _BLOCK), ratings.indptr[first : first + _BLOCK + 1]
        rows = _presence(starts - starts[0], ratings.items[starts[0] : starts[-1]])
        seen[part] = _product(rows, items) / counts[part]
    noise = (1 / counts).astype(np.float32)
    spread = np.maximum(np.square(seen, dtype=np.float64).mean(0) - noise.mean(dtype=np.float64), _LEAST)
    return PresenceAxes(items, seen, noise, spread)


def _item_axes(
    ratings: Ratings, users: NDArray[np.int64], most: int, stream: np.random.Generator
) -> NDArray[np.float32]:
    """Return the standard coordinates of the items by subspace iteration."""
    places, indptr = row_places(ratings.indptr, users)
    by_user = _presence(indptr, ratings.items[places])
    by_item = _transposed(by_user, ratings.n_items)
    across = _inverse_root(by_user.counts)
    down = _inverse_root(by_item.counts)
    popular = np.sqrt(by_item.counts.astype(np.float32))[:, None]
    n_axes = min(most, len(users) - 1, ratings.n_items - 1)
    found = stream.standard_normal((ratings.n_items, n_axes), dtype=np.float32)
    for _ in range(_ROUNDS):
        found = orthonormal(np.hstack((popular, found)))[:, 1:]
        per_user = across * _product(by_user, down * found)
        found = down * _product(by_item, across * per_user)
    found = orthonormal(np.hstack((popular, found)))[:, 1:]
    turn = across * _product(by_user, down * found)
    main = root(np.einsum("uf,ug->fg", turn, turn, dtype=np.float64))
    main /= np.sqrt(np.square(main).sum(0))
    standard = times(found, main.astype(np.float32)) * (down * np.float32(np.sqrt(len(places))))
    return np.ascontiguousarray(standard)


def _presence(indptr: NDArray[np.int64], others: NDArray[np.int32]) -> RatingRows:
    return RatingRows(indptr, others, np.ones(len(others), np.float32))


def _transposed(rows: RatingRows, n_others: int) -> RatingRows:
    indptr, others, _ = transpose_rows(rows.indptr, rows.others, n_others)
    return _presence(indptr, others)


def _product(rows: RatingRows, directions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Add up the directions over each row."""
    own, other = np.zeros(len(rows), np.float32), np.zeros(len(directions), np.float32)
    return residual_product(rows, 0.0, own, other, np.ascontiguousarray(directions))


def _inverse_root(counts: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return ``count^(-1/2)`` as a column, 0 where there is nothing."""
    return np.where(counts > 0, 1 / np.sqrt(np.maximum(counts, 1)), 0).astype(np.float32)[:, None]


def within_groups(axes: PresenceAxes, labels: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much members of a group differ along each axis, without the noise of few ratings."""
    means = np.stack([np.bincount(labels, column) for column in axes.users.T], axis=1) / sizes[:, None]
    squares = np.square(axes.users - means[labels]).sum(0) / max(len(labels) - len(sizes), 1)
    return np.maximum(squares - axes.noise.mean(dtype=np.float64), 0.02 * axes.spread)
