"""Round noisy counts to whole numbers that add up."""

import numpy as np
from numpy.typing import NDArray


def summing_to(counts: NDArray[np.float64], totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return whole numbers of at least 0, in the proportions of ``counts``, that sum to a total in each row.

    What rounding down leaves over goes to the largest remainders, the first where they are equal.
    """
    kept = np.maximum(counts, 0.0)
    sums = kept.sum(axis=1, keepdims=True)
    even = np.full_like(kept, 1 / kept.shape[1])
    shares = np.where(sums > 0, kept / np.where(sums > 0, sums, 1.0), even) * totals[:, None]
    whole = np.floor(shares).astype(np.int64)
    left = totals - whole.sum(axis=1)
    rank = np.argsort(np.argsort(whole - shares, axis=1, kind="stable"), axis=1, kind="stable")
    return whole + (rank < left[:, None])
