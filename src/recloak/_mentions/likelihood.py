"""The calibrated likelihood-ratio scorer, and the decision whom to name in an open set.

The numbers of Scoring have no meaning. Here a candidate's score is the logarithm of how much likelier the mentions are
if the candidate u is the target than if not. The target has rated a share q of what they mention (82 % in the
paper). Anyone else has rated item m by chance, more likely the more m is rated and the more u rates:

    p_um = 1 - exp(-rate_m * appetite_u),   rate_m = -log(1 - raters(m) / |U|),   appetite_u = activity(u) / mean

    LR(u) = sum over rated m of log(q / p_um) + sum over unrated m of log((1 - q) / (1 - p_um))
          = M log(1 - q) + appetite_u sum_m rate_m + sum over rated m of (logit q - log(exp(rate_m appetite_u) - 1))

With the same prior for every candidate and prior odds for "not in the data", the posterior follows by Bayes' rule.
Tastes are correlated, so the raw posterior is overconfident; a logistic curve fitted on each half of the targets
corrects the other half, so that no target calibrates itself. Section 4.5 of paper 004 leaves the question whether the
target is in the data at all for future work.
"""

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
_START = np.array([1.0, 0.0])  # slope and intercept of odds that need no correction
_PRIOR = np.array([1.0, 1 / 25])


@dataclass(frozen=True, eq=False, slots=True)
class Likelihoods:
    """Places by likelihood ratio, and raw log posterior odds of the best candidate with and without the target."""

    standing: Standing
    correct: NDArray[np.bool_]  # (n_targets,) the best candidate is the target
    odds: NDArray[np.float64]  # (n_targets,) with the target's own row in the data
    odds_without: NDArray[np.float64]  # (n_targets,) without it


def rated_by_mentioner(mentions: Mentions, ratings: Ratings) -> NDArray[np.bool_]:
    """Return True for each mention whose item the mentioner rated; False for targets who are not in the data."""
    owners = mentions.users[mentions.owners()]
    cells = np.maximum(owners, 0).astype(np.int64) * ratings.n_items + mentions.items
    stored = ratings.users().astype(np.int64) * ratings.n_items + ratings.items
    place = np.minimum(np.searchsorted(stored, cells), max(len(stored) - 1, 0))
    return (stored[place] == cells) & (owners >= 0)


def _folds(n_targets: int) -> NDArray[np.int64]:
    return np.arange(n_targets) % 2


def rank_by_likelihood(candidates: Candidates, mentions: Mentions, ratings: Ratings) -> Likelihoods:
    """Return the place of every target; each half of the targets uses the share q of the other half."""
    q = _shares(mentions, rated_by_mentioner(mentions, ratings))
    activity = ratings.activity
    appetite = activity / max(float(activity.mean()), 1e-9)
    rates = -np.log1p(-np.minimum(candidates.raters / (ratings.n_users + 1), 1.0))
    by_target = (mentions.users, np.log(q / (1 - q)), np.log(1 - q))
    shared = (candidates.columns.indptr, candidates.columns.users, rates, appetite)
    counts, scores = in_parts(likelihoods, mentions.indptr, (mentions.items,), by_target, shared)
    background = np.log(ratings.n_users)  # prior odds of 1 that the target is not in the data
    tied = np.where(mentions.present, counts[:, 1], 0)
    return Likelihoods(
        Standing(counts[:, 0], tied),
        mentions.present & (counts[:, 2] == mentions.users),
        log_odds(scores[:, 0], scores[:, 1], background),
        log_odds(scores[:, 2], scores[:, 3], background),
    )


def _shares(mentions: Mentions, rated: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return q by target, counted on the other half and shrunk towards the paper's 0.82 where mentions are few."""
    owners = mentions.owners()
    folds = _folds(mentions.n_targets)
    q = np.empty(mentions.n_targets)
    for fold in (0, 1):
        others = (folds[owners] != fold) & mentions.present[owners]
        n_others = others.sum() + mentions.outside[(folds != fold) & mentions.present].sum()
        q[folds == fold] = (rated[others].sum() + 10 * PAPER_RATED_SHARE) / (n_others + 10)
    return np.clip(q, 0.01, 0.99)


def log_odds(best: NDArray[np.float64], mass: NDArray[np.float64], background: float) -> NDArray[np.float64]:
    """Return the log odds of the best candidate against all others and against nobody."""
    excess = np.maximum(mass - best, 1e-12)
    others = best + excess + np.log(-np.expm1(-excess))  # log(exp(mass) - exp(best)), without leaving the logarithms
    return best - np.logaddexp(others, background)


def decide_open_set(
    ranked: Likelihoods, present: NDArray[np.bool_], *, absent: float = 0.0, threshold: float = 0.5, rng: Rng = 0
) -> OpenSet:
    """Return how well the attacker decides whether to name each target's best candidate.

    ``absent`` is the share of the present targets who are removed from the data for the trial, drawn by ``rng``. Each
    absent target is treated as the only one missing.
    """
    hidden = randomness(rng).stream("absent").random(len(present)) < absent
    here = present & ~hidden
    odds = np.where(here, ranked.odds, np.where(present, ranked.odds_without, ranked.odds))
    right = here & ranked.correct
    probability = calibrate(odds, right)
    precision, recall = _precision_recall(probability, right, here, threshold)
    return OpenSet(
        n_present=int(here.sum()),
        n_absent=int((~here).sum()),
        threshold=threshold,
        precision=precision,
        recall=recall,
        n_named=int((probability >= threshold).sum()),
        calibration_error=_calibration_error(probability, right),
        curve=tuple((step, *_precision_recall(probability, right, here, step)) for step in _STEPS),
    )


def _precision_recall(
    probability: NDArray[np.float64], right: NDArray[np.bool_], here: NDArray[np.bool_], threshold: float
) -> tuple[float | None, float | None]:
    named = probability >= threshold
    hits = int((named & right).sum())
    precision = hits / int(named.sum()) if named.any() else None
    return precision, hits / int(here.sum()) if here.any() else None


def calibrate(odds: NDArray[np.float64], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return probabilities of raw log odds, by a logistic curve fitted on the other half of the targets."""
    folds = _folds(len(odds))
    probability = np.empty(len(odds))
    x = np.clip(odds, -30.0, 30.0)
    for fold in (0, 1):
        slope, intercept = fit_logistic(x[folds != fold], right[folds != fold])
        probability[folds == fold] = _sigmoid(slope * x[folds == fold] + intercept)
    return probability


def fit_logistic(x: NDArray[np.float64], y: NDArray[np.bool_], *, steps: int = 30) -> tuple[float, float]:
    """Fit ``P(y) = 1 / (1 + exp(-(a x + b)))`` by Newton's method, with a weak prior around a = 1, b = 0.

    The prior (variance 1 on a, 25 on b) keeps the slope finite for few or perfectly separated targets.
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
    """Return theta after the step, halved until the loss falls; full Newton steps may overshoot."""
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
    """Return the expected calibration error: per bin |mean probability - frequency|, weighted by the bin's size."""
    bins = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    size = np.bincount(bins, minlength=n_bins)
    gap = np.abs(np.bincount(bins, probability, n_bins) - np.bincount(bins, right, n_bins))
    return float(gap.sum() / max(size.sum(), 1))
