"""Alternating least squares for explicit ratings with biases: the compiled kernels behind `recloak.publish.pad`.

With the other side held still, the numbers of one row (a user, or an item) solve a ridge regression of their own
(Zhou et al. 2008, "Large-scale parallel collaborative filtering for the Netflix Prize", equation 3.1, with the bias as
one more unknown). Over the ratings t of row u with the other side's factors q and biases b:

    (p, b_u) = argmin  sum (t - mu - b - b_u - p . q)^2  +  ridge n |p|^2  +  bias_ridge b_u^2,    n = number of ratings

Every row is solved alone and in a fixed order, so the result has the same bits whatever the number of threads, and a
block of rows can be solved anywhere.
"""

from __future__ import annotations

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

_CHUNK = 64  # ratings gathered at a time: with 64 factors they fill half of a first-level cache
_ROW_COST = 100  # the fixed cost of a row, in ratings
_REORDERED = {"contract", "reassoc", "nsz", "arcp"}  # lets loops use wide registers; the compiled order stays fixed


def solve_rows(
    indptr: NDArray[np.int64],
    others: NDArray[np.int32],
    values: NDArray[np.float32],
    factors: NDArray[np.float32],
    biases: NDArray[np.float32],
    *,
    mu: float,
    ridge: float,
    bias_ridge: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Give factors and biases of a block of rows, with the factors and biases of the other side held still.

    Row r has the ratings ``values[indptr[r]:indptr[r + 1]]`` for ``others``; a row without ratings gets zeros.
    """
    n_rows, rank = len(indptr) - 1, factors.shape[1]
    solved, solved_biases = np.zeros((n_rows, rank), np.float32), np.zeros(n_rows, np.float32)
    _solve_blocks(
        _even_blocks(indptr, 16 * get_num_threads()),
        indptr,
        others,
        values,
        np.ascontiguousarray(factors, dtype=np.float32),
        biases,
        np.float32(mu),
        np.float32(ridge),
        np.float32(bias_ridge),
        solved,
        solved_biases,
    )
    return solved, solved_biases


def _even_blocks(indptr: NDArray[np.int64], n_blocks: int) -> NDArray[np.int64]:
    """Cut the rows into blocks of about equal cost, so that a few heavy rows do not keep one thread busy alone."""
    n_rows = len(indptr) - 1
    cost = (indptr - indptr[0]) + _ROW_COST * np.arange(n_rows + 1)
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], n_blocks + 1)[1:-1])
    return np.concatenate(([0], cuts, [n_rows]))


@njit(cache=True, parallel=True, nogil=True)
def _solve_blocks(blocks, indptr, others, values, factors, biases, mu, ridge, bias_ridge, solved, solved_biases):  # type: ignore[no-untyped-def]
    n_unknowns = factors.shape[1] + 1
    for block in prange(len(blocks) - 1):
        gathered = np.empty((_CHUNK, n_unknowns), np.float32)
        gram = np.empty((n_unknowns, n_unknowns), np.float32)
        right = np.empty(n_unknowns, np.float32)
        for row in range(blocks[block], blocks[block + 1]):
            start, stop = indptr[row], indptr[row + 1]
            if start == stop:
                continue
            gram[:] = 0
            right[:] = 0
            _add_ratings(others[start:stop], values[start:stop], factors, biases, mu, gathered, gram, right)
            for f in range(n_unknowns - 1):
                gram[f, f] += ridge * (stop - start)
            gram[n_unknowns - 1, n_unknowns - 1] += bias_ridge
            _solve_in_place(gram, right)
            solved[row] = right[:-1]
            solved_biases[row] = right[-1]


@njit(cache=True, fastmath=_REORDERED)
def _add_ratings(others, values, factors, biases, mu, gathered, gram, right):  # type: ignore[no-untyped-def]
    """Add the row's sums: gram += z z^T (lower triangle) and right += t z, with z = (q, 1)."""
    rank, n = factors.shape[1], len(others)
    for first in range(0, n, _CHUNK):
        m = min(_CHUNK, n - first)
        for r in range(m):
            other = others[first + r]
            target = values[first + r] - mu - biases[other]
            for f in range(rank):
                gathered[r, f] = factors[other, f]
                right[f] += target * factors[other, f]
            gathered[r, rank] = 1
            right[rank] += target
        _add_outer(gathered, m, gram)


@njit(cache=True, fastmath=_REORDERED)
def _add_outer(gathered, n, gram):  # type: ignore[no-untyped-def]
    """Add z z^T of n gathered rows to the lower triangle, four rows at a time."""
    size = gram.shape[0]
    whole = n - n % 4
    for r in range(0, whole, 4):
        for f in range(size):
            a, b, c, d = gathered[r, f], gathered[r + 1, f], gathered[r + 2, f], gathered[r + 3, f]
            for g in range(f + 1):
                gram[f, g] += (
                    a * gathered[r, g] + b * gathered[r + 1, g] + c * gathered[r + 2, g] + d * gathered[r + 3, g]
                )
    for r in range(whole, n):
        for f in range(size):
            a = gathered[r, f]
            for g in range(f + 1):
                gram[f, g] += a * gathered[r, g]


@njit(cache=True, fastmath=_REORDERED)
def _solve_in_place(gram, right):  # type: ignore[no-untyped-def]
    """Solve gram x = right by Cholesky's L L^T; the lower triangle becomes L, right becomes x."""
    size = len(right)
    for j in range(size):
        for k in range(j):
            gram[j, j] -= gram[j, k] * gram[j, k]
        pivot = np.sqrt(max(gram[j, j], np.float32(1e-12)))
        gram[j, j] = pivot
        for i in range(j + 1, size):
            dot = np.float32(0)
            for k in range(j):
                dot += gram[i, k] * gram[j, k]
            gram[i, j] = (gram[i, j] - dot) / pivot
    for i in range(size):
        dot = np.float32(0)
        for k in range(i):
            dot += gram[i, k] * right[k]
        right[i] = (right[i] - dot) / gram[i, i]
    for i in range(size - 1, -1, -1):
        right[i] /= gram[i, i]
        for k in range(i):
            right[k] -= gram[i, k] * right[i]
