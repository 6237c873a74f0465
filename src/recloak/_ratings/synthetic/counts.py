"""How many ratings each user gives and each item gets, and the weights at which drawing items meets these counts."""

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from recloak._ratings.synthetic.presets import CountCurve

_STRETCH_HALVINGS = 80
_BINS = 96
_ROUNDS = 30
_RATE_HALVINGS = 40
_FULL = 0.98  # a margin that fills its line wholly has no finite weight


def shaped_counts(
    curve: CountCurve, n: int, total: int, *, at_most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return ``n`` counts of the curve's shape, each from 1 to ``at_most``, that sum to ``total``, in random order.

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
    for _ in range(_STRETCH_HALVINGS):
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


def balanced_weights(activity: NDArray[np.int64], popularity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a weight per item, of which only ratios matter, so that drawing without replacement meets the popularity.

    A user who takes the first n of items that arrive at rates w_i has taken item i with probability about
    1 - exp(-theta_n w_i), where theta_n is such that n are taken. Heavy users have seen every popular item, so weights
    proportional to popularity would leave the popular items short. Both margins are solved by turns,

        sum_i 1 - exp(-theta_n w_i) = n          for each activity n,
        sum_n users(n) (1 - exp(-theta_n w_i)) = popularity_i   for each item i,

    over bins of similar users and of similar items (iterative proportional fitting of a saturating table).
    """
    n, users = _binned(activity.astype(np.float64))  # (bins,) activity and number of users
    c, items = _binned(popularity)  # (bins,) popularity and number of items
    n, c = np.minimum(n, _FULL * len(popularity)), np.minimum(c, _FULL * len(activity))
    theta, w = n / len(popularity), c / c.mean()
    for _ in range(_ROUNDS):
        theta = _solved(w, items, n)
        w = _solved(theta, users, c)
    return np.exp(np.interp(np.log(popularity), np.log(c), np.log(w)))


def _binned(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Put values into bins of equal log width; return each bin's mean and size."""
    logs = np.log(values)
    edges = np.linspace(logs.min(), logs.max() + 1e-9, _BINS + 1)
    where = np.clip(np.digitize(logs, edges) - 1, 0, _BINS - 1)
    size = np.bincount(where, minlength=_BINS).astype(np.float64)
    mean = np.bincount(where, values, minlength=_BINS)[size > 0] / size[size > 0]
    return mean, size[size > 0]


def _solved(rates: NDArray[np.float64], sizes: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve ``sum_j sizes_j (1 - exp(-x_k rates_j)) = wanted_k`` for each x_k, by halving its logarithm."""
    low, high = np.full(len(wanted), -40.0), np.full(len(wanted), 40.0)
    for _ in range(_RATE_HALVINGS):
        middle = (low + high) / 2
        met = -np.expm1(-np.exp(middle)[:, None] * rates) @ sizes
        low, high = np.where(met < wanted, middle, low), np.where(met < wanted, high, middle)
    return np.exp((low + high) / 2)
