"""Logistic regression: the optimum that a general optimiser finds, and steady where signs separate or never change."""

import numpy as np
import scipy.optimize

from recloak._attacks.logistic_regression import RIDGE, regress


def case(n=300):
    chance = np.random.default_rng(5)
    signs = (chance.normal(size=(n, 4)) * [1, 20, 0.1, 0] + [0, 50, 3, 7]).astype(np.float32)
    odds = signs[:, 0] + 0.05 * (signs[:, 1] - 50) - 2
    return signs, chance.random(n) < 1 / (1 + np.exp(-odds)), chance.uniform(0.5, 3, n)


def test_the_optimum_is_that_of_a_general_optimiser():
    signs, answers, weights = case()
    rows = signs[:, :3] - np.average(signs[:, :3].astype(np.float64), axis=0, weights=weights)
    rows /= np.sqrt(np.average(rows**2, axis=0, weights=weights))

    def loss(found):
        odds = found[0] + rows @ found[1:]
        return np.sum(weights * (np.log1p(np.exp(odds)) - answers * odds)) + RIDGE / 2 * np.sum(found[1:] ** 2)

    best = scipy.optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    learned = regress(signs, answers, weights)
    np.testing.assert_allclose(learned.log_odds(signs), best[0] + rows @ best[1:], atol=1e-4)
    assert abs(learned.slopes[3]) < 1e-12  # a sign that never changes


def test_a_sign_that_tells_everything_gives_finite_odds_and_the_right_order():
    signs = np.arange(200, dtype=np.float32)[:, None]
    answers = signs[:, 0] >= 150
    odds = regress(signs, answers, np.full(200, 1000.0)).log_odds(signs)
    assert np.isfinite(odds).all()
    assert ((odds > 0) == answers).all()


def test_a_row_counts_as_often_as_its_weight_says():
    signs, answers, _ = case()
    times = np.arange(len(signs)) % 3 + 1
    counted = regress(np.repeat(signs, times, axis=0), np.repeat(answers, times), np.ones(times.sum()))
    weighted = regress(signs, answers, times.astype(np.float64))
    np.testing.assert_allclose(weighted.log_odds(signs), counted.log_odds(signs), rtol=1e-6)
