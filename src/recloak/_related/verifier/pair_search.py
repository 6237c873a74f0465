"""Evidence joined over several releases: one list that moves now, and one that has moved before.

Exact for backgrounds of two items. `set_search` covers all backgrounds whose lists move now.
"""

import numpy as np

from recloak._core.compiling import njit


@njit(cache=True)
def _times_of_holders(item, data, since):  # type: ignore[no-untyped-def]
    """Note when each holder of an item got it."""
    starts, users, times = data
    for p in range(starts[item], starts[item + 1]):
        since[users[p]] = times[p]


@njit(cache=True)
def _forget(item, data, since):  # type: ignore[no-untyped-def]
    starts, users, _ = data
    for p in range(starts[item], starts[item + 1]):
        since[users[p]] = np.int64(2**62)


@njit(cache=True)
def _count(other, moments, data, of_one, of_target):  # type: ignore[no-untyped-def]
    """Count who holds both lists' items: those who count as having the target, and all."""
    (earlier, later, fresh), (starts, users, times) = moments, data
    known_at = earlier if fresh else later
    above = below = 0
    for p in range(starts[other], starts[other + 1]):
        user = users[p]
        if times[p] <= known_at and of_one[user] <= known_at and not (fresh and of_target[user] <= earlier):
            below += 1
            above += of_target[user] <= later
    return above, below


@njit(cache=True, nogil=True)
def worst_with_past(  # type: ignore[no-untyped-def]
    share, n_shares, targets, begins, owners, past_begins, past, moments, data, n_users, worst, pairs
):
    """Write for every moving list of every target the largest breach of it and one past list, and that list."""
    of_one, of_target = np.full(n_users, np.int64(2**62)), np.full(n_users, np.int64(2**62))
    for t in range(share, len(targets), n_shares):
        if past_begins[t] == past_begins[t + 1]:
            continue
        _times_of_holders(targets[t], data, of_target)
        for m in range(begins[t], begins[t + 1]):
            _times_of_holders(owners[m], data, of_one)
            for c in range(past_begins[t], past_begins[t + 1]):
                if past[c] != owners[m]:
                    above, below = _count(past[c], moments, data, of_one, of_target)
                    if above and above / below > worst[m]:
                        worst[m] = above / below
                        pairs[m] = past[c]
            _forget(owners[m], data, of_one)
        _forget(targets[t], data, of_target)
