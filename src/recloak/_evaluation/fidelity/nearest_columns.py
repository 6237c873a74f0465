"""The nearest columns by similarity, for the neighbour models."""

import numpy as np
from numpy.typing import NDArray

_BLOCK = 512


def nearest_of(similarity: NDArray[np.float32], n: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the ``n`` columns with the largest similarity in each row, falling, and the similarities.

    Negative similarities count as none. Of equal ones that with the smaller number comes first.
    """
    n_rows, n_columns = similarity.shape
    n = min(n, n_columns)
    near, values = np.empty((n_rows, n), np.int32), np.empty((n_rows, n), np.float32)
    for first in range(0, n_rows, _BLOCK):
        block = similarity[first : first + _BLOCK]
        chosen = np.sort(np.argpartition(-block, n - 1, axis=1)[:, :n], axis=1)  # ascending, so that ties keep order
        kept = np.take_along_axis(block, chosen, axis=1)
        order = np.argsort(-kept, axis=1, kind="stable")
        near[first : first + _BLOCK] = np.take_along_axis(chosen, order, axis=1)
        values[first : first + _BLOCK] = np.maximum(np.take_along_axis(kept, order, axis=1), 0)
    return near, values
