"""Even bins of near points: a tree that halves along a random direction of large spread, level by level.

Every cut falls at a multiple of ``unit``, so that only the last bin can hold a remainder. The direction of a node is a
Gaussian vector multiplied ``power`` times by the node's covariance: with a few steps nearly the principal axis, with
one a random direction that favours large spread, so that two trees cut in different places.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

_SAMPLE = 512  # points that a node looks at to choose its direction
_REORDERED = {"contract", "reassoc", "nsz", "arcp"}  # lets loops use wide registers; the compiled order stays fixed


def even_bins(
    points: NDArray[np.float32], *, size: int, unit: int, stream: np.random.Generator, power: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give an order of the points and the starts of the bins in it; a bin holds at most ``size`` (at least 2 units)."""
    order = np.arange(len(points))
    bounds = np.array([0, len(points)])
    limit = max(size, 2 * unit - 1)
    while np.diff(bounds).max(initial=0) > limit:
        start = stream.standard_normal(points.shape[1], dtype=np.float32)
        _sort_nodes(points, order, bounds, start, power)
        bounds = _halve(bounds, unit, limit)
    return order, bounds


def _halve(bounds: NDArray[np.int64], unit: int, limit: int) -> NDArray[np.int64]:
    """Cut each node that is above the limit near its middle, at a multiple of the unit."""
    sizes = np.diff(bounds)
    cuts = bounds[:-1] + unit * ((sizes // unit + 1) // 2)
    halved: NDArray[np.int64] = np.sort(np.concatenate([bounds, cuts[sizes > limit]]))
    return halved


@njit(cache=True, parallel=True)
def _sort_nodes(points, order, bounds, start, power):  # type: ignore[no-untyped-def]
    """Order the points of each node along the node's own direction."""
    for node in prange(len(bounds) - 1):
        members = order[bounds[node] : bounds[node + 1]]
        direction = _direction(points, members, start, power)
        heights = np.empty(len(members), np.float32)
        for m in range(len(members)):
            heights[m] = _along(points, members[m], direction)
        members[:] = members[np.argsort(heights, kind="mergesort")]


@njit(cache=True, fastmath=_REORDERED)
def _along(points, m, direction):  # type: ignore[no-untyped-def]
    total = np.float32(0)
    for j in range(len(direction)):
        total += points[m, j] * direction[j]
    return total


@njit(cache=True)
def _direction(points, members, start, power):  # type: ignore[no-untyped-def]
    """Multiply the start by the covariance of a sample of the members, ``power`` times."""
    sample = members[:: max(1, len(members) // _SAMPLE)]
    mean = np.zeros(len(start), np.float32)
    for m in sample:
        for j in range(len(mean)):
            mean[j] += points[m, j] / np.float32(len(sample))
    direction = start.copy()
    for _ in range(power):
        turned = np.zeros_like(direction)
        below = _along(mean.reshape(1, -1), 0, direction)
        for m in sample:
            height = _along(points, m, direction) - below
            for j in range(len(mean)):
                turned[j] += (points[m, j] - mean[j]) * height
        length = np.sqrt((turned * turned).sum())
        if length == 0.0:
            return direction
        direction = turned / length
    return direction
