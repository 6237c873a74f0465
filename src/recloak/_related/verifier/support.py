"""The static rule: an entry rests on enough people who rated both items, and so does every list."""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._related.model import EMPTY, Holders, ListRelease
from recloak._related.verifier.findings import Unsupported


def unsupported(release: ListRelease, holders: Holders, min_support: int) -> tuple[Unsupported, ...]:
    """Return the entries of a release with fewer co-raters than promised; a list with one has too few raters, too."""
    owners, places = np.nonzero(release.lists.items != EMPTY)
    if not len(owners):
        return ()
    entries, counts = release.lists.items[owners, places], np.zeros(len(owners), np.int64)
    more = ((holders.indptr, holders.users, holders.times), np.int64(holders.n_users), counts)
    in_shares(_count, len(owners), owners, entries, np.int64(release.time), np.int64(min_support), *more)
    few: NDArray[np.intp] = np.flatnonzero(counts < min_support)
    return tuple(Unsupported(release.number, int(owners[e]), int(entries[e]), int(counts[e])) for e in few)


@njit(cache=True, nogil=True)
def _count(share, n_shares, owners, entries, time, enough, data, n_users, counts):  # type: ignore[no-untyped-def]
    """Count the people who hold both items of each pair at a time, until there are enough; owners ascend."""
    starts, users, times = data
    holds, marked = np.zeros(n_users, np.bool_), -1
    for e in range(len(owners)):
        j = owners[e]
        if j % n_shares != share:
            continue
        if j != marked:
            if marked >= 0:
                for p in range(starts[marked], starts[marked + 1]):
                    holds[users[p]] = False
            for p in range(starts[j], starts[j + 1]):
                holds[users[p]] = times[p] <= time
            marked = j
        for p in range(starts[entries[e]], starts[entries[e] + 1]):
            counts[e] += times[p] <= time and holds[users[p]]
            if counts[e] == enough:
                break
