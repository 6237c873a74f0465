"""The row kernel of the factorisation: what is believed about a block of rows while the other side is held still.

A row is a user or an item. With the other side's numbers z = (q, 1) and biases b known up to variances, the numbers
x = (p, bias) of a row with the ratings t are again normal, with mean and variances (Lim & Teh 2007, "Variational
Bayesian approach to movie rating prediction"; a row's own numbers vary independently, as in Raiko, Ilin & Karhunen
2007, "Principal component analysis for large scale problems with lots of missing values")

    A = sum (z z^T + diag(var z)) + noise diag(1 / prior),    mean = A^-1 sum (t - mu - b) z,    var_f = noise / A_ff

Without variances and with ``noise / prior = ridge`` the mean is the row of ordinary alternating least squares. Every
row is solved alone and in a fixed order, so the result has the same bits whatever the number of threads, and a block of
rows can be solved anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._releases.factor_kernel import TILE, add_outer_tile
from recloak._releases.ordered_sums import ordered_dot

_CHUNK = 128  # ratings gathered at a time; with 30 factors they fill half of a first-level cache
_ROW_COST = 100  # the fixed cost of a row, in ratings
_BLOCKS = 64  # blocks of rows that threads take in turns


@dataclass(frozen=True, eq=False, slots=True)
class RatingRows:
    """A block of rows: row r has the ratings ``values[indptr[r]:indptr[r + 1]]`` for ``others``, in a fixed order."""

    indptr: NDArray[np.int64]  # (n_rows + 1,)
    others: NDArray[np.int32]
    values: NDArray[np.float32]

    def __post_init__(self) -> None:
        for name in self.__slots__:  # one and the same kind of array, so that the kernels are compiled once
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of ratings of each row."""
        return np.diff(self.indptr)

    def block(self, start: int, stop: int) -> RatingRows:
        """Return the rows from ``start`` up to but not including ``stop``; nothing is copied."""
        return RatingRows(self.indptr[start : stop + 1], self.others, self.values)


@dataclass(frozen=True, eq=False, slots=True)
class Beliefs:
    """What is believed about one side: the last column is the bias, the others are the factors."""

    mean: NDArray[np.float32]  # (n, rank + 1)
    variance: NDArray[np.float32]  # (n, rank + 1)

    @property
    def rank(self) -> int:
        """Number of factors."""
        return self.mean.shape[1] - 1

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have ratings: of the others nothing is believed, and their variances are 0."""
        return self.variance[:, -1] > 0


def solve_rows(
    rows: RatingRows, beliefs: Beliefs, *, mu: float, noise: float, prior: NDArray[np.float64]
) -> tuple[Beliefs, NDArray[np.float32]]:
    """Return the posterior of a block of rows, and the expected sum of squared errors of each.

    ``beliefs`` holds about the other side; ``prior`` has the variance of each factor and of the bias before any rating
    is seen. A row without ratings gets zeros.
    """
    shape = len(rows), beliefs.rank + 1
    mean, variance, errors = np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(len(rows), np.float32)
    levels = np.float32(mu), np.float32(noise), (noise / prior).astype(np.float32)
    arrays = even_blocks(rows), rows.indptr, rows.others, rows.values, _table(beliefs)
    in_shares(_solve_share, len(rows.values), *arrays, levels, mean, variance, errors)
    return Beliefs(mean, variance), errors


@dataclass(frozen=True, eq=False, slots=True)
class RowSums:
    """What the ratings of each row add up to: all that solving needs, and it can be added up piece by piece."""

    outer: NDArray[np.float32]  # (n, width, width) outer products of (z, t), the lower triangle
    spread: NDArray[np.float32]  # (n, width) variances of z


def sum_rows(rows: RatingRows, beliefs: Beliefs, *, mu: float) -> RowSums:
    """Add up a block of rows without solving them, so that the pieces of a row may lie in several places."""
    table, place = _table(beliefs), beliefs.rank + 1
    width = table.shape[1] // 2
    outer, spread = np.zeros((len(rows), width, width), np.float32), np.zeros((len(rows), width), np.float32)
    arrays = even_blocks(rows), rows.indptr, rows.others, rows.values, table
    in_shares(_sum_blocks, len(rows.values), *arrays, np.float32(mu), place, outer, spread)
    return RowSums(outer, spread)


def solve_sums(sums: RowSums, *, noise: float, prior: NDArray[np.float64]) -> tuple[Beliefs, NDArray[np.float32]]:
    """Solve rows from what their ratings add up to, as `solve_rows` does from the ratings; ``sums`` is used up."""
    shape = len(sums.outer), len(prior)
    mean, variance, errors = np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(shape[0], np.float32)
    levels = np.float32(noise), (noise / prior).astype(np.float32)
    _solve_summed(sums.outer, sums.spread, *levels, mean, variance, errors)
    return Beliefs(mean, variance), errors


def even_blocks(rows: RatingRows, n_blocks: int = _BLOCKS) -> NDArray[np.int64]:
    """Cut the rows into blocks of about equal cost, so that a few heavy rows do not keep one thread busy alone."""
    cost = rows.indptr - rows.indptr[0] + _ROW_COST * np.arange(len(rows) + 1)
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], n_blocks + 1)[1:-1])
    return np.concatenate(([0], cuts, [len(rows)]))


def _table(beliefs: Beliefs) -> NDArray[np.float32]:
    """Lay each row out as a rating meets it: factors, 1, bias, zeros; then the variances in the same places."""
    n, rank = len(beliefs.mean), beliefs.rank
    width = -(-(rank + 2) // TILE) * TILE
    table = np.zeros((n, 2 * width), np.float32)
    table[:, :rank], table[:, rank], table[:, rank + 1] = beliefs.mean[:, :rank], 1, beliefs.mean[:, rank]
    table[:, width : width + rank], table[:, width + rank + 1] = beliefs.variance[:, :rank], beliefs.variance[:, rank]
    return table


def _solve_share(share: int, n_shares: int, *arrays: Any) -> None:
    """Solve the blocks of a share with room of its own to work in: for gathered ratings, and for a row's sums."""
    width = arrays[4].shape[1] // 2
    gathered, sums, spread = (np.empty(shape, np.float32) for shape in ((_CHUNK, width), (width, width), width))
    _solve_blocks(share, n_shares, *arrays, (gathered, sums, spread))


@njit(cache=True, nogil=True)
def _solve_blocks(share, n_shares, blocks, indptr, others, values, table, levels, mean, variance, errors, room):  # type: ignore[no-untyped-def]
    mu, noise, ridge = levels
    gathered, sums, spread = room
    width = len(spread)
    for block in range(share, len(blocks) - 1, n_shares):
        for row in range(blocks[block], blocks[block + 1]):
            start, stop = indptr[row], indptr[row + 1]
            if start < stop:
                for f in range(width):
                    spread[f] = 0
                    for g in range(width):
                        sums[f, g] = 0
                _add_ratings(start, stop, others, values, table, mu, len(ridge), gathered, sums, spread)
                errors[row] = _solve_row(sums, spread, noise, ridge, mean[row], variance[row])


@njit(cache=True, nogil=True)
def _sum_blocks(share, n_shares, blocks, indptr, others, values, table, mu, place, outer, spread):  # type: ignore[no-untyped-def]
    for block in range(share, len(blocks) - 1, n_shares):
        gathered = np.empty((_CHUNK, table.shape[1] // 2), np.float32)
        for row in range(blocks[block], blocks[block + 1]):
            start, stop = indptr[row], indptr[row + 1]
            if start < stop:
                _add_ratings(start, stop, others, values, table, mu, place, gathered, outer[row], spread[row])


@njit(cache=True, nogil=True)
def _solve_summed(outer, spread, noise, ridge, mean, variance, errors):  # type: ignore[no-untyped-def]
    for row in range(len(outer)):
        if outer[row, len(ridge) - 1, len(ridge) - 1] > 0:  # the number of the row's ratings
            errors[row] = _solve_row(outer[row], spread[row], noise, ridge, mean[row], variance[row])


@njit(cache=True, nogil=True, inline="always")
def _add_ratings(start, stop, others, values, table, mu, place, gathered, sums, spread):  # type: ignore[no-untyped-def]
    """Add the outer products of (z, t) over a row's ratings to the lower tiles of ``sums``, and the variances."""
    width = gathered.shape[1]
    for first in range(start, stop, _CHUNK):
        last = min(first + _CHUNK, stop)
        _gather(others[first:last], values[first:last], table, mu, place, gathered, spread)
        for row in range(0, width, TILE):
            for column in range(0, row + TILE, TILE):
                add_outer_tile(gathered, last - first, row, column, sums)  # type: ignore[call-arg]


@njit(cache=True, nogil=True)
def _gather(others, values, table, mu, place, gathered, spread):  # type: ignore[no-untyped-def]
    """Lay (z, t) of each rating side by side, with t = value - mu - bias in the place of the bias."""
    width = gathered.shape[1]
    for r in range(len(others)):
        other = others[r]
        for f in range(width):
            gathered[r, f] = table[other, f]
        for f in range(width):
            spread[f] += table[other, width + f]
        gathered[r, place] = values[r] - mu - gathered[r, place]


@njit(cache=True, nogil=True)
def _solve_row(sums, spread, noise, ridge, mean, variance):  # type: ignore[no-untyped-def]
    """Solve one row from the sums of its (z, t); return its expected sum of squared errors.

    Cholesky's factor of the sums with t as their last row holds the half-solved right-hand side in that row, and what
    is left of t . t is the penalised residual.
    """
    n = len(ridge)
    for f in range(n):
        sums[f, f] += spread[f] + ridge[f]
        variance[f] = noise / sums[f, f]
    error = _factor(sums, n) + spread[n]
    for f in range(n - 1, -1, -1):
        mean[f] = sums[n, f] / sums[f, f]
        for g in range(f):
            sums[n, g] -= sums[f, g] * mean[f]
        error += noise - ridge[f] * (mean[f] * mean[f] + variance[f])
    return error


@njit(cache=True, nogil=True, inline="always")
def _factor(sums, n):  # type: ignore[no-untyped-def]
    """Make the lower triangle Cholesky's L, row by row; return what is left of the last diagonal element."""
    for i in range(n + 1):
        for j in range(i):
            sums[i, j] = (sums[i, j] - ordered_dot(sums, i, sums, j, j)) / sums[j, j]
        left = sums[i, i] - ordered_dot(sums, i, sums, i, i)
        sums[i, i] = np.sqrt(max(left, np.float32(1e-20)))
    return max(left, np.float32(0))
