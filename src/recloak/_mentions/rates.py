"""From standings to rates with intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._core.intervals import wilson
from recloak._mentions.model import LEVELS, Rates, Standing


def rates_of(standing: Standing, levels: tuple[int, ...] = LEVELS) -> Rates:
    """Give the share of targets k-identified at each level; there must be at least one target."""
    n = len(standing.better)
    expected = [float(standing.expected(k).sum()) for k in levels]
    intervals = [wilson(hits, n) for hits in expected]
    return Rates(
        k=levels,
        rate=tuple(one.rate for one in intervals),
        low=tuple(one.low for one in intervals),
        high=tuple(one.high for one in intervals),
        optimistic=tuple(share(standing.optimistic(k)) for k in levels),
        pessimistic=tuple(share(standing.pessimistic(k)) for k in levels),
    )


def share(flags: NDArray[np.bool_] | NDArray[np.float64]) -> float:
    """Give the mean, 0 of nothing."""
    return float(flags.mean()) if len(flags) else 0.0


def mention_bins(counts: NDArray[np.int64], n_bins: int = 7) -> list[tuple[int, int | None, NDArray[np.bool_]]]:
    """Bin targets by their number of mentions as the paper's table 1: 1, 2-3, 4-7, 8-15, ..., 64 and more."""
    bins: list[tuple[int, int | None, NDArray[np.bool_]]] = []
    for power in range(n_bins):
        low, high = 2**power, 2 ** (power + 1) - 1
        if power == n_bins - 1:
            bins.append((low, None, counts >= low))
        else:
            bins.append((low, high, (counts >= low) & (counts <= high)))
    return bins
