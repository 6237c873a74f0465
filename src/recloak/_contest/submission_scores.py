"""Exact scores of a submission, for the owner."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._contest.model import Rules, Score, Standings
from recloak._core.errors import InputError
from recloak._evaluation.ranking import ndcg_of_order

_DIGITS = 4  # of errors that share a place


def score_submission(predictions: NDArray[np.float64], answers: pl.DataFrame, rules: Rules) -> tuple[Score, Score]:
    """Return the scores on the half of the board and on the half that decides."""
    board, final = answers.filter("is_board"), answers.filter(~pl.col("is_board"))
    return _score(predictions, board, rules), _score(predictions, final, rules)


def _score(predictions: NDArray[np.float64], answers: pl.DataFrame, rules: Rules) -> Score:
    if not len(answers):
        raise InputError("there are too few hidden ratings to score on two halves")
    told, truth = predictions[answers["question"].to_numpy() - 1], answers["rating"].to_numpy().astype(np.float64)
    missing = np.isnan(told)
    off = filled(told, rules) - truth
    return Score(
        rmse=float(np.sqrt(np.mean(off**2))),
        mae=float(np.abs(off).mean()),
        ndcg=_ndcg(filled(told, rules), truth - rules.low, answers["group"].to_numpy()),
        coverage=float(1 - missing.mean()),
        n=len(answers),
    )


def filled(predictions: NDArray[np.float64], rules: Rules) -> NDArray[np.float64]:
    """Return predictions with the middle of the scale where there is none."""
    return np.where(np.isnan(predictions), (rules.low + rules.high) / 2, predictions)


def _ndcg(told: NDArray[np.float64], gain: NDArray[np.float64], groups: NDArray[np.int64]) -> float | None:
    """Return the mean over groups of the discounted gain of the predicted order over that of the best order."""
    order = np.argsort(groups, kind="stable")
    _, starts = np.unique(groups[order], return_index=True)
    found = [ndcg_of_order(told[some], gain[some]) for some in np.split(order, starts[1:]) if len(some) > 1]
    return float(np.mean(found)) if found else None


def standings(scores: Mapping[str, Score]) -> Standings:
    """Return the teams in the order of their errors; those that agree to four digits share a place, by name."""
    places: dict[float, list[str]] = {}
    for team, score in sorted(scores.items()):
        places.setdefault(float(f"{score.rmse:.{_DIGITS}g}"), []).append(team)
    n = next(iter(scores.values())).n
    return Standings(tuple(tuple(places[error]) for error in sorted(places)), n)
