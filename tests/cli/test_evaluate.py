"""recloak evaluate: a probe, a hold-out, the page, and what it refuses."""

import json

import polars as pl
import pytest
from tests.cli.releases import write_release, write_source

from recloak._cli.main import run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a source without its probe, the release of it, the probe, and the whole."""
    folder = tmp_path_factory.mktemp("evaluate")
    whole = write_source(folder)
    table = pl.read_csv(whole)
    held = pl.Series(range(len(table))) % 10 == 3
    source, probe = folder / "source.csv", folder / "probe.csv"
    table.filter(~held).write_csv(source)
    table.filter(held).write_csv(probe)
    return source, write_release(source, folder / "out"), probe, whole


def test_a_probe_is_predicted_and_both_are_shown_beside_an_audit(made, tmp_path, capsys):
    source, release, probe, _ = made
    page = tmp_path / "both.html"
    few = ["--targets", "10", "--varied-at", "1"]
    arguments = ["audit", str(source), str(release), "--probe", str(probe), "-o", str(page), "--seed", "1", *few]
    assert run([*arguments, "--json"]) in (0, 1)  # as the verdict says
    answer = json.loads(capsys.readouterr().out)
    assert answer["evaluation"]["target_deviation"]["coverage"] == 1.0  # a padded release speaks about every item
    text = page.read_text()
    assert "How risky is this release, and what is it good for?" in text
    assert "SHA-256 of the probe" in text


def test_a_hold_out_publishes_and_evaluates_in_one_go(made, tmp_path, capsys):
    page = tmp_path / "page.html"
    more = ["--holdout", "0.1", "--k", "3", "--mode", "pure", "--seed", "1", "-o", str(page)]
    assert run(["evaluate", str(made[3]), *more, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert 0 < answer["target_deviation"]["coverage"] < 1
    assert answer["seed"] == 1
    assert "pure release with k = 3" in page.read_text()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ([], "give either --probe with a release, or --holdout"),
        (["--holdout", "0.1", "--probe", "{source}"], "give either --probe with a release, or --holdout"),
        (["--probe", "{source}"], "--probe needs the release"),
        (["{release}", "--probe", "{source}", "--k", "9"], "--k is for the release that --holdout makes"),
        (["--holdout", "0.1", "--grid", "x"], "neither a number nor none"),
        (["--holdout", "1.5"], "holdout must lie between 0 and 1"),
        (["--holdout", "0.1", "--k", "1"], "k must be at least 2"),
        (["--holdout", "0.1", "--users", "0"], "users must be at least 1"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(made, more, sentence, capsys):
    assert run(["evaluate", str(made[3]), *(word.format(source=made[3], release=made[1]) for word in more)]) == 2
    printed = capsys.readouterr()
    assert (printed.out, len(printed.err.strip().splitlines())) == ("", 1)
    assert sentence in printed.err


def test_a_probe_inside_the_source_is_refused(made, capsys):
    _, release, probe, whole = made
    assert run(["evaluate", str(whole), str(release), "--probe", str(probe)]) == 2
    assert "stand in the source too" in capsys.readouterr().err


def test_the_terminal_shows_verdict_and_scores(made, capsys):
    source, release, probe, _ = made
    assert run(["evaluate", str(source), str(release), "--probe", str(probe), "--seed", "1"]) == 0
    shown = capsys.readouterr().out
    assert "item neighbours" in shown
    assert "own profile" in shown


def test_fidelity_compares_leaderboards_and_prints_what_is_promised(made, tmp_path, capsys):
    page = tmp_path / "fidelity.html"
    flags = ["--fidelity", "--quick", "--splits", "1", "--seed", "1"]
    source, release, probe, _ = made
    arguments = ["evaluate", str(source), str(release), "--probe", str(probe), *flags, "-o", str(page)]
    assert run([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["fidelity"]
    assert {"tau", "tau_noise", "regret", "winner"} <= told["B"]["ndcg"].keys()
    assert told["verdict"] in page.read_text()


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--holdout", "0.1", "--quick"], "--quick is for --fidelity"),
        (["--holdout", "0.1", "--fidelity", "--users", "9"], "--users is not for --fidelity"),
        (["--fidelity"], "give either a release, or --holdout"),
    ],
)
def test_flags_of_the_one_measure_are_refused_by_the_other(made, flags, sentence, capsys):
    assert run(["evaluate", str(made[3]), *flags]) == 2
    assert sentence in capsys.readouterr().err
