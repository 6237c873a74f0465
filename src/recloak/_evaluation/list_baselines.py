"""Other ways to publish related lists, to stand beside the bound on one chart: rarer, later, or with noise.

- *every n-th night*: the true lists of every n-th night, shown until the next. The observer compares what is shown.
- *delay by n nights*: the true lists of n nights ago. An observer who waits reads them like true lists, so the yield is
  that of true lists whatever the delay; only the moment of reading moves.
- *noise*: lists ranked from co-counts with Gaussian noise, differentially private over all releases together.

The noise. A person counts with the first C items that they rated (by time, then item number). A release counts, for
every item, who rated it, and for every two items, who rated both. Without one *person* at most C counts of items and
C (C - 1) / 2 counts of pairs change, each by 1: the squared L2 sensitivity is C (C + 1) / 2. Without one *rating* a
later one may take its place among the first C: two items lose or gain one person and at most C - 1 pairs each: 2 C. R
releases add up to rho = R D^2 / (2 s^2) of zero-concentrated privacy, which is (epsilon, DELTA) with epsilon = rho +
2 sqrt(rho ln(1 / DELTA)) (M. Bun and T. Steinke 2016, propositions 1.3 and 1.6, lemma 2.3). Which items there are is
taken to be public.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._core.errors import OptionError
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings
from recloak._related.model import EMPTY, ListRelease, Lists, require_times

DELTA = 1e-6  # of the noise's (epsilon, delta); no relation to the delta of the bound
UNITS = ("person", "rating")
_MOST_ITEMS = 2_500  # that the noisy lists are about: the most rated ones
Counts = tuple[NDArray[np.float32], NDArray[np.float32]]  # of items, and of pairs (symmetric, 0 on the diagonal)


def every_nth(true: Sequence[ListRelease], n: int) -> list[Lists]:
    """Return what is shown each night if only every n-th release is published."""
    return [true[night - night % n].lists for night in range(len(true))]


def delayed(true: Sequence[ListRelease], n: int) -> list[Lists]:
    """Return what is shown each night if every release is held back for n nights."""
    return [true[max(night - n, 0)].lists for night in range(len(true))]


def squared_sensitivity(unit: str, most: int) -> float:
    """Return the most that one person or one rating changes all counts of a release, in squared L2 distance."""
    if unit not in UNITS:
        raise OptionError(f"unit must be person or rating, got {unit!r}")
    return most * (most + 1) / 2 if unit == "person" else 2.0 * most


def noise_scale(epsilon: float, n_releases: int, squared: float) -> float:
    """Return the standard deviation that makes all releases together (epsilon, `DELTA`)-private."""
    log = math.log(1 / DELTA)
    rho = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2
    return math.sqrt(n_releases * squared / (2 * rho))


def bounded(ratings: Ratings, most: int) -> NDArray[np.bool_]:
    """Return which ratings count: the first ``most`` of everybody, by time, then item number."""
    require_times(ratings)
    assert ratings.times is not None
    users = ratings.users()
    order = np.lexsort((ratings.items, ratings.times, users))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - ratings.indptr[:-1][users[order]]
    return rank < most


def counts_at(ratings: Ratings, counted: NDArray[np.bool_], time: int, items: NDArray[np.intp]) -> Counts:
    """Return who rated each of some items by a time, and who rated each two of them."""
    assert ratings.times is not None
    place = np.full(ratings.n_items, -1, np.int64)
    place[items] = np.arange(len(items))
    chosen = counted & (ratings.times <= time) & (place[ratings.items] >= 0)
    ones = np.ones(int(chosen.sum()), np.float32)
    where = (ratings.users()[chosen], place[ratings.items[chosen]])
    held = scipy.sparse.csr_array((ones, where), shape=(ratings.n_users, len(items)))
    pairs = (held.T @ held).toarray()
    single = pairs.diagonal().copy()
    np.fill_diagonal(pairs, 0)
    return single, pairs


def noisy_lists(
    ratings: Ratings,
    times: Sequence[int],
    top: int,
    *,
    epsilon: float,
    unit: str,
    most: int = 30,
    min_support: int = 5,
    rng: Rng = None,
) -> Iterator[Lists]:
    """Yield the lists of every release, ranked by the noisy cosine of presence; nothing else of the ratings is used."""
    scale = noise_scale(epsilon, len(times), squared_sensitivity(unit, most))
    counted, stream = bounded(ratings, most), randomness(rng).stream("lists", "noise", unit)
    items = np.sort(np.argsort(-ratings.popularity, kind="stable")[:_MOST_ITEMS])
    for time in times:
        single, pairs = counts_at(ratings, counted, time, items)
        single += scale * stream.standard_normal(len(single), np.float32)
        noise = np.triu(stream.standard_normal(pairs.shape, np.float32), 1)
        pairs += scale * (noise + noise.T)
        yield _ranked(single, pairs, items, ratings.n_items, top, min_support)


def _ranked(
    single: NDArray[np.float32], pairs: NDArray[np.float32], items: NDArray[np.intp], n_items: int, top: int, least: int
) -> Lists:
    root = np.sqrt(np.maximum(single, 1))
    scores = np.where(pairs >= least, pairs / (root[:, None] * root[None, :]), -1)
    np.fill_diagonal(scores, -1)
    width = min(top, len(items))
    some = np.argpartition(-scores, min(width, len(items) - 1), axis=1)[:, :width]
    order = np.argsort(-np.take_along_axis(scores, some, axis=1), axis=1, kind="stable")
    best = np.take_along_axis(some, order, axis=1)
    found = np.full((n_items, top), EMPTY, np.int32)
    found[items, :width] = np.where(np.take_along_axis(scores, best, axis=1) > 0, items[best], EMPTY)
    return Lists(found)
