"""Group the points of one bin, and many bins at once: the part that needs nothing but a block of points.

A bin is started by taking, again and again, the point farthest from the mean of what is left together with its k - 1
nearest (the idea of MDAV, Domingo-Ferrer and Mateo-Sanz 2002), and then improved by exchanges. Bins share nothing, so
they run on as many threads or machines as there are, with one answer.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from recloak.publish.exchange import exchange, smallest

NEAR = 12  # groups that a point is held against
ROUNDS = 3  # times that a bin is gone through


def group_bin(
    points: NDArray[np.float32],
    k: int,
    *,
    weights: NDArray[np.float32] | None = None,
    near: int = NEAR,
    rounds: int = 8,
) -> NDArray[np.int32]:
    """Label the points of one bin (at least k of them) with groups of k to 2k - 1."""
    weights = np.ones(len(points), np.float32) if weights is None else weights
    return _group_bin(np.ascontiguousarray(points), weights, k, near, rounds)


@njit(cache=True)
def _group_bin(points, weights, k, near, rounds):  # type: ignore[no-untyped-def]
    labels = peel(points, k)
    exchange(points, weights, labels, max(1, len(points) // k), k, near, rounds)
    return labels


@njit(cache=True, fastmath=True)
def peel(points, k):  # type: ignore[no-untyped-def]
    """Take the farthest point and its k - 1 nearest off, until fewer than 2k are left, which are the last group."""
    n = len(points)
    labels = np.zeros(n, np.int32)
    left = np.arange(n)
    total = points.sum(axis=0)
    gaps = np.empty(n, np.float32)
    group = 0
    while len(left) >= 2 * k:
        _measure(points, left, total / np.float32(len(left)), gaps)
        far = left[np.argmax(gaps[: len(left)])]
        _measure(points, left, points[far], gaps)
        kept = np.ones(len(left), np.bool_)
        for place in smallest(gaps[: len(left)], k):
            labels[left[place]] = group
            total -= points[left[place]]
            kept[place] = False
        left = left[kept]
        group += 1
    labels[left] = group
    return labels


@njit(cache=True, fastmath=True)
def _measure(points, left, centre, gaps):  # type: ignore[no-untyped-def]
    """Fill in the squared distances of the points that are left to a centre."""
    for m in range(len(left)):
        total = np.float32(0)
        for j in range(len(centre)):
            gap = points[left[m], j] - centre[j]
            total += gap * gap
        gaps[m] = total


@njit(cache=True, parallel=True)
def group_bins(points, weights, order, starts, k, near, rounds):  # type: ignore[no-untyped-def]
    """Group each bin by itself; bin b begins with group ``starts[b] // k``, so every start is a multiple of k."""
    labels = np.empty(len(points), np.int32)
    for b in prange(len(starts) - 1):
        users = order[starts[b] : starts[b + 1]]
        labels[users] = _group_bin(points[users], weights[users], k, near, rounds) + np.int32(starts[b] // k)
    return labels


@njit(cache=True, parallel=True)
def exchange_bins(points, weights, labels, users, firsts, order, starts, k, near, rounds):  # type: ignore[no-untyped-def]
    """Exchange members inside each bin of groups, in place, and give the gain of each bin.

    Group g holds ``users[firsts[g]:firsts[g + 1]]``; bin b holds the groups ``order[starts[b]:starts[b + 1]]``.
    """
    gains = np.zeros(len(starts) - 1)
    for b in prange(len(starts) - 1):
        chosen = order[starts[b] : starts[b + 1]]
        inside, own = _members(users, firsts, chosen)
        gains[b] = exchange(points[inside], weights[inside], own, len(chosen), k, near, rounds)
        for m in range(len(inside)):
            labels[inside[m]] = chosen[own[m]]
    return gains


@njit(cache=True)
def _members(users, firsts, chosen):  # type: ignore[no-untyped-def]
    """Give the users of the chosen groups and, for each, the place of its group among the chosen."""
    n = 0
    for g in chosen:
        n += firsts[g + 1] - firsts[g]
    inside, own = np.empty(n, np.int32), np.empty(n, np.int32)
    n = 0
    for place in range(len(chosen)):
        for m in range(firsts[chosen[place]], firsts[chosen[place] + 1]):
            inside[n], own[n] = users[m], place
            n += 1
    return inside, own
