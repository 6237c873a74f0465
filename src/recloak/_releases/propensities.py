"""How likely somebody uses an item: confidence-weighted factors (Hu, Koren & Volinsky 2008).

Every cell counts. One that was used is a 1 with the weight ``1 + c``, any other a 0 with the weight 1, and c grows with
the level of the count. With Y the factors of the items, a user's row solves

    (Y^T Y + sum_i c_i y_i y_i^T + ridge I) x = sum_i (1 + c_i) y_i        over the items i of the user

and an item's likewise. Each row is solved alone by Cholesky's factor, in one order of sums, so the bits are the same
whatever the processor and the number of threads. ``x . y_i`` lies near 1 for what somebody surely uses and near 0 for
what nobody like them does. Choices and figures: docs/decisions/events.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.progress import task
from recloak._core.randomness import Randomness
from recloak._core.threads import in_shares
from recloak._ratings.assemble import transpose_rows
from recloak._ratings.model import Ratings
from recloak._releases.embed import squares_of
from recloak._releases.model.steps import Padding
from recloak._releases.row_solver import RatingRows

CONFIDENCE = 5.0  # of one use
RIDGE = 30.0
ROUNDS = 6
_START = 0.01  # standard deviation of an item's factor before the first round
_BLOCK = 100_000


def propensities(ratings: Ratings, *, rank: int, rng: Randomness) -> Padding:
    """Return the propensity of every user for every item, as factors; values are weights of confidence."""
    if rank == 0:
        return popularity_alone(ratings)
    by_user, by_item = _sides(ratings)
    draw = rng.stream("propensities")
    items = (_START * draw.standard_normal((ratings.n_items, rank))).astype(np.float32)
    with task("padding", 2 * ROUNDS) as advance:
        for _ in range(ROUNDS):
            users = solve_side(by_user, items)
            advance(1)
            items = solve_side(by_item, users)
            advance(1)
        users = solve_side(by_user, items)
    nothing = np.zeros(ratings.n_users, np.float32), np.zeros(ratings.n_items, np.float32)
    return Padding(0.0, *nothing, users, items, ratings.scale)


def popularity_alone(ratings: Ratings) -> Padding:
    """Return the share of people who use each item as everybody's propensity."""
    n_users, n_items = ratings.shape
    share = (ratings.popularity / max(n_users, 1)).astype(np.float32)
    none = np.zeros((n_users, 0), np.float32), np.zeros((n_items, 0), np.float32)
    return Padding(0.0, np.zeros(n_users, np.float32), share, *none, ratings.scale)


def _sides(ratings: Ratings) -> tuple[RatingRows, RatingRows]:
    indptr, users, order = transpose_rows(ratings.indptr, ratings.items, ratings.n_items)
    weights = np.float32(CONFIDENCE) * ratings.values
    return RatingRows(ratings.indptr, ratings.items, weights), RatingRows(indptr, users, weights[order])


def solve_side(rows: RatingRows, others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the factors of a block of rows, given those of the other side; a row without a cell gets zeros."""
    rank = others.shape[1]
    shared = np.zeros((rank, rank))
    for first in range(0, len(others), _BLOCK):
        part = others[first : first + _BLOCK].astype(np.float64)
        shared += squares_of(part, np.ones(len(part)))
    shared[np.diag_indices(rank)] += RIDGE
    found = np.zeros((len(rows), rank), np.float32)
    in_shares(_solve, len(rows), rows.indptr, rows.others, rows.values, others, shared.astype(np.float32), found)
    return found


@njit(cache=True, nogil=True)
def _solve(share, n_shares, indptr, others, weights, factors, shared, found):  # type: ignore[no-untyped-def]
    rank = factors.shape[1]
    table, right = np.empty((rank, rank), np.float32), np.empty(rank, np.float32)
    for row in range(share, len(found), n_shares):
        if indptr[row] == indptr[row + 1]:
            continue
        for f in range(rank):
            right[f] = 0
            for g in range(rank):
                table[f, g] = shared[f, g]
        for c in range(indptr[row], indptr[row + 1]):
            weight, y = weights[c], factors[others[c]]
            for f in range(rank):
                part = weight * y[f]
                right[f] += y[f] + part
                for g in range(f + 1):
                    table[f, g] += part * y[g]
        _cholesky(table, right)
        for f in range(rank):
            found[row, f] = right[f]


@njit(cache=True, nogil=True)
def _cholesky(table, right):  # type: ignore[no-untyped-def]
    """Solve ``table x = right`` from the lower half of a positive definite table; x takes right's place."""
    n = len(right)
    for f in range(n):
        for g in range(f + 1):
            total = table[f, g]
            for h in range(g):
                total -= table[f, h] * table[g, h]
            table[f, g] = np.sqrt(total) if f == g else total / table[g, g]
        for g in range(f):
            right[f] -= table[f, g] * right[g]
        right[f] /= table[f, f]
    for f in range(n - 1, -1, -1):
        for g in range(f + 1, n):
            right[f] -= table[g, f] * right[g]
        right[f] /= table[f, f]
