"""Every algorithm of a leaderboard beside the few lines that define it."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from recloak._core.randomness import Randomness
from recloak._evaluation.fidelity.biases import fit_biases
from recloak._evaluation.fidelity.configurations import RANKING, RATING
from recloak._evaluation.fidelity.implicit_factors import solve_side
from recloak._evaluation.fidelity.nearest_columns import nearest_of
from recloak._evaluation.fidelity.ranking_models import fit_ease, fit_item_cosines, fit_singular, fit_user_cosines
from recloak._evaluation.fidelity.rating_models import (
    fit_item_neighbours,
    fit_least_squares,
    fit_user_neighbours,
)
from recloak._evaluation.fidelity.sparse_linear import sparse_weights
from recloak._evaluation.fidelity.training import Training, gram
from recloak._ratings.model import Ratings


def draw_ratings(seed=0, n_users=30, n_items=20, share=0.4):
    draw = np.random.default_rng(seed)
    users, items = np.nonzero(draw.random((n_users, n_items)) < share)
    return Ratings.from_arrays(users, items, draw.integers(1, 6, len(users)).astype(np.float32))


RATINGS = draw_ratings()
TRAINING = Training(RATINGS, Randomness(1))
LIKED = TRAINING.liked.toarray()


def every_cell():
    rows, items = np.meshgrid(np.arange(RATINGS.n_users), np.arange(RATINGS.n_items), indexing="ij")
    return rows.ravel(), items.ravel()


def test_there_are_at_least_twelve_of_each_and_five_quick_ones():
    for configurations in (RATING, RANKING):
        assert len(configurations) >= 12
        assert len({one.name for one in configurations}) == len(configurations)
        assert sum(one.is_quick for one in configurations) == 5


def test_an_infinite_ridge_leaves_a_side_out():
    item_means = fit_biases(RATINGS, user_ridge=np.inf, item_ridge=0.0)
    table = RATINGS.to_polars()
    for item in range(RATINGS.n_items):
        ratings = RATINGS.values[RATINGS.items == item]
        assert item_means.predict(np.array([0]), np.array([item]))[0] == pytest.approx(ratings.mean(), abs=1e-6)
    whole = fit_biases(RATINGS, user_ridge=np.inf, item_ridge=np.inf).predict(np.array([3]), np.array([3]))
    assert whole[0] == pytest.approx(table["rating"].mean())


def test_biases_are_where_their_equations_hold():
    found = fit_biases(RATINGS, user_ridge=10.0, item_ridge=5.0)
    for user in range(RATINGS.n_users):
        row = RATINGS.row(user)
        left = RATINGS.values[row] - found.mu - found.item[RATINGS.items[row]]
        assert found.user[user] == pytest.approx(left.sum() / (len(left) + 10.0), abs=1e-5)


def naive_neighbours(table, n):
    """Predict the lift of every cell of a dense table with nan for missing, columns compared by cosine."""
    filled = np.nan_to_num(table)
    lengths = np.sqrt((filled**2).sum(axis=0))
    lifts = np.zeros_like(filled)
    for i in range(table.shape[1]):
        cosines = filled.T @ filled[:, i] / lengths / lengths[i]
        cosines[i] = 0
        near = np.argsort(-cosines, kind="stable")[:n]
        for u in range(len(table)):
            has = [j for j in near if not np.isnan(table[u, j]) and cosines[j] > 0]
            total = sum(cosines[j] * table[u, j] for j in has)
            lifts[u, i] = total / (1 + sum(cosines[j] for j in has))
    return lifts


def residual_table():
    table = np.full(RATINGS.shape, np.nan)
    table[RATINGS.users(), RATINGS.items] = TRAINING.residuals.data
    return table


def test_item_neighbours_are_the_weighted_mean_over_the_nearest_items():
    rows, items = every_cell()
    lift = fit_item_neighbours(TRAINING, n=4)(rows, items) - TRAINING.biases.predict(rows, items)
    assert lift.reshape(RATINGS.shape) == pytest.approx(naive_neighbours(residual_table(), 4), abs=1e-4)


def test_user_neighbours_are_the_same_with_the_sides_exchanged():
    rows, items = every_cell()
    lift = fit_user_neighbours(TRAINING, n=4)(rows, items) - TRAINING.biases.predict(rows, items)
    assert lift.reshape(RATINGS.shape) == pytest.approx(naive_neighbours(residual_table().T, 4).T, abs=1e-4)


def test_least_squares_end_where_their_equations_hold():
    predict = fit_least_squares(TRAINING, rank=2, ridge=3.0, rounds=300)
    rows, items = every_cell()
    table = predict(rows, items).reshape(RATINGS.shape) - TRAINING.biases.mu
    # At the minimum the gradient is zero: X^T (R - X Y) = ridge Y, so that X^T E Y^T is symmetric and X^T X = Y Y^T.
    error = np.zeros(RATINGS.shape)
    error[RATINGS.users(), RATINGS.items] = RATINGS.values - TRAINING.biases.mu - table[RATINGS.users(), RATINGS.items]
    left, sizes, right = np.linalg.svd(table)
    rank = int((sizes > 1e-3).sum())
    assert rank <= 4
    assert left[:, :1].T @ error @ right[:1].T == pytest.approx(3.0, rel=0.05)


def test_the_products_of_columns_do_not_depend_on_how_full_the_table_is():
    for share in (0.05, 0.9):
        table = scipy.sparse.random_array((15, 12), density=share, rng=np.random.default_rng(2), dtype=np.float32)
        dense = table.toarray()
        assert gram(table.tocsr()) == pytest.approx(dense.T @ dense, abs=1e-5)


def test_the_nearest_are_those_of_a_full_sort():
    similarity = np.random.default_rng(3).integers(-3, 4, (40, 25)).astype(np.float32)
    near, values = nearest_of(similarity, 6)
    for row in range(40):
        expected = np.argsort(-similarity[row], kind="stable")[:6]
        assert values[row].tolist() == np.maximum(similarity[row, expected], 0).tolist()
        assert similarity[row, near[row]].tolist() == similarity[row, expected].tolist()


def test_ease_is_the_closed_form():
    inverse = np.linalg.inv(LIKED.T @ LIKED + 5.0 * np.eye(LIKED.shape[1]))
    weights = np.eye(LIKED.shape[1]) - inverse / np.diag(inverse)[None, :]
    np.fill_diagonal(weights, 0)
    assert fit_ease(TRAINING, ridge=5.0)(np.arange(30)) == pytest.approx(LIKED @ weights, abs=1e-3)


def test_item_and_user_cosines_weigh_what_is_liked():
    def cosines(table):
        sizes = np.sqrt((table**2).sum(axis=0))
        found = table.T @ table / np.maximum(np.outer(sizes, sizes), 1e-12)
        np.fill_diagonal(found, 0)
        return found

    everyone = np.arange(30)
    assert fit_item_cosines(TRAINING, n=20)(everyone) == pytest.approx(LIKED @ cosines(LIKED), abs=1e-4)
    assert fit_user_cosines(TRAINING, n=30)(everyone) == pytest.approx(cosines(LIKED.T) @ LIKED, abs=1e-4)


def test_singular_vectors_project_a_row():
    _, _, vectors = np.linalg.svd(LIKED)
    assert fit_singular(TRAINING, rank=3)(np.arange(30)) == pytest.approx(LIKED @ vectors[:3].T @ vectors[:3], abs=1e-3)


def test_implicit_rows_solve_their_equations():
    draw = np.random.default_rng(4)
    others, mine = draw.standard_normal((20, 5)).astype(np.float32), np.zeros((30, 5), np.float32)
    solve_side(TRAINING.liked, mine, others, ridge=2.0, confidence=3.0, steps=30)
    for row in range(30):
        own = others[LIKED[row] > 0]
        matrix = others.T @ others + 3.0 * own.T @ own + 2.0 * np.eye(5)
        assert mine[row] == pytest.approx(np.linalg.solve(matrix, 4.0 * own.sum(axis=0)), abs=1e-3)


def test_slim_weights_are_those_of_a_general_solver():
    together = (LIKED.T @ LIKED).astype(np.float32)
    near = np.array([[j for j in range(20) if j != i][:6] for i in range(20)], np.int32)
    found = sparse_weights(together, near, ridge=4.0, lasso=0.5, sweeps=200)
    for item in (0, 7, 19):
        part = LIKED[:, near[item]]

        def loss(w, item=item, part=part):
            return ((LIKED[:, item] - part @ w) ** 2).sum() / 2 + 2.0 * (w**2).sum() + 0.5 * w.sum()

        best = scipy.optimize.minimize(loss, np.zeros(6), bounds=[(0, None)] * 6)
        assert found[item] == pytest.approx(best.x, abs=1e-3)


def test_every_configuration_predicts_finite_numbers():
    rows, items = every_cell()
    for one in RATING:
        assert np.isfinite(one.fit(TRAINING)(rows, items)).all(), one.name
    for other in RANKING:
        assert other.fit(TRAINING)(np.arange(30)).shape == (30, 20), other.name
