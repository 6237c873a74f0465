"""Even bins of near points: a tree that halves along a random direction of large spread, level by level.

Every cut falls at a multiple of ``unit``, so that only the last bin can hold a remainder. The direction of a node is a
Gaussian vector multiplied ``power`` times by the node's covariance: with a few steps nearly the principal axis, with
one a random direction that favours large spread, so that two trees cut in different places.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._releases.ordered_sums import ordered_dot

_SAMPLE = 512  # points that a node looks at to choose its direction


def even_bins(
    points: NDArray[np.float32], *, size: int, unit: int, stream: np.random.Generator, power: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an order of the points and the starts of the bins in it; a bin holds up to ``size`` (at least 2 units)."""
    order = np.arange(len(points))
    bounds = np.array([0, len(points)])
    limit = max(size, 2 * unit - 1)
    while np.diff(bounds).max(initial=0) > limit:
        start = stream.standard_normal(points.shape[1], dtype=np.float32)
        halved = _halve(bounds, unit, limit)
        cuts = np.setdiff1d(halved, bounds)
        in_shares(_split_nodes, len(cuts), points, order, bounds, cuts, start, power, little=2)
        bounds = halved
    return order, bounds


def _halve(bounds: NDArray[np.int64], unit: int, limit: int) -> NDArray[np.int64]:
    """Cut each node that is above the limit near its middle, at a multiple of the unit."""
    sizes = np.diff(bounds)
    cuts = bounds[:-1] + unit * ((sizes // unit + 1) // 2)
    halved: NDArray[np.int64] = np.sort(np.concatenate([bounds, cuts[sizes > limit]]))
    return halved


def _split_nodes(
    share: int,
    n_shares: int,
    points: NDArray[np.float32],
    order: NDArray[np.int64],
    bounds: NDArray[np.int64],
    cuts: NDArray[np.int64],
    start: NDArray[np.float32],
    power: int,
) -> None:
    """Put the points of each node that is cut so that the lower ones along its direction stand before the cut."""
    for cut in cuts[share::n_shares]:
        node = np.searchsorted(bounds, cut) - 1
        members, place = order[bounds[node] : bounds[node + 1]], cut - bounds[node]
        heights = _heights(points, members, start, power)
        _part(members, heights, np.partition(heights, place)[place], place)


@njit(cache=True, nogil=True)
def _heights(points, members, start, power):  # type: ignore[no-untyped-def]
    """Measure the members along their direction."""
    direction = _direction(points, members[:: max(1, len(members) // _SAMPLE)], start, power)
    heights = np.empty(len(members), np.float32)
    for m in range(len(members)):
        heights[m] = _along(points, members[m], direction)
    return heights


@njit(cache=True, nogil=True)
def _part(members, heights, height, n_lower):  # type: ignore[no-untyped-def]
    """Put the ``n_lower`` lowest first, none of them above ``height``; otherwise the order stays."""
    before = members.copy()
    ties = n_lower
    for m in range(len(before)):
        ties -= heights[m] < height
    low, high = 0, n_lower
    for m in range(len(before)):
        tie = heights[m] == height and ties > 0
        ties -= tie
        if tie or heights[m] < height:
            members[low] = before[m]
            low += 1
        else:
            members[high] = before[m]
            high += 1


@njit(cache=True, nogil=True, forceinline=True)
def _along(points, m, direction):  # type: ignore[no-untyped-def]
    return ordered_dot(points, np.int64(m), direction.reshape(1, -1), 0, len(direction))


@njit(cache=True, nogil=True)
def _direction(points, sample, start, power):  # type: ignore[no-untyped-def]
    """Multiply the start by the covariance of a sample of the members, ``power`` times."""
    mean = np.zeros((1, len(start)), np.float32)
    for m in sample:
        for j in range(len(start)):
            mean[0, j] += points[m, j] / np.float32(len(sample))
    direction = start.copy()
    for _ in range(power):
        turned, squares = np.zeros_like(direction), np.float32(0)
        below = _along(mean, 0, direction)
        for m in sample:
            height = _along(points, m, direction) - below
            for j in range(len(start)):
                turned[j] += (points[m, j] - mean[0, j]) * height
        for j in range(len(start)):
            squares += turned[j] * turned[j]
        if squares == 0.0:
            return direction
        for j in range(len(start)):
            direction[j] = turned[j] / np.sqrt(squares)
    return direction
