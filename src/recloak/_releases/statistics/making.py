"""Count ratings with noise: activity, raters of each item, their ratings, and pairs of the most rated items.

Every step may use what the steps before published, for that costs nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._core.frozen import make_read_only
from recloak._core.results import sizes_only
from recloak._ratings.model import Ratings
from recloak._releases.model.statistics import (
    ACTIVITY_FROM,
    MOST_PAIRED,
    STATISTICS,
    StatisticsFacts,
    delta_for,
    levels_of,
    rounded_noise,
)
from recloak._releases.statistics.bounded_sums import Classes, Floats, NoisySums, bounded_sums, likely_bound
from recloak._releases.statistics.privacy_budget import budget_for, deviation_for, with_noise
from recloak._releases.statistics.whole_counts import summing_to

Whole = NDArray[np.int64]
# shares of the budget; of the raters in three rounds, each with what the one before found
_ACTIVITY, _LEVELS, _RATERS, _RATINGS, _PAIRS = 0.11, 0.01, (0.08, 0.24, 0.46), 0.05, 0.05
_WITHIN = 0.8  # the share of people whose part is meant to be within the bound
_EASY = 1000.0  # raters; of items with more, larger errors matter less
_LEAST_WEIGHT = 0.3
_UNIT = 1 << 20


@dataclass(frozen=True, eq=False, slots=True)
class Statistics:
    """The tables of statistics; items are numbered as in the source."""

    facts: StatisticsFacts
    items: Whole  # (n,) ascending
    raters: Whole  # (n,)
    levels: Floats  # (n_levels,) ratings that are counted
    ratings: Whole  # (n, n_levels)
    people: Whole  # by class of activity
    pairs: Whole  # (n_pairs, 2) items, ascending
    pair_raters: Whole  # (n_pairs,)

    __repr__ = sizes_only

    def __post_init__(self) -> None:
        make_read_only(self.items, self.raters, self.levels, self.ratings, self.people, self.pairs, self.pair_raters)


class _Counting(NamedTuple):
    """What is counted, and the budget."""

    held: scipy.sparse.csr_array  # (n_people, n_items) of ones
    classes: Classes
    rho: float


def make_statistics(ratings: Ratings, shown: NDArray[np.bool_], epsilon: float) -> Statistics:
    """Return statistics of the items that a release shows; data without ratings have no table of them."""
    delta = delta_for(ratings.n_users)
    rho, varies = budget_for(epsilon, delta), ratings.kind.varies
    held, values = _held(ratings, shown)
    people = _activity(held, _ACTIVITY * rho)
    counting = _Counting(held, people, rho)
    raters = _raters(counting, 1.0 if varies else 1 + (_LEVELS + _RATINGS) / sum(_RATERS))
    levels = levels_of(ratings.scale.low, ratings.scale.high, ratings.scale.step) if varies else []
    spread = _ratings(counting, values, np.array(levels), raters) if varies else None
    pairs, together = _pairs(counting, raters)
    each_person = NoisySums(people.sizes, np.full(len(people.sizes), deviation_for(1.0, _ACTIVITY * rho)))
    facts = StatisticsFacts(epsilon, delta, _noise(raters, spread, each_person, together))
    n_people = ratings.n_users
    whole = np.clip(np.rint(raters.sums), 0, n_people).astype(np.int64)
    return Statistics(
        facts,
        items=np.flatnonzero(shown),
        raters=whole,
        levels=np.array(levels),
        ratings=np.zeros((len(whole), 0), np.int64) if spread is None else summing_to(spread.sums, whole),
        people=summing_to(people.sizes[None, :], np.array([n_people]))[0],
        pairs=np.flatnonzero(shown)[pairs],
        pair_raters=_whole_pairs(together, whole, pairs),
    )


def _noise(*tables: NoisySums | None) -> dict[str, list[float]]:
    """Return the smallest and the largest standard deviation of the noise in each table there is."""
    named = zip(STATISTICS, tables, strict=True)
    ends = {name: (one.deviation.min(), one.deviation.max()) for name, one in named if one is not None}
    return {name: [rounded_noise(float(end)) for end in both] for name, both in ends.items()}


def _held(ratings: Ratings, shown: NDArray[np.bool_]) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Return who rated which of the items shown, as ones and by rating."""
    shape = (ratings.n_users, ratings.n_items)
    values = scipy.sparse.csr_array((ratings.values, ratings.items, ratings.indptr), shape=shape)[:, shown]
    ones = scipy.sparse.csr_array((np.ones(values.nnz, np.int64), values.indices, values.indptr), shape=values.shape)
    return ones, values


def _activity(held: scipy.sparse.csr_array, rho: float) -> Classes:
    """Put people into classes of activity; each is in one, so that the sensitivity is 1."""
    of_people = np.searchsorted(ACTIVITY_FROM, np.diff(held.indptr), side="right") - 1
    counts = np.bincount(of_people, minlength=len(ACTIVITY_FROM))
    return Classes(of_people, with_noise(counts, 1.0, rho).astype(np.float64))


def _raters(counting: _Counting, more: float) -> NoisySums:
    """Count the raters of each item in rounds; a round is the better the more is known of popularity."""
    held, classes, rho = counting
    n_items = held.shape[1]
    least = np.array(ACTIVITY_FROM, np.float64)
    sums = np.full(n_items, (classes.sizes @ (1.4 * least)) / n_items)
    evidence, weighted = np.zeros(n_items), np.zeros(n_items)
    weights = np.ones(n_items)
    for share in _RATERS:
        expected = expected_items(sums, classes)
        bound = likely_bound(classes, expected, weights, _WITHIN)
        found = bounded_sums(held, classes, expected, weights, bound, more * share * rho)
        evidence += found.deviation**-2
        weighted += found.sums * found.deviation**-2
        sums = weighted / evidence
        weights = _weights(sums)
    return NoisySums(sums, evidence**-0.5)


def _weights(sums: Floats) -> Floats:
    """Return how much each item counts: most where an error is largest beside the count, little where all is noise."""
    sums = np.maximum(sums, 1.0)
    return np.where(sums > _EASY, np.sqrt(_EASY / sums), np.maximum(sums / _EASY, _LEAST_WEIGHT))


def expected_items(sums: Floats, classes: Classes) -> Floats:
    """Return how likely people of each class hold each item: (n_classes, n_items), popular ones first to saturate."""
    popular = np.maximum(sums, 1.0) / len(classes.of_people)
    wanted = np.minimum(1.4 * np.array(ACTIVITY_FROM, np.float64), 0.95 * len(sums))
    for _ in range(3):
        expected = np.array([_saturated(popular, one) for one in wanted])
        popular = popular * np.clip(np.maximum(sums, 1.0) / np.maximum(classes.sizes @ expected, 1e-9), 0.5, 2.0)
    return expected


def _saturated(popular: Floats, wanted: float) -> Floats:
    """Return 1 - exp(-t popular) with t such that the sum is the wanted one."""
    low, high = 0.0, 1.0
    while -np.expm1(-high * popular).sum() < wanted and high < 1e12:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if -np.expm1(-middle * popular).sum() < wanted else (low, middle)
    return np.asarray(-np.expm1(-low * popular))


def _ratings(counting: _Counting, values: scipy.sparse.csr_array, levels: Floats, raters: NoisySums) -> NoisySums:
    """Count the ratings of each item by level: (n_items, n_levels)."""
    held, classes, rho = counting
    n_items, n_levels = held.shape[1], len(levels)
    level = np.abs(values.data[:, None] - levels[None, :]).argmin(axis=1) if n_levels > 1 else np.zeros(values.nnz, int)
    by_level = scipy.sparse.csr_array(
        (held.data, values.indices.astype(np.int64) * n_levels + level, held.indptr),
        shape=(held.shape[0], n_items * n_levels),
    )
    usual = _usual_levels(held.indptr, level, n_levels, _LEVELS * rho)
    expected = np.repeat(expected_items(raters.sums, classes), n_levels, axis=1) * np.tile(usual, n_items)
    weights = np.repeat(_weights(raters.sums), n_levels)
    bound = likely_bound(classes, expected, weights, _WITHIN)
    found = bounded_sums(by_level, classes, expected, weights, bound, _RATINGS * rho)
    shape = (n_items, n_levels)
    return _towards(NoisySums(found.sums.reshape(shape), found.deviation.reshape(shape)), raters.sums, usual)


def _usual_levels(indptr: NDArray[np.integer], level: Whole, n_levels: int, rho: float) -> Floats:
    """Return the share of each level; every person adds the shares of the own ratings, a vector no longer than 1."""
    n_people = len(indptr) - 1
    person = np.repeat(np.arange(n_people), np.diff(indptr))
    counts = np.bincount(person * n_levels + level, minlength=n_people * n_levels).reshape(n_people, n_levels)
    shares = (_UNIT * counts) // np.maximum(counts.sum(axis=1, keepdims=True), 1)
    noisy = np.maximum(with_noise(shares.sum(axis=0), float(_UNIT), rho), 1.0)
    return np.asarray(noisy / noisy.sum())


def _towards(found: NoisySums, raters: Floats, usual: Floats) -> NoisySums:
    """Return counts by level drawn towards the usual shares, as far as noise explains how they differ from them."""
    plain = np.maximum(raters, 1.0)[:, None] * usual
    differs = found.sums - plain
    beyond = np.sum(differs**2 - found.deviation**2) / np.sum(plain**2)  # squared, of a count as large as expected
    true = max(float(beyond), 0.0) * plain**2
    return NoisySums(plain + differs * true / (true + found.deviation**2), found.deviation)


def _pairs(counting: _Counting, raters: NoisySums) -> tuple[Whole, NoisySums | None]:
    """Count how many people hold both of two of the items that seem most popular."""
    held, classes, rho = counting
    top = np.sort(np.argsort(-raters.sums, kind="stable")[:MOST_PAIRED])
    first, second = np.triu_indices(len(top), 1)
    if not len(first):
        return np.zeros((0, 2), np.int64), None
    expected = expected_items(raters.sums, classes)[:, top]
    together = expected[:, first] * expected[:, second]
    weights = np.ones(len(first))
    bound = likely_bound(classes, together, weights, _WITHIN)
    found = bounded_sums(pairs_held(held[:, top]), classes, together, weights, bound, _PAIRS * rho)
    return np.column_stack((top[first], top[second])), found


def pairs_held(held: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Return who holds both items of each pair, pairs in order of the first item and then the second."""
    dense = held.toarray().astype(bool)
    first, second = np.triu_indices(dense.shape[1], 1)
    block = max(1, 20_000_000 // len(first))
    parts = [
        scipy.sparse.csr_array(dense[start : start + block, first] & dense[start : start + block, second])
        for start in range(0, len(dense), block)
    ]
    whole = scipy.sparse.vstack(parts, format="csr")
    return scipy.sparse.csr_array((whole.data.astype(np.int64), whole.indices, whole.indptr), shape=whole.shape)


def _whole_pairs(together: NoisySums | None, raters: Whole, pairs: Whole) -> Whole:
    """Return whole counts of pairs; no pair has more raters than either item."""
    if together is None:
        return np.zeros(0, np.int64)
    return np.clip(np.rint(together.sums), 0, raters[pairs].min(axis=1)).astype(np.int64)
