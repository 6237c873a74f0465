"""The advisor under attack: exact advice is an oracle, guarded advice is none beyond what its crowd allows."""

from functools import cache

import numpy as np
import pytest
from tests.attacks.oracle_worlds import outsiders, told, with_accounts

from recloak._mentions.oracle_guard import OracleGuard
from recloak._ratings.model import Ratings

GUARD = OracleGuard(b"0123456789abcdef")


@cache
def people(n_users=400, n_items=600, each=45, seed=3):
    """Let people rate items by popularity and taste; the rare half of the items tells them apart."""
    rng = np.random.default_rng(seed)
    weights = (np.arange(n_items) + 5.0) ** -0.8
    users, items = [], []
    for user in range(n_users):
        taste = weights * np.where(np.arange(n_items) % 8 == user % 8, 4.0, 1.0)
        users += [user] * each
        items += rng.choice(n_items, each, replace=False, p=taste / taste.sum()).tolist()
    return Ratings.from_arrays(users, items, np.full(len(users), 3.0))


def test_one_account_in_the_ratings_makes_exact_advice_an_oracle_in_two_questions():
    accuracy, _, n_asked = told(with_accounts(people(), None, 20, 1, n_known=8, n_popular=100))
    assert accuracy.rate > 0.9
    assert n_asked == 2


def test_an_ordinary_user_makes_exact_advice_an_oracle_too():
    accuracy, _, _ = told(outsiders(people(), None, 30, n_known=10, n_popular=100))
    assert accuracy.low > 0.55


def test_ordinary_users_and_single_accounts_learn_nothing_from_guarded_advice():
    for trials in (
        outsiders(people(), GUARD, 30, n_known=10, n_popular=100),
        with_accounts(people(), GUARD, 20, 1, n_known=8, n_popular=100),
    ):
        _, differ, _ = told(trials)
        assert differ <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("share", "n_accounts", "by_direction"), [(0.5, 80, False), (0.5, 80, True), (0.3, 133, True)])
def test_many_accounts_learn_no_more_of_guarded_advice_than_the_crowd_allows(share, n_accounts, by_direction):
    guard = OracleGuard(GUARD.secret, share)
    trials = with_accounts(people(), guard, 40, n_accounts, n_known=10, n_popular=100, by_direction=by_direction)
    accuracy, differ, _ = told(trials)
    assert differ > 0.1 or share < 0.5  # the attack works, or the test would tell nothing
    assert accuracy.low <= 0.5 + share / 2


def test_by_default_no_guess_about_one_person_is_right_more_often_than_0_65():
    assert 0.5 + GUARD.sample_share / 2 <= 0.65
