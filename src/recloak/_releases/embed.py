"""Users as points, so that the squared distance of two points is the error of taking one padded row for the other.

Two padded rows differ by ``z_i . (x_u - x_v)`` at item i, with ``x_u = (p_u, b_u)`` and ``z_i = (q_i, 1)``. With item
weights w that sum to 1 the weighted mean squared difference over all items is

    (x_u - x_v)^T G (x_u - x_v),    G = sum_i w_i z_i z_i^T = R R^T

so the points ``x_u R`` carry it as a plain squared Euclidean distance. G is (rank + 1) squared: nothing here grows with
users times items.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._releases.model.steps import Padding

_MOST_SWEEPS = 60  # ten are enough for any matrix that was seen
_NEGLIGIBLE = 1e-12  # an eigenvalue below this share of the largest is rounding


def item_weights(padding: Padding, popularity: NDArray[np.integer] | None) -> NDArray[np.float64]:
    """Weigh items by how often they are rated (all alike where that is not known); the weights sum to 1."""
    n_items = padding.shape[1]
    if popularity is None or popularity.sum() == 0:
        return np.full(n_items, 1.0 / max(n_items, 1))
    return popularity / popularity.sum()


def gram(padding: Padding, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ``G = sum_i w_i z_i z_i^T``: (rank + 1, rank + 1)."""
    z = np.column_stack([padding.item_factors, np.ones(len(weights))]).astype(np.float64)
    total = np.zeros((z.shape[1], z.shape[1]))
    _add_squares(z, weights, total)
    return total


@njit(cache=True, nogil=True)
def _add_squares(z, weights, total):  # type: ignore[no-untyped-def]
    for i in range(len(z)):
        for f in range(z.shape[1]):
            weighted = z[i, f] * weights[i]
            for g in range(z.shape[1]):
                total[f, g] += weighted * z[i, g]


def root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R with ``R R^T = matrix``, the directions of large variance first and those of none left out."""
    turned, vectors = matrix.copy(), np.eye(len(matrix))
    _diagonalise(turned, vectors)
    order = np.argsort(-np.diagonal(turned), kind="stable")
    values, vectors = np.diagonal(turned)[order], vectors[:, order]
    kept = values > _NEGLIGIBLE * max(values[0], 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


@njit(cache=True, nogil=True)
def _diagonalise(matrix, vectors):  # type: ignore[no-untyped-def]
    """Turn a symmetric matrix until it is diagonal (Jacobi), and the vectors with it.

    A library of linear algebra would be quicker, and give other last bits on another processor.
    """
    n = len(matrix)
    for _ in range(_MOST_SWEEPS):
        left = 0.0
        for p in range(n):
            for q in range(p + 1, n):
                left += abs(matrix[p, q])
                if matrix[p, q] != 0.0:
                    theta = (matrix[q, q] - matrix[p, p]) / (2.0 * matrix[p, q])
                    t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + np.sqrt(theta * theta + 1.0))
                    c = 1.0 / np.sqrt(t * t + 1.0)
                    _turn(matrix, vectors, p, q, c, t * c)
        if left == 0.0:
            return


@njit(cache=True, nogil=True)
def _turn(matrix, vectors, p, q, c, s):  # type: ignore[no-untyped-def]
    for k in range(len(matrix)):
        one, two = matrix[k, p], matrix[k, q]
        matrix[k, p], matrix[k, q] = c * one - s * two, s * one + c * two
    for k in range(len(matrix)):
        one, two = matrix[p, k], matrix[q, k]
        matrix[p, k], matrix[q, k] = c * one - s * two, s * one + c * two
        one, two = vectors[k, p], vectors[k, q]
        vectors[k, p], vectors[k, q] = c * one - s * two, s * one + c * two
    matrix[p, q] = matrix[q, p] = 0.0


def times(rows: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply rows by a small matrix, adding up in one order whatever the processor."""
    product = np.zeros((len(rows), matrix.shape[1]), np.float32)
    _multiply(np.ascontiguousarray(rows), np.ascontiguousarray(matrix), product)
    return product


@njit(cache=True, nogil=True)
def _multiply(rows, matrix, product):  # type: ignore[no-untyped-def]
    for r in range(len(rows)):
        for f in range(len(matrix)):
            for c in range(matrix.shape[1]):
                product[r, c] += rows[r, f] * matrix[f, c]


def embed(padding: Padding, popularity: NDArray[np.integer] | None = None) -> NDArray[np.float32]:
    """Return one point per user: (n_users, dimensions), dimensions at most rank + 1."""
    x = np.column_stack([padding.user_factors, padding.user_bias])
    R = root(gram(padding, item_weights(padding, popularity))).astype(np.float32)
    return times(x, R)
