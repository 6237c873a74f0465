"""How many are k-identified, predicted from popularity, activity and the number of mentions alone.

The paper asks for such a prediction (004, section 8). Take a target with mentions m, of whom the likelihood ratio looks
for the author (see `_mentions.likelihood` for its letters). Every candidate's score is a constant,
``appetite sum_m rate_m``, and a gain ``g_m = logit q - log(exp(rate_m appetite) - 1)`` for each mention rated:

- the author rated each mention with probability q, independently, so their score has the distribution A;
- another candidate of appetite a rated m with probability ``1 - exp(-rate_m a)``, so theirs has the distribution B_a.

Both are sums of independent two-valued terms, added up on a grid of `_STEP`. With n_a candidates of appetite a, the
number above a score x is close to Poisson with mean ``L(x) = sum_a n_a (B_a(> x) + B_a(= x) / 2)``, and

    P(k-identified) = sum_x A(x) P(Poisson(L(x)) < k)

Nothing here looks at who rated what together. People of one taste rate the same items, so more candidates come near
than predicted, and the measured rate is lower: the difference is what shared taste hides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._mentions.likelihood import PAPER_RATED_SHARE
from recloak._mentions.model import Mentions
from recloak._ratings.model import Ratings

_STEP = 0.1
_GROUPS = 8  # of candidates by activity
_MOST_MENTIONS = 64  # of a target: with more, everybody is found
_MOST_TARGETS = 400


@dataclass(frozen=True, eq=False, slots=True)
class Prediction:
    """The predicted probability of each chosen target to be k-identified."""

    targets: NDArray[np.int64]  # chosen evenly
    probabilities: NDArray[np.float64]  # (n_chosen, n_levels)


def predict(ratings: Ratings, mentions: Mentions, levels: tuple[int, ...], q: float | None = None) -> Prediction:
    """Return the chances of up to 400 targets; who is not in the data has none."""
    chosen = np.arange(mentions.n_targets)[:: -(-mentions.n_targets // _MOST_TARGETS)]
    rates = -np.log1p(-np.minimum(ratings.popularity / (ratings.n_users + 1), 1.0))
    activity = ratings.activity
    appetite = np.maximum(activity, 1) / max(float(activity.mean()), 1e-9)
    appetites = _appetites(appetite)
    share = min(max(PAPER_RATED_SHARE if q is None else q, 0.01), 0.99)
    probabilities = np.zeros((len(chosen), len(levels)))
    for place, t in enumerate(chosen.tolist()):
        said = mentions.items[mentions.indptr[t] : mentions.indptr[t + 1]][:_MOST_MENTIONS]
        user = int(mentions.users[t])
        if user >= 0:
            heard = rates[said][rates[said] > 0]
            probabilities[place] = probabilities_of(
                heard, float(appetite[user]), appetites, ratings.n_users, share, levels
            )
    return Prediction(chosen, probabilities)


def _appetites(appetite: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean appetite of equal groups of the users, by activity."""
    parts = np.array_split(np.sort(appetite), min(_GROUPS, len(appetite)))
    return np.array([part.mean() for part in parts])


def probabilities_of(
    rates: NDArray[np.float64],
    own: float,
    appetites: NDArray[np.float64],
    n_users: int,
    q: float,
    levels: tuple[int, ...],
) -> NDArray[np.float64]:
    """Return the probability that the author of some mentions is among the first k, for each k."""
    scores, author = _distribution(rates, own, np.full(len(rates), q), q)
    above = np.zeros(len(scores))
    for appetite in appetites:
        values, probability = _distribution(rates, float(appetite), -np.expm1(-rates * appetite), q)
        above += (n_users - 1) / len(appetites) * _tail(values, probability, scores)
    return np.array([float((author * _fewer(above, k)).sum()) for k in levels])


def _distribution(
    rates: NDArray[np.float64], appetite: float, rated: NDArray[np.float64], q: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the possible scores, on the grid, and their probabilities."""
    gains = math.log(q / (1 - q)) - np.log(np.expm1(rates * appetite))
    steps = np.round(gains / _STEP).astype(np.int64)
    probability, lowest = np.ones(1), 0
    for step, p in zip(steps.tolist(), rated.tolist(), strict=True):
        moved = np.zeros(len(probability) + abs(step))
        first = max(-step, 0)
        moved[first : first + len(probability)] += (1 - p) * probability
        moved[first + step : first + step + len(probability)] += p * probability
        probability, lowest = moved, lowest + min(step, 0)
    base = round(appetite * float(rates.sum()) / _STEP)
    values: NDArray[np.float64] = np.arange(base + lowest, base + lowest + len(probability)) * np.float64(_STEP)
    return values, probability


def _tail(
    values: NDArray[np.float64], probability: NDArray[np.float64], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability of more than each score, and half of that of the same."""
    beyond = np.concatenate((np.cumsum(probability[::-1])[::-1], [0.0]))
    low = np.searchsorted(values, at - _STEP / 2)
    high = np.searchsorted(values, at + _STEP / 2)
    return (beyond[low] + beyond[high]) / 2


def _fewer(mean: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the probability of a Poisson number below k."""
    term = np.exp(-mean)
    total = term.copy()
    for n in range(1, k):
        term = term * mean / n
        total += term
    return np.minimum(total, 1.0)
