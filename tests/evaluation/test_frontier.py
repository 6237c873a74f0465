"""The frontier: points that go on where a run stopped, and the pages made of them."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.cli.releases import write_source

from recloak._cli.main import run
from recloak._core.intervals import wilson
from recloak._core.randomness import Randomness
from recloak._evaluation import frontier as making
from recloak._evaluation.frontier import FrontierPoint, frontier
from recloak._evaluation.holdout import Probe
from recloak._evaluation.kept_points import open_kept_points
from recloak._evaluation.model import Accuracy
from recloak._evaluation.options import FrontierOptions
from recloak._evaluation.predictive_experiments import nearest_centre, scored_with_zeros
from recloak._ratings.readers import read

FEW = FrontierOptions(targets=20, known=4)


def point(k: int, mode: str = "pure") -> FrontierPoint:
    error = Accuracy(1.0, 0.8, 1.0, 10)
    return FrontierPoint(mode, k, wilson(1, 20), wilson(2, 20), wilson(3, 20), 0.4, error, error)


def test_a_point_comes_back_as_it_was():
    assert FrontierPoint.from_json(json.loads(json.dumps(point(5).to_json()))) == point(5)


ABOUT = {"source": "abc", "targets": 20, "user": None}


def test_points_are_kept_for_the_same_options_and_seed_only(tmp_path):
    file = tmp_path / "points.json"
    open_kept_points(file, ABOUT, seed=None, fresh_seed=7).add(point(2)).add(point(5))
    assert open_kept_points(file, ABOUT, seed=None, fresh_seed=8).points == (point(2), point(5))
    assert open_kept_points(file, ABOUT, seed=None, fresh_seed=8).seed == 7
    assert open_kept_points(file, ABOUT, seed=7, fresh_seed=8).points == (point(2), point(5))
    assert open_kept_points(file, ABOUT, seed=9, fresh_seed=8).points == ()
    assert open_kept_points(file, {**ABOUT, "source": "abd"}, seed=None, fresh_seed=8).points == ()
    file.write_text(json.dumps({"about": ABOUT, "seed": 7, "points": [{"k": 3}]}))
    assert open_kept_points(file, ABOUT, seed=None, fresh_seed=8).points == ()


@pytest.mark.parametrize(
    ("now", "seed", "why"),
    [
        (ABOUT, None, ""),
        (ABOUT, 7, ""),
        ({**ABOUT, "targets": 30}, None, "were made with targets=20 (now 30)"),
        ({**ABOUT, "user": "name"}, 8, "were made with user=... not given (now name), seed=7 (now 8)"),
        ({**ABOUT, "source": "abd"}, None, "were made with another source"),
    ],
)
def test_what_differs_from_the_kept_points_is_named(tmp_path, now, seed, why):
    file = tmp_path / "points.json"
    open_kept_points(file, ABOUT, seed=7, fresh_seed=0).add(point(2))
    assert open_kept_points(file, now, seed=seed, fresh_seed=0).why_discarded == why


def test_points_of_other_options_are_measured_afresh_and_that_is_said(source, tmp_path, capsys, monkeypatch):
    def stopped(*_, keep, **__):
        keep(point(2))
        raise KeyboardInterrupt

    def warnings_of(*more):
        assert run(["frontier", str(source), "-o", str(tmp_path / "page.html"), "--targets", "20", *more]) == 130
        return [line for line in capsys.readouterr().err.splitlines() if "kept" in line]

    monkeypatch.setattr(making, "frontier", stopped)
    kept = tmp_path / "page.html.points.json"
    assert warnings_of("--seed", "1") == []
    assert warnings_of() == []
    assert len(json.loads(kept.read_text())["points"]) == 2
    why = "the points kept there were made with --known 8 (now 4), --seed 1 (now 2); all are measured again"
    assert warnings_of("--known", "4", "--seed", "2") == [f"recloak: {kept}: {why}"]
    kept.write_text("{}")
    why = "the points kept there cannot be read by this version; all are measured again"
    assert warnings_of("--known", "4") == [f"recloak: {kept}: {why}"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_source(tmp_path_factory.mktemp("frontier"))


def test_a_run_that_was_stopped_goes_on_and_gives_the_same(source, tmp_path, capsys, monkeypatch):
    few = ["--targets", "20", "--known", "4", "--seed", "1", "--json"]
    whole, again = tmp_path / "whole.html", tmp_path / "again.html"
    assert run(["frontier", str(source), "--k", "2,4", "--mode", "padded", "-o", str(whole), *few]) == 0
    wanted = json.loads(capsys.readouterr().out)
    measure, calls = making._Measurements.release, []

    def stop_at_the_second(measurements, k, mode):
        calls.append(k)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measure(measurements, k, mode)

    monkeypatch.setattr(making._Measurements, "release", stop_at_the_second)
    arguments = ["frontier", str(source), "--k", "2,4", "--mode", "padded", "-o", str(again), *few]
    assert run(arguments) == 130
    assert not again.exists()
    calls.append(0)
    assert run(arguments) == 0
    assert calls == [2, 4, 0, 4]  # k = 2 was not measured again
    capsys.readouterr()
    assert run(arguments) == 0  # nothing at all is measured now
    assert calls == [2, 4, 0, 4]
    assert json.loads(capsys.readouterr().out) == wanted
    assert "Which release?" in again.read_text()


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_with_the_points_it_had(source, tmp_path):
    page, few = tmp_path / "page.html", ["--targets", "20", "--known", "4", "--seed", "1", "--json"]
    arguments = ["frontier", str(source), "--k", "2,3,4,5,6", "-o", str(page), *few]
    command = [sys.executable, "-c", "from recloak._cli.main import main; main()", *arguments]
    kept = tmp_path / "page.html.points.json"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        while not kept.exists():
            assert running.poll() is None
            time.sleep(0.01)
        running.kill()
    before = json.loads(kept.read_text())["points"]
    assert not page.exists()
    printed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    after = json.loads(kept.read_text())["points"]
    assert after[: len(before)] == before
    assert len(printed["points"]) == 10 > len(before)
    assert page.exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--k", "2,x"], "k must be whole numbers"),
        (["--k", "1,5"], "k must be at least 2, got 1"),
        (["--k", "2,61"], "there must be at least k = 61 users with ratings, got 60"),
        (["--mode", "pure,wild"], "mode must be one of pure, padded, sampled"),
        (["--holdout", "0"], "holdout must be more than 0"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(source, tmp_path, more, sentence, capsys):
    assert run(["frontier", str(source), "-o", str(tmp_path / "x.html"), *more]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_more_users_in_a_group_are_named_less(source):
    found = frontier(read(source), [(2, "padded"), (12, "padded")], options=FEW, rng=Randomness(1))
    assert found.points[0].named.rate <= 1 / 2
    assert found.points[1].named.rate <= 1 / 12
    assert found.original.named.rate > found.points[1].named.rate


def test_the_nearest_centre_is_the_nearest():
    stream = np.random.default_rng(1)
    points, centres = stream.normal(size=(50, 3)), stream.normal(size=(5, 3))
    wanted = [min(range(5), key=lambda c: ((point - centres[c]) ** 2).sum()) for point in points]
    assert nearest_centre(points, centres).tolist() == wanted


def test_a_missing_cell_counts_as_0_in_the_papers_figure():
    from tests.evaluation.test_scores import PUBLIC

    probe = Probe(np.array([1, 1], np.int32), np.array([1, 2], np.int32), np.array([4.0, 3.0], np.float32))
    assert scored_with_zeros(PUBLIC, probe) == pytest.approx((((2 - 4) ** 2 + (0 - 3) ** 2) / 2) ** 0.5)


def test_the_papers_experiments_are_repeated(source, tmp_path, capsys):
    out = tmp_path / "paper"
    few = ["--k-small", "2", "--k-large", "4", "--users", "20", "--pairs-of", "10", "--seed", "1"]
    assert run(["reproduce", "predictive", str(source), "-o", str(out), *few, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert set(made["releases"]) == {"padded 2", "simple 2", "padded 4", "simple 4"}
    assert made["releases"]["padded 2"]["target"]["coverage"] == 1.0
    simple = made["releases"]["simple 2"]
    assert simple["target"]["coverage"] < 1
    assert simple["as_in_paper"] > simple["target"]["rmse"]
    assert sum(made["histogram"]["after"].values()) == pytest.approx(1.0)
    assert sum(made["bins"]["virtual"]) == sum(made["bins"]["real"]) == 60
    text = (out / "report.html").read_text()
    for heading in ("Table 1", "Table 2", "Table 3", "Figure 3", "Figure 4", "Figure 5", "0.9518"):
        assert heading in text
