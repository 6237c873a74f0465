"""A contest on MovieLens-1M from source to board, as docs/contest.md tells it."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats
from tests.contest.board_attacks import one_cell, random_designs

import recloak
from recloak._contest.answer_key import read_key
from recloak._contest.model import Score
from recloak._contest.submission_scores import score_submission
from recloak._contest.submissions import read_submission
from recloak._contest.telling import noisy_score, telling_of
from recloak._core.randomness import Randomness
from recloak._evaluation.fidelity.configurations import RATING
from recloak._evaluation.fidelity.training import Training

pytestmark = [pytest.mark.slow, pytest.mark.data]
LEVELS = np.arange(1.0, 6.0)


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """Prepare a contest, let twelve teams train on the release, and return their files and what they were told."""
    source = Path(os.environ.get("RECLOAK_DATA", "")) / "ml" / "ml-1m.inter"
    if not source.is_file():
        pytest.skip("RECLOAK_DATA names no folder with ml/ml-1m.inter")
    folder = tmp_path_factory.mktemp("contest")
    made = recloak.contest.prepare(source, folder / "contest", k=5, mode="pure", seed=1)
    released = recloak.read(pl.read_parquet(made.folder / "release" / "profiles.parquet"), user="group", scale=(1, 5))
    asked = pl.read_csv(made.folder / "questions.csv")
    rows = released.user_ids.encode(asked["group"])
    items = released.item_ids.encode(asked["item"].cast(released.item_ids.ids.dtype))
    training = Training(released, Randomness(1))
    files: dict[str, Path] = {}
    for one in RATING[:12]:
        predicted = np.where(items >= 0, one.fit(training)(np.maximum(rows, 0), np.maximum(items, 0)), np.nan)
        files[one.name] = folder / f"{len(files)}.csv"
        table = pl.DataFrame({"question": asked["question"], "prediction": predicted}).fill_nan(None)
        table.write_csv(files[one.name])
    return made, files


def test_the_board_finds_the_right_winner_and_order(held):
    made, files = held
    rules, answers = read_key(made.private)
    sent = {name: read_submission(path, rules) for name, path in files.items()}
    scores = {name: score_submission(one, answers, rules) for name, one in sent.items()}
    final = [scores[name][1].rmse for name in files]
    taus, winners = [], []
    for seed in range(40):  # as many boards, each with noise of its own
        board = replace(rules, secret=np.random.default_rng(seed).bytes(32).hex())
        told = [noisy_score(scores[name][0], sent[name], board) for name in files]
        taus.append(scipy.stats.kendalltau(final, told).statistic)
        winners.append(np.argmin(told) == np.argmin(final))
    print("tau", np.mean(taus), "winner", np.mean(winners), "noise", made.noise)
    assert np.mean(taus) >= 0.95
    assert np.mean(winners) >= 0.85


def test_the_store_shows_every_team(held, tmp_path):
    made, files = held
    for name, path in list(files.items())[:3]:
        recloak.contest.score(path, made.private, board=tmp_path / "board.db", team=name, day="2026-01-01")
    assert len(recloak.contest.board(tmp_path / "board.db")) == 3


def test_a_hundred_submissions_of_colluding_teams_gain_at_most_two_points(held):
    made, files = held
    rules, answers = read_key(made.private)
    base = pl.read_csv(files["ALS rank 10, ridge 10"])["prediction"].fill_null(3.0).to_numpy().clip(1, 5)
    once = answers.filter(pl.len().over("question") == 1)
    question, truth = once["question"].to_numpy() - 1, once["rating"].to_numpy()
    near = np.rint(base[question]).astype(int)
    counts = np.ones((5, 5))
    np.add.at(counts, (near - 1, truth.astype(int) - 1), 1)
    chances = (counts / counts.sum(axis=1, keepdims=True))[near - 1]
    n_board = int(answers["is_board"].sum())

    on_half = answers.filter("is_board")
    places, values = on_half["question"].to_numpy() - 1, on_half["rating"].to_numpy()

    def exact(x):
        return float(np.sqrt(np.mean((np.clip(x, 1, 5)[places] - values) ** 2)))

    def told(x):
        return noisy_score(Score(exact(x), 0.0, None, 1.0, n_board), np.clip(x, 1, 5), rules)

    draw, right, leaked, prior = np.random.default_rng(1), [], [], []
    attack = partial(
        random_designs, told, base, levels=LEVELS, n_scored=n_board, n_submissions=100,
        noise=telling_of(rules, n_board, 0.9).sigma * n_board, share=0.5, draw=draw,
    )  # fmt: skip
    on_board = np.flatnonzero(once["is_board"].to_numpy())
    for _ in range(10):
        some = draw.choice(len(question), 90, replace=False)
        right.append(attack(targets=question[some], prior=chances[some]) == truth[some])
        prior.append(LEVELS[chances[some].argmax(axis=1)] == truth[some])
    some = draw.choice(on_board, 99, replace=False)  # exact scores on a half that is known: the leak itself
    leaked = one_cell(exact, base, question[some], LEVELS, n_board) == truth[some]
    print("exact", leaked.mean(), "by the rules", np.mean(right), "prior", np.mean(prior))
    assert leaked.mean() == 1.0
    assert np.mean(right) <= np.mean(prior) + 0.02 + 0.02  # 900 ratings: two points of chance
