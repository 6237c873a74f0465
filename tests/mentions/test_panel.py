"""The panel of attackers: each against its obvious form, learned on others only, and what time and opinions add."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core.errors import SourceError
from recloak._mentions import clues
from recloak._mentions.algorithms import Candidates, gains
from recloak._mentions.clues import ClueCounts, default_constants, make_pool
from recloak._mentions.identification import identify
from recloak._mentions.learned_weights import fit_weights
from recloak._mentions.mention_tables import mentions_from_table
from recloak._mentions.model import NO_TIME, Standing
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.panel import FOLDS, rank_by_panel, strongest_of
from recloak._mentions.panel_kernels import DAY, PANEL, score_all
from recloak._mentions.prediction import probabilities_of
from recloak._ratings.model import Ratings
from tests.mentions.naive_panel import NaivePanel

OPTIONS = IdentifyOptions()
KNOWN = default_constants()._replace(learned=np.array([0.7, 1.1, 0.4, 0.9]))


def pool_of(ratings):
    candidates = Candidates.of(ratings, OPTIONS)
    weights = gains(candidates.raters, candidates.n_users, OPTIONS)
    return make_pool(ratings, candidates, weights, np.ones(ratings.n_users, np.bool_))


@st.composite
def timed_worlds(draw):
    """Draw ratings with times over some years, and mentions with some times and opinions missing."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_users, n_items = draw(st.integers(3, 9)), draw(st.sampled_from([3, 12, 60]))
    cells = rng.random((n_users, n_items)) < draw(st.sampled_from([0.2, 0.6]))
    cells[np.arange(n_users), rng.integers(0, n_items, n_users)] = True
    users, items = np.nonzero(cells)
    times = rng.integers(0, draw(st.sampled_from([3, 400, 4000])) * DAY, len(users))
    ratings = Ratings.from_arrays(
        users, items, rng.integers(1, 6, len(users)).astype(float), times=times if draw(st.booleans()) else None
    )
    n = draw(st.integers(1, 6))
    said = [
        (
            int(rng.integers(ratings.n_items)),
            int(rng.integers(0, 4500 * DAY)) if rng.random() < 0.8 else None,
            float(rng.integers(0, 9)) / 2 if rng.random() < 0.6 else None,
        )
        for _ in range(n)
    ]
    return ratings, said


@settings(max_examples=60)
@given(timed_worlds())
def test_every_attacker_scores_as_its_obvious_form_does(case):
    ratings, said = case
    items = np.array([item for item, _, _ in said], np.int32)
    times = np.array([NO_TIME if time is None else time for _, time, _ in said], np.int64)
    opinions = np.array([np.nan if opinion is None else opinion for _, _, opinion in said], np.float32)
    quick = score_all(items, times, opinions, pool_of(ratings), KNOWN)
    plain = NaivePanel(ratings, KNOWN)
    if ratings.times is None:
        said = [(item, None, opinion) for item, _, opinion in said]
    for user in range(ratings.n_users):
        expected = plain.scores(user, said)
        assert dict(zip(PANEL, quick[user].tolist(), strict=True)) == pytest.approx(expected, abs=1e-6)


def forum(n_users=60, n_items=80, lag=2, seed=2, **extra):
    """Make people who rate on a day of their own and mention three of their items some days later."""
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(n_users), 20)
    items = np.concatenate([rng.choice(n_items, 20, replace=False) for _ in range(n_users)])
    times = (users * 40 * DAY + rng.integers(0, DAY, len(users))).astype(np.int64)
    values = rng.integers(1, 6, len(users)).astype(float)
    ratings = Ratings.from_arrays(users, items, values, times=times)
    chosen = np.concatenate([rng.choice(20, 3, replace=False) + 20 * u for u in range(n_users)])
    table = pl.DataFrame({"user": users[chosen], "item": items[chosen]})
    if lag is not None:
        table = table.with_columns(time=times[chosen] + lag * DAY)
    if extra.get("opinions"):
        table = table.with_columns(rating=values[chosen])
    return ratings, mentions_from_table(table, ratings)


def test_times_and_opinions_find_people_whom_titles_do_not():
    """Everybody rates a quarter of the items, so three titles are shared by many; a day of one's own is not."""
    silent = identify(*forum(lag=None)).panel
    voiced = identify(*forum(lag=None, opinions=True)).panel
    timed = identify(*forum()).panel
    assert silent.uses == ("titles",)
    assert "time" not in silent.members
    assert voiced.members["opinion"].at(1) > silent.members["likelihood_ratio"].at(1) + 0.2
    assert timed.members["learned"].at(1) > 0.9
    assert timed.strongest.at(1) >= max(rates.at(1) for rates in timed.members.values())


def test_a_lag_is_learned_from_others_whatever_it_is():
    assert identify(*forum(lag=200)).panel.members["learned"].at(1) > 0.9


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_the_strongest_is_at_least_every_attacker_at_every_k(seed):
    rng = np.random.default_rng(seed)
    standings = [Standing(rng.integers(0, 12, 30), rng.integers(0, 4, 30)) for _ in range(4)]
    bound = strongest_of(standings)
    for one in standings:
        assert bound.expected(1).sum() >= one.expected(1).sum() - 1e-9 or (one.tied > 1).any()
        listed = one.tied > 0
        assert (bound.better + bound.tied / 2)[listed].sum() <= (one.better + one.tied / 2)[listed].sum()


def test_a_target_is_compared_with_the_best_and_with_others_evenly_spaced(monkeypatch):
    monkeypatch.setattr(clues, "_RIVALS", 4)
    ratings, mentions = forum()
    others = ratings.n_users - 1
    rows = ClueCounts(pool_of(ratings), mentions, ratings)._rivals(0, KNOWN)
    assert len(rows) == 1 + 4 + math.ceil((others - 4) / (others // 4))
    assert others // 4 > 1  # or a wrong step would give the same rows


def test_nobody_helps_to_find_themselves():
    """Change what one target says: whoever is in the same fold is attacked with the same constants as before."""
    ratings, mentions = forum()
    counted = ClueCounts(pool_of(ratings), mentions, ratings)
    folds = np.arange(mentions.n_targets) % FOLDS
    before = counted.constants(folds != 0)
    times = mentions.times.copy()
    times[: mentions.indptr[1]] += 1000 * DAY
    moved = ClueCounts(pool_of(ratings), replace(mentions, times=times), ratings)
    after = moved.constants(folds != 0)
    for name in before._fields:
        assert np.array_equal(getattr(before, name), getattr(after, name))
    assert not np.array_equal(before.same_item, moved.constants(folds != 1).same_item)


def test_absent_people_are_noticed_by_the_learned_attacker():
    ratings, mentions = forum()
    found = identify(ratings, mentions, absent=0.5)
    assert found.panel.open_set is not None
    assert found.panel.open_set.precision is not None
    assert found.panel.open_set.precision > 0.8


def test_weights_find_the_clue_that_tells():
    """Of two features one is noise; the weights must use the other."""
    rng = np.random.default_rng(1)
    people = [rng.normal(size=(20, 2)) + np.array([[3.0, 0.0]] + [[0.0, 0.0]] * 19) for _ in range(200)]
    weights = fit_weights(people, np.array([1.0, 1.0]))
    assert weights[0] > 2
    assert weights[1] < 0.2


def test_the_panel_is_the_same_however_rows_are_ordered():
    ratings, mentions = forum()
    assert rank_by_panel(ratings, Candidates.of(ratings, OPTIONS), mentions, OPTIONS).weights == (
        rank_by_panel(ratings, Candidates.of(ratings, OPTIONS), mentions, OPTIONS).weights
    )


@pytest.mark.parametrize(
    ("column", "seconds"),
    [
        ([86_400], 86_400),
        (["1970-01-02"], 86_400),
        (["1970-01-02T00:00:05Z"], 86_405),
        (["86400"], 86_400),
        ([None], NO_TIME),
        (["some day"], NO_TIME),
        ([float("nan")], NO_TIME),
    ],
)
def test_times_of_mentions_are_read_as_seconds_or_dates(column, seconds):
    ratings = Ratings.from_arrays(["a"], ["x"], [3.0])
    table = pl.DataFrame({"user": ["a"], "item": ["x"], "time": column})
    assert mentions_from_table(table, ratings).times.tolist() == [seconds]


def test_an_opinion_is_a_place_on_the_scale_and_a_rating_wins():
    ratings = Ratings.from_arrays(["a", "a"], ["x", "y"], [1.0, 5.0])
    table = pl.DataFrame({"user": ["a", "a"], "item": ["x", "y"], "opinion": [-1.0, 0.5], "rating": [None, 2.0]})
    mentions = mentions_from_table(table, ratings)
    assert mentions.opinions.tolist() == [1.0, 2.0]
    with pytest.raises(SourceError, match="from -1"):
        mentions_from_table(table.with_columns(opinion=pl.lit(4.0)), ratings)


def test_own_ratings_stand_in_for_the_paper_and_never_for_the_panel():
    ratings = Ratings.from_arrays(["a", "b"], ["x", "x"], [1.0, 5.0])
    mentions = mentions_from_table(pl.DataFrame({"user": ["a"], "item": ["x"]}), ratings)
    assert mentions.ratings.tolist() == [1.0]
    assert math.isnan(mentions.opinions[0])


def simulated(rates, own, q, n_users, levels, n_trials=4000, seed=0):
    """Draw authors and crowds as the prediction assumes, and rank them."""
    rng = np.random.default_rng(seed)
    gain = math.log(q / (1 - q)) - np.log(np.expm1(rates * own))
    chance = -np.expm1(-rates * own)
    author = (rng.random((n_trials, len(rates))) < q) @ gain
    others = (rng.random((n_trials, n_users - 1, len(rates))) < chance) @ gain
    better = (others > author[:, None] + 1e-9).sum(axis=1)
    tied = (np.abs(others - author[:, None]) <= 1e-9).sum(axis=1) + 1
    return [float(np.clip((k - better) / tied, 0, 1).mean()) for k in levels]


def test_the_prediction_is_what_independent_people_would_give():
    rates = -np.log1p(-np.array([0.02, 0.05, 0.11, 0.31]))
    predicted = probabilities_of(rates, 1.0, np.array([1.0]), 60, 0.8, (1, 5, 10))
    assert predicted.tolist() == pytest.approx(simulated(rates, 1.0, 0.8, 60, (1, 5, 10)), abs=0.05)


@pytest.mark.data
def test_the_panel_names_four_of_five_taggers_and_the_prediction_is_near(data):
    from recloak._ratings.readers import read

    ratings = read(data / "ml-latest-small" / "ratings.csv")
    from recloak._mentions.mention_tables import read_mentions

    found = identify(ratings, read_mentions(data / "ml-latest-small" / "tags.csv", ratings))
    assert found.panel.members["learned"].at(1) > 0.8
    assert abs(found.predicted["1"] - found.algorithms["likelihood_ratio"].at(1)) < 0.1
