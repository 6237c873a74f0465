"""Where the factorisation starts: biases, and the main directions of what they leave over.

A random start needs several rounds to find the directions; subspace iteration on the residuals finds them at a fraction
of the cost (Halko, Martinsson & Tropp 2011, algorithm 4.4). Users and items are weighted by the inverse fourth root of
their number of ratings, so that the heaviest do not decide alone.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._releases.row_solver import RatingRows, even_blocks

BIAS_RIDGE = np.float32(5.0)  # a bias is drawn towards 0 as if by so many ratings of 0

Biases = tuple[NDArray[np.float32], NDArray[np.float32]]


def start_biases(by_user: RatingRows, by_item: RatingRows, mu: float, rounds: int) -> Biases:
    """Fit ``r_ui = mu + b_u + b_i`` in turns, each bias drawn towards 0."""
    user_bias = np.zeros(len(by_user), np.float32)
    item_bias = np.zeros(len(by_item), np.float32)
    for _ in range(rounds):
        item_bias = ridge_means(by_item, mu, user_bias)
        user_bias = ridge_means(by_user, mu, item_bias)
    return user_bias, item_bias


def ridge_means(rows: RatingRows, mu: float, other_bias: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return each row's mean residual, drawn towards 0."""
    sums = residual_product(rows, mu, np.zeros(len(rows), np.float32), other_bias, None)[:, 0]
    return (sums / (rows.counts + BIAS_RIDGE)).astype(np.float32)


def start_directions(
    by_user: RatingRows, by_item: RatingRows, mu: float, biases: Biases, guess: NDArray[np.float32], rounds: int
) -> NDArray[np.float32]:
    """Return orthonormal item directions (n_items, rank) that hold most of the residuals, from a first guess."""
    user_bias, item_bias = biases
    user_weight, item_weight = row_weights(by_user), row_weights(by_item)
    directions = guess
    for _ in range(rounds):
        per_user = residual_product(by_user, mu, user_bias, item_bias, item_weight * directions)
        per_item = residual_product(by_item, mu, item_bias, user_bias, user_weight**2 * per_user)
        directions = orthonormal(item_weight * per_item)
    return directions


def row_weights(rows: RatingRows) -> NDArray[np.float32]:
    """Return the weight of each row, as a column."""
    return inverse_fourth_root(rows.counts)


def inverse_fourth_root(counts: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return ``max(count, 1)^(-1/4)`` as a column, by square roots, which every processor rounds alike."""
    return (1 / np.sqrt(np.sqrt(np.maximum(counts, 1)))).astype(np.float32)[:, None]


def residual_product(
    rows: RatingRows,
    mu: float,
    own_bias: NDArray[np.float32],
    other_bias: NDArray[np.float32],
    directions: NDArray[np.float32] | None,
) -> NDArray[np.float32]:
    """Multiply the matrix of residuals by the other side's directions, by a column of ones where there are none."""
    if directions is None:
        directions = np.ones((len(other_bias), 1), np.float32)
    product = np.zeros((len(rows), directions.shape[1]), np.float32)
    arrays = rows.indptr, rows.others, rows.values, own_bias, other_bias
    in_shares(_multiply, len(rows.values), even_blocks(rows), *arrays, np.float32(mu), directions, product)
    return product


@njit(cache=True, nogil=True)
def _multiply(share, n_shares, blocks, indptr, others, values, own_bias, other_bias, mu, directions, product):  # type: ignore[no-untyped-def]
    for block in range(share, len(blocks) - 1, n_shares):
        for row in range(blocks[block], blocks[block + 1]):
            for r in range(indptr[row], indptr[row + 1]):
                rest = values[r] - mu - own_bias[row] - other_bias[others[r]]
                for f in range(product.shape[1]):
                    product[row, f] += rest * directions[others[r], f]


def _dot(one: NDArray[np.float64], other: NDArray[np.float64]) -> np.float64:
    """Multiply two vectors, adding up one after the other: not in the order that a processor happens to like."""
    return np.float64(0) + np.cumsum(one * other)[-1]


def orthonormal(directions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Make the columns orthonormal, one after the other; one that adds nothing becomes zero (Gram and Schmidt)."""
    columns = np.array(directions.T, np.float64, order="C")
    for f, column in enumerate(columns):
        before = np.sqrt(_dot(column, column))
        for again in range(2 * f):  # twice, for what rounding left behind
            other = columns[again % f]
            column -= _dot(column, other) * other  # noqa: PLW2901 (in place)
        size = np.sqrt(_dot(column, column))
        column *= 1 / size if size > 1e-5 * before else 0.0  # noqa: PLW2901 (in place)
    return np.ascontiguousarray(columns.T, np.float32)
