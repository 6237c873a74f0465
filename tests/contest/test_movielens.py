"""A contest on MovieLens-1M from source to board, as docs/contest.md tells it."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats

import recloak
from recloak._contest.answer_key import read_key
from recloak._contest.board_attacks import one_cell, random_designs
from recloak._contest.scoring import score_submission
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


def test_the_board_finds_the_right_winner_and_order(held, tmp_path):
    made, files = held
    rules, answers = read_key(made.private)
    exact = {
        name: score_submission(read_submission(path, rules), answers, rules)[1].rmse for name, path in files.items()
    }
    for name, path in files.items():
        recloak.contest.score(path, made.private, board=tmp_path / "board.db", team=name, day="2026-01-01")
    told = {line.team: line.score for line in recloak.contest.board(tmp_path / "board.db").lines}
    tau = scipy.stats.kendalltau([exact[name] for name in files], [told[name] for name in files]).statistic
    print("tau", tau, "noise", made.noise, {name: (round(exact[name], 4), told[name]) for name in files})
    assert tau >= 0.95
    assert min(told, key=told.__getitem__) == min(exact, key=exact.__getitem__)


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

    def exact(x):
        return score_submission(np.clip(x, 1, 5), answers, rules)[0].rmse

    def told(x):
        x = np.clip(x, 1, 5)
        return noisy_score(score_submission(x, answers, rules)[0], x, rules)

    draw, right, leaked, prior = np.random.default_rng(1), [], [], []
    attack = partial(
        random_designs, told, base, levels=LEVELS, n_scored=n_board, n_submissions=100,
        noise=telling_of(rules, n_board, 0.9).sigma * n_board, share=0.5, draw=draw,
    )  # fmt: skip
    on_board = np.flatnonzero(once["is_board"].to_numpy())
    for _ in range(3):
        some = draw.choice(len(question), 90, replace=False)
        right.append(attack(targets=question[some], prior=chances[some]) == truth[some])
        prior.append(LEVELS[chances[some].argmax(axis=1)] == truth[some])
    some = draw.choice(on_board, 99, replace=False)  # exact scores on a half that is known: the leak itself
    leaked = one_cell(exact, base, question[some], LEVELS, n_board) == truth[some]
    print("exact", leaked.mean(), "by the rules", np.mean(right), "prior", np.mean(prior))
    assert leaked.mean() == 1.0
    assert np.mean(right) <= np.mean(prior) + 0.02 + 0.02  # 270 ratings: two points of chance
