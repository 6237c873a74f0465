"""A table that contestants train on, with the parts that several algorithms share, each computed once.

Rating algorithms learn from the values. Ranking algorithms learn from what was liked: the cells in the upper quarter of
the scale, as everywhere in the evaluation.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from recloak._core.randomness import Randomness
from recloak._evaluation.fidelity.biases import Biases, fit_biases
from recloak._ratings.model import Ratings, Scale

LIKED = 0.75  # of the scale; a cell at or above is liked
MOST_SINGULAR = 100


class Training:
    """A table of ratings to train on; what is shared is computed when it is first asked for."""

    def __init__(self, ratings: Ratings, rng: Randomness) -> None:
        self.ratings, self.rng = ratings, rng

    @cached_property
    def biases(self) -> Biases:
        """The bias model whose residuals the neighbour models compare."""
        return fit_biases(self.ratings, user_ridge=10.0, item_ridge=5.0)

    @cached_property
    def residuals(self) -> scipy.sparse.csr_array:
        """(n_rows, n_items) What the bias model leaves unexplained."""
        ratings = self.ratings
        left = ratings.values - self.biases.predict(ratings.users(), ratings.items)
        return scipy.sparse.csr_array((left.astype(np.float32), ratings.items, ratings.indptr), shape=ratings.shape)

    @cached_property
    def liked(self) -> scipy.sparse.csr_array:
        """(n_rows, n_items) 1 where a cell is liked."""
        keep = self.ratings.where(is_liked(self.ratings.values, self.ratings.scale))
        ones = np.ones(keep.n_ratings, np.float32)
        return scipy.sparse.csr_array((ones, keep.items, keep.indptr), shape=keep.shape)

    @cached_property
    def liked_together(self) -> NDArray[np.float32]:
        """(n_items, n_items) In how many rows two items are both liked."""
        return gram(self.liked)

    @cached_property
    def directions(self) -> NDArray[np.float32]:
        """(n_items, most) The right singular vectors of the liked cells, by falling singular value."""
        most = min(MOST_SINGULAR, min(self.liked.shape) - 1)
        if not self.liked.nnz:  # a padded row may like nothing
            return np.zeros((self.liked.shape[1], most), np.float32)
        draw = self.rng.stream("singular vectors")
        _, sizes, vectors = scipy.sparse.linalg.svds(self.liked.astype(np.float64), k=most, rng=draw)
        return vectors[np.argsort(-sizes)].T.astype(np.float32)


def is_liked(values: NDArray[np.floating], scale: Scale) -> NDArray[np.bool_]:
    """Return which values lie in the upper quarter of a scale."""
    return values >= scale.low + LIKED * scale.span - 1e-6


def gram(table: scipy.sparse.csr_array) -> NDArray[np.float32]:
    """Return the products of all pairs of columns; the table is multiplied dense where more than a fifth is filled."""
    n_rows, n_columns = table.shape
    if 5 * table.nnz > n_rows * n_columns:
        dense = table.toarray()
        return dense.T @ dense
    product: NDArray[np.float32] = (table.T @ table).toarray()
    return product
