"""The weights of SLIM, each item over its nearest items, by coordinate descent on counts.

For item i with the candidates N the weights w >= 0 minimise

    |x_i - X_N w|^2 / 2 + ridge |w|^2 / 2 + lasso sum w

where x_i marks the rows that like i. All that is needed are the products of columns G, so that one step is
w_j = max(0, G_ij - sum_{l != j} G_jl w_l - lasso) / (G_jj + ridge).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares

_SWEEPS = 10


def sparse_weights(
    together: NDArray[np.float32], near: NDArray[np.int32], *, ridge: float, lasso: float, sweeps: int = _SWEEPS
) -> NDArray[np.float32]:
    """Return the weight of each candidate of each item: (n_items, n_candidates)."""
    weights = np.zeros(near.shape, np.float32)
    in_shares(_descend, near.size, together, near, np.float32(ridge), np.float32(lasso), sweeps, weights)
    return weights


@njit(cache=True, nogil=True)
def _descend(share, n_shares, together, near, ridge, lasso, sweeps, weights):  # type: ignore[no-untyped-def]
    n = near.shape[1]
    part = np.empty((n, n), np.float32)
    left = np.empty(n, np.float32)  # G_ij - sum_l G_jl w_l
    for item in range(share, len(near), n_shares):
        for j in range(n):
            left[j] = together[item, near[item, j]] if near[item, j] != item else 0
            for other in range(n):
                part[j, other] = together[near[item, j], near[item, other]]
        for _ in range(sweeps):
            for j in range(n):
                if near[item, j] == item:
                    continue
                old = weights[item, j]
                new = max(left[j] + part[j, j] * old - lasso, np.float32(0)) / (part[j, j] + ridge)
                if new != old:
                    weights[item, j] = new
                    for other in range(n):
                        left[other] -= part[j, other] * (new - old)
