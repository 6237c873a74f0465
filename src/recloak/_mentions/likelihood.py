"""The calibrated likelihood-ratio scorer, and knowing when to speak in an open set.

Scoring ranks, but its numbers mean nothing. Here a candidate's score is the logarithm of how much likelier the mentions
are if the candidate u is the target than if not. The target has rated a share q of what they mention (82 % in the
paper). Anyone else has rated item m by chance, more likely the more m is rated and the more u rates:

    p_um = 1 - exp(-rate_m * appetite_u),   rate_m = -log(1 - raters(m) / |U|),   appetite_u = activity(u) / mean

    LR(u) = sum over rated m of log(q / p_um) + sum over unrated m of log((1 - q) / (1 - p_um))
          = M log(1 - q) + appetite_u sum_m rate_m + sum over rated m of (logit q - log(exp(rate_m appetite_u) - 1))

With the same prior for every candidate and a prior odds for "not in the data", the posterior follows by Bayes' rule.
Tastes are correlated, so the raw posterior is too sure of itself; a logistic curve fitted on half of the targets
corrects the other half, and the reverse, so that no target calibrates itself. Knowing whether the target is in the data
at all is the question that section 4.5 of paper 004 leaves for future work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.randomness import Rng, randomness
from recloak._mentions.algorithms import Candidates
from recloak._mentions.identification_kernels import in_parts, likelihoods
from recloak._mentions.model import Mentions, OpenSet, Standing
from recloak._ratings.model import Ratings

PAPER_RATED_SHARE = 0.82
_STEPS = (*(round(0.05 * step, 2) for step in range(20)), 0.99)
_START = np.array([1.0, 0.0])  # slope and level of odds that need no correction
_PRIOR = np.array([1.0, 1 / 25])


@dataclass(frozen=True, eq=False, slots=True)
class Likelihoods:
    """Standing by likelihood ratio, and raw log posterior odds of the best candidate with and without the target."""

    standing: Standing
    correct: NDArray[np.bool_]  # (n_targets,) the best candidate is the target
    odds: NDArray[np.float64]  # (n_targets,) the target's own row stays in the data
    odds_without: NDArray[np.float64]  # (n_targets,) it is taken out


def rated_by_mentioner(mentions: Mentions, ratings: Ratings) -> NDArray[np.bool_]:
    """Tell of each mention whether the mentioner rated the item; False for targets who are not in the data."""
    owners = mentions.users[mentions.owners()]
    cells = np.maximum(owners, 0).astype(np.int64) * ratings.n_items + mentions.items
    stored = ratings.users().astype(np.int64) * ratings.n_items + ratings.items
    place = np.minimum(np.searchsorted(stored, cells), max(len(stored) - 1, 0))
    return (stored[place] == cells) & (owners >= 0)


def folds_of(n_targets: int) -> NDArray[np.int64]:
    """Put every other target into the other half."""
    return np.arange(n_targets) % 2


def stand_by_likelihood(
    candidates: Candidates, mentions: Mentions, ratings: Ratings, *, absent_odds: float = 1.0
) -> Likelihoods:
    """Score every target; the share q that a half uses is counted on the other half of the targets."""
    q = _shares(mentions, rated_by_mentioner(mentions, ratings))
    activity = ratings.activity
    appetite = activity / max(float(activity.mean()), 1e-9)
    rates = -np.log1p(-np.minimum(candidates.raters / (ratings.n_users + 1), 1.0))
    by_target = (mentions.users, np.log(q / (1 - q)), np.log(1 - q))
    shared = (candidates.columns.indptr, candidates.columns.users, rates, appetite)
    counts, scores = in_parts(likelihoods, mentions.indptr, (mentions.items,), by_target, shared)
    background = np.log(ratings.n_users * absent_odds) if absent_odds > 0 else -np.inf
    tied = np.where(mentions.present, counts[:, 1], 0)
    return Likelihoods(
        Standing(counts[:, 0], tied),
        mentions.present & (counts[:, 2] == mentions.users),
        _log_odds(scores[:, 0], scores[:, 1], background),
        _log_odds(scores[:, 2], scores[:, 3], background),
    )


def _shares(mentions: Mentions, rated: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Count q on the other half of the targets, pulled gently to the paper's 0.82 where there are few mentions."""
    owners = mentions.owners()
    folds = folds_of(mentions.n_targets)
    q = np.empty(mentions.n_targets)
    for fold in (0, 1):
        others = (folds[owners] != fold) & mentions.present[owners]
        n_others = others.sum() + mentions.outside[(folds != fold) & mentions.present].sum()
        q[folds == fold] = (rated[others].sum() + 10 * PAPER_RATED_SHARE) / (n_others + 10)
    return np.clip(q, 0.01, 0.99)


def _log_odds(best: NDArray[np.float64], mass: NDArray[np.float64], background: float) -> NDArray[np.float64]:
    """Give the log odds of the best candidate against everybody else and nobody at all."""
    excess = np.maximum(mass - best, 1e-12)
    others = best + excess + np.log(-np.expm1(-excess))  # log(exp(mass) - exp(best)), never leaving the logarithms
    return best - np.logaddexp(others, background)


def decide(
    found: Likelihoods, present: NDArray[np.bool_], *, absent: float = 0.0, threshold: float = 0.5, rng: Rng = 0
) -> OpenSet:
    """Decide for each target whether to name its best candidate.

    ``absent`` is the share of the present targets who are taken out of the data for the trial, drawn by ``rng``; those
    who were never in it are absent anyway. The data stand as if each absent target alone were missing.
    """
    hidden = randomness(rng).stream("absent").random(len(present)) < absent
    here = present & ~hidden
    odds = np.where(here, found.odds, np.where(present, found.odds_without, found.odds))
    right = here & found.correct
    probability = calibrate(odds, right)
    curve = tuple((step, *_precision_recall(probability, right, here, step)) for step in _STEPS)
    precision, recall = _precision_recall(probability, right, here, threshold)
    return OpenSet(
        n_present=int(here.sum()),
        n_absent=int((~here).sum()),
        threshold=threshold,
        precision=precision,
        recall=recall,
        n_named=int((probability >= threshold).sum()),
        calibration_error=_calibration_error(probability, right),
        curve=curve,
    )


def _precision_recall(
    probability: NDArray[np.float64], right: NDArray[np.bool_], here: NDArray[np.bool_], threshold: float
) -> tuple[float | None, float | None]:
    named = probability >= threshold
    hits = int((named & right).sum())
    precision = hits / int(named.sum()) if named.any() else None
    return precision, hits / int(here.sum()) if here.any() else None


def calibrate(odds: NDArray[np.float64], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Turn raw log odds into probabilities by a logistic curve fitted on the other half of the targets."""
    folds = folds_of(len(odds))
    probability = np.empty(len(odds))
    x = np.clip(odds, -30.0, 30.0)
    for fold in (0, 1):
        slope, level = fit_logistic(x[folds != fold], right[folds != fold])
        probability[folds == fold] = _sigmoid(slope * x[folds == fold] + level)
    return probability


def fit_logistic(x: NDArray[np.float64], y: NDArray[np.bool_], *, steps: int = 30) -> tuple[float, float]:
    """Fit ``P(y) = 1 / (1 + exp(-(a x + b)))`` by Newton's method, held near a = 1, b = 0 by a weak prior.

    The prior (variance 1 on a, 25 on b) keeps few or perfectly separated targets from an endless slope.
    """
    design = np.column_stack([x, np.ones(len(x))])
    theta = np.array([1.0, 0.0])
    for _ in range(steps):
        p = _sigmoid(design @ theta)
        gradient = design.T @ (p - y) + _PRIOR * (theta - _START)
        curvature = (design * (p * (1 - p))[:, None]).T @ design + np.diag(_PRIOR)
        theta = _descend(design, y, theta, np.linalg.solve(curvature, gradient))
    return max(float(theta[0]), 0.0), float(theta[1])


def _descend(
    design: NDArray[np.float64], y: NDArray[np.bool_], theta: NDArray[np.float64], step: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Take the step, halved until the loss falls; full Newton steps overshoot where the start is far too sure."""
    before = _loss(design, y, theta)
    for halving in range(20):
        there = theta - step / 2**halving
        if _loss(design, y, there) <= before:
            return there
    return theta


def _loss(design: NDArray[np.float64], y: NDArray[np.bool_], theta: NDArray[np.float64]) -> float:
    z = design @ theta
    return float((np.logaddexp(0.0, z) - y * z).sum() + 0.5 * (_PRIOR * (theta - _START) ** 2).sum())


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = 0.5 * (1.0 + np.tanh(0.5 * x))
    return result


def _calibration_error(probability: NDArray[np.float64], right: NDArray[np.bool_], n_bins: int = 10) -> float:
    """Give the expected calibration error: per bin |mean probability - frequency|, weighted by the bin's size."""
    bins = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    size = np.bincount(bins, minlength=n_bins)
    gap = np.abs(np.bincount(bins, probability, n_bins) - np.bincount(bins, right, n_bins))
    return float(gap.sum() / max(size.sum(), 1))
