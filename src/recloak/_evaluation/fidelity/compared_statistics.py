"""Statistics that people ask of ratings, on the original and on a release.

A released row counts as often as there are people behind it. Pairs are taken among the most rated items: the pairs with
the most common raters, and the pairs with the largest lift, lift = n_ij N / (n_i n_j), among those with enough common
raters to be no accident.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse
import scipy.stats
from numpy.typing import NDArray

from recloak._evaluation.fidelity.model import Statistic
from recloak._evaluation.fidelity.training import is_liked
from recloak._evaluation.fidelity.training_rows import TrainingRows
from recloak._evaluation.shape import histogram
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS

_POINTS = 60
_LEAST_RATERS = 5  # of an item whose mean and variance are compared
_PAIR_ITEMS = 2000
_PAIRS = 1000
_LEAST_TOGETHER = 10  # common raters of a pair whose lift counts

OF_RATINGS = ("item mean", "item variance", "histogram")  # statistics that are not applicable to presence and counts

Numbers = NDArray[np.float64]


def compare_statistics(ratings: Ratings, released: TrainingRows) -> dict[str, Statistic]:
    """Compare all statistics of a release with those of the original; both have the same items."""
    if ratings.kind is not RATINGS:  # a propensity that is no use is not counted as one
        rows = released.rows
        released = replace(released, rows=rows.where(is_liked(rows.values, rows.scale)))
    original = TrainingRows.of_original(ratings)
    here, there = _sums(original), _sums(released)
    pairs = _compare_pairs(original, released)
    found = {
        "popularity": _relative("median error of how many rated an item", here[0], there[0]),
        "item mean": _item_means(here, there),
        "item variance": _item_variances(here, there),
        "activity": _activity(original, released),
        "density": _density(original, released),
        "top pairs": pairs["top pairs"],
        "lift": pairs["lift"],
        "histogram": _histograms(ratings, released),
    }
    return found if ratings.kind is RATINGS else {name: found[name] for name in found if name not in OF_RATINGS}


def _sums(table: TrainingRows) -> tuple[Numbers, Numbers, Numbers]:
    """Return how many rated each item, the sum of their ratings and the sum of the squares."""
    rows = table.rows
    weight = np.repeat(table.weights, rows.activity).astype(np.float64)
    values = rows.values.astype(np.float64)
    count, total, squares = (
        np.bincount(rows.items, weight * values**power, minlength=rows.n_items).astype(np.float64) for power in range(3)
    )
    return count, total, squares


def _relative(meaning: str, original: Numbers, release: Numbers) -> Statistic:
    """Compare positive numbers by their relative error."""
    known = original > 0
    here, there = original[known], release[known]
    if not len(here):
        return Statistic(meaning, None)
    off = float(np.median(np.abs(there - here) / here))
    return Statistic(meaning, off, _rank(here, there), float(np.median(there / here)), _points(here, there))


def _rank(here: Numbers, there: Numbers) -> float | None:
    """Return Spearman's correlation, None where one side is all equal."""
    if len(here) < 2 or here.min() == here.max() or there.min() == there.max():
        return None
    return float(scipy.stats.spearmanr(here, there).statistic)


def _points(here: Numbers, there: Numbers) -> tuple[tuple[float, float], ...]:
    """Return some pairs at even steps of the order of the original."""
    order = np.argsort(here, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(_POINTS, len(order))).astype(np.int64))]
    return tuple(zip(here[chosen].tolist(), there[chosen].tolist(), strict=True))


Sums = tuple[Numbers, Numbers, Numbers]


def _known_items(here: Sums, there: Sums) -> NDArray[np.bool_]:
    """Return which items have enough raters on both sides."""
    return (here[0] >= _LEAST_RATERS) & (there[0] >= _LEAST_RATERS)


def _item_means(here: Sums, there: Sums) -> Statistic:
    meaning, known = "median difference of an item's mean, in stars", _known_items(here, there)
    if not known.any():
        return Statistic(meaning, None)
    one, two = here[1][known] / here[0][known], there[1][known] / there[0][known]
    return Statistic(meaning, float(np.median(np.abs(one - two))), _rank(one, two), None, _points(one, two))


def _item_variances(here: Sums, there: Sums) -> Statistic:
    known = _known_items(here, there)
    one, two = (_variances(side, known) for side in (here, there))
    return _relative("median error of an item's variance", one, two)


def _variances(sums: Sums, known: NDArray[np.bool_]) -> Numbers:
    count, total, squares = (one[known] for one in sums)
    return np.maximum(squares / count - (total / count) ** 2, 0)


def _activity(original: TrainingRows, released: TrainingRows) -> Statistic:
    """Compare the distributions of ratings per person, and the groups' means by rank."""
    here = original.rows.activity
    there = np.repeat(released.rows.activity, released.weights)
    distance = float(scipy.stats.ks_2samp(here, there, method="asymp").statistic)
    quantiles = np.linspace(0, 1, 21)
    points = zip(np.quantile(here, quantiles).tolist(), np.quantile(there, quantiles).tolist(), strict=True)
    rank = _rank(_group_means(here, released.owner, released.n_groups), _served_means(released))
    ratio = float(np.median(there) / max(np.median(here), 1e-12))
    meaning = "largest difference of the distributions of ratings per person"
    return Statistic(meaning, distance, rank, ratio, tuple(points))


def _group_means(activity: NDArray[np.int64], owner: NDArray[np.int32], n_groups: int) -> Numbers:
    return np.bincount(owner, activity, minlength=n_groups) / np.maximum(np.bincount(owner, minlength=n_groups), 1)


def _served_means(released: TrainingRows) -> Numbers:
    """Return the mean length of the rows of each group."""
    sizes = np.diff(released.group_indptr)
    groups = np.repeat(np.arange(released.n_groups), sizes)
    total = np.bincount(groups, released.rows.activity[released.group_rows], minlength=released.n_groups)
    return total / np.maximum(sizes, 1)


def _density(original: TrainingRows, released: TrainingRows) -> Statistic:
    here, there = (
        float((table.rows.activity * table.weights).sum() / max(table.weights.sum() * table.rows.n_items, 1))
        for table in (original, released)
    )
    ratio = there / max(here, 1e-12)
    return Statistic("relative error of the share of rated cells", abs(ratio - 1), None, ratio, ((here, there),))


def _histograms(ratings: Ratings, released: TrainingRows) -> Statistic:
    weights = np.repeat(released.weights, released.rows.activity)
    here, there = (
        np.array(list(one.values()))
        for one in (histogram(ratings.values, ratings), histogram(released.rows.values, ratings, weights))
    )
    points = tuple(zip(here.tolist(), there.tolist(), strict=True))
    meaning = "share of the ratings that lie on another step"
    return Statistic(meaning, float(np.abs(here - there).sum() / 2), _rank(here, there), None, points)


def _compare_pairs(original: TrainingRows, released: TrainingRows) -> dict[str, Statistic]:
    """Compare how many rated both items of a pair, and the lift."""
    popular = np.sort(np.argsort(-original.rows.popularity, kind="stable")[:_PAIR_ITEMS])
    here, there = (_together(table, popular) for table in (original, released))
    one, two = np.triu_indices(len(popular), 1)
    common, lifts = here[one, two], _lift(here, one, two, len(original.weights))
    top = np.argsort(-common, kind="stable")[:_PAIRS]
    enough = np.flatnonzero(common >= _LEAST_TOGETHER)
    lifted = enough[np.argsort(-lifts[enough], kind="stable")[:_PAIRS]]
    released_lift = _lift(there, one[lifted], two[lifted], int(released.weights.sum()))
    return {
        "top pairs": _relative("median error of how many rated both of a pair", common[top], there[one, two][top]),
        "lift": _relative("median error of the lift of a pair", lifts[lifted], released_lift),
    }


def _together(table: TrainingRows, items: NDArray[np.integer]) -> Numbers:
    """Return how many people have both of two items: (n_items, n_items)."""
    rows = table.rows
    ones = scipy.sparse.csr_array((np.ones(rows.n_ratings), rows.items, rows.indptr), shape=rows.shape)[:, items]
    weighted = scipy.sparse.diags_array(table.weights.astype(np.float64)) @ ones
    if 5 * ones.nnz > ones.shape[0] * ones.shape[1]:
        return weighted.toarray().T @ ones.toarray()
    together: Numbers = (weighted.T @ ones).toarray()
    return together


def _lift(together: Numbers, one: NDArray[np.integer], two: NDArray[np.integer], n_people: int) -> Numbers:
    counts = together.diagonal()
    lift: Numbers = together[one, two] * n_people / np.maximum(counts[one] * counts[two], 1)
    return lift
