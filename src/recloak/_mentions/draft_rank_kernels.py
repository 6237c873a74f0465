"""The compiled loops of the advisor: a writer's place before every attacker, and after every change of a draft.

Only the *gap* matters, the writer's score less a candidate's: a candidate is above the writer where the gap is below 0
and tied where it is 0 (closer than `CLOSE`). The scores of all attackers add up over mentions, so each mention has a
table of *effects* (n_attackers, n_candidates), by how much it widens each gap, and so has each moment of posting. The
gaps of a set of mentions are the sum of their tables. The loops release the GIL and share nothing.
"""

import numpy as np

from recloak._core.compiling import njit
from recloak._mentions.model import NO_TIME
from recloak._mentions.panel_kernels import (
    ACTIVE,
    EXACT,
    LEARNED,
    N_ATTACKERS,
    N_WINDOWS,
    OPINION,
    RATIO,
    SAME_ITEM,
    WARY,
    add_moment,
    add_rated,
    hears,
    item_facts,
    moment_bins,
    moment_terms,
    window_terms,
)

CLOSE = np.float32(1e-4)  # gaps are sums of single-precision effects
_NEVER = np.float32(1e9)  # gap to a candidate whom an attacker leaves out
_AT_ONCE = 256  # candidates that are counted before it is asked whether they are enough


@njit(cache=True, nogil=True)
def no_gaps(me, pool):  # type: ignore[no-untyped-def]
    """Return gaps of 0 to all candidates but the writer, and for Scoring but the heavy raters."""
    gaps = np.zeros((N_ATTACKERS, len(pool.appetite)), np.float32)
    for user in range(len(pool.appetite)):
        if pool.heavy[user]:
            gaps[: EXACT + 1, user] = _NEVER
    if me >= 0:
        gaps[:, me] = _NEVER
    return gaps


@njit(cache=True)
def _add_muted(effects, item, appetite, pool, known):  # type: ignore[no-untyped-def]
    """Add a mention of which it does not matter who else rated it; it never narrows a gap.

    Every candidate is taken to have rated it or not, whichever leaves them further behind: where nearly everybody of
    their activity rated an item, having rated it speaks against them.
    """
    rate = pool.rates[item]
    for a in range(EXACT + 1):
        effects[a] += max(-pool.gains[item], 0.0)
    for user in range(len(pool.appetite)):
        log_rate = np.log(np.expm1(rate * pool.appetite[user]))
        for a in range(RATIO, LEARNED):
            if not hears(a, pool.ignored[item]):
                continue
            rated = -log_rate if a == WARY else known.logit - log_rate
            effects[a, user] += max(rate * (appetite - pool.appetite[user]) - min(rated, 0.0), 0.0)


@njit(cache=True)
def _add_effects(effects, item, time, opinion, mine, appetite, norm, pool, known):  # type: ignore[no-untyped-def]
    """Add one mention to effects."""
    n, rate = len(pool.appetite), pool.rates[item]
    timed = time != NO_TIME and len(pool.times) > 0
    windows, terms = window_terms(item, time, pool), np.zeros(N_ATTACKERS)
    if mine[0]:
        lag = time - np.int64(mine[2]) if timed else NO_TIME
        add_rated(terms, item_facts(item, pool), mine[1], lag, opinion, appetite, norm, windows, known)
    unrated = np.empty(n, np.float32)
    for user in range(n):
        unrated[user] = rate * (appetite - pool.appetite[user])
    for a in range(LEARNED):
        told, own = a >= RATIO and hears(a, pool.ignored[item]), np.float32(terms[a])
        for user in range(n):
            effects[a, user] += own + unrated[user] if told else own
    _take_off_raters(effects, item, time, opinion, windows, pool, known)


@njit(cache=True)
def _take_off_raters(effects, item, time, opinion, windows, pool, known):  # type: ignore[no-untyped-def]
    """Take what a mention says of the raters of its item off their effects, one attacker after the other.

    The terms are collected first: a row of effects at a time stays in the processor's cache.
    """
    start, stop = pool.indptr[item], pool.indptr[item + 1]
    timed = time != NO_TIME and len(pool.times) > 0
    terms, facts = np.zeros((stop - start, N_ATTACKERS)), item_facts(item, pool)
    for entry in range(start, stop):
        user = pool.users[entry]
        lag = time - pool.times[entry] if timed else NO_TIME
        theirs, length = pool.appetite[user], pool.norms[user]
        add_rated(terms[entry - start], facts, pool.values[entry], lag, opinion, theirs, length, windows, known)
    for a in range(LEARNED):
        for entry in range(start, stop):
            effects[a, pool.users[entry]] -= terms[entry - start, a]


@njit(cache=True)
def _learn(effects, known):  # type: ignore[no-untyped-def]
    """Set the learned attacker's effects from the others'."""
    w = known.learned
    for user in range(effects.shape[1]):
        ratio, opinion = effects[RATIO, user], effects[OPINION, user]
        timed = w[2] * (effects[SAME_ITEM, user] - opinion) + w[3] * (effects[ACTIVE, user] - opinion)
        effects[LEARNED, user] = w[0] * ratio + w[1] * (opinion - ratio) + timed


@njit(cache=True, nogil=True)
def mention_effects(items, times, opinions, mine, muted, appetite, norm, pool, known, total):  # type: ignore[no-untyped-def]
    """Return the effects of mentions: of each (n_mentions, n_attackers, n_candidates), or of all in one table.

    ``mine`` holds whether the writer rated the item, how, and when.
    """
    n_tables = 1 if total else len(items)
    effects = np.zeros((n_tables, N_ATTACKERS, len(pool.appetite)), np.float32)
    for m in range(len(items)):
        table = effects[0 if total else m]
        if muted[m]:
            _add_muted(table, items[m], appetite, pool, known)
        else:
            _add_effects(table, items[m], times[m], opinions[m], mine[m], appetite, norm, pool, known)
    for table in effects:
        _learn(table, known)
    return effects


@njit(cache=True, nogil=True)
def moment_effects(times, own_moments, pool, known):  # type: ignore[no-untyped-def]
    """Return (n_moments, n_attackers, n_candidates) effects of posting at some times."""
    n = len(pool.appetite)
    effects = np.zeros((len(times), N_ATTACKERS, n), np.float32)
    bins, inside = np.empty(n, np.int64), np.empty((n, N_WINDOWS), np.bool_)
    me, within = np.empty(1, np.int64), np.empty((1, N_WINDOWS), np.bool_)
    alone = np.array([0, len(own_moments)], np.int64)
    own, theirs = np.zeros(N_ATTACKERS), np.zeros(N_ATTACKERS)
    for d in range(len(times)):
        moment_bins(times[d], pool.moments, pool.moments_from, bins, inside)
        by_bin, windows = moment_terms(bins, inside, known)
        moment_bins(times[d], own_moments, alone, me, within)
        own[:] = 0.0
        add_moment(own, me[0], within[0], by_bin, windows)
        for user in range(n):
            theirs[:] = 0.0
            add_moment(theirs, bins[user], inside[user], by_bin, windows)
            for a in range(OPINION, LEARNED):
                effects[d, a, user] = own[a] - theirs[a]
        _learn(effects[d], known)
    return effects


@njit(cache=True, nogil=True)
def place_before(gaps):  # type: ignore[no-untyped-def]
    """Return the expected place among the candidates: those above, and half of those tied, including the writer."""
    better, level = np.int32(0), np.int32(0)
    for user in range(len(gaps)):
        better += np.int32(gaps[user] < -CLOSE)
        level += np.int32(gaps[user] <= CLOSE)
    return better + (level - better) / 2 + 1


@njit(cache=True, nogil=True)
def places(gaps, attackers, margins):  # type: ignore[no-untyped-def]
    """Return the expected place before each of some attackers, divided by their margins."""
    found = np.empty(len(attackers))
    for n in range(len(attackers)):
        found[n] = place_before(gaps[attackers[n]]) / margins[n]
    return found


@njit(cache=True)
def _place_moved(gaps, effect, times):  # type: ignore[no-untyped-def]
    """Return the place once an effect is added some times (-1: taken off)."""
    better, level = np.int32(0), np.int32(0)
    for user in range(len(gaps)):
        gap = gaps[user] + np.float32(times) * effect[user]
        better += np.int32(gap < -CLOSE)
        level += np.int32(gap <= CLOSE)
    return better + (level - better) / 2 + 1


@njit(cache=True, nogil=True)
def worst_without(gaps, effects, moments, moment_of, attackers, margins):  # type: ignore[no-untyped-def]
    """Return the smallest place over the attackers once each mention is left out, with its moment if it was alone."""
    found = np.full(len(effects), np.inf)
    for m in range(len(effects)):
        alone = moment_of[m] >= 0 and (moment_of == moment_of[m]).sum() == 1
        for n in range(len(attackers)):
            a = attackers[n]
            effect = effects[m, a] + moments[moment_of[m], a] if alone else effects[m, a]
            found[m] = min(found[m], _place_moved(gaps[a], effect, -1) / margins[n])
    return found


@njit(cache=True, nogil=True)
def worst_with(gaps, effects, attackers, margins):  # type: ignore[no-untyped-def]
    """Return the smallest place over the attackers with each of some effects added."""
    found = np.full(len(effects), np.inf)
    for m in range(len(effects)):
        for n in range(len(attackers)):
            a = attackers[n]
            found[m] = min(found[m], _place_moved(gaps[a], effects[m, a], 1) / margins[n])
    return found


@njit(cache=True, nogil=True)
def added_up(gaps, effects, chosen):  # type: ignore[no-untyped-def]
    """Return the gaps with some of the effects added."""
    found = gaps.copy()
    for m in chosen:
        _add(found, effects[m])
    return found


@njit(cache=True)
def _add(gaps, effects):  # type: ignore[no-untyped-def]
    """Add effects to gaps, as one long row, which is faster than row by row."""
    to, more = gaps.reshape(gaps.size), effects.reshape(gaps.size)
    for place in range(len(to)):
        to[place] += more[place]


@njit(cache=True)
def _is_beyond(gaps, more, moment, border):  # type: ignore[no-untyped-def]
    """Return whether the place is beyond a border once a mention and its moment are added.

    Twice the place is counted, two for each candidate above and one for each level with the writer, until it is enough.
    """
    twice, most, n = np.int32(2), 2 * border, len(gaps)
    for start in range(0, n, _AT_ONCE):
        for user in range(start, min(start + _AT_ONCE, n)):
            gap = gaps[user] + more[user] + moment[user]
            twice += np.int32(gap < -CLOSE) + np.int32(gap <= CLOSE)
        if twice > most:
            return True
    return False


@njit(cache=True)
def _hides(gaps, more, moment, attackers, borders):  # type: ignore[no-untyped-def]
    """Return whether every attacker has the writer beyond their border once a mention and its moment are added.

    ``moment`` has a row for each attacker, or one row of zeros.
    """
    for which in range(len(attackers)):
        a = attackers[which]
        if not _is_beyond(gaps[a], more[a], moment[min(a, len(moment) - 1)], borders[which]):
            return False
    return True


@njit(cache=True, nogil=True)
def keep(gaps, effects, vague, vague_of, moments, moment_of, order, attackers, borders):  # type: ignore[no-untyped-def]
    """Return whether what is said anyway hides, and how each mention may stay: 2 as it is, 1 by its series, 0 not.

    Mentions are added in the given order to the gaps of what is said anyway, each as long as the writer stays beyond
    the border; those refused are tried once more at the end, where others may have come to their help.
    """
    state, refused_at = np.zeros(len(effects), np.int64), np.full(len(effects), -1)
    if (places(gaps, attackers, borders) <= 1.0).any():
        return False, state
    posted, n_kept = np.zeros(len(moments), np.bool_), 0
    gaps, nothing = gaps.copy(), np.zeros((1, gaps.shape[1]), np.float32)
    for _ in range(2):
        for m in order:
            if state[m] or refused_at[m] == n_kept:
                continue
            first = moment_of[m] >= 0 and not posted[moment_of[m]]
            moment = moments[moment_of[m]] if first else nothing
            if _hides(gaps, effects[m], moment, attackers, borders):
                state[m] = 2
                _add(gaps, effects[m])
            elif vague_of[m] >= 0 and _hides(gaps, vague[vague_of[m]], moment, attackers, borders):
                state[m] = 1
                _add(gaps, vague[vague_of[m]])
            else:
                refused_at[m] = n_kept
                continue
            n_kept += 1
            if first:
                _add(gaps, moment)
                posted[moment_of[m]] = True
    return True, state
