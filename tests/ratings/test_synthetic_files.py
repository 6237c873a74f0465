"""Synthetic files: whole, the same for the same seed whatever the number of threads, and read back as they were."""

import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from recloak._cli.main import run
from recloak._core.files import sha256_of
from recloak._ratings.model import Ratings
from recloak._ratings.synthetic.options import FileOptions, MentionOptions, SynthOptions
from recloak._ratings.synthetic.rating_stream import synthesise
from recloak._ratings.synthetic.synthetic_files import write_synthetic

SMALL = SynthOptions(preset="tiny", users=80, items=40)


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "csv.zst"])
def test_a_file_holds_what_memory_holds(tmp_path, ending):
    written = write_synthetic(tmp_path / f"made.{ending}", SMALL, rng=5)
    table = pl.read_parquet(written.ratings) if ending == "parquet" else pl.read_csv(written.ratings)
    assert table.columns == ["user", "item", "rating", "timestamp"]
    read, made = Ratings.from_table(table), synthesise(SMALL, rng=5)
    assert np.array_equal(read.items, made.items)
    assert np.array_equal(read.values, made.values)
    assert pl.Series(read.times).equals(pl.Series(made.times))


def test_titles_and_mentions_stand_beside_a_file(tmp_path):
    options = FileOptions(titles=True, mentions=True)
    written = write_synthetic(tmp_path / "made.csv", SMALL, options, MentionOptions(mentioners=1.0), rng=5)
    assert {path.name for path in tmp_path.iterdir()} == {"made.csv", "made-titles.csv", "made-mentions.csv"}
    assert len(pl.read_csv(tmp_path / "made-titles.csv")) == 40
    mentions = pl.read_csv(tmp_path / "made-mentions.csv")
    assert len(mentions) == written.n_mentions
    assert mentions["user"].is_between(1, 80).all()
    assert mentions["item"].is_between(1, 40).all()


def test_any_other_name_is_a_folder(tmp_path):
    written = write_synthetic(tmp_path / "made", SMALL, FileOptions(titles=True, mentions=True), rng=5)
    assert {path.name for path in (tmp_path / "made").iterdir()} == {
        "ratings.parquet",
        "titles.csv",
        "mentions.parquet",
    }
    assert written.ratings == tmp_path / "made" / "ratings.parquet"


def test_the_number_of_threads_changes_no_rating(monkeypatch, tmp_path):
    sums = set()
    for threads in ("1", "5"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        options = FileOptions(mentions=True)
        written = write_synthetic(tmp_path / f"{threads}.parquet", SynthOptions(), options, rng=4)
        sums.add((sha256_of(written.ratings), sha256_of(tmp_path / f"{threads}-mentions.parquet")))
    assert len(sums) == 1


@pytest.mark.slow
def test_the_number_of_threads_changes_no_byte_in_a_fresh_process(tmp_path):
    sums = set()
    for threads in ("1", "3"):
        out = tmp_path / f"{threads}.parquet"
        env = {**os.environ, "NUMBA_NUM_THREADS": threads, "POLARS_MAX_THREADS": threads}
        command = [sys.executable, "-c", "from recloak._cli.main import main; main()", "synth", str(out), "--seed", "4"]
        subprocess.run(command, check=True, env=env, capture_output=True)
        sums.add(sha256_of(out))
    assert len(sums) == 1


def test_the_command_tells_what_it_wrote(tmp_path, capsys):
    arguments = [
        "synth",
        str(tmp_path / "a.parquet"),
        "--users",
        "50",
        "--items",
        "30",
        "--ratings",
        "600",
        "--seed",
        "1",
    ]
    assert run([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_ratings"] == 600
    assert told["seed"] == 1
    assert told["ratings"] == str(tmp_path / "a.parquet")
    assert told["titles"] is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["made.parquet", "--format", "csv"], "format must agree with the ending of made.parquet, got csv"),
        (["none/made.csv"], "there is no folder"),
        (["made.csv", "--users", "3", "--items", "3", "--ratings", "9"], "at most half of users x items, 4, got 9"),
        (["made.csv", "--preset", "imdb"], "'imdb' is not one of"),
        (["full"], "the folder exists and is not empty"),
    ],
)
def test_bad_usage_gets_one_sentence_and_leaves_nothing(tmp_path, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "kept").touch()
    assert run(["synth", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
