"""What differential privacy costs: the two baselines beside the releases of a frontier."""

import importlib.util
import math

import numpy as np
import pytest

import recloak
from recloak._attacks.frontier_risks import MEASURES
from recloak._core.errors import MissingExtraError
from recloak._core.randomness import Randomness
from recloak._evaluation import private_baselines as baselines
from recloak._evaluation import private_items as items
from recloak._evaluation.holdout import hold_out
from recloak._releases.statistics.privacy_budget import budget_for

with_library = pytest.mark.skipif(importlib.util.find_spec("opendp") is None, reason="OpenDP is not installed")


@pytest.fixture(scope="module")
def ratings():
    return recloak.synth(users=400, items=120, ratings=16_000, seed=1)


@with_library
@pytest.mark.parametrize("rho", [0.05, 0.5, 2.0])
def test_the_budget_is_inside_the_textbook_bound_and_not_far_from_it(rho):
    """Bun and Steinke 2016: rho-zCDP gives epsilon = rho + 2 sqrt(rho log(1 / delta)), which is not tight."""
    delta = 1e-5
    epsilon = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert rho <= budget_for(epsilon, delta) <= 2 * rho


@with_library
def test_one_person_moves_the_sums_by_no_more_than_the_noise_is_made_for(ratings):
    """The sums of all items with and without one person, whatever the rows are."""
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 3, (ratings.n_users, 5))
    z = np.column_stack((items._inside(rows[:, :-1]), np.ones(len(rows))))
    chosen = items._choose(ratings, rng, None)
    for user in (0, 7, int(np.argmax(ratings.activity))):
        mine = chosen.users == user
        assert mine.sum() <= items.MOST_RATINGS
        wanted = np.clip(chosen.values[mine] - rows[user, -1], -1, 1)
        square = sum((z[user] ** 2).sum() ** 2 + (t**2) * (z[user] ** 2).sum() for t in wanted)
        assert square <= items._FACTORS * items.MOST_RATINGS + 1e-9


@with_library
def test_more_budget_predicts_better_and_the_noise_hides_members(ratings):
    rest, probe = hold_out(ratings, 0.1, rng=1)
    taught = np.random.default_rng(2).random(rest.n_users) < 0.7

    def measured(epsilon):
        rng = np.random.default_rng(3)
        trained = items.train_private_items(rest, epsilon=epsilon, delta=1e-4, rng=rng, taught=taught)
        error = np.sqrt(np.mean((trained.predict(rest, probe.users, probe.items) - probe.values) ** 2))
        return error, baselines.membership_by_items(trained, rest, taught, targets=300, rng=rng)

    (poor, hidden), (good, told) = measured(0.5), measured(400.0)
    assert good < poor
    assert hidden.low <= 0.5 <= hidden.high
    assert told.value > hidden.value


def test_laplace_noise_keeps_who_rated_what_and_moves_the_values(ratings):
    noisy = baselines.with_laplace_noise(ratings, 1.0, np.random.default_rng(0))
    assert (noisy.items == ratings.items).all()
    assert (noisy.scale.low <= noisy.values).all()
    assert (noisy.values <= noisy.scale.high).all()
    assert np.abs(noisy.values - ratings.values).mean() > 0.5
    assert ratings.values.dtype == noisy.values.dtype


def test_without_the_library_the_baseline_says_so(ratings, monkeypatch):
    def missing(*_, **__):
        raise MissingExtraError("needs the extra 'statistics'")

    monkeypatch.setattr(baselines, "train_private_items", missing)
    rest, probe = hold_out(ratings, 0.1, rng=1)
    found = baselines._private_items(rest, probe, 1.0, 50, Randomness(1))
    assert (found.trained, found.measures) == (None, {})
    assert "statistics" in found.why


def test_a_frontier_shows_the_new_risks_and_what_a_theorem_costs(ratings, tmp_path):
    found = recloak.frontier(ratings, k=[4], mode=["padded"], targets=60, known=4, epsilon=[5], seed=1)
    (point,) = found.points
    assert set(MEASURES) - set(point.measures) == {"insider-items", "rare-items"}  # about purchases and plays
    assert 0 <= (point.measures["group-16"].value or 0) <= 1
    laplace, private = found.privacy_baselines
    assert (laplace.measures["membership"].value or 0) > 0.9  # noise on values hides nobody
    assert laplace.trained is not None
    assert (laplace.trained.rmse or 0) > (found.original.trained.rmse or 9)
    assert private.epsilon == 5
    found.write_page(page := tmp_path / "page.html")
    text = page.read_text()
    assert "What would a theorem cost?" in text
    assert "ratings with Laplace noise" in text
    assert {"membership", "residual"} <= set(found.to_polars().columns)


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, True])
def test_a_budget_that_promises_nothing_is_refused(ratings, epsilon):
    with pytest.raises(recloak.OptionError, match="epsilon must be more than 0"):
        recloak.frontier(ratings, k=[4], epsilon=[epsilon])
