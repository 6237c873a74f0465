"""Recommenders trained on a release and on the original, so that the two can be compared.

In a release all members of a group have one row, so the group is trained on as one row, and a member is served by the
predictions for that row. Group sizes lie in [k, 2k - 1], so no row stands for twice as many people as another.

Item neighbours predict a rating by what the same person thinks of similar items. With b_ui the bias model and
e_ui = r_ui - b_ui its residual, items are compared by the cosine of their residuals (Sarwar et al. 2001, adjusted
cosine, with item biases removed too), and

    r_ui = b_ui + sum_j s_ij e_uj / (1 + sum_j |s_ij|)      over the nearest items j of i that u rated.

The 1 in the denominator pulls predictions that rest on little towards the bias model. All products are sparse, in
blocks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._attacks.model import Public
from recloak._attacks.public_view import MOST_CELLS
from recloak._core.errors import InputError
from recloak._core.randomness import Randomness
from recloak._ratings.assemble import transpose_rows
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Padding
from recloak._releases.options import PadOptions
from recloak._releases.pad import pad

NEIGHBOURS = 50
_ITEM_BLOCK = 256
_USER_BLOCK = 512


class Model(Protocol):
    """A trained recommender: predicts a cell, or a whole row."""

    def predict(self, users: NDArray[np.integer], items: NDArray[np.integer], /) -> NDArray[np.float32]:
        """Predict one cell per (row, item) pair."""
        ...

    def rows(self, users: NDArray[np.integer], /) -> NDArray[np.float32]:
        """Predict every item for a few rows."""
        ...


Fit = Callable[[Ratings, Randomness], Model]


def require_trainable(public: Public) -> None:
    """Raise InputError if a release does not fit into memory as a training set."""
    if public.n_cells > MOST_CELLS:
        raise InputError(
            f"a release to train recommenders on must have at most {MOST_CELLS:,} cells, got {public.n_cells:,}; "
            "publish and evaluate a sample of the users instead"
        )


def as_training_set(public: Public, item_ids: IdMap) -> Ratings:
    """Return a release as ratings whose rows are its profiles."""
    require_trainable(public)
    indptr, items, order = transpose_rows(public.indptr, public.profiles, public.n_profiles)
    groups = IdMap.of(np.arange(public.n_profiles))
    return Ratings(indptr, items, public.labels[order], groups, item_ids, public.scale)


@dataclass(frozen=True, eq=False, slots=True)
class ItemNeighbours:
    """A trained neighbour model."""

    bias: Padding
    residuals: scipy.sparse.csr_array  # (n_users, n_items)
    rated: scipy.sparse.csr_array  # (n_users, n_items) 1 where rated
    similarity: scipy.sparse.csr_array  # (n_items, n_items) cosines of the nearest items in the row of each

    def rows(self, users: NDArray[np.integer], /) -> NDArray[np.float32]:
        """Predict every item for a few rows."""
        lift = (self.residuals[users] @ self.similarity.T).toarray()
        weight = (self.rated[users] @ abs(self.similarity).T).toarray()
        return (self.bias.rows(users) + lift / (1 + weight)).astype(np.float32)

    def predict(self, users: NDArray[np.integer], items: NDArray[np.integer], /) -> NDArray[np.float32]:
        """Predict one cell per (row, item) pair, inside the scale."""
        predicted = np.empty(len(users), np.float32)
        order = np.argsort(users, kind="stable")
        distinct, starts = np.unique(users[order], return_index=True)
        ends = np.append(starts, len(users))
        for first in range(0, len(distinct), _USER_BLOCK):
            block = distinct[first : first + _USER_BLOCK]
            some = order[ends[first] : ends[first + len(block)]]
            predicted[some] = self.rows(block)[np.searchsorted(block, users[some]), items[some]]
        return np.clip(predicted, self.bias.scale.low, self.bias.scale.high)


def fit_neighbours(ratings: Ratings, bias: Padding, *, neighbours: int = NEIGHBOURS) -> ItemNeighbours:
    """Compare all items by their residuals and keep the nearest of each."""
    values = (ratings.values - bias.predict(ratings.users(), ratings.items)).astype(np.float32)
    residuals = scipy.sparse.csr_array((values, ratings.items, ratings.indptr), shape=ratings.shape)
    rated = scipy.sparse.csr_array((np.ones_like(values), ratings.items, ratings.indptr), shape=ratings.shape)
    return ItemNeighbours(bias, residuals, rated, _similarity(residuals, neighbours))


def _similarity(residuals: scipy.sparse.csr_array, neighbours: int) -> scipy.sparse.csr_array:
    """Return the largest positive cosines of each item, without an items x items array."""
    lengths = np.sqrt((residuals.multiply(residuals)).sum(axis=0))
    unit = (residuals / np.maximum(lengths, 1e-9)).tocsr()
    n_users, n_items = unit.shape
    # If more than half is filled, as in a padded release, the dense array is smaller and far faster.
    table = unit.toarray() if 2 * unit.nnz > n_users * n_items else unit
    columns = table if table is not unit else unit.tocsc()
    rows = [
        _largest(_dense(columns[:, first : first + _ITEM_BLOCK].T @ table), first, neighbours)
        for first in range(0, n_items, _ITEM_BLOCK)
    ]
    return scipy.sparse.vstack(rows).tocsr() if rows else scipy.sparse.csr_array((0, 0))


def _dense(product: NDArray[np.float32] | scipy.sparse.csr_array) -> NDArray[np.float32]:
    dense: NDArray[np.float32] = product if isinstance(product, np.ndarray) else product.toarray()
    return dense


def _largest(cosines: NDArray[np.float32], first: int, neighbours: int) -> scipy.sparse.csr_array:
    """Keep the largest entries of each row except the item itself; ties are broken by item number."""
    n_rows, n_items = cosines.shape
    cosines[np.arange(n_rows), np.arange(first, first + n_rows)] = 0.0
    top = np.argsort(-cosines, axis=1, kind="stable")[:, : min(neighbours, n_items)]
    values = np.maximum(np.take_along_axis(cosines, top, axis=1), 0.0)
    indptr = np.arange(0, top.size + 1, top.shape[1])
    largest = scipy.sparse.csr_array((values.ravel(), top.ravel(), indptr), shape=(n_rows, n_items))
    largest.eliminate_zeros()
    return largest


def _fit(predictor: str) -> Fit:
    return lambda ratings, rng: pad(ratings, PadOptions(predictor=predictor), rng=rng)


fit_factors = _fit("svd")  # a regularised factorisation with biases
fit_bias = _fit("bias")  # mu + b_u + b_i
fit_item_mean = _fit("mean")  # the trivial baseline


def fit_item_knn(ratings: Ratings, rng: Randomness) -> Model:
    """Train item neighbours on the residuals of the bias model."""
    return fit_neighbours(ratings, pad(ratings, PadOptions(predictor="bias"), rng=rng))


RECOMMENDERS: dict[str, Fit] = {"factorisation": fit_factors, "item-knn": fit_item_knn, "bias": fit_bias}
