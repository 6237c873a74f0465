"""Whether a contest on a release ends as on the original: boards, agreement, statistics, and what must never happen."""

import json
import math

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._attacks.public_view import see_release
from recloak._core.randomness import Randomness
from recloak._evaluation.fidelity.compared_statistics import compare_statistics
from recloak._evaluation.fidelity.entry_scores import HeldOutCells, ndcg_of, rmse_of
from recloak._evaluation.fidelity.leaderboards import CONTESTS, agreement, tau_of
from recloak._evaluation.fidelity.measuring import measure_fidelity
from recloak._evaluation.fidelity.model import Agreement, Fidelity
from recloak._evaluation.fidelity.training_rows import TrainingRows
from recloak._evaluation.holdout import Probe, hold_out
from recloak._evaluation.options import FidelityOptions
from recloak._ratings.model import Ratings

RATINGS = recloak.synth(users=120, items=60, ratings=2400, seed=3)
QUICK = FidelityOptions(quick=True, splits=2)
RMSE, NDCG = CONTESTS


def measured(released, probe=None, ratings=RATINGS):
    return measure_fidelity(ratings, released, probe, options=QUICK, rng=Randomness(1))


def test_the_original_as_its_own_release_agrees_as_far_as_noise_allows_and_keeps_every_statistic():
    rest, probe = hold_out(RATINGS, 0.1, rng=1)
    found = measured(TrainingRows.of_original(rest), probe, rest)
    for one in found.owner.values():
        assert one.tau == pytest.approx(1.0)
        assert one.regret == 0
        assert one.winner == one.best
    for name, statistic in found.statistics.items():
        assert statistic.error == pytest.approx(0, abs=1e-9), name
        assert statistic.rank in (None, pytest.approx(1.0)), name


def test_the_json_is_the_one_that_is_promised():
    told = recloak.fidelity(RATINGS, holdout=0.1, k=3, mode="pure", quick=True, splits=2, seed=1).to_json()
    json.dumps(told, allow_nan=False)
    for protocol in ("A", "B"):
        for contest in ("rmse", "ndcg"):
            assert {"tau", "tau_noise", "regret", "winner"} <= told["fidelity"][protocol][contest].keys()
    expected = "popularity, item mean, item variance, activity, density, top pairs, lift, histogram"
    assert list(told["fidelity"]["statistics"]) == expected.split(", ")


def test_the_same_seed_gives_the_same_figures():
    one, two = (recloak.fidelity(RATINGS, holdout=0.1, k=3, quick=True, splits=1, seed=5).to_json() for _ in range(2))
    assert one == two


def test_without_a_probe_only_the_outsiders_protocol_is_measured(tmp_path):
    release = recloak.publish(RATINGS, tmp_path / "release", k=4, mode="pure", seed=1)
    found = recloak.fidelity(RATINGS, release, quick=True, splits=1, seed=1)
    assert found.owner is None
    told = found.outsider["rmse"]
    assert told is not None
    assert told.tau_noise is None
    assert told.keeps_order == (told.tau >= 0.8)


@pytest.mark.parametrize("layout", ["long", "grouped"])
def test_both_layouts_give_the_same_figures(tmp_path, layout):
    recloak.publish(RATINGS, tmp_path / layout, k=4, mode="pure", layout=layout, seed=1)
    found = recloak.fidelity(RATINGS, tmp_path / layout, quick=True, splits=1, seed=1)
    grouped = recloak.publish(RATINGS, k=4, mode="pure", seed=1)
    expected = recloak.fidelity(RATINGS, grouped, quick=True, splits=1, seed=1)
    assert found.statistics["popularity"] == expected.statistics["popularity"]
    assert found.n_people == expected.n_people == 120


def test_equal_rows_are_kept_once_so_that_no_test_cell_stands_in_the_training_part():
    once = Ratings.from_arrays([0, 0, 1, 1], [0, 1, 1, 2], [1.0, 2.0, 3.0, 5.0])
    copies = Ratings.from_arrays(
        np.repeat(np.arange(10), 2), np.tile([0, 1, 1, 2], 5), np.tile([1.0, 2.0, 3.0, 5.0], 5).astype(np.float32)
    )
    groups = np.arange(10)
    released = TrainingRows.of(copies, np.ones(10, np.int64), groups, groups)
    assert released.rows.n_users == 2
    assert released.rows.values.tolist() == once.values.tolist()
    assert released.weights.tolist() == [5, 5]
    assert released.group_rows.tolist() == [0, 1] * 5


def test_copying_every_row_changes_no_leaderboard():
    few = Ratings.from_arrays(RATINGS.users(), RATINGS.items, RATINGS.values)
    owner = np.arange(few.n_users)
    copied = Ratings.from_arrays(
        np.concatenate([few.users(), few.users() + few.n_users]),
        np.tile(few.items, 2), np.tile(few.values, 2), scale=few.scale,
    )  # fmt: skip
    plain = measured(TrainingRows.of(few, np.ones(120, np.int64), owner, owner), ratings=few)
    twice = measured(TrainingRows.of(copied, np.ones(240, np.int64), np.tile(owner, 2), owner), ratings=few)
    assert plain.outsider == twice.outsider


def test_several_rows_of_a_group_serve_with_their_mean():
    rows = Ratings.from_arrays([0, 1, 2], [0, 0, 0], [1.0, 4.0, 5.0])
    released = TrainingRows.of(rows, np.ones(3, np.int64), np.array([0, 0, 1]), np.array([0, 0, 1]))
    known = Ratings.from_arrays([0, 1, 2, 2], [0, 0, 0, 1], [1.0, 5.0, 2.0, 3.0])
    cells = Probe(np.array([0, 2], np.int32), np.array([1, 1], np.int32), np.array([2.0, 5.0], np.float32))
    questions = HeldOutCells.of_people(cells, known, released)
    found = rmse_of(lambda served, _: rows.values[served], questions)
    assert found == pytest.approx(math.sqrt(((2.5 - 2.0) ** 2 + (5.0 - 5.0) ** 2) / 2))


def test_ndcg_counts_liked_items_at_their_places():
    known = Ratings.from_arrays([0, 0, 1, 2], [0, 3, 2, 1], [5.0, 1.0, 2.0, 3.0])
    cells = Probe(np.array([0, 0, 1], np.int32), np.array([1, 2, 0], np.int32), np.array([5, 2, 4], np.float32))
    scores = np.array([[9.0, 5.0, 6.0, 0.0], [1.0, 3.0, 9.0, 2.0]], np.float32)
    found = ndcg_of(lambda rows: scores[rows], HeldOutCells.of_rows(cells, known))
    # Person 0 knows items 0 and 3, so the liked item 1 stands second; person 1 finds item 0 third.
    assert found == pytest.approx((1 / math.log2(3) + 1 / math.log2(4)) / 2)


def test_a_board_on_which_all_are_equal_agrees_with_nothing():
    assert tau_of([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]) == 0


def scores_for(values):
    return tuple(float(value) for value in values)


def test_regret_is_what_the_winner_of_the_release_loses_on_the_original():
    original = scores_for([1.0, 0.8, 0.9, 0.95, 1.2])
    release = scores_for([0.5, 0.4, 0.3, 0.6, 0.7])
    found = agreement(RMSE, [original], [release], [], quick=True)
    assert found is not None
    names = [one.name for one in RMSE.entrants(quick=True)]
    assert (found.winner, found.best) == (names[2], names[1])
    assert found.regret == pytest.approx(100 * (0.9 - 0.8) / 0.8)
    ranked = agreement(NDCG, [original], [release], [], quick=True)
    assert ranked is not None
    assert ranked.regret == pytest.approx(100 * (1.2 - 1.2) / 1.2)


def test_what_could_not_be_scored_is_not_called_kept():
    found = agreement(RMSE, [scores_for([1, 2, 3, 4, 5])], [None], [], quick=True)
    assert found is None
    told = Fidelity({"rmse": found, "ndcg": None}, None, {}, 9, 9, 1)
    assert told.verdict.startswith("Not measured")


@pytest.mark.parametrize(
    ("tau", "regret", "begins"),
    [
        (0.95, 0.2, "Who wins on the release wins"),
        (0.3, 0.2, "Who wins on the release is a good choice"),
        (0.95, 9.0, "Who wins on the release does not win"),
    ],
)
def test_the_verdict_is_the_worst_of_all_contests(tau, regret, begins):
    good = Agreement(1.0, 1.0, 0.0, "a", "a", ())
    found = Fidelity({"rmse": good, "ndcg": Agreement(tau, 1.0, regret, "b", "a", ())}, None, {}, 9, 9, 2)
    assert found.verdict.startswith(begins)


def test_statistics_count_a_row_once_for_each_person_behind_it():
    ratings = Ratings.from_arrays(np.repeat(np.arange(12), 2), np.tile([0, 1], 12), np.tile([1.0, 5.0], 12))
    row = Ratings.from_arrays([0, 0], [0, 1], [3.0, 3.0], scale=ratings.scale)
    released = TrainingRows.of(row, np.array([12]), np.zeros(1, np.int64), np.zeros(12, np.int64))
    found = compare_statistics(ratings, released)
    assert found["popularity"].error == 0
    assert found["top pairs"].error == 0
    assert found["item mean"].error == pytest.approx(2.0)
    assert found["histogram"].error == pytest.approx(1.0)
    assert found["density"].ratio == pytest.approx(1.0)


def test_only_some_people_and_items_take_part_where_there_are_more():
    options = FidelityOptions(quick=True, splits=1, most_people=50, most_items=30)
    found = measure_fidelity(RATINGS, TrainingRows.of_original(RATINGS), None, options=options, rng=Randomness(1))
    assert (found.n_people, found.n_items) == (50, 30)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "give either a release, or holdout"),
        ({"holdout": 2}, "holdout must lie between 0 and 1"),
        ({"holdout": 0.1, "probe": RATINGS}, "probe=... needs the release"),
        ({"holdout": 0.1, "splits": 0}, "splits must be at least 1, got 0"),
    ],
)
def test_a_wrong_choice_is_one_sentence(given, sentence):
    with pytest.raises(recloak.InputError, match=sentence):
        recloak.fidelity(RATINGS, **given)


def test_drawn_rows_are_trained_on_one_by_one(tmp_path):
    recloak.publish(RATINGS, tmp_path / "drawn", k=4, mode="sampled", seed=1)
    view = see_release(tmp_path / "drawn", tmp_path / "drawn-private", RATINGS)
    rows = TrainingRows.of_release(view, RATINGS)
    table = pl.read_parquet(tmp_path / "drawn" / "ratings.parquet")
    assert int((rows.rows.activity * rows.weights).sum()) == len(table)
    assert rows.weights.sum() == RATINGS.n_users
    assert (np.diff(rows.group_indptr) >= 4).all()
    found = recloak.fidelity(RATINGS, tmp_path / "drawn", quick=True, splits=1, seed=1)
    ratio = found.statistics["density"].ratio
    assert ratio is not None
    assert 0.5 < ratio < 2
