"""The static rule on the side of the makers: entries that rest on too few people are left out of every list."""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._related.model import EMPTY, Holders, Lists


def supported(lists: Lists, holders: Holders, time: int, min_support: int) -> Lists:
    """Return lists without the entries that fewer than ``min_support`` people rated together with the list's item."""
    return lists.closed() if min_support <= 1 else co_rated(lists, holders, time, min_support)


def co_rated(lists: Lists, holders: Holders, time: int, min_support: int) -> Lists:
    """Return lists without the entries that too few people rated with the list's item, even if one is enough."""
    items = lists.items.copy()
    items[~has_support(items, holders, time, min_support)] = EMPTY
    return Lists(items, lists.scores).closed()


def has_support(items: NDArray[np.int32], holders: Holders, time: int, min_support: int) -> NDArray[np.bool_]:
    """Return which entries of lists have enough people who rated both items by a time."""
    enough = np.zeros(items.shape, np.bool_)
    data = (holders.indptr, holders.users, holders.times)
    in_shares(
        _has_support, items.size, np.ascontiguousarray(items), np.int64(time), np.int64(min_support), data, enough
    )
    return enough


@njit(cache=True)
def _reaches(one, other, time, min_support, data):  # type: ignore[no-untyped-def]
    """Return whether enough people hold two items; both columns have their users in ascending order."""
    starts, users, times = data
    p, q, n = starts[one], starts[other], 0
    while n < min_support and p < starts[one + 1] and q < starts[other + 1]:
        if users[p] < users[q]:
            p += 1
        elif users[p] > users[q]:
            q += 1
        else:
            n += times[p] <= time and times[q] <= time
            p += 1
            q += 1
    return n >= min_support


@njit(cache=True, nogil=True)
def _has_support(share, n_shares, items, time, min_support, data, enough):  # type: ignore[no-untyped-def]
    for j in range(share, len(items), n_shares):
        for p in range(items.shape[1]):
            if items[j, p] != EMPTY:
                enough[j, p] = _reaches(j, items[j, p], time, min_support, data)
