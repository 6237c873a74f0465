"""Users as points, so that the squared distance of two points is the error of taking one padded row for the other.

Two padded rows differ by ``z_i . (x_u - x_v)`` at item i, with ``x_u = (p_u, b_u)`` and ``z_i = (q_i, 1)``. With item
weights w that sum to 1 the weighted mean squared difference over all items is

    (x_u - x_v)^T G (x_u - x_v),    G = sum_i w_i z_i z_i^T = R R^T

so the points ``x_u R`` carry it as a plain squared Euclidean distance. G is (rank + 1) squared: nothing here grows with
users times items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._releases.model.steps import Padding

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
    weighted: NDArray[np.float64] = (z * weights[:, None]).T @ z
    return weighted


def root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R with ``R R^T = matrix``, the directions of large variance first and those of none left out."""
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > _NEGLIGIBLE * max(values[0], 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


def embed(padding: Padding, popularity: NDArray[np.integer] | None = None) -> NDArray[np.float32]:
    """Return one point per user: (n_users, dimensions), dimensions at most rank + 1."""
    x = np.column_stack([padding.user_factors, padding.user_bias])
    R = root(gram(padding, item_weights(padding, popularity))).astype(np.float32)
    return np.ascontiguousarray(x @ R)
