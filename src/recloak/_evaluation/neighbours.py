"""Item neighbours: predict a rating by what the same person thinks of similar items.

With b_ui the bias model and e_ui = r_ui - b_ui what it leaves over, items are compared by the cosine of their residuals
(Sarwar et al. 2001, adjusted cosine, with item biases taken away too), and

    r_ui = b_ui + sum_j s_ij e_uj / (1 + sum_j |s_ij|)      over the nearest items j of i that u rated.

The 1 below pulls predictions that rest on little towards the bias model. All products are sparse, in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Padding

NEIGHBOURS = 50
_ITEM_BLOCK = 256
_USER_BLOCK = 512


@dataclass(frozen=True, eq=False, slots=True)
class ItemNeighbours:
    """A trained neighbour model."""

    bias: Padding
    residuals: scipy.sparse.csr_array  # (n_users, n_items)
    rated: scipy.sparse.csr_array  # (n_users, n_items) 1 where rated
    similarity: scipy.sparse.csr_array  # (n_items, n_items) the nearest of each item in its row

    def rows(self, users: NDArray[np.integer], /) -> NDArray[np.float32]:
        """Predict every item for a few rows."""
        lift = (self.residuals[users] @ self.similarity.T).toarray()
        weight = (self.rated[users] @ abs(self.similarity).T).toarray()
        return (self.bias.rows(users) + lift / (1 + weight)).astype(np.float32)

    def predict(self, users: NDArray[np.integer], items: NDArray[np.integer], /) -> NDArray[np.float32]:
        """Predict one cell per (row, item) pair, inside the scale."""
        found = np.empty(len(users), np.float32)
        order = np.argsort(users, kind="stable")
        distinct, starts = np.unique(users[order], return_index=True)
        ends = np.append(starts, len(users))
        for first in range(0, len(distinct), _USER_BLOCK):
            block = distinct[first : first + _USER_BLOCK]
            some = order[ends[first] : ends[first + len(block)]]
            found[some] = self.rows(block)[np.searchsorted(block, users[some]), items[some]]
        return np.clip(found, self.bias.scale.low, self.bias.scale.high)


def fit_neighbours(ratings: Ratings, bias: Padding, *, neighbours: int = NEIGHBOURS) -> ItemNeighbours:
    """Compare all items by their residuals and keep the nearest of each."""
    rest = (ratings.values - bias.predict(ratings.users(), ratings.items)).astype(np.float32)
    residuals = scipy.sparse.csr_array((rest, ratings.items, ratings.indptr), shape=ratings.shape)
    rated = scipy.sparse.csr_array((np.ones_like(rest), ratings.items, ratings.indptr), shape=ratings.shape)
    return ItemNeighbours(bias, residuals, rated, _similarity(residuals, neighbours))


def _similarity(residuals: scipy.sparse.csr_array, neighbours: int) -> scipy.sparse.csr_array:
    """Give the largest cosines of each item, those above 0 only, without an items x items array."""
    lengths = np.sqrt((residuals.multiply(residuals)).sum(axis=0))
    unit = (residuals / np.maximum(lengths, 1e-9)).tocsr()
    n_users, n_items = unit.shape
    # Filled to more than a half, as a padded release is, the plain array is the smaller one, and far quicker.
    table = unit.toarray() if 2 * unit.nnz > n_users * n_items else unit
    columns = table if table is not unit else unit.tocsc()
    rows = [
        _largest(_plain(columns[:, first : first + _ITEM_BLOCK].T @ table), first, neighbours)
        for first in range(0, n_items, _ITEM_BLOCK)
    ]
    return scipy.sparse.vstack(rows).tocsr() if rows else scipy.sparse.csr_array((0, 0))


def _plain(product: NDArray[np.float32] | scipy.sparse.csr_array) -> NDArray[np.float32]:
    found: NDArray[np.float32] = product if isinstance(product, np.ndarray) else product.toarray()
    return found


def _largest(cosines: NDArray[np.float32], first: int, neighbours: int) -> scipy.sparse.csr_array:
    """Keep the largest entries of each row; an item is no neighbour of itself. Equal ones by item number."""
    n_rows, n_items = cosines.shape
    cosines[np.arange(n_rows), np.arange(first, first + n_rows)] = 0.0
    top = np.argsort(-cosines, axis=1, kind="stable")[:, : min(neighbours, n_items)]
    values = np.maximum(np.take_along_axis(cosines, top, axis=1), 0.0)
    indptr = np.arange(0, top.size + 1, top.shape[1])
    found = scipy.sparse.csr_array((values.ravel(), top.ravel(), indptr), shape=(n_rows, n_items))
    found.eliminate_zeros()
    return found
