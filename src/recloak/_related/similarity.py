"""Item-item similarity: for every item the most similar others, exactly, without an items x items array.

Ratings on a grid of quarters are added up pair by pair in whole numbers (`pair_products`). For others sums run over
users in ascending order, one item at a time. Either way the result does not depend on the number of threads.
Equal scores are ordered by item number. Measures (x, y: the ratings of two items; co-raters: users who rated both):

- ``cosine``: x . y / (|x| |y|), a missing rating counting as 0 (G. Karypis, *Evaluation of Item-Based Top-N
  Recommendation Algorithms*, section 4.1; what paper 003 uses);
- ``presence``: the same over 1 for rated and 0 for not rated;
- ``pearson``: correlation over the co-raters, ratings centred on their item's mean (Sarwar et al. 2001, equation 2);
- ``adjusted``: the same with ratings centred on their user's mean (adjusted cosine, equation 3);
- ``conditional``: P(other | item) = co-raters / raters of the item (Karypis, section 4.2, without scaling).

``shrinkage`` s multiplies a score by n / (n + s), n the number of co-raters. Only scores above 0 are listed.

Lists of several periods: ratings only come in, so the product x . y grows by the users who rated one of the two since,
for each new rating of theirs by its product with all that they rated. `lists_by_period` keeps the products of all pairs
from period to period and ranks lists from them. Its result is that of `nearest` at every period, bit for bit: ratings
on a grid of quarters give sums without rounding, in whatever order they are added. Where that does not hold (other
ratings, a measure whose means move, too many items for a table of all pairs) every period is computed from all its
ratings.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._ratings.assemble import transpose_rows
from recloak._ratings.model import Ratings
from recloak._related.model import EMPTY, Lists, require_times
from recloak._related.options import SimilarityOptions
from recloak._related.pair_products import GRID, PackedRatings, consider, insert, nearest_of_packed

NOISE = 1e-12  # a correlation below this is the rounding of means
_MOST_ITEMS = 6_000  # the table of all pairs then takes 288 MB
_MOST = 2.0**10  # of a rating: the products of 2^29 people, in sixteenths, then add up without rounding
_CORATED = ("pearson", "adjusted")


def nearest(ratings: Ratings, top: int, options: SimilarityOptions | None = None) -> Lists:
    """Return for every item the ``top`` most similar others."""
    options = options or SimilarityOptions()
    if options.similarity not in _CORATED:
        packed = PackedRatings.of(ratings, weights_of(ratings, options.similarity))
        if packed is not None:
            return nearest_of_packed(packed, top, options)
    return nearest_by_sums(ratings, top, options)


def nearest_by_sums(ratings: Ratings, top: int, options: SimilarityOptions) -> Lists:
    """Return the same for any ratings and measure, from sums of floats in the order of the users."""
    found = np.full((ratings.n_items, top), EMPTY, np.int32)
    scores = np.zeros((ratings.n_items, top))
    _fill(ratings, options, found, scores)
    return Lists(found, scores)


def _fill(ratings: Ratings, options: SimilarityOptions, found: NDArray[np.int32], scores: NDArray[np.float64]) -> None:
    weights = weights_of(ratings, options.similarity)
    starts, users, order = transpose_rows(ratings.indptr, ratings.items, ratings.n_items)
    given = ((ratings.indptr, ratings.items, weights), (starts, users, weights[order]))
    limits = (np.int64(options.min_support), float(options.shrinkage))
    if options.similarity in _CORATED:
        in_shares(_nearest_corated, ratings.n_ratings, *given, limits, found, scores)
    else:
        below = below_of(ratings, weights, options.similarity)
        in_shares(_nearest_cosine, ratings.n_ratings, *given, below, limits, found, scores)


def below_of(ratings: Ratings, weights: NDArray[np.floating], similarity: str) -> NDArray[np.float64]:
    """Return what the square of a product is divided by, for the item itself and for the other: (2, n_items)."""
    squares = np.bincount(ratings.items, weights.astype(np.float64) ** 2, minlength=ratings.n_items)
    if similarity == "conditional":
        return np.stack([squares**2, np.ones_like(squares)])
    return np.stack([squares, squares])


def weights_of(ratings: Ratings, similarity: str) -> NDArray[np.floating]:
    """Return what each rating counts as."""
    if similarity == "cosine":
        return ratings.values
    if similarity in ("presence", "conditional"):
        return np.ones_like(ratings.values)
    values = ratings.values.astype(np.float64)
    if similarity == "pearson":
        return values - _means(ratings.items, values, ratings.n_items)[ratings.items]
    users = ratings.users()
    return values - _means(users, values, ratings.n_users)[users]


def _means(groups: NDArray[np.int32], values: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    sums = np.bincount(groups, values, minlength=n_groups)
    return sums / np.maximum(np.bincount(groups, minlength=n_groups), 1)


@njit(cache=True)
def _dots(j, rows, columns, dots):  # type: ignore[no-untyped-def]
    (indptr, items, weights), (starts, users, column_weights) = rows, columns
    for p in range(starts[j], starts[j + 1]):
        x = np.float64(column_weights[p])
        for q in range(indptr[users[p]], indptr[users[p] + 1]):
            dots[items[q]] += x * weights[q]


@njit(cache=True)
def _counts(j, rows, columns, counts):  # type: ignore[no-untyped-def]
    (indptr, items, _), (starts, users, _) = rows, columns
    for p in range(starts[j], starts[j + 1]):
        for q in range(indptr[users[p]], indptr[users[p] + 1]):
            counts[items[q]] += 1


@njit(cache=True)
def rank(j, dots, counts, below, limits, found, scores):  # type: ignore[no-untyped-def]
    """Write the best of item j from its products with all others; ``counts`` may be empty if no limit asks for it."""
    for i in range(len(dots)):
        consider(j, i, dots[i], counts[i] if len(counts) else 0, below, limits, found, scores)
    for p in range(len(scores)):
        scores[p] = np.sqrt(scores[p])


@njit(cache=True, nogil=True)
def _nearest_cosine(  # type: ignore[no-untyped-def]
    share, n_shares, rows, columns, below, limits, found, scores
):
    """Score by the cosine over all ratings of both items."""
    min_support, shrinkage = limits
    n_items = len(columns[0]) - 1
    counted = min_support > 1 or shrinkage > 0  # the number of co-raters costs half as much again
    dots, counts = np.zeros(n_items), np.zeros(n_items, np.int32)
    for j in range(share, n_items, n_shares):
        _dots(j, rows, columns, dots)
        if counted:
            _counts(j, rows, columns, counts)
        rank(j, dots, counts, below, limits, found[j], scores[j])
        dots[:] = 0.0
        counts[:] = 0


@njit(cache=True)
def _corated_sums(j, rows, columns, sums):  # type: ignore[no-untyped-def]
    """Add up x y, x x, y y and 1 over the users who rated j and each other item."""
    (indptr, items, weights), (starts, users, column_weights) = rows, columns
    for p in range(starts[j], starts[j + 1]):
        x = column_weights[p]
        for q in range(indptr[users[p]], indptr[users[p] + 1]):
            i, y = items[q], weights[q]
            sums[i, 0] += x * y
            sums[i, 1] += x * x
            sums[i, 2] += y * y
            sums[i, 3] += 1


@njit(cache=True, nogil=True)
def _nearest_corated(  # type: ignore[no-untyped-def]
    share, n_shares, rows, columns, limits, found, scores
):
    """Score by the correlation over the users who rated both."""
    min_support, shrinkage = limits
    n_items = len(columns[0]) - 1
    sums = np.zeros((n_items, 4))
    for j in range(share, n_items, n_shares):
        _corated_sums(j, rows, columns, sums)
        for i in range(n_items):
            dot, below, n = sums[i, 0], sums[i, 1] * sums[i, 2], sums[i, 3]
            if i != j and n >= min_support and dot > 0 and below > 0:
                key = dot / np.sqrt(below) * (n / (n + shrinkage))
                if key > NOISE:
                    insert(found[j], scores[j], i, key)
        sums[:] = 0.0


def lists_by_period(
    ratings: Ratings, times: Sequence[int], top: int, options: SimilarityOptions | None = None
) -> Iterator[Lists]:
    """Yield the lists from the ratings up to each of some ascending times, as `nearest` would."""
    require_times(ratings)
    options = options or SimilarityOptions()
    if len(times) > 1 and can_grow(ratings, options):
        yield from _grown(ratings, times, top, options)
    else:
        for time in times:
            yield nearest(ratings.until(time), top, options)


def can_grow(ratings: Ratings, options: SimilarityOptions) -> bool:
    """Return whether lists can be brought up to date exactly."""
    is_plain = options.similarity in ("cosine", "presence", "conditional")
    return is_plain and ratings.n_items <= _MOST_ITEMS and _is_exact(ratings.values)


def _is_exact(values: NDArray[np.float32]) -> bool:
    steps = values * np.float32(GRID)
    return bool((steps == np.rint(steps)).all() and (np.abs(values) <= _MOST).all())


def _grown(ratings: Ratings, times: Sequence[int], top: int, options: SimilarityOptions) -> Iterator[Lists]:
    assert ratings.times is not None
    weights = weights_of(ratings, options.similarity)
    starts, users, order = transpose_rows(ratings.indptr, ratings.items, ratings.n_items)
    rows = (ratings.indptr, ratings.items, weights, ratings.times)
    given = rows, (starts, users, weights[order], ratings.times[order])
    products, before = np.zeros((ratings.n_items, ratings.n_items)), np.iinfo(np.int64).min
    limits = (np.int64(options.min_support), float(options.shrinkage))
    counted = options.min_support > 1 or options.shrinkage > 0
    counts = np.zeros((ratings.n_items, ratings.n_items if counted else 0), np.int32)
    for time in times:
        below = below_of(ratings, np.where(ratings.times <= time, weights, 0), options.similarity)
        found, scores = np.full((ratings.n_items, top), EMPTY, np.int32), np.zeros((ratings.n_items, top))
        changed = _fresh(rows, before, time), (before, time)
        in_shares(_grow, ratings.n_ratings, *given, *changed, products, counts, below, limits, found, scores)
        before = time
        yield Lists(found, scores)


def _fresh(rows: Any, before: int, time: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.floating]]:
    indptr, items, weights, times = rows
    is_new = (times > before) & (times <= time)
    ends = np.concatenate(([0], np.cumsum(is_new)))[indptr]
    return ends, items[is_new], weights[is_new]


@njit(cache=True)
def _add_known(products, counts, user, x, rows, time):  # type: ignore[no-untyped-def]
    indptr, items, weights, times = rows
    for q in range(indptr[user], indptr[user + 1]):
        if times[q] <= time:
            products[items[q]] += x * weights[q]
            if len(counts):
                counts[items[q]] += 1


@njit(cache=True)
def _add_fresh(products, counts, user, x, fresh):  # type: ignore[no-untyped-def]
    indptr, items, weights = fresh
    for q in range(indptr[user], indptr[user + 1]):
        products[items[q]] += x * weights[q]
        if len(counts):
            counts[items[q]] += 1


@njit(cache=True, nogil=True)
def _grow(  # type: ignore[no-untyped-def]
    share, n_shares, rows, columns, fresh, period, products, counts, below, limits, found, scores
):
    """Add what is new to the products of each item with the others, and rank its list.

    Users who rated the item in the period add all they have rated; those who had rated it before add what they rated
    in the period.
    """
    (starts, users, weights, times), (before, time) = columns, period
    for j in range(share, len(starts) - 1, n_shares):
        for p in range(starts[j], starts[j + 1]):
            if times[p] <= before:
                _add_fresh(products[j], counts[j], users[p], np.float64(weights[p]), fresh)
            elif times[p] <= time:
                _add_known(products[j], counts[j], users[p], np.float64(weights[p]), rows, time)
        rank(j, products[j], counts[j], below, limits, found[j], scores[j])
