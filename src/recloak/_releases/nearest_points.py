"""Distances from one centre to many points at once, and the nearest of them: the inner loops of grouping.

Points stand in columns, a dimension in each row, so that wide registers run over points. ``|x - c|^2`` without the part
``|c|^2`` that all points share is ``|x|^2 - 2 c . x``.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._releases.ordered_sums import fused, ordered_dot

_AT_ONCE = 4  # dimensions added in one pass, so that a sum is loaded and stored a quarter as often


@njit(cache=True, nogil=True, forceinline=True)
def dot(xs, x, ys, y):  # type: ignore[no-untyped-def]
    """Multiply row x of one table by row y of another; rows are not cut out first, for that costs more than this."""
    return ordered_dot(xs, x, ys, y, xs.shape[1])


def as_columns(points: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return points as columns, dimensions filled up with zeros to a multiple of 4."""
    n, d = points.shape
    columns = np.zeros((-(-d // _AT_ONCE) * _AT_ONCE, n), np.float32)
    columns[:d] = points.T
    return columns


@njit(cache=True, nogil=True)
def measure_norms(points, norms):  # type: ignore[no-untyped-def]
    """Fill in ``|x|^2`` of every point."""
    for m in range(len(points)):
        norms[m] = dot(points, m, points, m)


@njit(cache=True, nogil=True)
def measure_gaps(columns, norms, n, centre, gaps):  # type: ignore[no-untyped-def]
    """Fill in ``|x|^2 - 2 c . x`` of the first n points."""
    for m in range(n):
        gaps[m] = norms[m]
    for j in range(0, len(columns), _AT_ONCE):
        a, b, c, d = -2 * centre[j], -2 * centre[j + 1], -2 * centre[j + 2], -2 * centre[j + 3]
        for m in range(n):
            half = fused(b, columns[j + 1, m], fused(a, columns[j, m], gaps[m]))
            gaps[m] = fused(d, columns[j + 3, m], fused(c, columns[j + 2, m], half))


@njit(cache=True, nogil=True)
def smallest(values, places):  # type: ignore[no-untyped-def]
    """Fill in the places of the smallest values, ascending; the first wins a tie."""
    count, found = len(places), 0
    if count == 0:
        return
    for i in range(len(values)):
        if found == count and values[i] >= values[places[count - 1]]:
            continue
        if found < count:
            found += 1
        spot = found - 1
        while spot > 0 and values[places[spot - 1]] > values[i]:
            places[spot] = places[spot - 1]
            spot -= 1
        places[spot] = i
