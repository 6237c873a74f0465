"""Counts with a given shape and a given sum: how many ratings each user gives and each item gets.

Each count is the value of the curve's quantile function at evenly spread probabilities, so the quantiles hold without
the noise of drawing; the counts are then dealt out in random order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from recloak._ratings.synthetic.presets import CountCurve

_HALVINGS = 80


def shaped_counts(
    curve: CountCurve, n: int, total: int, *, at_most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Give ``n`` counts of the curve's shape, each from 1 to ``at_most``, that sum to ``total``, in random order.

    One factor stretches the curve so that the sum fits; the fractions left over are dealt by largest remainder.
    """
    values = quantiles(curve, (np.arange(n) + 0.5) / n)
    stretched = np.clip(values * _stretch(values, total, at_most), 1.0, at_most)
    counts = _whole(stretched, total, at_most)
    return rng.permutation(counts)


def quantiles(curve: CountCurve, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Interpolate the quantile function: log count against the normal score of the probability, monotone between."""
    ends = np.array([-4.5, *ndtri(np.array(curve.at)), 4.5])
    counts = np.array([curve.smallest, *curve.counts, curve.largest], dtype=np.float64)
    return np.exp(PchipInterpolator(ends, np.log(counts))(np.clip(ndtri(at), -4.5, 4.5)))


def _stretch(values: NDArray[np.float64], total: int, at_most: int) -> float:
    """Find the factor at which the clipped values sum to the total, by halving."""
    low, high = 0.0, at_most / float(values.min())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(values * middle, 1.0, at_most).sum() < total else (low, middle)
    return high


def _whole(values: NDArray[np.float64], total: int, at_most: int) -> NDArray[np.int64]:
    """Round to whole counts that sum to the total: floor, then one more for the largest fractions."""
    counts = np.floor(values + 1e-9).astype(np.int64)
    missing = total - int(counts.sum())
    room = counts < at_most
    order = np.argsort(-np.where(room, values - counts, -1.0), kind="stable")
    counts[order[: max(missing, 0)]] += 1
    return counts
