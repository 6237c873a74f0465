"""The compiled loops of identification, over a target's mentions and the columns of the ratings.

A candidate's score is a sum over the mentions they rated, so a target costs as many steps as its mentions have
raters, and a candidate who rated none of them scores 0. One thread adds up each target in the order of its mentions, so
the number of threads changes nothing; the loops release the GIL, and `in_parts` spreads the targets over threads (this
compiles in a fraction of the time that numba's own parallel loops take). Scores closer than `TIE` are equal: sums of
logarithms of equal products differ by rounding only, different products by more than 1 / |U|.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import workers

TIE = 1e-9


def in_parts(
    kernel: Callable[..., tuple[NDArray[Any], NDArray[Any]]],
    indptr: NDArray[np.int64],
    by_mention: tuple[NDArray[Any], ...],
    by_target: tuple[NDArray[Any], ...],
    shared: tuple[Any, ...],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Run a kernel over the targets in as many parts as there are threads, and join the results in order."""
    n_targets = len(indptr) - 1
    edges = np.linspace(0, n_targets, min(get_num_threads(), max(n_targets, 1)) + 1).astype(np.int64)

    def run(first: int, last: int) -> tuple[NDArray[Any], NDArray[Any]]:
        start, stop = indptr[first], indptr[last]
        mentions = (array[start:stop] for array in by_mention)
        targets = (array[first:last] for array in by_target)
        return kernel(indptr[first : last + 1] - start, *mentions, *targets, *shared)

    with workers(len(edges) - 1) as pool:
        parts = list(pool.map(run, edges[:-1], edges[1:]))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


@njit(cache=True)
def gather(items, wanted, indptr, users, values, weights, tolerance, take_unknown, score, seen, touched):  # type: ignore[no-untyped-def]
    """Add each mention's weight to its raters; return how many candidates were touched.

    A ``tolerance`` below 0 takes every rater; else only those whose rating is that close to the wanted one, and where
    the wanted one is unknown (nan) all of them or none. ``score`` and ``seen`` must be zero; `clear` resets them.
    """
    n_touched = 0
    for position in range(len(items)):
        item = items[position]
        known = not np.isnan(wanted[position])
        if tolerance >= 0.0 and not known and not take_unknown:
            continue
        by_rating = tolerance >= 0.0 and known
        for entry in range(indptr[item], indptr[item + 1]):
            if by_rating and abs(values[entry] - wanted[position]) > tolerance + 1e-6:
                continue
            user = users[entry]
            if not seen[user]:
                seen[user] = True
                touched[n_touched] = user
                n_touched += 1
            score[user] += weights[item]
    return n_touched


@njit(cache=True)
def clear(touched, n_touched, score, seen):  # type: ignore[no-untyped-def]
    """Set what `gather` touched to zero."""
    for position in range(n_touched):
        score[touched[position]] = 0.0
        seen[touched[position]] = False


@njit(cache=True)
def stand(target, touched, n_touched, score, norms, eligible, n_eligible):  # type: ignore[no-untyped-def]
    """Return how many candidates are above the target, tied with it, and at the top, and the top score."""
    listed = target >= 0 and eligible[target]
    own = score[target] / norms[target] if listed else 0.0
    better, tied, top, n_top, untouched = 0, 0, -np.inf, 0, n_eligible
    for position in range(n_touched):
        user = touched[position]
        if not eligible[user]:
            continue
        untouched -= 1
        value = score[user] / norms[user]
        better += value > own + TIE
        tied += abs(value - own) <= TIE
        if value > top + TIE:
            top, n_top = value, 1
        elif value >= top - TIE:
            n_top += 1
    if untouched > 0:
        better += untouched * (own < -TIE)
        tied += untouched * (abs(own) <= TIE)
        if top < -TIE:
            top, n_top = 0.0, untouched
        elif top <= TIE:
            n_top += untouched
    return better, tied if listed else 0, n_top, top


@njit(cache=True, nogil=True)
def standings(m_indptr, m_items, wanted, targets, indptr, users, values, weights, norms, eligible, tolerance, any_):  # type: ignore[no-untyped-def]
    """Return (n_targets, 3) counts of better, tied and at the top, and the top scores."""
    n_targets, n_users, n_eligible = len(targets), len(norms), eligible.sum()
    counts, tops = np.zeros((n_targets, 3), np.int64), np.zeros(n_targets)
    score, seen = np.zeros(n_users), np.zeros(n_users, np.bool_)
    touched = np.empty(n_users, np.int32)
    for t in range(n_targets):
        start, stop = m_indptr[t], m_indptr[t + 1]
        mine, given = m_items[start:stop], wanted[start:stop]
        n_touched = gather(mine, given, indptr, users, values, weights, tolerance, any_, score, seen, touched)
        better, tied, n_top, top = stand(targets[t], touched, n_touched, score, norms, eligible, n_eligible)
        counts[t, 0], counts[t, 1], counts[t, 2], tops[t] = better, tied, n_top, top
        clear(touched, n_touched, score, seen)
    return counts, tops


@njit(cache=True)
def _likelihood_of_one(items, indptr, users, rates, appetite, gain, score):  # type: ignore[no-untyped-def]
    """Fill ``score`` with every user's log-likelihood ratio, without the constant of the target."""
    total = 0.0
    for item in items:
        total += rates[item]
    for user in range(len(score)):
        score[user] = appetite[user] * total
    for item in items:
        for entry in range(indptr[item], indptr[item + 1]):
            user = users[entry]
            score[user] += gain - np.log(np.expm1(rates[item] * appetite[user]))


@njit(cache=True)
def _summary(target, score):  # type: ignore[no-untyped-def]
    """Return better, tied, and for all candidates and for all but the target: best user, best score, log of the sum."""
    own = score[target] if target >= 0 else np.inf
    better, tied, best, second = 0, 0, -1, -1
    for user in range(len(score)):
        value = score[user]
        better += value > own + TIE
        tied += abs(value - own) <= TIE
        if best < 0 or value > score[best]:
            best = user
        if user != target and (second < 0 or value > score[second]):
            second = user
    mass = 0.0
    for user in range(len(score)):
        mass += np.exp(score[user] - score[best])
    rest = mass - (np.exp(score[target] - score[best]) if target >= 0 else 0.0)
    without = np.log(max(rest, 1e-300)) + score[best]
    return better, tied, best, score[best], np.log(mass) + score[best], score[second], without


@njit(cache=True, nogil=True)
def likelihoods(m_indptr, m_items, targets, gains, offsets, indptr, users, rates, appetite):  # type: ignore[no-untyped-def]
    """Rank every target by likelihood ratio.

    Return (n_targets, 3) of better, tied and the best user, and (n_targets, 4) of best score and log-sum over all
    candidates, then the same without the target in the data.
    """
    n_targets = len(targets)
    counts, scores = np.zeros((n_targets, 3), np.int64), np.zeros((n_targets, 4))
    score = np.zeros(len(appetite))
    for t in range(n_targets):
        items = m_items[m_indptr[t] : m_indptr[t + 1]]
        _likelihood_of_one(items, indptr, users, rates, appetite, gains[t], score)
        better, tied, best, top, mass, second, rest = _summary(targets[t], score)
        shift = offsets[t] * len(items)
        counts[t, 0], counts[t, 1], counts[t, 2] = better, tied, best
        scores[t, 0], scores[t, 1] = top + shift, mass + shift
        scores[t, 2], scores[t, 3] = second + shift, rest + shift
    return counts, scores
