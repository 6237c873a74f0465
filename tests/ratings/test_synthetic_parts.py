"""The parts of synthetic data: counts, weights, draws, times, titles and mentions."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import OptionError
from recloak._ratings.model import Ratings
from recloak._ratings.synthetic.counts import balanced_weights, quantiles, shaped_counts
from recloak._ratings.synthetic.item_choice import alias_table, preassign_items
from recloak._ratings.synthetic.kernel_random import normal, uniform, walk
from recloak._ratings.synthetic.made_up_mentions import make_mentions
from recloak._ratings.synthetic.made_up_titles import make_titles
from recloak._ratings.synthetic.options import MentionOptions, SynthOptions
from recloak._ratings.synthetic.presets import PRESETS
from recloak._ratings.synthetic.rating_stream import synthesise
from recloak._ratings.synthetic.rating_times import calendar, moments

KEY = np.uint64(7)


@given(st.integers(1, 200), st.integers(1, 50), st.floats(0, 1))
def test_shaped_counts_sum_to_the_total_within_their_bounds(n, at_most, fullness):
    total = n + int(fullness * n * (at_most - 1))
    counts = shaped_counts(PRESETS["netflix"].activity, n, total, at_most=at_most, rng=np.random.default_rng(0))
    assert counts.sum() == total
    assert counts.min() >= 1
    assert counts.max() <= at_most


@pytest.mark.parametrize("curve", [PRESETS["netflix"].activity, PRESETS["ml-1m"].popularity])
def test_the_interpolated_curve_goes_through_its_quantiles(curve):
    assert quantiles(curve, np.array(curve.at)) == pytest.approx(curve.counts)


def test_an_alias_table_gives_back_its_weights():
    weight = np.array([5.0, 1.0, 0.0, 2.0])
    keep, other = alias_table(weight)
    drawn = np.clip(keep, 0, 1) / 4
    for slot in range(4):
        drawn[other[slot]] += (1 - min(keep[slot], 1)) / 4
    assert drawn == pytest.approx(weight / 8)


def test_balanced_weights_meet_both_margins():
    activity, popularity = np.full(300, 30), np.repeat([240.0, 60.0, 10.0], [20, 60, 20]) * (9000 / 8600)
    w = balanced_weights(activity, popularity)
    low, high = 0.0, 1e9
    for _ in range(200):  # theta at which each user takes 30 items
        theta = (low + high) / 2
        low, high = (theta, high) if (1 - np.exp(-theta * w)).sum() < 30 else (low, theta)
    assert 300 * (1 - np.exp(-theta * w)) == pytest.approx(popularity, rel=0.01)


def test_every_item_is_given_to_exactly_one_user_who_has_room():
    activity = np.array([3, 1, 6, 2])
    firsts = preassign_items(activity, 9, np.random.default_rng(0))
    assert sorted(firsts.items) == list(range(9))
    assert (np.diff(firsts.starts) <= activity).all()


def test_walks_are_uniform_normal_and_apart():
    uniforms = np.array([uniform(walk(KEY, number, 0)) for number in range(4000)])
    normals = np.array([normal(walk(KEY, number, 1)) for number in range(4000)])
    assert np.histogram(uniforms, 4, (0, 1))[0] == pytest.approx(np.full(4, 1000), abs=4 * math.sqrt(750))
    assert normals.mean() == pytest.approx(0, abs=4 / math.sqrt(4000))
    assert normals.std() == pytest.approx(1, abs=4 / math.sqrt(8000))
    assert abs(np.corrcoef(uniforms, normals)[0, 1]) < 4 / math.sqrt(4000)


@pytest.mark.parametrize("preset", ["ml-1m", "netflix"])
def test_ratings_arrive_at_a_constant_pace_of_x(preset):
    form = calendar(PRESETS[preset].clock)
    xs = np.concatenate([moments(form, 5, walk(KEY, user, 1)) for user in range(6000)])
    assert xs.min() >= 0
    assert xs.max() <= 1
    # Ratings of a session fall together: at worst 6,000 independent ones.
    assert np.histogram(xs, 5, (0, 1))[0] / len(xs) == pytest.approx(np.full(5, 0.2), abs=4 * math.sqrt(0.16 / 6000))


def test_titles_are_distinct_and_spelled_as_in_a_catalogue():
    titles = make_titles(3000, rng=1)
    assert len(set(titles)) == 3000
    assert pl.Series(titles).str.contains(r"^\S.* \((19|20)\d\d\)$|^\S+ \((19|20)\d\d\)$").all()
    assert any(", The (" in title for title in titles)
    assert any(": " in title for title in titles)
    assert any(" " not in title[:-7] for title in titles)
    assert titles == make_titles(3000, rng=1)


@pytest.fixture(scope="module")
def tiny():
    return synthesise(SynthOptions(preset="tiny"), rng=1)


def test_mentions_are_mostly_of_rated_items_popular_ones_and_distinct(tiny):
    mentions = make_mentions(tiny, MentionOptions(mentioners=1.0), rng=1)
    rated = tiny.to_polars().select("user", "item")
    known = mentions.join(rated.cast(mentions.select("user", "item").schema), on=["user", "item"], how="semi")
    assert len(known) / len(mentions) == pytest.approx(0.82, abs=4 * math.sqrt(0.82 * 0.18 / len(mentions)))
    assert len(mentions.unique(["user", "item"])) == len(mentions)
    popularity = tiny.popularity[tiny.item_ids.encode(mentions["item"])]
    assert popularity.mean() > (tiny.popularity**2).sum() / tiny.n_ratings


def test_the_number_of_mentions_follows_a_power_law(tiny):
    mentions = make_mentions(tiny, MentionOptions(mentioners=1.0), rng=1)
    counts = mentions.group_by("user").len()["len"].to_numpy()
    assert len(counts) == tiny.n_users
    for m in (2, 4):  # activity cuts the tail, which starts at 5
        assert (counts >= m).mean() == pytest.approx(m**-0.8, abs=4 * math.sqrt(0.25 / len(counts)))


def test_only_a_share_of_the_users_mention(tiny):
    mentions = make_mentions(tiny, MentionOptions(mentioners=0.1), rng=1)
    assert 0.04 < mentions["user"].n_unique() / tiny.n_users < 0.16


def test_mentions_keep_ids_and_scale_of_any_ratings():
    ratings = Ratings.from_arrays(["a", "a", "b"], ["x", "y", "x"], [0, 3, 2], [10, 20, 30])
    mentions = make_mentions(ratings, MentionOptions(mentioners=1.0, rated=1.0), rng=3)
    assert set(mentions["user"]) == {"a", "b"}
    assert mentions["rating"].is_between(0, 3).all()


def test_a_mentioner_who_rated_everything_mentions_fewer_others():
    ratings = Ratings.from_arrays([1, 1], [1, 2], [1, 5])
    assert len(make_mentions(ratings, MentionOptions(mentioners=1.0, rated=0.0), rng=3)) == 0


def test_bad_mention_options_get_one_sentence():
    with pytest.raises(OptionError, match="mentioners must be at most 1, got 2"):
        MentionOptions(mentioners=2)
