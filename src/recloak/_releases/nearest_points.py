"""Distances from one centre to many points at once, and the nearest of them: the inner loops of grouping.

Points stand in columns, a dimension in each row, so that wide registers run over points. ``|x - c|^2`` without the part
``|c|^2`` that all points share is ``|x|^2 - 2 c . x``.
"""

from __future__ import annotations

import numpy as np

from recloak._core.compiling import njit

REORDERED = {"contract", "reassoc", "nsz", "arcp"}  # lets loops use wide registers; the compiled order stays fixed
_AT_ONCE = 4  # dimensions added in one pass, so that a sum is loaded and stored a quarter as often


@njit(cache=True, nogil=True, fastmath=REORDERED)
def columns_of(points, chosen):  # type: ignore[no-untyped-def]
    """Give the chosen points as columns, dimensions filled up with zeros to a multiple of 4, and their |x|^2."""
    n, d = len(chosen), points.shape[1]
    columns, norms = np.empty((-(-d // _AT_ONCE) * _AT_ONCE, n), np.float32), np.empty(n, np.float32)
    for j in range(d, len(columns)):
        for m in range(n):
            columns[j, m] = 0
    for m in range(n):
        norms[m] = 0
        for j in range(d):
            columns[j, m] = points[chosen[m], j]
            norms[m] += columns[j, m] * columns[j, m]
    return columns, norms


@njit(cache=True, nogil=True, fastmath=REORDERED)
def measure_gaps(columns, norms, n, centre, gaps):  # type: ignore[no-untyped-def]
    """Fill in ``|x|^2 - 2 c . x`` of the first n points."""
    for m in range(n):
        gaps[m] = norms[m]
    for j in range(0, len(columns), _AT_ONCE):
        a, b, c, d = -2 * centre[j], -2 * centre[j + 1], -2 * centre[j + 2], -2 * centre[j + 3]
        for m in range(n):
            first, second = a * columns[j, m] + b * columns[j + 1, m], c * columns[j + 2, m] + d * columns[j + 3, m]
            gaps[m] += first + second


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
