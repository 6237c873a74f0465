"""Synthetic ratings keep their counts, scale and span, and the same seed gives the same bytes."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core.errors import OptionError
from recloak._ratings.synthetic.options import SynthOptions
from recloak._ratings.synthetic.presets import PRESETS
from recloak._ratings.synthetic.rating_stream import synthesise


@pytest.fixture(scope="module")
def tiny():
    return synthesise(SynthOptions(preset="tiny"), rng=1)


def test_a_preset_has_exactly_its_users_items_and_ratings(tiny):
    shape = PRESETS["tiny"]
    assert tiny.shape == (shape.n_users, shape.n_items)
    assert tiny.n_ratings == shape.n_ratings
    assert tiny.activity.min() >= 1
    assert tiny.popularity.min() >= 1


def test_no_pair_is_repeated(tiny):
    assert tiny.intake.n_repeated == 0


def test_ratings_are_whole_stars_and_meet_the_histogram(tiny):
    shares = np.array([(tiny.values == star).mean() for star in range(1, 6)])
    assert shares.sum() == pytest.approx(1)
    assert np.abs(shares - PRESETS["tiny"].histogram).max() < 0.002


def test_times_lie_in_the_span(tiny):
    ticks = PRESETS["tiny"].clock.ticks
    assert tiny.times.min() >= ticks[0]
    assert tiny.times.max() <= ticks[-1]


@settings(max_examples=15)
@given(st.integers(1, 60), st.integers(1, 40), st.floats(0, 1), st.sampled_from(sorted(PRESETS)), st.integers(0, 99))
def test_any_sizes_are_met_exactly(n_users, n_items, fullness, preset, seed):
    least, most = max(n_users, n_items), max(n_users * n_items // 2, n_users, n_items)
    n_ratings = least + int(fullness * (most - least))
    options = SynthOptions(preset=preset, users=n_users, items=n_items, ratings=n_ratings)
    made = synthesise(options, rng=seed)
    assert made.shape == (n_users, n_items)
    assert made.n_ratings == n_ratings
    assert made.intake.n_repeated == 0
    assert made.activity.min() >= 1
    assert made.popularity.min() >= 1


def test_another_seed_gives_other_ratings(tiny):
    other = synthesise(SynthOptions(preset="tiny"), rng=2)
    assert not np.array_equal(tiny.items, other.items)


def test_the_preset_is_tiny_by_default_and_netflix_where_only_sizes_are_given():
    assert SynthOptions().shape is PRESETS["tiny"]
    assert SynthOptions(users=1000, items=100, ratings=5000).shape is PRESETS["netflix"]


def test_more_users_mean_more_ratings():
    assert SynthOptions(preset="tiny", users=1000).sizes == (1000, 200, 20_000)


@pytest.mark.parametrize(
    ("given_options", "sentence"),
    [
        ({"preset": "imdb"}, "preset must be one of tiny, ml-1m, netflix, music, shop, got 'imdb'"),
        ({"users": 0}, "users must be at least 1, got 0"),
        (
            {"users": 10, "items": 30, "ratings": 20},
            "ratings must be at least 30, one for each user and each item, got 20",
        ),
        ({"users": 10, "items": 10, "ratings": 60}, "ratings must be at most half of users x items, 50, got 60"),
    ],
)
def test_bad_options_get_one_sentence(given_options, sentence):
    with pytest.raises(OptionError, match=sentence):
        SynthOptions(**given_options)


def test_popular_items_are_rated_higher_and_taste_decides_what_is_rated(tiny):
    frame = pl.DataFrame({"item": tiny.items, "rating": tiny.values})
    means = frame.group_by("item").agg(pl.len(), pl.col("rating").mean()).filter(pl.col("len") >= 5)
    assert np.corrcoef(np.log(means["len"]), means["rating"])[0, 1] > 0.1
