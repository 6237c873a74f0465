"""Evaluations of purchases and plays: rankings on both sides, and nothing that is about ratings."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from tests.releases.test_events import two_tastes

import recloak
from recloak._cli.main import cli
from recloak._evaluation.fidelity.entry_scores import HeldOutCells
from recloak._evaluation.holdout import Probe
from recloak._evaluation.use_evaluation import _scored, first_ten
from recloak._library.evaluate_release import hold_out
from recloak._ratings.event_values import as_used


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("mode", ["pure", "padded", "sampled"])
def test_every_mode_is_evaluated_by_rankings(mode, counts):
    found = recloak.evaluate(two_tastes(80, 40, counts=counts), holdout=0.1, k=4, mode=mode, seed=1)
    assert isinstance(found, recloak.UseEvaluation)
    said = found.to_json()
    assert said["not_applicable"][:2] == ["rmse", "mae"]
    assert set(said["recommenders"]) == {"factorisation", "item-knn", "ease"}
    assert "item mean" not in said["statistics"]
    assert 0 < said["recommenders"]["ease"]["release"]["ndcg@10"] <= 1
    assert "Not applicable, for there are no ratings" in found.to_html()


def test_two_tastes_are_told_apart_better_than_by_popularity():
    found = recloak.evaluate(two_tastes(200, 60), holdout=0.1, k=4, mode="padded", seed=1)
    popular = found.baselines["popularity"].ranking
    assert popular is not None
    assert popular.ndcg is not None
    assert isinstance(found, recloak.UseEvaluation)
    assert found.best["release"][1] > 1.2 * popular.ndcg


def test_a_ranking_is_scored_as_by_hand():
    known = as_used(two_tastes(2, 24))
    free = [np.setdiff1d(np.arange(known.n_items), known.items[known.row(user)]) for user in (0, 1)]
    wanted = np.array([free[0][1], free[1][0]], np.int32)  # the second free item of the one, the first of the other
    questions = HeldOutCells.of_rows(Probe(np.array([0, 1], np.int32), wanted, np.ones(2, np.float32)), known)
    order = -np.arange(known.n_items, dtype=np.float32)
    score = _scored(lambda rows: np.tile(order, (len(rows), 1)), questions, np.array([0, 1]))
    assert score.ranking is not None
    assert score.ranking.ndcg == pytest.approx((1 / np.log2(3) + 1) / 2)
    assert score.ranking.recall == 1
    top = first_ten(lambda rows: np.tile(order, (len(rows), 1)), questions, np.array([0]))
    assert top[0, :2].tolist() == free[0][:2].tolist()


def test_fidelity_compares_rankings_alone():
    found = recloak.fidelity(
        two_tastes(80, 40, counts=True), holdout=0.1, k=4, mode="sampled", quick=True, splits=1, seed=1
    )
    assert set(found.outsider) == {"ndcg"}
    assert found.not_applicable == ("rmse", "item mean", "item variance", "histogram")
    assert found.to_json()["fidelity"]["not_applicable"][0] == "rmse"
    assert "Histogram of the ratings" not in found.to_html()


def test_the_command_line_evaluates_a_folder_of_purchases(tmp_path):
    source = two_tastes(60, 40)
    rest, probe = hold_out(source, 0.1, rng=1)
    rest.to_polars().write_csv(tmp_path / "rest.csv")
    probe.select("user", "item").write_csv(tmp_path / "probe.csv")
    recloak.publish(rest, tmp_path / "out", k=4, seed=1)
    paths = [str(tmp_path / name) for name in ("rest.csv", "out")]
    line = ["evaluate", *paths, "--probe", str(tmp_path / "probe.csv"), "--seed", "1"]
    shown = CliRunner().invoke(cli, line)
    assert shown.exit_code == 0, shown.output
    assert "implicit factors" in shown.output
    told = json.loads(CliRunner().invoke(cli, [*line, "--json"]).output)
    assert told["values"] == "presence"
