"""The commands, end to end on small data, and one sentence for each mistake."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import polars as pl
import pytest

from recloak._cli.main import run
from recloak._ratings.ids import IdMap
from recloak._related.lists import read_lists
from recloak._related.packed_lists import unpacked_lists


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {
            "user": rng.integers(0, 60, 900),
            "item": (rng.pareto(1, 900) * 4).astype(int) % 15,
            "rating": rng.integers(1, 6, 900),
            "time": np.arange(900),
        }
    ).unique(["user", "item"], keep="first", maintain_order=True)
    path = tmp_path_factory.mktemp("related") / "ratings.csv"
    table.write_csv(path)
    return str(path)


def answer(capsys, *arguments, code=0):
    assert run(["related", *map(str, arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def sentence(capsys, *arguments, code=2):
    assert run(["related", *map(str, arguments)]) == code
    said = capsys.readouterr().err.strip()
    assert said.startswith("recloak: ")
    assert "\n" not in said
    return said


def test_nights_of_publishing_are_verified_told_exported_and_attacked(source, tmp_path, capsys):
    store = tmp_path / "history.db"
    for night, until in enumerate((200, 400, 899), 1):
        printed = answer(capsys, "publish", store, source, "--until", until, "--delta", 0.3)
        assert printed["release"] == night
        assert printed["verified"]["verdict"] == "pass"
    proof = answer(capsys, "verify", store, source, "--residual", 2, "--seed", 1)
    assert (proof["verdict"], proof["pairs_checked"], proof["delta"], proof["window"]) == ("pass", 3, 0.3, None)
    assert proof["max_breach"] <= 0.3
    assert 0 <= proof["residual"]["above_delta"]["rate"] <= 1
    listed = answer(capsys, "history", store)["releases"]
    assert [one["number"] for one in listed] == [1, 2, 3]
    changes = answer(capsys, "history", store, "--changes", 1, 3)["changes"]
    assert {row["change"] for row in changes} <= {"appeared", "vanished", "rose", "sank"}
    out = tmp_path / "lists.parquet"
    assert answer(capsys, "export", store, "-o", out, "--release", "last")["releases"] == 1
    assert set(pl.read_parquet(out)["release"]) == {3}
    assert answer(capsys, "export", store, "-o", out)["releases"] == 3
    assert pl.read_parquet(out).columns == ["release", "item", "position", "related"]
    curves = answer(capsys, "attack", store, source, "--known", 3, "--targets", 40, "--seed", 1)
    assert {curve["variant"] for curve in curves["original"]} == {"count", "weighted", "largest", "vanish"}
    assert set(curves) == {"original", "published", "observers"}


def test_true_lists_in_the_store_fail_the_verifier(source, tmp_path, capsys):
    store = tmp_path / "history.db"
    answer(capsys, "publish", store, source, "--until", 200)
    said = sentence(capsys, "publish", store, source, "--method", "none", code=1)
    assert "the release was not stored: whoever knows that somebody rated" in said
    assert len(answer(capsys, "history", store)["releases"]) == 1
    said = sentence(capsys, "publish", store, source, "--delta", 1)
    assert "this promises less than the last release (delta 0.1 to 1); pass --loosen to do so" in said
    loosened = answer(capsys, "publish", store, source, "--delta", 1, "--loosen")
    assert (loosened["release"], loosened["loosened"]) == (2, ["delta 0.1 to 1"])
    assert answer(capsys, "verify", store, source)["verdict"] == "pass"  # each release by its own promise
    failed = answer(capsys, "verify", store, source, "--delta", 0.01, "--evidence", "total", code=1)
    assert failed["verdict"] == "fail"
    one = failed["violations"][0]
    assert one["breach"] == one["above"] / one["below"] > 0.01


def test_lists_of_another_recommender_are_taken(source, tmp_path, capsys):
    lists, store = tmp_path / "lists.csv", tmp_path / "history.db"
    answer(capsys, "build", source, "-o", lists, "--top", 8, "--until", 300)
    assert answer(capsys, "publish", store, source, "--lists", lists, "--until", 300)["recall"] == 1.0
    answer(capsys, "build", source, "-o", lists, "--top", 8)
    assert answer(capsys, "publish", store, source, "--lists", lists)["verified"]["verdict"] == "pass"
    assert set(answer(capsys, "attack", store, source, "--known", 3, "--targets", 40, "--seed", 1)) == {
        "published",
        "observers",
    }


def test_a_time_is_seconds_or_a_date(source, tmp_path, capsys):
    written = []
    for name, until in (("seconds", 300), ("moment", "1970-01-01T00:05:00"), ("zone", "1970-01-01 01:05:00+01:00")):
        answer(capsys, "build", source, "-o", tmp_path / f"{name}.csv", "--until", until)
        written.append((tmp_path / f"{name}.csv").read_bytes())
    assert written[0] == written[1] == written[2]
    said = sentence(capsys, "publish", tmp_path / "history.db", source, "--until", "yesterday", code=2)
    assert "a time is whole seconds since 1970 or a date such as 2005-12-31" in said


def test_ratings_that_come_late_are_told(source, tmp_path, capsys):
    store, later = tmp_path / "history.db", tmp_path / "later.csv"
    table = pl.read_csv(source)
    (table.filter(pl.col("time") != 100)).write_csv(later)
    assert answer(capsys, "publish", store, later, "--until", 300)["late_ratings"] == 0
    assert answer(capsys, "publish", store, later, "--until", 400)["late_ratings"] == 0
    assert run(["related", "publish", str(store), source]) == 0
    assert "new rating dated before the last release; counted from this release on" in capsys.readouterr().err


def test_publishing_reads_the_window_of_the_history_and_no_more(source, tmp_path, capsys, monkeypatch):
    store, read = tmp_path / "history.db", []

    def noted(data, top, ledger):
        read.append(data)
        return unpacked_lists(data, top, ledger)

    def refused(*_):
        raise AssertionError("the entries are read one by one")

    monkeypatch.setattr("recloak._related.packed_lists.unpacked_lists", noted)
    monkeypatch.setattr("recloak._related.history.table_of", refused)
    counts = []
    for until in (200, 300, 400, 500, 600):
        read.clear()
        answer(capsys, "publish", store, source, "--until", until, "--window", 3)
        counts.append(len(read))
    assert counts == [0, 2, 3, 3, 3]  # and the last one, to see that the ratings go on from it
    with closing(sqlite3.connect(store)) as database:
        stored = dict(database.execute("SELECT release, lists FROM recloak_packed_lists"))
    assert read == [stored[4], stored[3], stored[4]]


def test_ids_of_lists_are_read_as_the_ratings_write_them(tmp_path):
    (tmp_path / "lists.csv").write_text("item,related,score\n007,7,1\n007,1e3,0.5\n")
    ids = IdMap.of(["007", "7", "1e3"])
    entries = read_lists(str(tmp_path / "lists.csv"), ids).items[ids.number("007")]
    assert [ids.ids[int(entry)] for entry in entries] == ["7", "1e3"]


def test_a_simulation_goes_on_where_it_was_broken_off(source, tmp_path, capsys):
    flags = ("--gap", 20, "--horizon", "all", "--delta", 0.4)
    whole = answer(capsys, "simulate", source, *flags, "--history", tmp_path / "whole.db")
    assert whole["passed"]
    assert whole["max_breach"] <= 0.4
    again = answer(capsys, "simulate", source, *flags, "--history", tmp_path / "whole.db")
    assert again == whole  # nothing was made anew, or its seconds would differ
    assert "other settings" in sentence(capsys, "simulate", source, "--history", tmp_path / "whole.db")


@pytest.mark.parametrize(
    "method", [["--method", "rp"], ["--method", "none"], ["--literal", "--evidence", "total", "--window", "2"]]
)
def test_baselines_run_and_are_honest_about_their_breach(source, capsys, method):
    printed = answer(capsys, "simulate", source, "--gap", 30, "--seed", 1, *method)
    assert printed["passed"] == (printed["max_breach"] <= 0.1)


def test_advice_is_one_sentence_and_a_row_per_delta_and_horizon(source, capsys):
    found = answer(capsys, "advise", source, "--deltas", "0.1,0.9", "--gap", 40, "--seed", 1)
    rows = found["advice"]
    assert [(row["horizon"], row["delta"]) for row in rows] == [("30d", 0.1), ("30d", 0.9), ("all", 0.1), ("all", 0.9)]
    assert all(row["max_breach"] <= row["delta"] for row in rows)
    assert found["recommended"]["delta"] is None  # too little is added here to measure what an observer infers
    assert "could not be measured" in found["recommended"]["sentence"]
    assert found["strongest"]["delta"] == 0.1


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        ("item,related,score\n1,77,0.5\n", "an item of the lists must be in the ratings"),
        ("item,related,score\n1,2,0.5\n3,3,0.5\n", "an item must not stand in its own list"),
        ("item,related,score\n1,2,0.5\n1,2,0.4\n", "an entry must not stand twice in a list"),
        ("item,related\n1,2\n", "score is missing"),
        ("item,related,score\n1,2,nan\n", "a score must be a finite number"),
        ("item,related,score\n1,2,0.5\n1,3,high\n", "line 3: a score must be a finite number, got 'high'"),
        ("item,related,score\n1,2,0.5\n1,abc,0.4\n", "line 3: an item of the lists must be in the ratings, got 'abc'"),
        ("item,related,score\n1,,0.5\n", "every row of lists needs"),
    ],
)
def test_lists_that_cannot_be_right_are_refused(source, tmp_path, capsys, rows, rule):
    lists = tmp_path / "lists.csv"
    lists.write_text(rows)
    assert rule in sentence(capsys, "publish", tmp_path / "history.db", source, "--lists", lists)


def test_mistakes_get_one_sentence(source, tmp_path, capsys):
    store, plain = tmp_path / "history.db", tmp_path / "plain.csv"
    plain.write_text("user,item,rating\n1,1,5\n2,1,3\n")
    assert "need ratings with times" in sentence(capsys, "publish", store, plain)
    assert not store.exists()
    answer(capsys, "publish", store, source, "--until", 300)
    assert "yet to come, got 5138-11-16" in sentence(capsys, "publish", store, source, "--until", 99999999999)
    assert "must not be older" in sentence(capsys, "publish", store, source, "--until", 200)
    assert "longer than the history of 1" in sentence(capsys, "verify", store, source, "--window", 5)
    assert "longer than the history" in sentence(capsys, "simulate", source, "--gap", 50, "--window", 9)
    assert "no release 9" in sentence(capsys, "export", store, "-o", tmp_path / "x.csv", "--release", 9)
    assert "no release 9" in sentence(capsys, "history", store, "--changes", 1, 9)
    assert "needs --evidence total" in sentence(capsys, "publish", tmp_path / "new.db", source, "--literal")
    assert "rp protects nobody" in sentence(capsys, "publish", store, source, "--method", "rp")
    assert "compares two releases" in sentence(capsys, "attack", store, source)
    assert "there is no history store" in sentence(capsys, "verify", tmp_path / "none.db", source)
