"""Users as points, and even bins of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._ratings.model import Ratings
from recloak._releases.bin_tree import even_bins
from recloak._releases.embed import embed, root
from recloak._releases.group import GroupOptions, crowding, group, user_weights
from recloak._releases.options import PadOptions
from recloak._releases.pad import pad
from tests.releases.test_group import padding_of, some_points


@pytest.mark.parametrize("popularity", [None, np.array([5, 0, 1, 2, 9, 3])])
def test_squared_distances_are_weighted_mean_squares_of_row_differences(popularity):
    padding = padding_of(some_points(7))
    weights = np.full(6, 1 / 6) if popularity is None else popularity / popularity.sum()
    rows, points = padding.rows(slice(None)), embed(padding, popularity)
    for u in range(7):
        expected = ((rows - rows[u]) ** 2 @ weights).tolist()
        assert ((points - points[u]) ** 2).sum(axis=1).tolist() == pytest.approx(expected, abs=1e-4)


def test_the_root_leaves_directions_of_no_variance_out():
    R = root(np.diag([4.0, 0.0, 9.0]))
    assert R.shape == (3, 2)
    assert np.allclose(R @ R.T, np.diag([4.0, 0.0, 9.0]))


def test_a_padding_without_factors_is_grouped_by_the_user_bias():
    ratings = Ratings.from_arrays(np.repeat(np.arange(8), 2), np.tile([0, 1], 8), np.repeat([1.0, 5.0], 8))
    padding = pad(ratings, PadOptions(predictor="bias"), rng=0)
    labels = group(padding, GroupOptions(k=4), ratings=ratings, rng=0).labels
    assert len(set(labels[:4])) == len(set(labels[4:])) == 1
    assert labels[0] != labels[4]


def test_a_padding_by_item_means_is_grouped_although_all_rows_are_equal():
    ratings = Ratings.from_arrays([0, 1, 2, 3, 4], [0, 1, 0, 1, 0], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert (
        group(pad(ratings, PadOptions(predictor="mean"), rng=0), GroupOptions(k=2), ratings=ratings, rng=0).n_groups
        == 2
    )


def test_crowding_is_the_residual_times_the_chance_that_an_average_user_rated_the_item():
    ratings = Ratings.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [1.0, 5.0, 1.0, 5.0])
    padding = pad(ratings, PadOptions(predictor="mean"), rng=0)
    # item means fit exactly, so there is no residual to bring in
    assert crowding(ratings, padding, np.random.default_rng(0)) == pytest.approx(0)
    off = Ratings.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [2.0, 4.0, 2.0, 4.0])
    # residual 1 everywhere, two ratings a user, two items with half of the ratings each: 1 * 2 * (1/4 + 1/4)
    assert crowding(off, padding, np.random.default_rng(0)) == pytest.approx(1.0)


def test_users_weigh_as_many_as_they_rate_one_on_average():
    assert user_weights(Ratings.from_arrays([0, 0, 0, 1], [0, 1, 2, 0], [1.0, 2.0, 3.0, 4.0])).tolist() == [1.5, 0.5]


@settings(max_examples=40)
@given(n=st.integers(1, 300), unit=st.integers(1, 6), size=st.integers(1, 50), seed=st.integers(0, 9))
def test_bins_are_even_and_begin_at_multiples_of_the_unit(n, unit, size, seed):
    order, starts = even_bins(some_points(n), size=size, unit=unit, stream=np.random.default_rng(seed))
    assert sorted(order) == list(range(n))
    assert (starts[:-1] % unit == 0).all()
    assert np.diff(starts).max() <= max(size, 2 * unit - 1)
    assert np.diff(starts).min() >= min(n, unit)


def test_a_tree_cuts_between_two_obvious_clusters():
    points = np.concatenate([some_points(20), some_points(20, seed=1) + 50])
    order, starts = even_bins(points, size=20, unit=1, stream=np.random.default_rng(0), power=3)
    assert starts.tolist() == [0, 20, 40]
    assert set(order[:20]) in ({*range(20)}, {*range(20, 40)})
