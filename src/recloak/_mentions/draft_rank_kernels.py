"""The compiled loops of the advisor: a user's place, and the place after every change of a draft.

The mentions are added up once, for all attackers side by side. After that only the *gap* matters, the user's score less
a candidate's: a candidate is above the user where the gap is below 0 and tied where it is 0 (closer than `TIE`).
A change of the draft moves every gap by its *effect*, ``w (mine - theirs)``: the weight of the mention where the user
rated it and the candidate did not, its negative the other way round, else 0. Most candidates are so far behind that no
change can make them tied; they are dropped after the first pass, exactly, so that a change costs as many steps as
there are candidates in reach. An attacker *uses* a mention that they do not ignore. The loops release the GIL and
share nothing, so threads may run them at once.
"""

import numpy as np

from recloak._core.compiling import njit
from recloak._mentions.identification_kernels import TIE

MOST_DROPS = 4  # as many mentions of a draft may be left out together
SHOWN_ADDS = 3  # as many decoys are tried one by one
_MARGIN = 1e-6  # sums in another order differ by less: rounding drops nobody in reach


@njit(cache=True, nogil=True)
def survey(  # type: ignore[no-untyped-def] # noqa: PLR0917 (a kernel takes its arrays one by one)
    me, earlier, draft, decoys, mine, used, weights, tried, greedy, border, indptr, users, n_listed
):
    """Return the expected place before the worst attacker for a draft and for every change of it that is tried.

    ``mine``, ``used`` and ``weights`` follow ``earlier``, ``draft`` and ``decoys``: whether the user rated each of
    them, which attackers (columns) do not ignore it, and what it adds to the score of whoever rated it. ``tried`` are
    the positions in the draft that may be left out together, in that order or, where ``greedy``, in the best.

    Return the place by earlier mentions alone; (1 + n_draft + n_shown) places of the draft as it is, without each
    mention, with each of the first `SHOWN_ADDS` decoys; the order of leaving out; and a table of places by how many of
    that order are left out (rows) and how many decoys are added (columns), as far as needed to find the fewest changes
    that reach beyond ``border``.
    """
    n_old = len(earlier)
    score, own = np.zeros((n_listed, used.shape[1])), np.zeros(used.shape[1])
    _add_mentions(earlier, mine, used, weights, indptr, users, score, own)
    n_used = used[:n_old].sum(axis=0)
    before = _stand(score, own, n_used, me)
    mine, used, weights = mine[n_old:], used[n_old:], weights[n_old:]
    _add_mentions(draft, mine, used, weights, indptr, users, score, own)
    n_used += used[: len(draft)].sum(axis=0)
    near = _in_reach(me, len(draft), decoys, mine, weights, indptr, users, score, own)
    gaps = _gaps(near, score, own)
    effects = np.empty((len(draft) + len(decoys), len(near)))
    _effects(draft, mine, near, weights, indptr, users, n_listed, effects)
    _effects(decoys, mine[len(draft) :], near, weights[len(draft) :], indptr, users, n_listed, effects[len(draft) :])
    singles = _singles(gaps, effects, used, n_used, len(draft), min(SHOWN_ADDS, len(decoys)))
    order = tried[:MOST_DROPS]
    if greedy:
        order = _order(gaps.copy(), effects, used, n_used.copy(), tried)
    return before, singles, order, _table(gaps, effects, used, n_used, order, len(draft), border)


@njit(cache=True)
def _add_mentions(items, mine, used, weights, indptr, users, score, own):  # type: ignore[no-untyped-def]
    """Add each mention to the scores of its raters and of the user, for the attackers that use it."""
    added = np.empty(len(own))
    for n in range(len(items)):
        if weights[n] == 0.0:
            continue
        for a in range(len(own)):
            added[a] = weights[n] * used[n, a]
            own[a] += added[a] * mine[n]
        for entry in range(indptr[items[n]], indptr[items[n] + 1]):
            for a in range(len(own)):
                score[users[entry], a] += added[a]


@njit(cache=True)
def _stand(score, own, n_used, me):  # type: ignore[no-untyped-def]
    everyone = np.arange(len(score))
    gaps = _gaps(everyone[everyone != me], score, own)
    return _place(gaps, np.zeros(gaps.shape[1]), np.zeros(len(own), np.int64), n_used)


@njit(cache=True)
def _gaps(near, score, own):  # type: ignore[no-untyped-def]
    """Return (n_attackers, n_near) gaps."""
    gaps = np.empty((len(own), len(near)))
    for n in range(len(near)):
        for a in range(len(own)):
            gaps[a, n] = own[a] - score[near[n], a]
    return gaps


@njit(cache=True)
def _largest(numbers, count):  # type: ignore[no-untyped-def]
    """Return the sum of the largest few numbers and remove them (by loops: a sort takes seconds to compile)."""
    total = 0.0
    for _ in range(min(count, len(numbers))):
        top = 0
        for n in range(len(numbers)):
            top = n if numbers[n] > numbers[top] else top
        total += numbers[top]
        numbers[top] = -np.inf
    return total


@njit(cache=True)
def _in_reach(me, n_draft, decoys, mine, weights, indptr, users, score, own):  # type: ignore[no-untyped-def]
    """Return the candidates that leaving out up to `MOST_DROPS` mentions and adding all decoys could make tied."""
    helped = np.zeros(len(score))
    for n in range(len(decoys)):
        for entry in range(indptr[decoys[n]], indptr[decoys[n] + 1]):
            helped[users[entry]] += max(weights[n_draft + n], 0.0)
    most = np.zeros(n_draft)
    for n in range(n_draft):
        most[n] = max(weights[n] * mine[n], weights[n] * mine[n] - weights[n])
    slack = _MARGIN + _largest(most, MOST_DROPS)
    near = np.empty(len(score), np.int64)
    n_near = 0
    for user in range(len(score)):
        reached = False
        for a in range(len(own)):
            reached |= own[a] - score[user, a] <= slack + helped[user]
        if reached and user != me:
            near[n_near] = user
            n_near += 1
    return near[:n_near]


@njit(cache=True)
def _effects(items, mine, near, weights, indptr, users, n_listed, effects):  # type: ignore[no-untyped-def]
    """Fill a row per mention: by how much it widens the gap to each candidate in reach."""
    slot = np.full(n_listed, -1, np.int64)
    for n in range(len(near)):
        slot[near[n]] = n
    for n in range(len(items)):
        effects[n] = weights[n] * mine[n]
        for entry in range(indptr[items[n]], indptr[items[n] + 1]):
            if slot[users[entry]] >= 0:
                effects[n, slot[users[entry]]] -= weights[n]


@njit(cache=True)
def _place(gaps, effect, times, n_used):  # type: ignore[no-untyped-def]
    """Return the place before the worst attacker once each attacker used a mention ``times`` more (-1: left out).

    The place is the expected one: those above, and half of those tied, including the user. An attacker who ignores
    every mention uses all of them, as the first one does.
    """
    worst = np.inf
    for a in range(len(gaps)):
        if a > 0 and n_used[a] + times[a] == 0:
            continue
        better, tied, moved = 0, 1, float(times[a])
        for n in range(gaps.shape[1]):
            gap = gaps[a, n] + moved * effect[n]
            better += gap < -TIE
            tied += abs(gap) <= TIE
        worst = min(worst, better + (tied + 1) / 2)
    return worst


@njit(cache=True)
def _move(gaps, effect, times, n_used):  # type: ignore[no-untyped-def]
    for a in range(len(gaps)):
        gaps[a] += times[a] * effect
        n_used[a] += times[a]


@njit(cache=True)
def _singles(gaps, effects, used, n_used, n_draft, shown):  # type: ignore[no-untyped-def]
    places = np.empty(1 + n_draft + shown)
    places[0] = _place(gaps, np.zeros(gaps.shape[1]), np.zeros(len(n_used), np.int64), n_used)
    for n in range(n_draft + shown):
        times = used[n] if n >= n_draft else -used[n]
        places[1 + n] = _place(gaps, effects[n], times, n_used)
    return places


@njit(cache=True)
def _order(gaps, effects, used, n_used, tried):  # type: ignore[no-untyped-def]
    """Return mentions to leave out one by one, each time the one that hides best, the first among equals."""
    left = tried.copy()
    chosen = np.empty(min(MOST_DROPS, len(tried)), np.int64)
    for step in range(len(chosen)):
        best, farthest = 0, -np.inf
        for n in range(len(left)):
            place = _place(gaps, effects[left[n]], -used[left[n]], n_used)
            if place > farthest:
                best, farthest = n, place
        chosen[step] = left[best]
        _move(gaps, effects[left[best]], -used[left[best]], n_used)
        left = np.concatenate((left[:best], left[best + 1 :]))
    return chosen


@njit(cache=True)
def _table(gaps, effects, used, n_used, order, n_draft, border):  # type: ignore[no-untyped-def]
    """Return the places by number of mentions left out (rows) and of decoys added (columns).

    Once some number of changes reaches beyond the border, larger numbers are not tried: their places stay 1.
    """
    n_decoys = len(effects) - n_draft
    places = np.ones((len(order) + 1, n_decoys + 1))
    enough = len(order) + n_decoys
    none = np.zeros(gaps.shape[1])
    for n_drops in range(len(order) + 1):
        if n_drops > enough:
            break
        if n_drops:
            _move(gaps, effects[order[n_drops - 1]], -used[order[n_drops - 1]], n_used)
        moved, counted = gaps.copy(), n_used.copy()
        for n_adds in range(min(n_decoys, enough - n_drops) + 1):
            if n_adds:
                _move(moved, effects[n_draft + n_adds - 1], used[n_draft + n_adds - 1], counted)
            places[n_drops, n_adds] = _place(moved, none, np.zeros(len(counted), np.int64), counted)
            if places[n_drops, n_adds] > border:
                enough = n_drops + n_adds
                break
    return places
