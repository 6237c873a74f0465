"""Suppression and misdirection: what they do to the mentions, seen by eye and as properties."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from recloak._cli.main import run
from recloak._mentions.algorithms import Candidates
from recloak._mentions.defences import (
    EXTRA,
    defend,
    misdirect,
    powers_of_two,
    suppress_data,
    suppress_mentions,
    with_extra,
)
from recloak._mentions.mention_tables import mentions_from_table
from recloak._mentions.options import IdentifyOptions
from recloak._ratings.model import Ratings
from tests.mentions.test_identify import attacked, said, watched


def similar_users():
    """Make 30 users who all rated the popular items p and q, and one rare item each."""
    rows = [(f"u{n:02}", ["p", "q", f"rare {n:02}"]) for n in range(30)]
    rows += [("x", ["r", "s", "t"]), ("y", ["r", "s"]), ("z", ["r"])]
    return watched(*rows)


def test_dropping_rare_items_hides_who_mentions_them():
    ratings = similar_users()
    mentions = said(ratings, *[(f"u{n:02}", f"rare {n:02}") for n in range(5)])
    options = IdentifyOptions()
    trials = suppress_data(ratings, Candidates.of(ratings, options), mentions, options).trials
    assert trials[0].scoring.rate[0] == 1.0
    two = next(trial for trial in trials if trial.strength == 2)
    assert two.scoring.rate[0] == pytest.approx(1 / 33)  # everybody is tied
    assert two.cost["items_lost"] == pytest.approx(31 / 35)  # 30 rare ones and t
    assert two.cost["ratings_lost"] == pytest.approx(31 / 96)


def test_users_leave_out_their_rarest_rated_mentions_first():
    ratings = similar_users()
    mentions = said(ratings, ("u00", "p"), ("u00", "rare 00"), ("u00", "r"))
    options = IdentifyOptions()
    trials = suppress_mentions(ratings, Candidates.of(ratings, options), mentions, options).trials
    # two of the three were rated, so a half leaves out one: the rare one, never the unrated r
    assert trials[-1].cost["mentions_lost"] == pytest.approx(1 / 3)
    assert trials[0].scoring.pessimistic[0] == 1.0
    assert trials[-1].scoring.pessimistic[0] == 0.0


def test_misdirection_takes_the_most_popular_unrated_items():
    ratings = similar_users()
    mentions = said(ratings, ("z", "r"))
    options = IdentifyOptions(flat=True)
    trials = misdirect(ratings, Candidates.of(ratings, options), mentions, options, None).trials
    assert trials[0].scoring.rate[0] == pytest.approx(1 / 3)  # x, y and z rated r
    assert trials[1].scoring.rate[0] == pytest.approx(1 / 33)  # with p everybody rated one of two
    assert trials[2].scoring.rate[0] == 0.0  # with p and q thirty others rated two of three


@settings(max_examples=10)
@given(attacked())
def test_extra_mentions_are_neither_rated_nor_repeated(case):
    ratings, mentions = case
    options = IdentifyOptions()
    candidates = Candidates.of(ratings, options)
    for threshold in (None, *powers_of_two(candidates.raters)):
        defence = misdirect(ratings, candidates, mentions, options, threshold)
        assert [trial.strength for trial in defence.trials] == list(map(float, EXTRA))
    more = with_extra(mentions, [np.empty(0, np.int64)] * mentions.n_targets)
    assert np.array_equal(more.items, mentions.items)


@settings(max_examples=10)
@given(attacked())
def test_the_adaptive_attacker_is_never_weaker_than_the_plain_one(case):
    found = defend(*case)
    for defence in (found.suppressed_data, found.suppressed_mentions, *found.misdirections):
        for trial in defence.trials:
            assert all(a >= s for a, s in zip(trial.adaptive.rate, trial.scoring.rate, strict=True))
    lost = [trial.cost["ratings_lost"] for trial in found.suppressed_data.trials]
    assert lost == sorted(lost)
    assert lost[-1] == 1.0


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(3)
    users = np.repeat(np.arange(60), 8)
    items = np.concatenate([rng.choice(40, 8, replace=False) for _ in range(60)])
    table = pl.DataFrame({"user": users, "item": items, "rating": rng.integers(1, 6, len(users))})
    table.write_csv(tmp_path / "ratings.csv")
    table.filter(pl.col("user") < 12).select("user", "item").sample(40, seed=1).write_csv(tmp_path / "mentions.csv")
    return tmp_path


def test_the_commands_give_json_and_pages(files, capsys):
    source, table = str(files / "ratings.csv"), str(files / "mentions.csv")
    assert (
        run(
            [
                "mentions",
                "identify",
                source,
                "--mentions",
                table,
                "--json",
                "--absent",
                "0.4",
                "-o",
                str(files / "a.html"),
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert set(found["algorithms"]) >= {"set_intersection", "tf_idf", "scoring", "fuzzy_rating", "exact_rating"}
    scoring = found["algorithms"]["scoring"]
    assert scoring["k"] == [1, 5, 10, 100]
    assert {len(scoring[name]) for name in ("rate", "low", "high", "optimistic", "pessimistic")} == {4}
    assert found["n_targets"] == 12
    assert run(["mentions", "defend", source, "--mentions", table, "--json", "-o", str(files / "b.html")]) == 0
    assert json.loads(capsys.readouterr().out)["n_targets"] == 12
    for page in ("a.html", "b.html"):
        assert "<svg" in (files / page).read_text(encoding="utf-8")


def test_the_commands_tell_in_words_and_refuse_other_pages(files, capsys):
    source, table = str(files / "ratings.csv"), str(files / "mentions.csv")
    assert run(["mentions", "identify", source, "--mentions", table]) == 0
    assert "12 targets among 60 users" in capsys.readouterr().out
    assert run(["mentions", "defend", source, "--mentions", table]) == 0
    assert "popular mentions" in capsys.readouterr().out
    assert run(["mentions", "defend", source, "--mentions", table, "-o", "x.pdf"]) == 2
    assert "--out must end in .html" in capsys.readouterr().err


def test_only_sure_finds_count_unless_asked(files, capsys):
    pl.DataFrame({"user": [1, 2], "item": [3, 4], "tier": ["sure", "possible"]}).write_csv(files / "found.csv")
    source, table = str(files / "ratings.csv"), str(files / "found.csv")
    for more, n in (([], 1), (["--possible"], 2)):
        assert run(["mentions", "identify", source, "--mentions", table, "--json", *more]) == 0
        assert json.loads(capsys.readouterr().out)["n_targets"] == n


def test_a_mention_without_a_user_is_refused():
    ratings = Ratings.from_arrays(["a", "b"], ["x", "x"], [1.0, 2.0])
    with pytest.raises(Exception, match="a mention must name its user"):
        mentions_from_table(pl.DataFrame({"user": ["a", None], "item": ["x", "x"]}), ratings)


def test_thresholds_double_up_to_the_most_rated_item():
    assert powers_of_two(np.array([3, 9, 1])) == [1, 2, 4, 8]
    assert powers_of_two(np.array([8])) == [1, 2, 4, 8]
    assert powers_of_two(np.array([], np.int64)) == [1]
