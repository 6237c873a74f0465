"""The frozen value: its shape, its views, and what can be made of it."""

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import small_ratings

from recloak._core.errors import InputError
from recloak._ratings.model import Ratings, Scale


@given(ratings=small_ratings(timed=True))
def test_a_table_of_the_ratings_makes_the_same_ratings(ratings):
    again = Ratings.from_table(ratings.to_polars())
    assert again.to_polars().equals(ratings.to_polars())
    assert again.user_ids == ratings.user_ids
    assert again.scale == ratings.scale


@given(ratings=small_ratings(timed=True))
def test_columns_hold_the_same_ratings_as_rows(ratings):
    columns = ratings.by_item()
    dense = ratings.matrix.toarray()
    for item in range(ratings.n_items):
        part = slice(columns.indptr[item], columns.indptr[item + 1])
        assert columns.users[part].tolist() == np.flatnonzero(dense[:, item]).tolist()
        assert columns.values[part].tolist() == dense[columns.users[part], item].tolist()
    assert np.diff(columns.indptr).tolist() == ratings.popularity.tolist()


@given(ratings=small_ratings(timed=True))
def test_ratings_until_a_time_keep_users_and_items(ratings):
    assert ratings.times is not None
    middle = int(np.median(ratings.times))
    early = ratings.until(middle)
    assert early.shape == ratings.shape
    assert early.n_ratings == (ratings.times <= middle).sum()
    rows = early.compact().to_polars().rows()
    assert rows == early.to_polars().rows() == [row for row in ratings.to_polars().rows() if row[3] <= middle]
    assert (early.compact().activity > 0).all()
    assert (early.compact().popularity > 0).all()


def test_the_arrays_cannot_be_written():
    ratings = Ratings.from_arrays([1, 2], [1, 1], [3, 4], [5, 6])
    for array in (ratings.indptr, ratings.items, ratings.values, ratings.times):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0  # type: ignore[index]


def test_ratings_without_times_cannot_be_cut_by_time():
    with pytest.raises(InputError, match="these ratings carry no times"):
        Ratings.from_arrays([1], [1], [1]).until(3)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1, 5, 3], Scale(1, 5, 1)),
        ([0.5, 5], Scale(0.5, 5, 0.5)),
        ([0, 10], Scale(0, 10, 1)),
        ([0.1, 0.7], Scale(0.1, 0.7, 0.1)),
        ([1, np.pi], Scale(1, np.pi, None)),
        ([4, 4], Scale(4, 4, 1)),
    ],
)
def test_the_scale_is_seen_in_the_ratings(values, scale):
    seen = Ratings.from_arrays([1, 2, 3][: len(values)], [1] * len(values), values).scale
    assert (seen.low, seen.high) == pytest.approx((scale.low, scale.high))
    assert seen.step == scale.step


def test_density_and_users():
    ratings = Ratings.from_arrays([1, 1, 2], [1, 2, 1], [1, 1, 1])
    assert ratings.density == 3 / 4
    assert ratings.users().tolist() == [0, 0, 1]
    assert ratings.row(1) == slice(2, 3)
