"""Draw the items of rows: which of its group's and its near groups' items a row takes.

For row r of group C and item i, with w_i the share of i in the tally of C (1 - boost) and of its near groups (boost),
x_r a draw of how members of a group differ along the axes y_i of who rated what, and a_i what brings the item's
popularity to that of the source,

    odds of i in row r  =  c_r exp(a_i + log w_i + x_r . y_i + sum over leads j in the row of strength_ij)

and c_r is what gives the row its length: every item has a key, the logistic draw that decides it, and the row takes the
items whose keys lie lowest, a lead that was taken lowering the keys of what follows it. Items are numbered by
popularity. An item that fewer than ``holders`` people rated has its share among everybody, whatever the group.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._ratings.synthetic.kernel_random import normal, uniform, walk
from recloak._releases.drawn_rows.item_links import Links
from recloak._releases.ordered_sums import ordered_dot

_EVERYBODY = 0.02  # of a tally, which is that of everybody
_TRIES = 20.0  # times as many items from beyond the tallies are looked at as are taken
_ROOM = 1.5  # at least so many times a row's length are looked at
_STEPS = 24  # halvings in the search for c_r
_DEPTH = 200.0  # below the highest level that can be right


class Tallies(NamedTuple):
    """How often items occur: in each group, in its near groups, and among all ratings."""

    starts: NDArray[np.int64]  # (n_groups + 1,) rows of each group
    indptr: NDArray[np.int64]  # (n_groups + 1,) cells of each group
    places: NDArray[np.int32]
    raters: NDArray[np.int32]
    totals: NDArray[np.int64]  # (n_groups,) ratings of each group
    near: NDArray[np.int32]  # (n_groups, near)
    shares: NDArray[np.float64]  # (n_items,) among all ratings
    own: NDArray[np.bool_]  # (n_items,) whether enough people rated it for tallies to count


class Pull(NamedTuple):
    """What draws items into rows besides the tallies."""

    boost: float
    axes: NDArray[np.float32]  # (n_items, axes)
    spread: NDArray[np.float32]  # (axes,) standard deviation of x_r
    level: NDArray[np.float64]  # (n_items,) a_i
    links: Links


class DrawKey(NamedTuple):
    """Where a row's draws come from."""

    key: np.uint64
    stage: int


def draw_items(
    groups: NDArray[np.int64], tallies: Tallies, pull: Pull, lengths: NDArray[np.int64], ends: NDArray[np.int64],
    draw_key: DrawKey, places: NDArray[np.int32], counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Draw the rows of some groups: row r goes to ``places`` from ``ends[r]`` on, ascending, and has ``counts[r]``."""
    bonus = pull.links.strength.sum(1, dtype=np.float64)
    work = groups, tallies, pull, bonus, lengths, ends, draw_key, places, counts
    in_shares(_draw_share, len(groups), *work, little=8)


def _draw_share(share: int, n_shares: int, *work: Any) -> None:
    n = len(work[1].shares)
    room = (
        np.zeros(n), np.empty(n, np.int32), np.empty(n), np.empty(n), np.empty(n), np.empty(n, np.int32),
        np.zeros(n, np.bool_),
        np.empty((1, work[2].axes.shape[1]), np.float32),
    )  # fmt: skip
    _draw(share, n_shares, *work, room)


@njit(cache=True, nogil=True)
def _draw(share, n_shares, groups, tallies, pull, bonus, lengths, ends, draw_key, places, counts, room):  # type: ignore[no-untyped-def]
    weights, offered, logs, keys, spare, active, taken, x = room
    axes, spread = pull[1], pull[2]
    for g in range(share, len(groups), n_shares):
        group = groups[g]
        first, stop = tallies.starts[group], tallies.starts[group + 1]
        longest = 0
        for row in range(first, stop):
            longest = max(longest, lengths[row])
        state = walk(draw_key.key, group, 2 * draw_key.stage)
        _weigh(group, tallies, pull.boost, weights)
        n = _offer(tallies, weights, (stop - first) * longest, longest, state, offered, logs)
        for c in range(n):
            logs[c] = np.log(logs[c]) + pull.level[offered[c]]
        for row in range(first, stop):
            state = walk(draw_key.key, row, 2 * draw_key.stage + 1)
            for f in range(len(spread)):
                x[0, f] = spread[f] * normal(state)
            _make_keys(n, offered, logs, axes, x, state, keys)
            length = min(lengths[row], n)
            hi = np.partition(keys[:n], length - 1)[length - 1]
            m = _keep_near(n, offered, keys, bonus, hi, active)
            counts[row] = _take(
                m, active, offered, keys, pull.links, bonus, hi, length, taken, spare, places[ends[row] :]
            )


@njit(cache=True, nogil=True)
def _weigh(group, tallies, boost, weights):  # type: ignore[no-untyped-def]
    """Fill in the items' shares in the tally of a group and in that of its near groups together."""
    for i in range(len(weights)):
        weights[i] = 0.0
    total = 0
    for n in range(tallies.near.shape[1]):
        if tallies.near[group, n] >= 0:
            total += tallies.totals[tallies.near[group, n]]
    part = boost if total > 0 else 0.0
    _add_tally(group, tallies, (1.0 - part) / tallies.totals[group], weights)
    for n in range(tallies.near.shape[1]):
        if tallies.near[group, n] >= 0 and part > 0.0:
            _add_tally(tallies.near[group, n], tallies, part / total, weights)


@njit(cache=True, nogil=True)
def _add_tally(group, tallies, part, weights):  # type: ignore[no-untyped-def]
    for c in range(tallies.indptr[group], tallies.indptr[group + 1]):
        weights[tallies.places[c]] += part * tallies.raters[c]


@njit(cache=True, nogil=True)
def _offer(tallies, weights, n_draws, longest, state, offered, probabilities):  # type: ignore[no-untyped-def]
    """List the items that rows of a group may take, and their weights.

    Items beyond the tallies are many and seldom taken: a few of them, by lot, stand for all, with as much more weight.
    """
    n, few = 0, 0
    for i in range(len(weights)):
        few += weights[i] > 0.0 and tallies.own[i]
    scarce = few < _ROOM * longest
    for i in range(len(weights)):
        share = tallies.shares[i]
        if weights[i] > 0.0 and tallies.own[i]:
            weight, odds = (1.0 - _EVERYBODY) * weights[i] + _EVERYBODY * share, 1.0
        else:
            weight = _EVERYBODY * share if tallies.own[i] else share
            odds = 1.0 if scarce else min(1.0, _TRIES * n_draws * weight)
        if weight > 0.0 and (odds >= 1.0 or uniform(state) < odds):
            offered[n], probabilities[n] = i, weight / odds
            n += 1
    return n


@njit(cache=True, nogil=True)
def _make_keys(n, offered, logs, axes, x, state, keys):  # type: ignore[no-untyped-def]
    """Fill in the keys: a logistic draw less the log odds."""
    for c in range(n):
        u = uniform(state) + 2.0**-54
        pulled = ordered_dot(x, np.int64(0), axes, np.int64(offered[c]), axes.shape[1])
        keys[c] = np.log(u / (1.0 - u)) - logs[c] - pulled


@njit(cache=True, nogil=True)
def _keep_near(n, offered, keys, bonus, hi, active):  # type: ignore[no-untyped-def]
    """List the offers that could be taken at all, with every lead in the row."""
    m = 0
    for c in range(n):
        if keys[c] - bonus[offered[c]] <= hi:
            active[m] = c
            m += 1
    return m


@njit(cache=True, nogil=True)
def _lowered(c, offered, keys, links, taken):  # type: ignore[no-untyped-def]
    """Return a key less the strengths of the leads that were taken."""
    key, item = keys[c], offered[c]
    for q in range(links.leads.shape[1]):
        lead = links.leads[item, q]
        if lead < 0:
            break
        if taken[lead]:
            key -= links.strength[item, q]
    return key


@njit(cache=True, nogil=True)
def _fill(m, active, offered, keys, links, bonus, level, taken):  # type: ignore[no-untyped-def]
    """Take every offer whose key, lowered by its leads, lies at or below a level; return how many."""
    n = 0
    for a in range(m):
        c = active[a]
        item, here = offered[c], keys[c] <= level
        if not here and keys[c] - bonus[item] <= level:  # leads can only decide between these two
            here = _lowered(c, offered, keys, links, taken) <= level
        taken[item] = here
        n += here
    return n


@njit(cache=True, nogil=True)
def _take(m, active, offered, keys, links, bonus, hi, length, taken, spare, places):  # type: ignore[no-untyped-def]
    """Take just so many items: the highest level that takes no more, then the next keys above it."""
    n, lo = _fill(m, active, offered, keys, links, bonus, hi, taken), hi
    if n > length:
        m = _keep_taken(m, active, offered, taken)  # what is not taken at a level is not taken below it
        lo = hi - _DEPTH
        for _ in range(_STEPS):
            middle = 0.5 * (lo + hi)
            n = _fill(m, active, offered, keys, links, bonus, middle, taken)
            if n > length:
                hi = middle
            else:
                lo = middle
            if n == length:
                break
        if n != length:
            n = _fill(m, active, offered, keys, links, bonus, lo, taken)
    if n < length:
        _take_next(m, length - n, active, offered, keys, links, taken, spare)
    n = 0
    for a in range(m):
        item = offered[active[a]]
        if taken[item] and n < length:
            places[n] = item
            n += 1
        taken[item] = False
    return n


@njit(cache=True, nogil=True)
def _keep_taken(m, active, offered, taken):  # type: ignore[no-untyped-def]
    n = 0
    for a in range(m):
        if taken[offered[active[a]]]:
            active[n] = active[a]
            n += 1
    return n


@njit(cache=True, nogil=True)
def _take_next(m, wanted, active, offered, keys, links, taken, spare):  # type: ignore[no-untyped-def]
    """Take so many of the offers that are left, those with the lowest keys as lowered by what was taken."""
    n = 0
    for a in range(m):
        if not taken[offered[active[a]]]:
            spare[n] = _lowered(active[a], offered, keys, links, taken)
            n += 1
    last = np.partition(spare[:n], min(wanted, n) - 1)[min(wanted, n) - 1] if n else 0.0
    n = 0
    for a in range(m):
        if not taken[offered[active[a]]]:
            if spare[n] <= last and wanted > 0:
                active[a] = -active[a] - 1  # marked, so that it lowers no other key meanwhile
                wanted -= 1
            n += 1
    for a in range(m):
        if active[a] < 0:
            active[a] = -active[a] - 1
            taken[offered[active[a]]] = True
