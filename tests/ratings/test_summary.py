"""What is in a data set."""

import json

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import small_ratings

from recloak._core.errors import InputError
from recloak._ratings import summary
from recloak._ratings.model import Ratings, Scale
from recloak._ratings.summary import summarise


@given(small_ratings(timed=True))
def test_the_summary_agrees_with_a_plain_count(ratings):
    found = summarise(ratings)
    table = ratings.to_polars()
    assert (found.n_users, found.n_items) == (table["user"].n_unique(), table["item"].n_unique())
    assert found.n_ratings == len(table)
    assert found.mean_rating == pytest.approx(table["rating"].mean())
    assert {bar.low: bar.n for bar in found.histogram if bar.n} == dict(table["rating"].value_counts().iter_rows())
    assert found.activity.largest == table.group_by("user").len()["len"].max()
    assert found.popularity.smallest == table.group_by("item").len()["len"].min()
    assert found.times is not None
    assert (found.times.first, found.times.last) == (table["time"].min(), table["time"].max())


def test_blocks_change_nothing(monkeypatch):
    stream = np.random.default_rng(3)
    ratings = Ratings.from_arrays(
        np.arange(1000) % 40, np.arange(1000) % 77, stream.integers(1, 6, 1000), np.arange(1000)
    )
    whole = summarise(ratings)
    monkeypatch.setattr(summary, "_BLOCK", 7)
    assert summarise(ratings) == whole


def test_percentiles_are_counts_that_occur():
    ratings = Ratings.from_arrays(["a", "b", "b", "b"], [1, 1, 2, 3], [5, 5, 5, 5])
    activity = summarise(ratings).activity
    assert (activity.mean, activity.smallest, activity.largest) == (2, 1, 3)
    assert (activity.at(50), activity.at(75)) == (1, 3)


def test_the_most_rated_items_hold_their_share():
    # One item rated by all 99 users, 101 items rated once by user 0.
    users, items = [*range(99), *([0] * 101)], [*([0] * 99), *range(1, 102)]
    found = summarise(Ratings.from_arrays(users, items, np.ones(200)))
    assert dict(found.top_shares) == {100: pytest.approx((99 + 99) / 200)}


def test_half_stars_and_a_zero_each_have_a_bar():
    found = summarise(Ratings.from_arrays([1, 2, 3], [1, 1, 1], [0.0, 0.5, 1.5]))
    assert [(bar.low, bar.high, bar.n) for bar in found.histogram] == [
        (0, 0, 1),
        (0.5, 0.5, 1),
        (1, 1, 0),
        (1.5, 1.5, 1),
    ]


def test_a_scale_without_steps_is_drawn_in_bins_that_hold_everything():
    values = np.linspace(0, 1, 1001) ** 2 * np.pi
    found = summarise(Ratings.from_arrays(np.arange(1001), np.zeros(1001, int), values))
    assert len(found.histogram) == 20
    assert sum(bar.n for bar in found.histogram) == 1001
    assert sum(bar.share for bar in found.histogram) == pytest.approx(1)
    width = np.pi / 20
    assert found.histogram[0].n == (values <= width).sum()


def test_one_single_rating_is_a_data_set():
    found = summarise(Ratings.from_arrays(["a"], ["x"], [4], scale=Scale(1, 5)))
    assert (found.density, found.histogram[3].share, found.times) == (1, 1, None)


def test_years_are_counted_in_utc():
    new_year = 1_104_537_600  # 2005-01-01T00:00:00Z
    found = summarise(Ratings.from_arrays([1, 2, 3], [1, 1, 1], [1, 2, 3], [new_year - 1, new_year, new_year + 1]))
    assert found.times is not None
    assert found.times.years == ((2004, 1), (2005, 2))
    assert found.times.to_json()["first"] == "2004-12-31T23:59:59Z"


def test_a_time_beyond_the_calendar_stays_a_number():
    assert summary.iso_time(10**15) == str(10**15)


def test_repeated_rows_are_told():
    found = summarise(Ratings.from_arrays([1, 1], [1, 1], [2, 3]))
    assert (found.n_rows, found.n_ratings, found.n_repeated) == (2, 1, 1)


def test_the_summary_is_plain_json():
    found = summarise(Ratings.from_arrays([1, 2], [1, 2], [2, 3], [0, 1])).to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["activity"]["percentiles"]["99.9"] == 1


def test_no_ratings_are_refused():
    ratings = Ratings.from_arrays([1], [1], [2])
    with pytest.raises(InputError, match="no ratings"):
        summarise(ratings.where(np.array([False])))
