"""The compiled loops of the panel of attackers: what a mention, and the moment of it, add to every candidate's score.

All attackers of `PANEL` add up over mentions, so one pass over the raters of an item serves them all. A candidate who
did not rate the item gets the term of the likelihood ratio for "not rated"; everything else is added to its raters.
What the time of a post tells of a candidate's other activity is added once per *moment* (a day of posts), because
twenty posts of one evening are one clue, not twenty.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._mentions.identification_kernels import TIE
from recloak._mentions.model import NO_TIME

PANEL = (
    "scoring",  # paper 004
    "adaptive",  # Scoring without the most-rated hundredth of the items
    "adaptive_2",  # without the most-rated fiftieth
    "fuzzy_rating",  # Scoring, ratings within a star of the opinion
    "exact_rating",  # Scoring, ratings equal to the opinion
    "tf_idf",
    "likelihood_ratio",
    "wary_likelihood",  # takes half of the mentions for misdirection
    "knowing_likelihood",  # ignores the items that any advisor proposes to add, and all that are rated more
    "opinion",  # likelihood ratio, and how well ratings fit opinions
    "same_item",  # and when the item was rated
    "active",  # or when anything was rated
    "time",  # both
    "time_month",  # as time, for posters who wait up to a month
    "time_year",
    "time_ever",
    "knowing_time",  # as time (without times: opinion), ignoring what this advisor proposes and all that is rated more
    "knowing_half",  # the same, ignoring the better-known half of that and all that is rated more
    "learned",  # the weights that name other people best
)
N_ATTACKERS = len(PANEL)
SCORING, ADAPTIVE, ADAPTIVE_2, FUZZY, EXACT, TF_IDF = range(6)
RATIO, WARY, KNOWING, OPINION, SAME_ITEM, ACTIVE, TIMED, FIRST_WINDOW = range(6, 14)
N_WINDOWS = 3
KNOWING_TIME = FIRST_WINDOW + N_WINDOWS
KNOWING_HALF = KNOWING_TIME + 1
LEARNED = KNOWING_HALF + 1
DAY = 86_400
WINDOWS = np.array([30 * DAY, 365 * DAY, 36_500 * DAY], np.int64)
EDGES = np.array([-3650, -365, -90, -30, -7, -1, -1 / 24, 0, 1 / 24, 1, 7, 30, 90, 365, 3650]) * DAY
N_BINS = len(EDGES) + 1
MOST_MOMENTS = 16  # days of posts per target that are looked at
N_STEPS = 8  # differences of opinion and rating, in half stars; the last holds all larger ones
_INSIDE = 0.9  # chance that a poster who waits posts within the window


class CandidatePool(NamedTuple):
    """The candidates, and what is known of each: by item, and by person."""

    indptr: NDArray[np.int64]  # (n_items + 1,)
    users: NDArray[np.int32]  # by item: candidates who rated it
    values: NDArray[np.float32]
    times: NDArray[np.int64]  # empty: not known
    moments_from: NDArray[np.int64]  # (n_candidates + 1,)
    moments: NDArray[np.int64]  # by candidate: when they rated, ascending
    appetite: NDArray[np.float64]  # (n_candidates,) activity over the mean
    norms: NDArray[np.float64]  # (n_candidates,) length of the TF-IDF vector
    heavy: NDArray[np.bool_]  # (n_candidates,) left out by Scoring
    rates: NDArray[np.float64]  # (n_items,) -log(1 - share of the users who rated it)
    gains: NDArray[np.float64]  # (n_items,) what Scoring gives for it
    squared_idf: NDArray[np.float64]  # (n_items,)
    ignored: NDArray[
        np.int8
    ]  # (n_items,) by how many of `KNOWING`, `KNOWING_TIME`, `KNOWING_HALF`, `ADAPTIVE_2`, `ADAPTIVE`


class Constants(NamedTuple):
    """What the attackers learned from other people; see `_mentions.clues`."""

    logit: float  # of the share of mentions that posters rated
    same_item: NDArray[np.float64]  # (N_BINS,) log-likelihood ratio of the time from rating to mention
    active: NDArray[np.float64]  # (N_BINS,) log-probability of the time from the poster's nearest rating
    opinion: NDArray[np.float64]  # (N_STEPS,) log-likelihood ratio of the difference between opinion and rating
    learned: NDArray[np.float64]  # (4,) weights of likelihood ratio, opinion, same item, active


@njit(cache=True)
def hears(attacker, ignored):  # type: ignore[no-untyped-def]
    """Return whether an attacker looks at a mention of an item; the knowing ones leave out what may be proposed."""
    if KNOWING_TIME <= attacker < LEARNED:
        return ignored < 2 + attacker - KNOWING_TIME
    return attacker != KNOWING or ignored < 1


@njit(cache=True)
def add_unrated(score, item, appetite, pool):  # type: ignore[no-untyped-def]
    """Add what a mention says of a candidate who did not rate the item: the more they rate, the less it says."""
    term = pool.rates[item] * appetite
    for a in range(RATIO, LEARNED):
        if hears(a, pool.ignored[item]):
            score[a] += term


@njit(cache=True)
def item_facts(item, pool):  # type: ignore[no-untyped-def]
    """Return what `add_rated` needs of an item: numbers alone, because arrays are dear to hand over so often."""
    return pool.gains[item], pool.ignored[item], pool.squared_idf[item], pool.rates[item]


@njit(cache=True)
def add_rated(score, facts, value, lag, opinion, appetite, norm, windows, known):  # type: ignore[no-untyped-def]
    """Add what a mention says of a candidate who rated the item, beyond `add_unrated`.

    ``facts`` are the `item_facts`; ``lag`` is the time from the rating to the mention, `NO_TIME` where one of them is
    not known; ``windows`` are the `window_terms`.
    """
    gain, ignored, squared_idf, rate = facts
    score[SCORING] += gain
    if ignored < 5:
        score[ADAPTIVE] += gain
    if ignored < 4:
        score[ADAPTIVE_2] += gain
    unsaid, distance = np.isnan(opinion), abs(value - opinion)
    if unsaid or distance <= 1.0 + 1e-6:
        score[FUZZY] += gain
    if unsaid or distance <= 1e-6:
        score[EXACT] += gain
    score[TF_IDF] += squared_idf / norm
    log_rate = np.log(np.expm1(rate * appetite))
    score[WARY] -= log_rate  # the logit of a half is 0
    ratio = known.logit - log_rate
    score[RATIO] += ratio
    if hears(KNOWING, ignored):
        score[KNOWING] += ratio
    if not unsaid:
        ratio += known.opinion[min(int(2 * distance + 0.5), N_STEPS - 1)]
    for a in range(OPINION, LEARNED):
        if hears(a, ignored):
            score[a] += ratio
    if lag != NO_TIME:
        add_lag(score, lag, windows, 1.0, ignored, known)


@njit(cache=True)
def add_lag(score, lag, windows, sign, ignored, known):  # type: ignore[no-untyped-def]
    """Add, or with a sign of -1 take off, what the time from rating to mention says."""
    term = sign * known.same_item[np.searchsorted(EDGES, lag)]
    score[SAME_ITEM] += term
    score[TIMED] += term
    for a in range(KNOWING_TIME, LEARNED):
        if hears(a, ignored):
            score[a] += term
    for w in range(N_WINDOWS):
        score[FIRST_WINDOW + w] += sign * windows[w, 1 if -DAY <= lag <= WINDOWS[w] else 0]


@njit(cache=True)
def _window_terms(shares):  # type: ignore[no-untyped-def]
    """Return, for each window, the terms of who did not rate in it and of who did.

    They are half of the log-likelihood ratio: the same item and other activity are two views of one clue.
    """
    terms = np.empty((N_WINDOWS, 2))
    for w in range(N_WINDOWS):
        terms[w, 0] = 0.5 * np.log((1 - _INSIDE) / (1 - shares[w]))
        terms[w, 1] = 0.5 * np.log(_INSIDE / shares[w])
    return terms


@njit(cache=True)
def window_terms(item, time, pool):  # type: ignore[no-untyped-def]
    """Return what rating an item within each window before a time says, by the share of its raters who did."""
    counts, start, stop = np.full(N_WINDOWS, 0.5), pool.indptr[item], pool.indptr[item + 1]
    if time != NO_TIME and len(pool.times) > 0:
        for entry in range(start, stop):
            for w in range(N_WINDOWS):
                counts[w] += -DAY <= time - pool.times[entry] <= WINDOWS[w]
        counts /= stop - start + 1
    return _window_terms(counts)


@njit(cache=True)
def add_mention(scores, item, time, opinion, pool, known):  # type: ignore[no-untyped-def]
    """Add a mention to the scores (n_candidates, n_attackers) of all candidates."""
    for user in range(len(scores)):
        add_unrated(scores[user], item, pool.appetite[user], pool)
    windows, timed = window_terms(item, time, pool), time != NO_TIME and len(pool.times) > 0
    facts = item_facts(item, pool)
    for entry in range(pool.indptr[item], pool.indptr[item + 1]):
        user = pool.users[entry]
        lag = time - pool.times[entry] if timed else NO_TIME
        appetite, norm, value = pool.appetite[user], pool.norms[user], pool.values[entry]
        add_rated(scores[user], facts, value, lag, opinion, appetite, norm, windows, known)


@njit(cache=True)
def nearest(moments, time):  # type: ignore[no-untyped-def]
    """Return the time since the nearest of the ascending moments (below 0: until it), and since the last before."""
    place = np.searchsorted(moments, time, side="right")
    since = time - moments[place - 1] if place > 0 else np.int64(2**62)
    until = moments[place] - time if place < len(moments) else np.int64(2**62)
    return (since, since) if since <= until else (-until, since)


@njit(cache=True)
def moment_bins(time, moments, moments_from, bins, inside):  # type: ignore[no-untyped-def]
    """Fill each candidate's bin of the time since their nearest rating, and whether it lies in each window."""
    for user in range(len(bins)):
        gap, since = nearest(moments[moments_from[user] : moments_from[user + 1]], time)
        bins[user] = np.searchsorted(EDGES, gap)
        for w in range(N_WINDOWS):
            inside[user, w] = since <= WINDOWS[w] or -DAY <= gap <= 0


@njit(cache=True)
def moment_terms(bins, inside, known):  # type: ignore[no-untyped-def]
    """Return what each bin, and each window, says of a candidate, by the share of the candidates in it."""
    n = len(bins)
    by_bin, by_window = np.full(N_BINS, 1 / N_BINS), np.full(N_WINDOWS, 0.5)
    for user in range(n):
        by_bin[bins[user]] += 1
        for w in range(N_WINDOWS):
            by_window[w] += inside[user, w]
    return known.active - np.log(by_bin / (n + 1)), _window_terms(by_window / (n + 1))


@njit(cache=True)
def add_moment(score, place, inside, by_bin, windows):  # type: ignore[no-untyped-def]
    """Add what the moment of some mentions says of one candidate."""
    score[ACTIVE] += by_bin[place]
    score[TIMED] += by_bin[place]
    for a in range(KNOWING_TIME, LEARNED):
        score[a] += by_bin[place]
    for w in range(N_WINDOWS):
        score[FIRST_WINDOW + w] += windows[w, 1 if inside[w] else 0]


@njit(cache=True)
def combine(score, known):  # type: ignore[no-untyped-def]
    """Set the learned attacker's score from the others'."""
    ratio, opinion = score[RATIO], score[OPINION]
    w = known.learned
    timed = w[2] * (score[SAME_ITEM] - opinion) + w[3] * (score[ACTIVE] - opinion)
    score[LEARNED] = w[0] * ratio + w[1] * (opinion - ratio) + timed


@njit(cache=True)
def days_of(times):  # type: ignore[no-untyped-def]
    """Return the first time of each day with mentions, the latest `MOST_MOMENTS` days."""
    found = np.empty(len(times), np.int64)
    n_found, last = 0, NO_TIME
    for time in np.sort(times):
        if time != NO_TIME and (n_found == 0 or time // DAY != last):
            found[n_found] = time
            n_found, last = n_found + 1, time // DAY
    return found[max(n_found - MOST_MOMENTS, 0) : n_found]


@njit(cache=True)
def score_all(items, times, opinions, pool, known):  # type: ignore[no-untyped-def]
    """Return the scores (n_candidates, n_attackers) of all candidates for one target's mentions."""
    n = len(pool.appetite)
    scores = np.zeros((n, N_ATTACKERS))
    for m in range(len(items)):
        add_mention(scores, items[m], times[m], opinions[m], pool, known)
    bins, inside = np.empty(n, np.int64), np.empty((n, N_WINDOWS), np.bool_)
    for time in days_of(times if len(pool.times) else times[:0]):
        moment_bins(time, pool.moments, pool.moments_from, bins, inside)
        by_bin, windows = moment_terms(bins, inside, known)
        for user in range(n):
            add_moment(scores[user], bins[user], inside[user], by_bin, windows)
    for user in range(n):
        combine(scores[user], known)
    return scores


@njit(cache=True)
def _listed(attacker, heavy):  # type: ignore[no-untyped-def]
    return attacker > EXACT or not heavy


@njit(cache=True, nogil=True)
def panel_standings(m_indptr, items, times, opinions, targets, pool, known):  # type: ignore[no-untyped-def]
    """Return (n_targets, N_ATTACKERS, 2) counts of better and tied, and (n_targets, 5) figures of the learned attacker.

    The figures are the best candidate, the best score and the log-sum of all scores, then the last two without the
    target.
    """
    counts, told = np.zeros((len(targets), N_ATTACKERS, 2), np.int64), np.zeros((len(targets), 5))
    for t in range(len(targets)):
        said = slice(m_indptr[t], m_indptr[t + 1])
        scores = score_all(items[said], times[said], opinions[said], pool, known)
        if targets[t] >= 0:
            _count(scores, targets[t], pool.heavy, counts[t])
        _tell(scores[:, LEARNED], targets[t], told[t])
    return counts, told


@njit(cache=True, nogil=True)
def clue_counts(m_indptr, items, times, opinions, targets, pool):  # type: ignore[no-untyped-def]
    """Return (n_targets, 2, N_BINS) lags of the same item and (n_targets, 2, N_BINS + N_STEPS) others; see below.

    The first holds the lags of the target and of other raters; the second the bins of nearest activity and the steps
    of opinion, again of the target and of others. Each is a mean over the target's mentions.
    """
    lags, rest = np.zeros((len(targets), 2, N_BINS)), np.zeros((len(targets), 2, N_BINS + N_STEPS))
    n = len(pool.appetite)
    bins, inside = np.empty(n, np.int64), np.empty((n, N_WINDOWS), np.bool_)
    for t in range(len(targets)):
        said = slice(m_indptr[t], m_indptr[t + 1])
        me = targets[t]
        if me < 0:
            continue
        _count_raters(items[said], times[said], opinions[said], me, pool, lags[t], rest[t])
        days = days_of(times[said] if len(pool.times) else times[:0])
        for time in days:
            moment_bins(time, pool.moments, pool.moments_from, bins, inside)
            for user in range(n):
                share = 1.0 / len(days) if user == me else 1.0 / len(days) / max(n - 1, 1)
                rest[t, 0 if user == me else 1, bins[user]] += share
    return lags, rest


@njit(cache=True)
def _count_raters(items, times, opinions, me, pool, lags, rest):  # type: ignore[no-untyped-def]
    """Count the lags and steps of the target and, with a weight of one per item, of its other raters."""
    for m in range(len(items)):
        start, stop = pool.indptr[items[m]], pool.indptr[items[m] + 1]
        for entry in range(start, stop):
            mine = pool.users[entry] == me
            share = 1.0 / len(items) if mine else 1.0 / len(items) / max(stop - start - 1, 1)
            side = 0 if mine else 1
            if times[m] != NO_TIME and len(pool.times):
                lags[side, np.searchsorted(EDGES, times[m] - pool.times[entry])] += share
            if not np.isnan(opinions[m]):
                distance = abs(pool.values[entry] - opinions[m])
                rest[side, N_BINS + min(int(2 * distance + 0.5), N_STEPS - 1)] += share


@njit(cache=True)
def _count(scores, me, heavy, counts):  # type: ignore[no-untyped-def]
    for a in range(N_ATTACKERS):
        if not _listed(a, heavy[me]):
            continue
        for user in range(len(scores)):
            if _listed(a, heavy[user]):
                counts[a, 0] += scores[user, a] > scores[me, a] + TIE
                counts[a, 1] += abs(scores[user, a] - scores[me, a]) <= TIE


@njit(cache=True)
def _tell(score, me, told):  # type: ignore[no-untyped-def]
    best, second = -1, -1
    for user in range(len(score)):
        if best < 0 or score[user] > score[best]:
            best = user
        if user != me and (second < 0 or score[user] > score[second]):
            second = user
    mass, rest = 0.0, 0.0
    for user in range(len(score)):
        mass += np.exp(score[user] - score[best])
        rest += np.exp(score[user] - score[second]) if user != me and second >= 0 else 0.0
    told[0], told[1], told[2] = best, score[best], np.log(mass) + score[best]
    if second >= 0:
        told[3], told[4] = score[second], np.log(rest) + score[second]
