"""Beliefs about links: a naive regression beside ours, and no worse than popularity where rows say nothing."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.attacks.attack_values import OWN
from tests.attacks.test_leaks import world  # noqa: F401 (a fixture)

from recloak._attacks.auditing import audit
from recloak._attacks.group_likelihood import group_model_of
from recloak._attacks.link import best_bets, bets_right, betting_on_the_popular, link
from recloak._attacks.link_beliefs import _regression, learned_beliefs, posteriors
from recloak._attacks.model import Public
from recloak._attacks.place_links import learn_places, log_odds
from recloak._ratings.model import Ratings, Scale


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


def test_people_whose_groups_have_a_like_row_tell_what_is_rated_where_choice_follows_taste():
    rng = np.random.default_rng(3)
    n_groups, k, n_items = 200, 4, 60
    places, items = rng.normal(0, 1, (n_groups, 2)), rng.normal(0, 1, (2, n_items))
    chance = np.clip(0.15 + 0.1 * places @ items, 0.02, 0.9)
    rated = rng.random((n_groups * k, n_items)) < np.repeat(chance, k, axis=0)
    users, chosen = np.nonzero(rated)
    ratings = Ratings.from_arrays(users, chosen, rng.integers(1, 6, len(users)), scale=Scale(1, 5, 1))
    owner = np.repeat(np.arange(n_groups), k)[np.unique(users)].astype(np.int32)
    holders = np.arange(n_groups, dtype=np.int32)
    starts, codes = np.arange(n_items + 1) * n_groups, np.zeros(n_groups * n_items, np.uint8)
    weights, labels = np.full(n_groups, k), np.array([3], np.float32)
    public = Public(n_items, starts, holders, codes, labels, weights, owner, Scale(1, 5, 1))
    model: Any = SimpleNamespace(places=places, popularity=rated.mean(axis=0), public=public)
    learned = learn_places(model, ratings, 1)
    mine = np.arange(0, n_groups, 2)
    told = learned.beyond_popularity(mine)
    truth = chance[mine] - chance.mean(axis=0)
    assert np.corrcoef(told.ravel(), truth.ravel())[0, 1] > 0.8
    half = np.flatnonzero(np.arange(n_groups) // 2 % 2)[:5] | 1
    others = learned.given[half] @ learned.weights[1]  # of part 1, so by part 0
    least = np.maximum(0.1 * learned.popularity, 1e-4)
    shown = np.clip(learned.popularity + others, least, 0.98)
    assert learned.crossed().beyond_popularity(half) == pytest.approx(log_odds(shown) - log_odds(learned.popularity))
    few: Any = SimpleNamespace(places=places[:6], popularity=model.popularity, public=SimpleNamespace(n_profiles=6))
    assert not learn_places(few, ratings, 0).beyond_popularity(np.arange(6)).any()
