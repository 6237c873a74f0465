"""How much recall the bound can leave at all, meaning *total*: an upper bound to hold results against.

A set {j} of one background item violates as long as P(i|j) = Sup(i, j) / Sup(j) > delta. So i can enter j's list only
at a release at which P(i|j) <= delta, and can be in it later only if it entered then, or stood in the first release.
The bound counts the true entries for which there was such a release; it ignores larger backgrounds and the room in a
list, so no method that shows only items with a common rater can reach more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._related.model import HOLE, Holders, Lists


def ceiling(true: Sequence[Lists], times: Sequence[int], holders: Holders, delta: float) -> list[float]:
    """Give for every release after the first the largest recall that any method can reach."""
    shares = []
    moments = np.array(times, np.int64)
    for number in range(1, len(true)):
        owners, places = np.nonzero(true[number].items != HOLE)
        entries = true[number].items[owners, places]
        stood = (true[0].items[owners] == entries[:, None]).any(axis=1)
        data = (holders.indptr, holders.users, holders.times, np.int64(holders.n_users))
        could = _could_enter(owners, entries, moments[: number + 1], delta, *data)
        shares.append(float((stood | could).mean()) if len(owners) else 1.0)
    return shares


@njit(cache=True)
def _could_enter(owners, entries, moments, delta, starts, users, times, n_users):  # type: ignore[no-untyped-def]
    """Tell which pairs kept P(entry|owner) <= delta, with a common rater, at one of the moments; owners ascend."""
    found = np.zeros(len(owners), np.bool_)
    since = np.full(n_users, np.int64(2**62))
    for e in range(len(owners)):
        j, i = owners[e], entries[e]
        if e and owners[e - 1] != j:
            for p in range(starts[owners[e - 1]], starts[owners[e - 1] + 1]):
                since[users[p]] = np.int64(2**62)
        if e == 0 or owners[e - 1] != j:
            for p in range(starts[j], starts[j + 1]):
                since[users[p]] = times[p]
        for moment in moments:
            above = below = 0
            for p in range(starts[j], starts[j + 1]):
                below += times[p] <= moment
            for p in range(starts[i], starts[i + 1]):
                above += max(times[p], since[users[p]]) <= moment
            if above > 0 and above / below <= delta:
                found[e] = True
                break
    return found


def mean_ceiling(true: Sequence[Lists], times: Sequence[int], holders: Holders, delta: float) -> float:
    """Give the mean of `ceiling` over the later releases."""
    shares: NDArray[np.float64] = np.array(ceiling(true, times, holders, delta))
    return float(shares.mean()) if len(shares) else 1.0
