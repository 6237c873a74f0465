import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import small_ratings

from recloak._attacks.knowledge import draw_clues
from recloak._attacks.model import Knowledge
from recloak._core.errors import InputError, OptionError
from recloak._ratings.model import Ratings


@given(small_ratings(), st.integers(1, 9), st.integers(1, 20))
def test_clues_are_true_distinct_and_as_many_as_known(ratings, known, n_targets):
    clues = draw_clues(ratings, Knowledge(known=known), n_targets=n_targets, rng=3)
    assert clues.n_targets == min(n_targets, ratings.n_users)
    assert len(set(clues.targets.tolist())) == clues.n_targets
    for t, user in enumerate(clues.targets):
        places = slice(clues.indptr[t], clues.indptr[t + 1])
        row = ratings.row(int(user))
        truth = dict(zip(ratings.items[row].tolist(), ratings.values[row].tolist(), strict=True))
        items = clues.items[places].tolist()
        assert len(set(items)) == len(items) == min(known, len(truth))
        assert clues.ratings[places].tolist() == [truth[item] for item in items]


@given(small_ratings(), st.integers(0, 2**32))
def test_the_same_seed_draws_the_same_clues(ratings, seed):
    one, two = (draw_clues(ratings, Knowledge(known=2), n_targets=5, rng=seed) for _ in range(2))
    assert np.array_equal(one.items, two.items)
    assert np.array_equal(one.targets, two.targets)


@given(small_ratings(max_items=6))
def test_wrong_items_were_never_rated_by_the_target(ratings):
    clues = draw_clues(ratings, Knowledge(known=2, wrong_items=1), n_targets=5, rng=0)
    for t, user in enumerate(clues.targets):
        rated = set(ratings.items[ratings.row(int(user))].tolist())
        if len(rated) < ratings.n_items:
            known = clues.items[clues.indptr[t] : clues.indptr[t + 1]].tolist()
            assert len(set(known) - rated) == 1


@given(small_ratings(), st.integers(1, 2))
def test_noise_keeps_ratings_inside_the_scale(ratings, steps):
    exact = draw_clues(ratings, Knowledge(known=20), n_targets=99, rng=0)
    noisy = draw_clues(ratings, Knowledge(known=20, noise=steps), n_targets=99, rng=0)
    assert noisy.ratings.min() >= ratings.scale.low
    assert noisy.ratings.max() <= ratings.scale.high
    assert len(noisy.ratings) == len(exact.ratings)


def test_rare_items_lie_outside_the_most_rated():
    n_users, n_items = 30, 150
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    keep = items < n_items - users  # item i is rated by about n_items - i users, the first ones by all
    ratings = Ratings.from_arrays(users[keep], items[keep], np.ones(keep.sum()))
    top = set(np.argsort(-ratings.popularity, kind="stable")[:100].tolist())
    rare = draw_clues(ratings, Knowledge(known=3, drawn="rare-100"), n_targets=30, rng=0)
    popular = draw_clues(ratings, Knowledge(known=3, drawn="popular"), n_targets=30, rng=0)
    assert not top & set(rare.items.tolist())
    assert set(popular.items.tolist()) <= top


def test_times_within_some_days():
    truth = [10**6, 2 * 10**6, 3 * 10**6]
    ratings = Ratings.from_arrays([0, 0, 1], [0, 1, 1], [1.0, 2.0, 3.0], truth)
    exact = draw_clues(ratings, Knowledge(known=2, days=0), n_targets=2, rng=0)
    near = draw_clues(ratings, Knowledge(known=1, days=3), n_targets=2, rng=0)
    assert exact.times is not None
    assert set(exact.times.tolist()) == set(truth)
    assert near.times is not None
    assert all(min(abs(time - true) for true in truth) <= 3 * 86_400 for time in near.times)


def test_times_cannot_be_known_where_there_are_none():
    ratings = Ratings.from_arrays([0, 1], [0, 1], [1.0, 2.0])
    with pytest.raises(InputError, match="carry none"):
        draw_clues(ratings, Knowledge(days=3), n_targets=1, rng=0)


def test_nobody_has_rare_items_where_there_are_few_items():
    ratings = Ratings.from_arrays([0, 1], [0, 1], [1.0, 2.0])
    with pytest.raises(InputError, match="rare-500"):
        draw_clues(ratings, Knowledge(drawn="rare-500"), n_targets=1, rng=0)


def test_nonsense_is_refused():
    with pytest.raises(OptionError, match="known must be at least 1"):
        Knowledge(known=0)
    with pytest.raises(OptionError, match="drawn must be one of"):
        Knowledge(drawn="often")


def test_knowledge_is_said_in_words():
    knowledge = Knowledge(known=8, drawn="rare-500", noise=1, wrong_items=2, days=14)
    assert knowledge.sentence() == (
        "knows 8 of the target's ratings (items outside the 500 most rated), each off by up to 1 step, "
        "2 of the items wrong, with times within 14 days"
    )
