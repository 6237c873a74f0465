"""The groups nearest to each group, whose tallies are mixed into its own."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._releases.bin_tree import even_bins
from recloak._releases.nearest_points import as_columns, measure_gaps, measure_norms, smallest

NEAR = 20
_BIN = 4096  # groups among which the nearest are looked for


def nearest_groups(centres: NDArray[np.float32], stream: np.random.Generator) -> NDArray[np.int32]:
    """Return the nearest groups of each group, nearest first; -1 where there are fewer. Exact up to 4,096 groups."""
    order, starts = even_bins(centres, size=_BIN, unit=1, stream=stream, power=4)
    near = np.full((len(centres), NEAR), -1, np.int32)
    for start, stop in itertools.pairwise(starts):
        members = order[start:stop]
        points = np.ascontiguousarray(centres[members])
        in_shares(_search_share, len(members), points, as_columns(points), members, near, little=64)
    return near


def _search_share(share: int, n_shares: int, points: NDArray[np.float32], *work: Any) -> None:
    n = len(points)
    norms = np.empty(n, np.float32)
    measure_norms(points, norms)
    _search(share, n_shares, points, norms, *work, np.empty(n, np.float32), np.empty(min(NEAR, n - 1), np.int64))


@njit(cache=True, nogil=True)
def _search(share, n_shares, points, norms, columns, members, near, gaps, places):  # type: ignore[no-untyped-def]
    for m in range(share, len(points), n_shares):
        centre = np.zeros(len(columns), np.float32)
        for f in range(points.shape[1]):
            centre[f] = points[m, f]
        measure_gaps(columns, norms, len(points), centre, gaps)
        gaps[m] = np.inf
        smallest(gaps, places)
        for p in range(len(places)):
            near[members[m], p] = members[places[p]]
