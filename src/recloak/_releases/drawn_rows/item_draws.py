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
_TRIES = 10.0  # an item that is expected less often than one in so many times in a group's rows is offered by lot
_ROOM = 3.0  # at least so many times the longest row's length is offered without a lot
_KNOTS = 4096  # of the logistic distribution's inverse
_TAIL = 32.0 / _KNOTS  # beyond which it is not interpolated


class Tallies(NamedTuple):
    """How often items occur: in each group, in its near groups, and among all ratings."""

    starts: NDArray[np.int64]  # (n_groups + 1,) rows of each group
    indptr: NDArray[np.int64]  # (n_groups + 1,) ratings of each group
    places: NDArray[np.int32]  # (n_ratings,) what was rated, group by group
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


class Followers(NamedTuple):
    """Links by their leads: which items each one leads to."""

    indptr: NDArray[np.int64]  # (n_items + 1,)
    items: NDArray[np.int32]
    strength: NDArray[np.float32]

    @classmethod
    def of(cls, links: Links) -> Followers:
        """Turn the links round, without those that do nothing."""
        items, places = np.nonzero((links.leads >= 0) & (links.strength > 0))
        leads = links.leads[items, places]
        order = np.argsort(leads, kind="stable")
        indptr = np.searchsorted(leads[order], np.arange(len(links.leads) + 1))
        return cls(indptr, items[order].astype(np.int32), links.strength[items, places][order])


def draw_items(
    groups: NDArray[np.int64], tallies: Tallies, pull: Pull, lengths: NDArray[np.int64], ends: NDArray[np.int64],
    draw_key: DrawKey, places: NDArray[np.int32], counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Draw the rows of some groups: row r goes to ``places`` from ``ends[r]`` on, ascending, and has ``counts[r]``."""
    work = groups, tallies, pull, Followers.of(pull.links), lengths, ends, draw_key, places, counts
    in_shares(_draw_share, len(groups), *work, little=8)


def _draw_share(share: int, n_shares: int, *work: Any) -> None:
    n, n_links = len(work[1].shares), len(work[3].items)
    room = (
        np.zeros(n), np.empty(n, np.int32), np.empty(n), np.empty(n), np.full(n, np.inf),
        np.empty(n + n_links), np.empty(n + n_links, np.int32),
        np.empty((1, work[2].axes.shape[1]), np.float32), np.empty(_KNOTS + 1),
    )  # fmt: skip
    _draw(share, n_shares, *work, room)


@njit(cache=True, nogil=True)
def _draw(share, n_shares, groups, tallies, pull, followers, lengths, ends, draw_key, places, counts, room):  # type: ignore[no-untyped-def]
    weights, offered, logs, keys, now, heap, heaped, x, knots = room
    axes, spread = pull[1], pull[2]
    for i in range(1, _KNOTS):
        knots[i] = np.log(i / (_KNOTS - i))
    for g in range(share, len(groups), n_shares):
        group = groups[g]
        first, stop = tallies.starts[group], tallies.starts[group + 1]
        longest, n_draws = 0, 0
        for row in range(first, stop):
            longest, n_draws = max(longest, lengths[row]), n_draws + lengths[row]
        state = walk(draw_key.key, group, 2 * draw_key.stage)
        _weigh(group, tallies, pull.boost, weights)
        n = _offer(tallies, weights, n_draws, longest, state, offered, logs)
        for c in range(n):
            logs[c] = np.log(logs[c]) + pull.level[offered[c]]
        for row in range(first, stop):
            state = walk(draw_key.key, row, 2 * draw_key.stage + 1)
            for f in range(len(spread)):
                x[0, f] = spread[f] * normal(state)
            _make_keys(n, offered, logs, axes, x, state, knots, keys)
            length = min(lengths[row], n)
            for c in range(n):
                now[offered[c]] = keys[c]
            _take(n, offered, keys, followers, length, now, heap, heaped)
            counts[row] = _write_row(n, offered, now, places[ends[row] :])


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
        weights[tallies.places[c]] += part


@njit(cache=True, nogil=True)
def _offer(tallies, weights, n_draws, longest, state, offered, probabilities):  # type: ignore[no-untyped-def]
    """List the items that rows of a group may take, and their weights.

    Items that are expected seldom are many: a few of them, by lot, stand for all, with as much more weight.
    """
    n, few = 0, 0
    for i in range(len(weights)):
        own = weights[i] > 0.0 and tallies.own[i]
        few += own and _TRIES * n_draws * weights[i] >= 1.0
    scarce = few < _ROOM * longest
    for i in range(len(weights)):
        share = tallies.shares[i]
        if weights[i] > 0.0 and tallies.own[i]:
            weight = (1.0 - _EVERYBODY) * weights[i] + _EVERYBODY * share
        else:
            weight = _EVERYBODY * share if tallies.own[i] else share
        odds = 1.0 if scarce else min(1.0, _TRIES * n_draws * weight)
        if weight > 0.0 and (odds >= 1.0 or uniform(state) < odds):
            offered[n], probabilities[n] = i, weight / odds
            n += 1
    return n


@njit(cache=True, nogil=True)
def _make_keys(n, offered, logs, axes, x, state, knots, keys):  # type: ignore[no-untyped-def]
    """Fill in the keys: a logistic draw less the log odds."""
    for c in range(n):
        pulled = ordered_dot(x, np.int64(0), axes, np.int64(offered[c]), axes.shape[1])
        keys[c] = _logistic(uniform(state) + 2.0**-54, knots) - logs[c] - pulled


@njit(cache=True, nogil=True, inline="always")
def _logistic(u, knots):  # type: ignore[no-untyped-def]
    """Return log(u / (1 - u)), between knots but for the tails."""
    if u < _TAIL or u > 1.0 - _TAIL:
        return np.log(u / (1.0 - u))
    place = int(u * _KNOTS)
    return knots[place] + (u * _KNOTS - place) * (knots[place + 1] - knots[place])


@njit(cache=True, nogil=True)
def _take(n, offered, keys, followers, length, now, heap, heaped):  # type: ignore[no-untyped-def]
    """Take the item with the lowest key, lower the keys of what follows it, and so on: just so many items.

    ``now`` holds the keys by item; one that was taken is at minus infinity. Nothing above the length-th lowest key
    can be taken unless it is lowered, so only the others wait in the heap; an entry that was lowered since is stale.
    """
    highest, size = np.partition(keys[:n], length - 1)[length - 1], 0
    for c in range(n):
        if keys[c] <= highest:
            size = _push(heap, heaped, size, keys[c], offered[c])
    n_taken = 0
    while n_taken < length:
        key, item = heap[0], heaped[0]
        size = _pop(heap, heaped, size)
        if key != now[item]:
            continue
        now[item] = -np.inf
        n_taken += 1
        for f in range(followers.indptr[item], followers.indptr[item + 1]):
            other = followers.items[f]
            now[other] -= followers.strength[f]
            if -np.inf < now[other] <= highest:
                size = _push(heap, heaped, size, now[other], other)


@njit(cache=True, nogil=True)
def _push(heap, heaped, size, key, item):  # type: ignore[no-untyped-def]
    """Put a key into a binary heap, the lowest first; return its new size."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if heap[above] <= key:
            break
        heap[place], heaped[place] = heap[above], heaped[above]
        place = above
    heap[place], heaped[place] = key, item
    return size + 1


@njit(cache=True, nogil=True)
def _pop(heap, heaped, size):  # type: ignore[no-untyped-def]
    """Take the lowest key out of a heap; return its new size."""
    size -= 1
    key, item, place = heap[size], heaped[size], 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        below += below + 1 < size and heap[below + 1] < heap[below]
        if heap[below] >= key:
            break
        heap[place], heaped[place] = heap[below], heaped[below]
        place = below
    heap[place], heaped[place] = key, item
    return size


@njit(cache=True, nogil=True)
def _write_row(n, offered, now, places):  # type: ignore[no-untyped-def]
    """Write the items that were taken, and forget all keys."""
    n_taken = 0
    for c in range(n):
        if now[offered[c]] == -np.inf:
            places[n_taken] = offered[c]
            n_taken += 1
        now[offered[c]] = np.inf
    return n_taken
