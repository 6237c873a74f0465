import json

import pytest
from tests.releases.helpers import some_ratings

from recloak._cli.main import run


@pytest.fixture
def source(tmp_path):
    some_ratings(30, 8).to_polars().write_csv(tmp_path / "ratings.csv")
    return tmp_path / "ratings.csv"


def test_publish_then_verify_from_the_command_line(source, tmp_path, capsys):
    out = tmp_path / "out"
    flags = [
        "--k",
        "3",
        "--mode",
        "pure",
        "--grid",
        "1",
        "--diversity",
        "1,2",
        "--layout",
        "grouped",
        "--format",
        "csv",
    ]
    assert run(["publish", str(source), "-o", str(out), *flags, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "pass"
    assert answer["n_users"] == 30
    assert json.loads((out / "manifest.json").read_text())["grid"] == 1.0
    assert run(["verify", str(out), "--original", str(source), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {
        "verdict", "k_required", "k_found", "n_users", "n_groups", "problems", "content", "drawn", "proved",
    }  # fmt: skip
    assert run(["verify", str(out), "--k", "25"]) == 1
    assert capsys.readouterr().out.startswith("fail: k required 25")


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--k", "1"], "k must be at least 2, got 1"),
        (["--k", "31"], "at least k = 31 users"),
        (["--grid", "coarse"], "neither a number nor none"),
        (["--grid", "7"], "grid must not be wider"),
        (["--diversity", "2"], "diversity must be"),
        (["--paper", "--min-raters", "3"], "paper means min_raters 1"),
        (["--private", "INSIDE"], "must lie apart"),
        (["--engine", "cloud"], "Invalid value"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(source, tmp_path, capsys, flags, sentence):
    flags = [str(tmp_path / "out" / "who") if flag == "INSIDE" else flag for flag in flags]
    assert run(["publish", str(source), "-o", str(tmp_path / "out"), *flags]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert "Traceback" not in error
    assert [entry.name for entry in tmp_path.iterdir()] == ["ratings.csv"]


def test_verify_of_nothing_is_bad_input(tmp_path):
    assert run(["verify", str(tmp_path / "nowhere")]) == 2


def test_verify_of_a_folder_without_manifest_fails(tmp_path, capsys):
    """A release whose manifest was taken away is a tampered one, not a slip of the hand."""
    assert run(["verify", str(tmp_path), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "fail"
    assert answer["problems"] == ["there is no manifest.json"]
