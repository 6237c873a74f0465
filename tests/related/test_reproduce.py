"""The experiments of paper 003 on small data: shared work, resumed runs, the page."""

import json

import numpy as np
import pytest

from recloak._cli.main import run
from recloak._ratings.model import Ratings
from recloak._related import passive_experiments
from recloak._related.options import BoundOptions, MethodOptions
from recloak._related.passive_experiments import DEFAULTS, SERIES, reproduce_passive
from recloak._related.simulation import simulate

FEW = {"window": (2, 4), "gap": (5, 30), "delta": (0.1, 0.5), "top": (3, 5)}


@pytest.fixture(autouse=True)
def few_settings(monkeypatch):
    for name, values in FEW.items():
        monkeypatch.setitem(passive_experiments.PARAMETERS, name, values)


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(4)
    cells = rng.permutation(40 * 12)[:300]
    return Ratings.from_arrays(cells // 12, cells % 12, rng.integers(1, 6, 300).astype(float), np.arange(300))


def test_a_run_of_the_experiments_is_the_simulation_of_its_setting(ratings):
    found = reproduce_passive(ratings, literal=False)
    for series, (method, evidence) in SERIES.items():
        same = simulate(
            ratings,
            bound=BoundOptions(evidence=evidence, window=4, min_support=1),
            method=MethodOptions(method=method),
            rng=0,
            compare=False,
        )
        assert found.default(series).recall == pytest.approx(same.mean("recall"))
        assert found.default(series).max_breach == same.max_breach


def test_safe_methods_keep_within_every_delta_and_permuting_keeps_no_less(ratings):
    found = reproduce_passive(ratings, literal=False)
    for (series, _, _, delta, _), outcome in found.outcomes.items():
        assert series == "RP" or outcome.max_breach <= delta
    assert all(found.ceilings[delta] >= found.curve("PERM, total", "delta", "recall")[delta] for delta in FEW["delta"])


def test_the_printed_algorithm_runs_only_where_it_is_asked_for(ratings, monkeypatch):
    assert set(reproduce_passive(ratings).printed) == {"printed PERM", "printed SUPP"}
    monkeypatch.setattr(
        "recloak._related.literal_method.literal", lambda *_, **__: pytest.fail("the printed algorithm ran")
    )
    assert reproduce_passive(ratings, literal=False).printed == {}


@pytest.fixture
def source(ratings, tmp_path):
    table = np.column_stack([ratings.users(), ratings.items, ratings.values, np.asarray(ratings.times)])
    path = tmp_path / "ratings.csv"
    np.savetxt(path, table, "%d", ",", header="user,item,rating,time", comments="")
    return path


def test_a_run_that_was_broken_off_goes_on_and_ends_in_one_page(source, tmp_path, monkeypatch, capsys):
    out, kept = tmp_path / "out", passive_experiments._Runner.steps
    done: list[passive_experiments.Run] = []
    again: list[passive_experiments.Run] = []

    def broken(bench, asked, *, literal):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(asked)
        return kept(bench, asked, literal=literal)

    monkeypatch.setattr(passive_experiments._Runner, "steps", broken)
    assert run(["reproduce", "passive", str(source), "-o", str(out)]) != 0
    assert not (out / "report.html").exists()

    def counted(bench, asked, *, literal):
        again.append(asked)
        return kept(bench, asked, literal=literal)

    monkeypatch.setattr(passive_experiments._Runner, "steps", counted)
    capsys.readouterr()
    assert run(["reproduce", "passive", str(source), "-o", str(out), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert not set(done) & set(again[:-2])  # the last two are the printed algorithm
    assert figures["defaults"] == DEFAULTS
    page = (out / "report.html").read_text()
    for heading in (
        "Which delta?",
        "Beside the paper",
        *(f"Figure {n}" for n in (4, 5, 6, 7)),
        "The printed algorithm",
    ):
        assert heading in page


def test_a_folder_of_other_ratings_or_of_other_things_is_refused(source, tmp_path, capsys):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    assert run(["reproduce", "passive", str(source), "-o", str(tmp_path / "full")]) == 2
    assert "no folder of this command" in capsys.readouterr().err
    other = {"about": {"format": 1, "ratings": "others", "seed": 0}, "outcomes": {}}
    (tmp_path / "full" / "outcomes.json").write_text(json.dumps(other))
    assert run(["reproduce", "passive", str(source), "-o", str(tmp_path / "full")]) == 2
    assert "other ratings or another seed" in capsys.readouterr().err


def test_ratings_without_times_are_refused_and_nothing_is_left(source, tmp_path, capsys):
    assert run(["reproduce", "passive", str(source), "--time", "none", "-o", str(tmp_path / "out")]) == 2
    assert "need ratings with times" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
