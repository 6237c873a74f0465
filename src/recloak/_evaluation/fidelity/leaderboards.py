"""Leaderboards of algorithms, and how far those of a release agree with those of the original."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import scipy.stats

from recloak._core.progress import Advance
from recloak._core.randomness import Randomness
from recloak._evaluation.fidelity.configurations import RANKING, RATING, Configuration
from recloak._evaluation.fidelity.entry_scores import HeldOutCells, ndcg_of, rmse_of
from recloak._evaluation.fidelity.model import Agreement, Entry
from recloak._evaluation.fidelity.training import Training
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS, ValueKind


@dataclass(frozen=True, slots=True)
class Competition:
    """What is competed for: the algorithms, their score, and whether the smaller one wins."""

    name: str
    configurations: tuple[Configuration[Any], ...]
    score: Callable[[Any, HeldOutCells], float | None]
    smaller_wins: bool
    predicts_ratings: bool = False

    def entrants(self, quick: bool) -> tuple[Configuration[Any], ...]:
        """Return the algorithms that take part."""
        return tuple(one for one in self.configurations if one.is_quick or not quick)


CONTESTS = (
    Competition("rmse", RATING, rmse_of, smaller_wins=True, predicts_ratings=True),
    Competition("ndcg", RANKING, ndcg_of, smaller_wins=False),
)

Scores = tuple[float, ...] | None  # of the entrants in their order; None where nothing could be scored
Boards = dict[str, Scores]  # contest -> scores


def contests_for(kind: ValueKind) -> tuple[Competition, ...]:
    """Return the contests that a kind of values has: predicting ratings is not applicable without any."""
    return CONTESTS if kind is RATINGS else tuple(one for one in CONTESTS if not one.predicts_ratings)


def n_entrants(contests: Sequence[Competition], quick: bool) -> int:
    """Return how many algorithms are trained for the boards of some contests."""
    return sum(len(contest.entrants(quick)) for contest in contests)


def compete(
    contests: Sequence[Competition],
    rows: Ratings,
    questions: HeldOutCells,
    *,
    quick: bool,
    rng: Randomness,
    advance: Advance,
) -> Boards:
    """Train every algorithm on a table and score it on the questions."""
    training = Training(rows, rng)
    return {contest.name: _board(contest, training, questions, quick, advance) for contest in contests}


def _board(contest: Competition, training: Training, questions: HeldOutCells, quick: bool, advance: Advance) -> Scores:
    scores: list[float | None] = []
    for entrant in contest.entrants(quick):
        scores.append(contest.score(entrant.fit(training), questions))
        advance(1)
    known = [score for score in scores if score is not None]
    return tuple(known) if len(known) == len(scores) else None


def tau_of(one: Sequence[float], two: Sequence[float]) -> float:
    """Return Kendall's tau-b of two boards; a board on which all are equal agrees with nothing, which is 0."""
    tau = float(scipy.stats.kendalltau(one, two).statistic)
    return 0.0 if np.isnan(tau) else tau


def agreement(
    contest: Competition,
    originals: Sequence[Scores],
    releases: Sequence[Scores],
    others: Sequence[Scores],
    *,
    quick: bool,
) -> Agreement | None:
    """Compare boards on the release with those on the original.

    ``others`` are further boards of the original that say how much of a disagreement is noise.
    """
    here, there = [one for one in originals if one], [one for one in releases if one]
    if len(here) < len(originals) or len(there) < len(releases):
        return None
    names = [one.name for one in contest.entrants(quick)]
    original, release = np.mean(here, axis=0), np.mean(there, axis=0)
    sign = 1.0 if contest.smaller_wins else -1.0
    winner, best = int(np.argmin(sign * release)), int(np.argmin(sign * original))
    entries = tuple(Entry(*one) for one in zip(names, original.tolist(), release.tolist(), strict=True))
    return Agreement(
        tau=float(np.mean([tau_of(one, two) for one, two in product(here, there)])),
        tau_noise=_noise(here, [one for one in others if one]),
        regret=100 * float(abs(original[winner] - original[best]) / max(abs(original[best]), 1e-12)),
        winner=names[winner],
        best=names[best],
        entries=entries,
    )


def _noise(boards: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> float | None:
    """Return the mean tau of boards of the original with each other, or with others where there are any."""
    pairs = list(product(boards, others)) if others else list(combinations(boards, 2))
    return float(np.mean([tau_of(one, two) for one, two in pairs])) if pairs else None
