"""Group the points of one bin, and of many bins at once: the part that needs nothing but a block of points.

A bin is started by taking, again and again, the point farthest from the mean of what is left together with its k - 1
nearest (the idea of MDAV, Domingo-Ferrer and Mateo-Sanz 2002), and then improved by exchanges. Bins share nothing, so
they run on as many threads or machines as there are, with one answer.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from recloak.publish.exchange import exchange_bins, smallest

NEAR = 8  # groups that a point is held against, at most


def group_bin(
    points: NDArray[np.float32],
    k: int,
    *,
    weights: NDArray[np.float32] | None = None,
    crowding: float = 0.0,
    near: int = NEAR,
    rounds: int = 8,
) -> NDArray[np.int32]:
    """Label the points of one bin (at least k of them) with groups of k to 2k - 1."""
    points = np.ascontiguousarray(points, dtype=np.float32)
    weights = np.ones(len(points), np.float32) if weights is None else weights
    whole, bounds = np.arange(len(points)), np.array([0, len(points)])
    labels = peel_bins(points, whole, bounds, k)
    firsts, users = by_group(labels)
    groups, ends = np.arange(len(firsts) - 1), np.array([0, len(firsts) - 1])
    exchange_bins(points, weights, crowding, labels, users, firsts, groups, ends, k, near, rounds)
    return labels


def by_group(labels: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give starts and users by group: group g holds ``users[starts[g]:starts[g + 1]]``."""
    return np.concatenate(([0], np.cumsum(np.bincount(labels)))), np.argsort(labels, kind="stable")


@njit(cache=True, parallel=True)
def peel_bins(points, order, starts, k):  # type: ignore[no-untyped-def]
    """Start each bin by itself; bin b begins with group ``starts[b] // k``, so every start is a multiple of k."""
    labels = np.empty(len(points), np.int32)
    for b in prange(len(starts) - 1):
        peel(points, order[starts[b] : starts[b + 1]], k, starts[b] // k, labels)
    return labels


@njit(cache=True)
def peel(points, users, k, group, labels):  # type: ignore[no-untyped-def]
    """Take the farthest user and its k - 1 nearest off, until fewer than 2k are left, which are the last group."""
    left, n_left = users.copy(), len(users)
    total, centre = np.zeros(points.shape[1], np.float64), np.empty(points.shape[1], np.float32)
    for u in users:
        total += points[u]
    gaps, taken = np.empty(n_left, np.float32), np.empty(k, np.int32)
    while n_left >= 2 * k:
        centre[:] = total / n_left
        _measure(points, left, n_left, centre, gaps)
        centre[:] = points[left[np.argmax(gaps[:n_left])]]
        _measure(points, left, n_left, centre, gaps)
        smallest(gaps[:n_left], taken)
        for place in taken:
            labels[left[place]] = group
            total -= points[left[place]]
            left[place] = -1
        left[: n_left - k] = left[:n_left][left[:n_left] >= 0]
        n_left -= k
        group += 1
    labels[left[:n_left]] = group


@njit(cache=True, fastmath={"contract", "reassoc", "nsz", "arcp"})
def _measure(points, left, n_left, centre, gaps):  # type: ignore[no-untyped-def]
    """Fill in the squared distances of the users that are left to a centre."""
    for m in range(n_left):
        u, total = left[m], np.float32(0)
        for j in range(len(centre)):
            gap = points[u, j] - centre[j]
            total += gap * gap
        gaps[m] = total
