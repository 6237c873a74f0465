"""Users as points, so that the squared distance of two points is the error of taking one padded row for the other.

Two padded rows differ by ``z_i . (x_u - x_v)`` at item i, with ``x_u = (p_u, b_u)`` and ``z_i = (q_i, 1)``. With item
weights w that sum to 1 the weighted mean squared difference over all items is

    (x_u - x_v)^T G (x_u - x_v),    G = sum_i w_i z_i z_i^T = R R^T

so the points ``x_u R`` carry it as a plain squared Euclidean distance. G is (rank + 1) squared: nothing here grows with
users times items.
"""

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from recloak._releases.model.steps import Padding

_MOST_SWEEPS = 60  # ten are enough for any matrix that was seen
_ROWS = 4096  # multiplied at a time, so that they stay in a core's cache
_NEGLIGIBLE = 1e-12  # an eigenvalue below this share of the largest is rounding


def item_weights(padding: Padding, popularity: NDArray[np.integer] | None) -> NDArray[np.float64]:
    """Weigh items by how often they are rated (all alike where that is not known); the weights sum to 1."""
    n_items = padding.shape[1]
    if popularity is None or popularity.sum() == 0:
        return np.full(n_items, 1.0 / max(n_items, 1))
    return popularity / popularity.sum()


def gram(padding: Padding, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ``G = sum_i w_i z_i z_i^T``: (rank + 1, rank + 1), adding up item by item."""
    z = np.column_stack([padding.item_factors, np.ones(len(weights))]).astype(np.float64)
    return squares_of(z, weights)


def squares_of(z: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ``sum_i w_i z_i z_i^T``, adding up row by row."""
    total = np.zeros((z.shape[1], z.shape[1]))
    for f in range(z.shape[1] if len(z) else 0):
        total[f] = np.cumsum((z[:, f] * weights)[:, None] * z, axis=0)[-1]  # a plain sum may add in another order
    return total


def root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R with ``R R^T = matrix``, the directions of large variance first and those of none left out."""
    turned, vectors = matrix.copy(), np.eye(len(matrix))
    _diagonalise(turned, vectors)
    order = np.argsort(-np.diagonal(turned), kind="stable")
    values, vectors = np.diagonal(turned)[order], vectors[:, order]
    kept = values > _NEGLIGIBLE * max(values[0], 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


def _diagonalise(matrix: NDArray[np.float64], vectors: NDArray[np.float64]) -> None:
    """Turn a symmetric matrix until it is diagonal (Jacobi), and the vectors with it.

    A library of linear algebra would be quicker, and give other last bits on another processor.
    """
    for _ in range(_MOST_SWEEPS):
        left = 0.0
        for p, q in combinations(range(len(matrix)), 2):
            off = float(matrix[p, q])
            left += abs(off)
            if off != 0.0:
                theta = (float(matrix[q, q]) - float(matrix[p, p])) / (2.0 * off)
                t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + math.sqrt(theta * theta + 1.0))
                c = 1.0 / math.sqrt(t * t + 1.0)
                for columns in (matrix, matrix.T, vectors):
                    _turn(columns, p, q, c, t * c)
                matrix[p, q] = matrix[q, p] = 0.0
        if left == 0.0:
            return


def _turn(columns: NDArray[np.float64], p: int, q: int, c: float, s: float) -> None:
    one, two = columns[:, p], columns[:, q]
    columns[:, p], columns[:, q] = c * one - s * two, s * one + c * two


def times(rows: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply rows by a small matrix, adding up in one order whatever the processor."""
    product = np.empty((len(rows), matrix.shape[1]), np.float32)
    for first in range(0, len(rows), _ROWS):
        part = np.ascontiguousarray(rows[first : first + _ROWS].T)  # (len(matrix), _ROWS)
        total = np.zeros((matrix.shape[1], part.shape[1]), np.float32)
        for f in range(len(matrix)):
            total += matrix[f][:, None] * part[f]
        product[first : first + _ROWS] = total.T
    return product


def embed(padding: Padding, popularity: NDArray[np.integer] | None = None) -> NDArray[np.float32]:
    """Return one point per user: (n_users, dimensions), dimensions at most rank + 1."""
    x = np.column_stack([padding.user_factors, padding.user_bias])
    R = root(gram(padding, item_weights(padding, popularity))).astype(np.float32)
    return times(x, R)
