"""What each user rates, and when: drawing items without replacement by weight, taste and availability.

A user draws items by weight (Walker's alias method, 1977), keeps a draw with probability 1 / (1 + exp(reserve - a)),
a = t_u . a_i being the appeal of the item to the user, and refuses what was rated before or has not appeared yet. When
draws keep being refused, the next item is drawn by weight from all that are left. A user's t_u holds first the themes,
then the p_u that decides the liking, of which only the strongest factors appeal beforehand.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._ratings.synthetic.kernel_random import below, normal, uniform, walk
from recloak._ratings.synthetic.rating_times import moments, seconds_of

STAGE_TASTE, STAGE_CHOICE, STAGE_NOISE = 0, 1, 2
_PATIENCE = 400


class ItemPool(NamedTuple):
    """What users choose from, in the form the kernels take."""

    weight: NDArray[np.float64]  # (n_items,)
    keep: NDArray[np.float64]  # (n_items,) alias table: probability to keep the slot's own item
    other: NDArray[np.int32]  # (n_items,) alias table: the item taken otherwise
    appears: NDArray[np.float64]  # (n_items,)
    appeal: NDArray[np.float32]  # (n_items, themes + pulling factors)
    reserve: float


class PreassignedItems(NamedTuple):
    """The items given in advance to user u are ``items[starts[u]:starts[u + 1]]``."""

    starts: NDArray[np.int64]  # (n_users + 1,)
    items: NDArray[np.int32]  # (n_items,)


def preassign_items(activity: NDArray[np.int64], n_items: int, rng: np.random.Generator) -> PreassignedItems:
    """Assign each item to one of the ratings to come, no two to the same one."""
    ends = np.cumsum(activity)
    slots = np.sort(rng.choice(int(ends[-1]), n_items, replace=False, shuffle=False))
    starts = np.searchsorted(slots, np.concatenate(([0], ends)))
    return PreassignedItems(starts.astype(np.int64), rng.permutation(n_items).astype(np.int32))


@njit(cache=True, nogil=True)
def alias_table(weight):  # type: ignore[no-untyped-def]
    """Build Walker's alias table (in Vose's order of 1991): one draw costs two uniform numbers."""
    n = len(weight)
    keep, other = weight * (n / weight.sum()), np.arange(n).astype(np.int32)
    small, large = np.empty(n, np.int32), np.empty(n, np.int32)
    n_small, n_large = 0, 0
    for i in range(n):
        if keep[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        poor, rich = small[n_small], large[n_large - 1]
        other[poor] = rich
        keep[rich] -= 1.0 - keep[poor]
        if keep[rich] < 1.0:
            n_large -= 1
            small[n_small] = rich
            n_small += 1
    return keep, other


@njit(cache=True)
def taste_of(key, user, length):  # type: ignore[no-untyped-def]
    """Draw the taste of a user: standard normal, the same whenever asked, a shorter one the start of a longer."""
    state = walk(key, user, STAGE_TASTE)
    t = np.empty(length, np.float32)
    for k in range(length):
        t[k] = normal(state)
    return t


@njit(cache=True, fastmath={"contract", "reassoc"})
def affinity(p, q):  # type: ignore[no-untyped-def]
    """Return p . q, over the length of q."""
    total = np.float32(0.0)
    for k in range(len(q)):
        total += p[k] * q[k]
    return total


@njit(cache=True)
def _scan(choices, taken, x, state):  # type: ignore[no-untyped-def]
    """Draw by weight from all items that are left and have appeared; if none has, from all that are left."""
    for strict in (True, False):
        total = 0.0
        for i in range(len(taken)):
            if not taken[i] and (choices.appears[i] <= x or not strict):
                total += choices.weight[i]
        if total > 0.0:
            rest, last = uniform(state) * total, -1
            for i in range(len(taken)):
                if not taken[i] and (choices.appears[i] <= x or not strict):
                    last = i
                    rest -= choices.weight[i]
                    if rest < 0.0:
                        break
            return last
    return -1


@njit(cache=True)
def _draw(choices, t, taken, x, state):  # type: ignore[no-untyped-def]
    """Draw one item that was not taken and has appeared."""
    n = len(taken)
    for _ in range(_PATIENCE):
        i = below(state, n)
        if uniform(state) >= choices.keep[i]:
            i = choices.other[i]
        if taken[i] or choices.appears[i] > x:
            continue
        if uniform(state) * (1.0 + math.exp(choices.reserve - affinity(t, choices.appeal[i]))) < 1.0:
            return i
    return _scan(choices, taken, x, state)


@njit(cache=True, nogil=True)
def choose(choices, calendar, preassigned, key, first, starts, items, times):  # type: ignore[no-untyped-def]
    """Fill in items and times of users ``first``, ``first + 1``, ...; row u is ``starts[u]`` to ``starts[u + 1]``.

    The items given to a user in advance take the latest moments, when they have most likely appeared.
    """
    n_items, length = choices.appeal.shape
    for u in range(len(starts) - 1):
        user, row = first + u, slice(starts[u], starts[u + 1])
        state = walk(key, user, STAGE_CHOICE)
        t = taste_of(key, user, length)
        xs = moments(calendar, starts[u + 1] - starts[u], state)
        given = preassigned.items[preassigned.starts[user] : preassigned.starts[user + 1]]
        taken = np.zeros(n_items, np.bool_)
        taken[given] = True
        chosen = items[row]
        chosen[len(xs) - len(given) :] = given
        for r in range(len(xs) - len(given)):
            chosen[r] = _draw(choices, t, taken, xs[r], state)
            taken[chosen[r]] = True
        times[row] = seconds_of(calendar, xs, state)
