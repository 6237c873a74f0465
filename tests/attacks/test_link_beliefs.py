"""Beliefs about links: a naive regression beside ours, and no worse than popularity where rows say nothing."""

import dataclasses

import numpy as np
import pytest
from tests.attacks.attack_values import OWN
from tests.attacks.test_leaks import world  # noqa: F401 (a fixture)

from recloak._attacks.auditing import audit
from recloak._attacks.group_likelihood import group_model_of
from recloak._attacks.link import best_bets, bets_right, betting_on_the_popular, link
from recloak._attacks.link_beliefs import _regression, learned_beliefs, posteriors


def test_the_regression_leaves_no_slope():
    rng = np.random.default_rng(1)
    signs = np.column_stack((rng.normal(-2, 1, 4000), rng.normal(0, 1, 4000), np.ones(4000)))
    rated = (rng.random(4000) < 1 / (1 + np.exp(-(signs @ [0.8, 0.5, 0.3])))).astype(float)
    weights = _regression(signs, rated)
    chance = 1 / (1 + np.exp(-(signs @ weights)))
    assert np.abs(signs.T @ (rated - chance) - (weights - [1, 0, 0])).max() < 1e-2
    assert weights == pytest.approx([0.8, 0.5, 0.3], abs=0.2)


def test_where_labels_are_of_the_model_beliefs_are_popularity_and_taste(world):  # noqa: F811
    model = dataclasses.replace(group_model_of(world.model.public, world.ratings), moved=0.0)
    assert not model.shows_presence
    assert np.allclose(posteriors(model, np.array([0, 5])), model.popularity, atol=1e-6)
    targets = np.arange(0, 600, 3)
    found = link(world.model.public, world.ratings, targets, k=4)
    assert found.user.rate > betting_on_the_popular(world.ratings, targets) - 0.03
    outcome = audit(world.ratings, world.model, attacks=[OWN["link"]], rng=1).outcomes[0]
    assert outcome.verdict != "not measured"


def test_labels_moved_by_raters_make_better_bets_than_popularity(world):  # noqa: F811
    targets = np.arange(600)
    assert group_model_of(world.raters.public, world.ratings).shows_presence
    assert link(world.raters.public, world.ratings, targets, k=4).user.rate > betting_on_the_popular(
        world.ratings, targets
    )


def test_the_bets_of_each_person_are_counted(world):  # noqa: F811
    targets = np.arange(0, 600, 50)
    bets = best_bets(learned_beliefs(world.raters.public, world.ratings, world.raters.public.owner[targets]))
    right = bets_right(bets, world.ratings, targets)
    for bet, user, n in zip(bets, targets, right, strict=True):
        row = world.ratings.row(int(user))
        assert n == len(set(bet.tolist()) & set(world.ratings.items[row].tolist()))


@pytest.mark.parametrize("n_items", [4, 10, 300])
def test_bets_are_those_of_a_stable_sort(n_items):
    believed = np.random.default_rng(1).integers(0, 6, (20, n_items)).astype(np.float32)  # many ties
    believed[0, :] = -np.inf
    assert best_bets(believed).tolist() == np.argsort(-believed, axis=1, kind="stable")[:, :10].tolist()
