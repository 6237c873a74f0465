"""Group the points of one bin, and of many bins at once: the part that needs nothing but a block of points.

A bin is started by taking, again and again, a far point together with its k - 1 nearest (the idea of MDAV,
Domingo-Ferrer and Mateo-Sanz 2002), and then improved by exchanges. Bins share nothing, so
they run on as many threads or machines as there are, with one answer.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._releases.exchange import exchange_bins
from recloak._releases.nearest_points import as_columns, measure_gaps, measure_norms, smallest

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
    labels = start_bins(points, whole, bounds, k)
    groups = by_group(labels)
    n_groups = len(groups[0]) - 1
    one_bin = np.arange(n_groups), np.array([0, n_groups])
    alike = np.ones(len(points), np.float32)
    exchange_bins(points, weights, alike, crowding, labels, groups, one_bin, k=k, near=near, rounds=rounds)
    return labels


def by_group(labels: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return starts and users by group: group g holds ``users[starts[g]:starts[g + 1]]``."""
    return np.concatenate(([0], np.cumsum(np.bincount(labels)))), np.argsort(labels, kind="stable")


def start_bins(
    points: NDArray[np.float32], order: NDArray[np.int64], starts: NDArray[np.int64], k: int
) -> NDArray[np.int32]:
    """Start each bin by itself; bin b begins with group ``starts[b] // k``, so every start is a multiple of k."""
    labels = np.empty(len(points), np.int32)
    in_shares(_start_bins, len(starts) - 1, points, order, starts, k, labels, little=2)
    return labels


def _start_bins(
    share: int,
    n_shares: int,
    points: NDArray[np.float32],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    k: int,
    labels: NDArray[np.int32],
) -> None:
    for b in range(share, len(starts) - 1, n_shares):
        users = order[starts[b] : starts[b + 1]]
        inside, room = points[users], np.empty((2, len(users)), np.float32)
        columns = as_columns(inside)
        measure_norms(inside, room[0])
        centre, total = np.empty(len(columns), np.float32), np.cumsum(columns, axis=1)[:, -1]  # in the order of users
        _peel(columns, *room, users.copy(), centre, total.copy(), np.empty(k, np.int32), starts[b] // k, labels)


@njit(cache=True, nogil=True)
def _peel(columns, norms, gaps, left, centre, total, taken, group, labels):  # type: ignore[no-untyped-def]
    """Take a far user and its k - 1 nearest off, until fewer than 2k are left, which are the last group.

    Far is by turns: farthest from the mean of all that are left, and farthest from the far one before. ``left`` are
    the users, ``total`` is the sum of their points; ``gaps``, ``centre`` and ``taken`` (of length k) are room to work.
    """
    n, k = len(left), len(taken)
    from_mean = True
    while n >= 2 * k:
        if from_mean:
            for j in range(len(centre)):
                centre[j] = total[j] / n
            measure_gaps(columns, norms, n, centre, gaps)
        from_mean = not from_mean
        far = 0
        for m in range(1, n):
            far = m if gaps[m] > gaps[far] else far
        for j in range(len(centre)):
            centre[j] = columns[j, far]
        measure_gaps(columns, norms, n, centre, gaps)
        smallest(gaps[:n], taken)
        for place in taken:
            labels[left[place]] = group
            left[place] = -1
            for j in range(len(centre)):
                total[j] -= columns[j, place]
        n = _close_up(left, columns, norms, gaps, taken, n)
        group += 1
    for m in range(n):
        labels[left[m]] = group


@njit(cache=True, nogil=True, inline="always")
def _close_up(left, columns, norms, gaps, taken, n):  # type: ignore[no-untyped-def]
    """Fill the places taken with the last ones that are left; return how many are left."""
    for place in taken:
        while n > 0 and left[n - 1] < 0:
            n -= 1
        if place < n:
            n -= 1
            left[place], norms[place], gaps[place] = left[n], norms[n], gaps[n]
            for j in range(len(columns)):
                columns[j, place] = columns[j, n]
    return n
