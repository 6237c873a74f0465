"""The row kernel of alternating least squares, beside the textbook solution of each row."""

import itertools

import numpy as np
import pytest

from recloak.publish.als import solve_rows

RIDGE, BIAS_RIDGE, MU = 0.1, 2.0, 3.0


def block(n_rows=30, n_others=40, rank=5, seed=0):
    """Draw a block of rows of uneven length (row 3 empty, row 4 with every rating), and the other side."""
    draws = np.random.default_rng(seed)
    rated = draws.random((n_rows, n_others)) < draws.random((n_rows, 1))
    rated[3], rated[4] = False, True
    indptr = np.concatenate(([0], np.cumsum(rated.sum(1))))
    others = np.nonzero(rated)[1].astype(np.int32)
    values = draws.integers(1, 6, len(others)).astype(np.float32)
    factors = draws.standard_normal((n_others, rank)).astype(np.float32)
    return indptr, others, values, factors, draws.standard_normal(n_others).astype(np.float32)


def solve_naively(indptr, others, values, factors, biases):
    """Solve each row's normal equations as the textbook writes them."""
    for start, stop in itertools.pairwise(indptr):
        rated, n = others[start:stop], stop - start
        z = np.column_stack((factors[rated], np.ones(n))).astype(np.float64)
        penalty = np.diag([RIDGE * max(n, 1)] * factors.shape[1] + [BIAS_RIDGE])
        yield np.linalg.solve(z.T @ z + penalty, z.T @ (values[start:stop] - MU - biases[rated]))


@pytest.mark.parametrize("rank", [0, 1, 3, 8, 17, 32, 45])
@pytest.mark.parametrize("n_others", [1, 5, 64, 300])
def test_the_kernel_solves_each_row_like_the_normal_equations(rank, n_others):
    given = block(n_others=n_others, rank=rank)
    solved, biases = solve_rows(*given, mu=MU, ridge=RIDGE, bias_ridge=BIAS_RIDGE)
    expected = np.array(list(solve_naively(*given)))
    np.testing.assert_allclose(solved, expected[:, :-1], atol=2e-4)
    np.testing.assert_allclose(biases, expected[:, -1], atol=2e-4)


def test_a_row_without_ratings_gets_zeros():
    solved, biases = solve_rows(*block(), mu=MU, ridge=RIDGE, bias_ridge=BIAS_RIDGE)
    assert not solved[3].any()
    assert biases[3] == 0


def test_a_block_of_rows_is_solved_to_the_same_bits_as_within_the_whole():
    indptr, others, values, factors, biases = block()
    whole, whole_biases = solve_rows(indptr, others, values, factors, biases, mu=MU, ridge=0.1, bias_ridge=2)
    part, part_biases = solve_rows(indptr[10:21], others, values, factors, biases, mu=MU, ridge=0.1, bias_ridge=2)
    np.testing.assert_array_equal(part, whole[10:20])
    np.testing.assert_array_equal(part_biases, whole_biases[10:20])
