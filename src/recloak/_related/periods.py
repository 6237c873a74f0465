"""Lists of one period after the other: what the new ratings change is added, and nothing is worked out twice.

A cosine is the product x . y of two items over their lengths. From one period to the next ratings only come in, so
x . y grows by the users who rated one of the two since: for each new rating of theirs by its product with all that they
rated. The products of all pairs are kept from period to period, and lists are ranked from them as `nearest` does.

The result is that of `nearest` at every period, bit for bit: ratings on a grid of quarters give sums without rounding,
in whatever order they are added. Where that does not hold (other ratings, a measure whose means move, too many items
for a table of all pairs) every period is made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._ratings.model import Ratings
from recloak._related.model import HOLE, Lists, require_times
from recloak._related.options import SimilarityOptions
from recloak._related.similarity import below_of, column_order, nearest, rank, weights_of

_MOST_ITEMS = 6_000  # the table of all pairs then takes 288 MB
_MOST = 2.0**10  # of a rating: the products of 2^29 people, in sixteenths, then add up without rounding
_GRID = 4.0


def lists_by_period(
    ratings: Ratings, times: Sequence[int], top: int, options: SimilarityOptions | None = None
) -> Iterator[Lists]:
    """Give the lists from the ratings up to each of some ascending times, as `nearest` would."""
    require_times(ratings)
    options = options or SimilarityOptions()
    if len(times) > 1 and can_grow(ratings, options):
        yield from _grown(ratings, times, top, options)
    else:
        for time in times:
            yield nearest(ratings.until(time), top, options)


def can_grow(ratings: Ratings, options: SimilarityOptions) -> bool:
    """Tell whether lists can be brought up to date exactly."""
    is_plain = options.similarity in ("cosine", "presence", "conditional")
    uncounted = options.min_support == 1 and options.shrinkage == 0
    return is_plain and uncounted and ratings.n_items <= _MOST_ITEMS and _is_exact(ratings.values)


def _is_exact(values: NDArray[np.float32]) -> bool:
    steps = values * np.float32(_GRID)
    return bool((steps == np.rint(steps)).all() and (np.abs(values) <= _MOST).all())


def _grown(ratings: Ratings, times: Sequence[int], top: int, options: SimilarityOptions) -> Iterator[Lists]:
    assert ratings.times is not None
    weights, columns, order = weights_of(ratings, options.similarity), ratings.by_item(), column_order(ratings)
    rows = (ratings.indptr, ratings.items, weights, ratings.times)
    given = rows, (columns.indptr, columns.users, weights[order], ratings.times[order])
    products, before = np.zeros((ratings.n_items, ratings.n_items)), np.iinfo(np.int64).min
    for time in times:
        below = below_of(ratings, np.where(ratings.times <= time, weights, 0), options.similarity)
        found, scores = np.full((ratings.n_items, top), HOLE, np.int32), np.zeros((ratings.n_items, top))
        changed = _fresh(rows, before, time), (before, time)
        in_shares(_grow, ratings.n_ratings, *given, *changed, products, below, found, scores)
        before = time
        yield Lists(found, scores)


def _fresh(rows: Any, before: int, time: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.floating]]:
    """Give the ratings of one period by user."""
    indptr, items, weights, times = rows
    is_new = (times > before) & (times <= time)
    ends = np.concatenate(([0], np.cumsum(is_new)))[indptr]
    return ends, items[is_new], weights[is_new]


@njit(cache=True)
def _add_known(products, user, x, rows, time):  # type: ignore[no-untyped-def]
    indptr, items, weights, times = rows
    for q in range(indptr[user], indptr[user + 1]):
        if times[q] <= time:
            products[items[q]] += x * weights[q]


@njit(cache=True)
def _add_fresh(products, user, x, fresh):  # type: ignore[no-untyped-def]
    indptr, items, weights = fresh
    for q in range(indptr[user], indptr[user + 1]):
        products[items[q]] += x * weights[q]


@njit(cache=True, nogil=True)
def _grow(  # type: ignore[no-untyped-def]
    share, n_shares, rows, columns, fresh, period, products, below, found, scores
):
    """Add what is new to the products of each item with the others, and rank its list.

    Who rated the item in the period adds all they have rated; who had rated it before adds what they rated in it.
    """
    (starts, users, weights, times), (before, time) = columns, period
    n_items, uncounted = len(starts) - 1, np.zeros(0, np.int32)
    for j in range(share, n_items, n_shares):
        for p in range(starts[j], starts[j + 1]):
            if times[p] <= before:
                _add_fresh(products[j], users[p], np.float64(weights[p]), fresh)
            elif times[p] <= time:
                _add_known(products[j], users[p], np.float64(weights[p]), rows, time)
        rank(j, products[j], uncounted, below, (1, 0.0), found[j], scores[j])
