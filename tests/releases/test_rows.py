"""The row kernel of the factorisation, beside the textbook solution of each row."""

import numpy as np
import pytest
from numba import njit

from recloak._releases.factor_kernel import add_outer_tile
from recloak._releases.row_solver import Beliefs, RatingRows, solve_rows

MU, NOISE = 3.0, 0.5


def block(n_rows=12, n_others=40, rank=5, seed=0):
    """Draw a block of rows of uneven length (row 3 empty, row 4 with every rating), and beliefs about the others."""
    draws = np.random.default_rng(seed)
    rated = draws.random((n_rows, n_others)) < draws.random((n_rows, 1))
    rated[3], rated[4] = False, True
    indptr = np.concatenate(([0], np.cumsum(rated.sum(1))))
    others = np.nonzero(rated)[1].astype(np.int32)
    rows = RatingRows(indptr, others, draws.integers(1, 6, len(others)).astype(np.float32))
    mean = draws.standard_normal((n_others, rank + 1)).astype(np.float32)
    return rows, Beliefs(mean, (mean**2 / 3).astype(np.float32)), 0.5 + draws.random(rank + 1)


def solve_naively(rows, beliefs, prior):
    """Give mean, variance and expected squared error of each row that has ratings, as the equations are written."""
    for r in np.flatnonzero(rows.counts):
        place = slice(rows.indptr[r], rows.indptr[r + 1])
        rated, n = rows.others[place], rows.counts[r]
        z = np.column_stack((beliefs.mean[rated, :-1], np.ones(n))).astype(np.float64)
        z_variance = np.column_stack((beliefs.variance[rated, :-1], np.zeros(n)))
        t = rows.values[place] - MU - beliefs.mean[rated, -1]
        A = z.T @ z + np.diag(z_variance.sum(0)) + NOISE * np.diag(1 / prior)
        mean, variance = np.linalg.solve(A, z.T @ t), NOISE / np.diag(A)
        spread = z_variance @ (mean**2 + variance) + z**2 @ variance + beliefs.variance[rated, -1]
        yield r, mean, variance, ((t - z @ mean) ** 2 + spread).sum()


@pytest.mark.parametrize("rank", [0, 1, 6, 7, 22, 45])
@pytest.mark.parametrize("n_others", [1, 5, 300])
def test_the_kernel_solves_each_row_as_the_equations_are_written(rank, n_others):
    rows, beliefs, prior = block(n_others=n_others, rank=rank)
    solved, errors = solve_rows(rows, beliefs, mu=MU, noise=NOISE, prior=prior)
    for r, mean, variance, error in solve_naively(rows, beliefs, prior):
        np.testing.assert_allclose(solved.mean[r], mean, atol=2e-4)
        np.testing.assert_allclose(solved.variance[r], variance, rtol=1e-4)
        np.testing.assert_allclose(errors[r], error, rtol=1e-3)


def test_without_variances_a_row_is_ordinary_ridge_regression():
    rows, beliefs, _ = block()
    certain, ridge = Beliefs(beliefs.mean, np.zeros_like(beliefs.mean)), 2.0
    solved, _ = solve_rows(rows, certain, mu=MU, noise=NOISE, prior=np.full(6, NOISE / ridge))
    z = np.column_stack((beliefs.mean[:, :-1], np.ones(40)))
    t = rows.values[rows.indptr[4] : rows.indptr[5]] - MU - beliefs.mean[:, -1]
    np.testing.assert_allclose(solved.mean[4], np.linalg.solve(z.T @ z + ridge * np.eye(6), z.T @ t), atol=1e-4)


def test_nothing_is_believed_about_a_row_without_ratings():
    rows, beliefs, prior = block()
    solved, errors = solve_rows(rows, beliefs, mu=MU, noise=NOISE, prior=prior)
    assert not solved.mean[3].any()
    assert not solved.known[3]
    assert solved.known.sum() == np.count_nonzero(rows.counts)
    assert errors[3] == 0


def test_a_block_of_rows_is_solved_to_the_same_bits_as_within_the_whole():
    rows, beliefs, prior = block()
    whole, _ = solve_rows(rows, beliefs, mu=MU, noise=NOISE, prior=prior)
    part, _ = solve_rows(rows.block(5, 9), beliefs, mu=MU, noise=NOISE, prior=prior)
    np.testing.assert_array_equal(part.mean, whole.mean[5:9])
    np.testing.assert_array_equal(part.variance, whole.variance[5:9])


@njit(cache=True)
def add_one_tile(gathered, n, row, column, sums):
    add_outer_tile(gathered, n, row, column, sums)  # type: ignore[call-arg]


@pytest.mark.parametrize(("n", "row", "column"), [(1, 0, 0), (7, 8, 0), (20, 16, 8)])
def test_a_tile_adds_the_outer_products_to_its_own_place_only(n, row, column):
    gathered = np.random.default_rng(0).standard_normal((20, 24)).astype(np.float32)
    sums = np.ones((24, 24), np.float32)
    add_one_tile(gathered, n, row, column, sums)
    expected = np.ones((24, 24))
    tile = slice(row, row + 8), slice(column, column + 8)
    expected[tile] += (gathered[:n].T @ gathered[:n])[tile]
    np.testing.assert_allclose(sums, expected, atol=1e-5)
