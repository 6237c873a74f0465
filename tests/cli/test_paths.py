"""Paths are checked while the command line is parsed: a wrong name never waits for the work to be imported."""

import json
import os
import subprocess
import sys

import pytest

from recloak._cli.main import run
from recloak._core.errors import InputError

NO_SOURCE = "nope: there is no such file or folder"
IS_FILE = "is a file, not the folder of a release"
NO_FILE = "nope: there is no such file"
NO_STORE = "nope: there is no history store"
NO_MAPPING = "there is no mapping.parquet: not the private folder of a release"
NOT_EMPTY = "release: the folder exists and is not empty; choose another or remove it first"
OWN_SOURCE = "--out must not be the source itself, got 'ok.csv'"
NO_TOKENS = (
    "advice needs --tokens FILE, made by `recloak token create --user ID`, or --signing-key FILE, "
    "made by `recloak token key`"
)
NOT_APART = "x: the private folder must lie apart from the public folder x"
NO_PARENT = "nope/x{}: there is no folder {{here}}/nope to write into"

WRONG = [
    (["publish", "nope", "-o", "x"], NO_SOURCE),
    (["publish", "ok.csv", "-o", "nope/x"], NO_PARENT.format("")),
    (["publish", "ok.csv", "-o", "ok.csv"], "ok.csv: is a file, a folder is to be written there"),
    (["publish", "ok.csv", "-o", "x", "--private", "x"], NOT_APART),
    (["inspect", "nope"], NO_SOURCE),
    (["inspect", "ok.csv", "nope"], NO_SOURCE),
    (["inspect", "ok.csv", "-o", "nope/x.svg"], NO_PARENT.format(".svg")),
    (["inspect", "ok.csv", "-o", "x.pdf"], "--out must end in .html or .svg, got 'x.pdf'"),
    (["verify", "nope"], "nope: there is no such folder"),
    (["token", "create", "--user", "1", "--store", "no/t.db"], "no/t.db: there is no folder {here}/no to write into"),
    (["verify", "."], ".: is no release, but holds release; name the release itself"),
    (["verify", "release/manifest.json"], f"release/manifest.json: {IS_FILE}; its folder is release"),
    (["audit", "ok.csv", "."], ".: is no release, but holds release; name the release itself"),
    (["audit", "release", "ok.csv"], f"ok.csv: {IS_FILE}; the source comes first, then the release"),
    (["verify", "release", "--original", "nope"], NO_SOURCE),
    (["audit", "nope", "release"], NO_SOURCE),
    (["audit", "ok.csv", "nope"], "nope: there is no such folder"),
    (["audit", "ok.csv", "release"], "release-private: " + NO_MAPPING),
    (["audit", "ok.csv", "release", "-o", "ok.csv"], "--out must end in .html, got 'ok.csv'"),
    (["audit", "ok.csv", "release", "--probe", "nope"], NO_SOURCE),
    (["evaluate", "nope", "--holdout", "0.1"], NO_SOURCE),
    (["evaluate", "ok.csv", "release", "--probe", "nope"], NO_SOURCE),
    (["evaluate", "ok.csv", "release", "--probe", "ok.csv", "--private", "nope"], "nope: " + NO_MAPPING),
    (["frontier", "nope", "-o", "x.html"], NO_SOURCE),
    (["frontier", "ok.csv", "-o", "nope/x.html"], NO_PARENT.format(".html")),
    (["reproduce", "predictive", "nope", "-o", "x"], NO_SOURCE),
    (["reproduce", "predictive", "ok.csv", "-o", "release"], NOT_EMPTY),
    (["reproduce", "passive", "nope", "-o", "x"], NO_SOURCE),
    (["reproduce", "mentions", "ok.csv", "--mentions", "nope", "-o", "x"], NO_FILE),
    (["mentions", "find", "nope", "--titles", "ok.csv"], NO_FILE),
    (["mentions", "find", "ok.csv", "--titles", "ok.csv", "-o", "./ok.csv"], OWN_SOURCE),
    (["mentions", "identify", "nope", "--mentions", "ok.csv"], NO_SOURCE),
    (["mentions", "defend", "ok.csv", "--mentions", "nope"], NO_FILE),
    (["related", "build", "nope", "-o", "x.csv"], NO_SOURCE),
    (["related", "build", "ok.csv", "-o", "ok.csv"], OWN_SOURCE),
    (["related", "build", "ok.csv", "-o", "x.txt"], "--out must end in .csv or .parquet, got 'x.txt'"),
    (["related", "publish", "nope/x.db", "ok.csv"], NO_PARENT.format(".db")),
    (["related", "publish", "x.db", "ok.csv", "--lists", "nope"], NO_FILE),
    (["related", "simulate", "nope"], NO_SOURCE),
    (["related", "verify", "nope", "ok.csv"], NO_STORE),
    (["related", "attack", "nope", "ok.csv"], NO_STORE),
    (["related", "advise", "nope"], NO_SOURCE),
    (["related", "history", "nope"], NO_STORE),
    (["related", "export", "nope", "-o", "x.csv"], NO_STORE),
    (["serve", "--ratings", "nope", "--titles", "nope"], NO_TOKENS),
    (["synth", "nope/x.csv"], NO_PARENT.format(".csv")),
    (["synth", "release"], NOT_EMPTY),
    (["synth", "ok.csv"], "ok.csv: the file exists; choose another or remove it first"),
    (["demo", "-o", "nope/x"], NO_PARENT.format("")),
    (["demo", "-o", "ok.csv"], "ok.csv: is a file, a folder is to be written there"),
]  # fmt: skip

ONE_BY_ONE = """
import json, sys
from recloak._cli.main import run
from recloak._core.errors import InputError
heavy = {"numba", "numpy", "polars", "pyarrow", "scipy", "sqlalchemy", "uvicorn"}
for words in json.loads(sys.argv[1]):
    code = run(words)
    print(code, *sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def test_a_wrong_path_is_told_before_anything_heavy_is_imported(tmp_path):
    (tmp_path / "ok.csv").write_text("user,item,rating\n1,2,3\n")
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "manifest.json").write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    words = json.dumps([words for words, _ in WRONG])
    done = subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE, words], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    answer = done.stderr.splitlines()
    expected = [line for _, text in WRONG for line in (f"recloak: {text.format(here=tmp_path)}", "2")]
    assert answer == expected
    assert not done.stdout
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("denied", "words", "sentence"),
    [
        (os.R_OK, ["inspect", "ok.csv"], "ok.csv: may not be read: permission denied"),
        (
            os.W_OK | os.X_OK,
            ["frontier", "ok.csv", "-o", "x.html"],
            "x.html: the folder {here} may not be written into: permission denied",
        ),
    ],
)
def test_what_may_not_be_read_or_written_is_told_at_once(tmp_path, monkeypatch, capsys, denied, words, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ok.csv").write_text("user,item,rating\n1,2,3\n")
    monkeypatch.setattr(os, "access", lambda _, mode: mode != denied)
    assert run(words) == 2
    assert capsys.readouterr().err == f"recloak: {sentence.format(here=tmp_path)}\n"


def test_what_a_cluster_reads_is_not_looked_for_on_this_machine(tmp_path, monkeypatch, capsys):
    def reached(*_, **__):
        raise InputError("opened")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("recloak._library.inspect_source._on_spark", reached)
    monkeypatch.setattr("recloak._related.history.open_database", reached)
    for words in (["inspect", "no/such", "--engine", "spark"], ["related", "history", "postgresql://host/lists"]):
        assert run(words) == 2
        assert capsys.readouterr().err == "recloak: opened\n"
