"""Algorithms that predict ratings: biases, neighbours, and alternating least squares.

Each `fit_...` returns a function that predicts a value for every (row, item) pair; the scorer brings it inside the
scale. With e_ui the residual of the bias model and s the cosine of residuals, neighbours predict

    r_ui = b_ui + sum_j s_ij e_uj / (shrink + sum_j |s_ij|)    over the nearest items j of i that the row has

and user neighbours the same with the two sides exchanged. Alternating least squares solves rows and items in turns,
biases included, with the row kernel of the factorisation and one ridge for all (Koren et al. 2009).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._evaluation.fidelity.biases import fit_biases
from recloak._evaluation.fidelity.nearest_columns import nearest_of
from recloak._evaluation.fidelity.training import Training, gram
from recloak._releases.factorise import sides
from recloak._releases.row_solver import Beliefs, RatingRows, solve_rows

Predict = Callable[[NDArray[np.integer], NDArray[np.integer]], NDArray[np.floating]]

_SHRINK = 1.0
_START = 0.1  # standard deviation of a factor at the start


def fit_bias(training: Training, *, user_ridge: float, item_ridge: float) -> Predict:
    """Train the bias model."""
    return fit_biases(training.ratings, user_ridge=user_ridge, item_ridge=item_ridge).predict


def fit_item_neighbours(training: Training, *, n: int) -> Predict:
    """Train item neighbours on the residuals of the bias model."""
    residuals = training.residuals
    near, cosines = nearest_of(_cosines(residuals), n)

    def predict(rows: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.floating]:
        lift = neighbour_lift(residuals, rows, items, near, cosines)
        return training.biases.predict(rows, items) + lift

    return predict


def fit_user_neighbours(training: Training, *, n: int) -> Predict:
    """Train user neighbours: the same with rows and items exchanged."""
    columns = training.residuals.T.tocsr()
    near, cosines = nearest_of(_cosines(columns), n)

    def predict(rows: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.floating]:
        lift = neighbour_lift(columns, items, rows, near, cosines)
        return training.biases.predict(rows, items) + lift

    return predict


def _cosines(table: scipy.sparse.csr_array) -> NDArray[np.float32]:
    """Return the cosines of all pairs of columns, those with themselves 0."""
    cosines = gram(table)
    lengths = np.sqrt(np.maximum(cosines.diagonal(), 1e-12)).astype(np.float32)
    cosines /= lengths[:, None]
    cosines /= lengths[None, :]
    np.fill_diagonal(cosines, 0)
    return cosines


def neighbour_lift(
    table: scipy.sparse.csr_array, rows: NDArray[np.integer], columns: NDArray[np.integer],
    near: NDArray[np.int32], weights: NDArray[np.float32],
) -> NDArray[np.float32]:  # fmt: skip
    """Return the weighted mean of a row's cells over the nearest columns of each wanted column."""
    order = np.argsort(rows, kind="stable")
    wanted = rows[order].astype(np.int64), columns[order].astype(np.int64)
    lifts = np.zeros(len(rows), np.float32)
    starts = np.searchsorted(wanted[0], np.arange(table.shape[0] + 1))
    cells = table.indptr.astype(np.int64), table.indices.astype(np.int64), table.data
    in_shares(_lift_rows, len(rows), *cells, starts, wanted[1], near, weights, lifts)
    result = np.empty_like(lifts)
    result[order] = lifts
    return result


@njit(cache=True, nogil=True)
def _lift_rows(share, n_shares, indptr, indices, data, starts, columns, near, weights, lifts):  # type: ignore[no-untyped-def]
    row_cells = np.zeros(len(near), np.float32)
    has = np.zeros(len(near), np.bool_)
    for row in range(share, len(starts) - 1, n_shares):
        if starts[row] == starts[row + 1]:
            continue
        for c in range(indptr[row], indptr[row + 1]):
            row_cells[indices[c]], has[indices[c]] = data[c], True
        for w in range(starts[row], starts[row + 1]):
            total, size = 0.0, _SHRINK
            for n in range(near.shape[1]):
                other = near[columns[w], n]
                if has[other]:
                    total += weights[columns[w], n] * row_cells[other]
                    size += weights[columns[w], n]
            lifts[w] = total / size
        for c in range(indptr[row], indptr[row + 1]):
            has[indices[c]] = False


def fit_least_squares(training: Training, *, rank: int, ridge: float, rounds: int) -> Predict:
    """Train factors and biases by alternating least squares."""
    by_row, by_item = sides(training.ratings)
    mu, prior = training.biases.mu, np.full(rank + 1, 1 / ridge)
    draw = training.rng.stream("least squares", rank)
    items = Beliefs(
        np.column_stack((_START * draw.standard_normal((len(by_item), rank)), training.biases.item)).astype(np.float32),
        np.zeros((len(by_item), rank + 1), np.float32),
    )
    for _ in range(rounds):
        rows = _solved(by_row, items, mu, prior)
        items = _solved(by_item, rows, mu, prior)
    one, two = rows.mean, items.mean

    def predict(users: NDArray[np.integer], wanted: NDArray[np.integer]) -> NDArray[np.floating]:
        dots = np.einsum("cf,cf->c", one[users, :rank], two[wanted, :rank])
        return mu + one[users, rank] + two[wanted, rank] + dots

    return predict


def _solved(rows: RatingRows, others: Beliefs, mu: float, prior: NDArray[np.float64]) -> Beliefs:
    """Solve one side by ordinary least squares: with noise 1 and no variances the ridge is 1 / prior."""
    found, _ = solve_rows(rows, others, mu=mu, noise=1.0, prior=prior)
    return Beliefs(found.mean, np.zeros_like(found.variance))
