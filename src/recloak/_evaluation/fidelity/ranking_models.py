"""Algorithms that rank: popularity, neighbours, linear item models, singular vectors and implicit factors.

Each `fit_...` returns a function that scores every item for some rows, from the cells that a row likes. With X the
liked cells (rows x items) and G = X^T X:

- item neighbours: X S, S the largest cosines G_ij / sqrt(G_ii G_jj) of each item (Deshpande & Karypis 2004);
- user neighbours: S X with cosines of rows;
- EASE: X B, B = I - P / diag(P), P = (G + ridge I)^-1 (Steck 2019);
- SLIM: X W, W >= 0 with zero diagonal, least squares with both penalties (Ning & Karypis 2011), each item over its
  nearest items alone, their "fsSLIM";
- PureSVD: X V V^T, V the first singular vectors (Cremonesi et al. 2010);
- implicit least squares: Hu et al. 2008, see `implicit_factors`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from recloak._evaluation.fidelity.implicit_factors import fit_factors
from recloak._evaluation.fidelity.nearest_columns import nearest_of
from recloak._evaluation.fidelity.sparse_linear import sparse_weights
from recloak._evaluation.fidelity.training import Training, gram

ScoreRows = Callable[[NDArray[np.integer]], NDArray[np.float32]]


def fit_popularity(training: Training) -> ScoreRows:
    """Score an item by how many rows like it."""
    counts = training.liked.sum(axis=0).astype(np.float32)
    return lambda rows: np.tile(counts, (len(rows), 1))


def fit_item_cosines(training: Training, *, n: int) -> ScoreRows:
    """Score an item by its cosines with what the row likes."""
    near, cosines = nearest_of(_cosines(training.liked_together), n)
    return _through(training.liked, _sparse(near, cosines, len(near)).T.tocsr())


def fit_user_cosines(training: Training, *, n: int) -> ScoreRows:
    """Score an item by the cosines of the nearest rows that like it."""
    liked = training.liked
    near, cosines = nearest_of(_cosines(gram(liked.T.tocsr())), n)
    similar = _sparse(near, cosines, len(near))
    return lambda rows: (similar[rows] @ liked).toarray()


def fit_ease(training: Training, *, ridge: float) -> ScoreRows:
    """Train the closed-form linear item model."""
    inverse = _inverse(training.liked_together, ridge)
    weights = -inverse / inverse.diagonal()[None, :]
    np.fill_diagonal(weights, 0)
    return _through(training.liked, weights)


def _inverse(table: NDArray[np.float32], ridge: float) -> NDArray[np.float32]:
    """Return (table + ridge I)^-1 of a symmetric table by Cholesky's factor: half the work of a plain inverse."""
    lower = table.copy()
    lower[np.diag_indices_from(lower)] += ridge
    factor, failed = scipy.linalg.lapack.spotrf(lower, lower=True, overwrite_a=True)
    inverse, failed_too = scipy.linalg.lapack.spotri(factor, lower=True, overwrite_c=True)
    assert not failed
    assert not failed_too
    whole: NDArray[np.float32] = np.tril(inverse) + np.tril(inverse, -1).T
    return whole


def fit_slim(training: Training, *, n: int, ridge: float, lasso: float) -> ScoreRows:
    """Train the sparse linear item model, each item over its ``n`` nearest."""
    together = training.liked_together
    near, _ = nearest_of(_cosines(together), n)
    weights = sparse_weights(together, near, ridge=ridge, lasso=lasso)
    return _through(training.liked, _sparse(near, weights, len(near)).T.tocsr())


def fit_singular(training: Training, *, rank: int) -> ScoreRows:
    """Score by the projection of a row on the first singular vectors."""
    vectors = training.directions[:, :rank]
    # Where the table has no more than this rank, all that is not liked scores 0: rounded, so that noise orders nothing.
    return lambda rows: np.round((training.liked[rows] @ vectors) @ vectors.T, 4)


def fit_implicit(training: Training, *, rank: int, ridge: float, confidence: float, rounds: int) -> ScoreRows:
    """Train implicit factors by alternating least squares."""
    rows_of, items_of = fit_factors(
        training.liked, rank=rank, ridge=ridge, confidence=confidence, rounds=rounds,
        draw=training.rng.stream("implicit", rank),
    )  # fmt: skip
    return lambda rows: rows_of[rows] @ items_of.T


def _through(liked: scipy.sparse.csr_array, weights: NDArray[np.float32] | scipy.sparse.csr_array) -> ScoreRows:
    """Return the scores of a linear item model: what a row likes times the weights."""

    def score(rows: NDArray[np.integer]) -> NDArray[np.float32]:
        scores = liked[rows] @ weights
        return scores if isinstance(scores, np.ndarray) else scores.toarray()

    return score


def _cosines(together: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return cosines from counts, those with itself 0."""
    sizes = np.sqrt(np.maximum(together.diagonal(), 1e-12)).astype(np.float32)
    cosines = together / sizes[:, None] / sizes[None, :]
    np.fill_diagonal(cosines, 0)
    return cosines


def _sparse(near: NDArray[np.int32], values: NDArray[np.float32], n_columns: int) -> scipy.sparse.csr_array:
    """Return the sparse table with ``values`` in the columns ``near`` of each row."""
    indptr = np.arange(0, near.size + 1, near.shape[1])
    return scipy.sparse.csr_array((values.ravel(), near.ravel(), indptr), shape=(len(near), n_columns))
