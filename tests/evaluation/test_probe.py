"""Held-out ratings: nothing leaks, nobody is emptied."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import small_ratings

from recloak._core.errors import InputError, OptionError
from recloak._evaluation.holdout import hold_out, probe_from
from recloak._ratings.model import Ratings


def pairs(users, items):
    return set(zip(users.tolist(), items.tolist(), strict=True))


@settings(max_examples=60)
@given(small_ratings(), st.floats(0.05, 0.95), st.integers(0, 5))
def test_a_split_never_leaks_and_leaves_everyone_a_rating(ratings, share, seed):
    try:
        rest, probe = hold_out(ratings, share, rng=seed)
    except InputError:
        return  # every rating is the only one of its user or item
    assert pairs(rest.users(), rest.items).isdisjoint(pairs(probe.users, probe.items))
    assert pairs(rest.users(), rest.items) | pairs(probe.users, probe.items) == pairs(ratings.users(), ratings.items)
    assert rest.activity.min() >= 1
    assert rest.popularity.min() >= 1
    assert rest.shape == ratings.shape
    assert len(probe) <= round(share * ratings.n_ratings)


def test_held_out_ratings_keep_their_values():
    ratings = Ratings.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [1.0, 2.0, 3.0, 5.0])
    _, probe = hold_out(ratings, 0.5, rng=3)
    for user, item, value in zip(probe.users, probe.items, probe.values, strict=True):
        assert value == [[1.0, 2.0], [3.0, 5.0]][user][item]


def test_nothing_to_hold_out_is_said():
    with pytest.raises(InputError, match="nothing can be held out"):
        hold_out(Ratings.from_arrays([0, 1], [0, 1], [1.0, 2.0]), 0.9, rng=1)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_a_share_outside_its_bounds_is_refused(share):
    with pytest.raises(OptionError, match="between 0 and 1"):
        hold_out(Ratings.from_arrays([0, 1], [0, 1], [1.0, 2.0]), share)


def test_a_probe_takes_the_numbers_of_the_source_and_leaves_strangers_out():
    source = Ratings.from_arrays(["b", "c", "c"], ["x", "x", "y"], [1.0, 2.0, 3.0])
    probe = probe_from(source, Ratings.from_arrays(["b", "a", "b"], ["y", "x", "z"], [4.0, 5.0, 2.0]))
    assert (probe.users.tolist(), probe.items.tolist(), probe.values.tolist()) == ([0], [1], [4.0])
    assert probe.n_left_out == 2


def test_a_probe_that_stands_in_the_source_is_refused():
    source = Ratings.from_arrays(["b", "c"], ["x", "y"], [1.0, 2.0])
    with pytest.raises(InputError, match="1 ratings of the probe stand in the source too"):
        probe_from(source, source.where(np.array([True, False])))


def test_a_probe_of_strangers_is_refused():
    source = Ratings.from_arrays(["b", "c"], ["x", "y"], [1.0, 2.0])
    with pytest.raises(InputError, match="no rating of the probe"):
        probe_from(source, Ratings.from_arrays(["q"], ["x"], [1.0]))
