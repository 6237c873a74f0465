"""How a contest scores its entries: RMSE of predicted ratings, nDCG@10 of rankings.

A question is a held-out cell of a person. A person is served by a row of the training table, or by several (a group of
drawn rows), whose predictions are averaged. nDCG counts the person's liked held-out items among the first ten of all
items that the person did not have before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.results import sizes_only
from recloak._evaluation.fidelity.ranking_models import ScoreRows
from recloak._evaluation.fidelity.rating_models import Predict
from recloak._evaluation.fidelity.training import is_liked
from recloak._evaluation.fidelity.training_rows import TrainingRows
from recloak._evaluation.holdout import Probe
from recloak._ratings.model import Ratings

TOP = 10
_BLOCK = 128


@dataclass(frozen=True, eq=False, slots=True)
class HeldOutCells:
    """Held-out cells of people, what these had before, and the rows that serve each person."""

    cells: Probe
    known: Ratings  # what each person had: left out of rankings
    rows_indptr: NDArray[np.int64]  # (n_people + 1,)
    rows: NDArray[np.int64]

    __repr__ = sizes_only

    @classmethod
    def of_rows(cls, cells: Probe, known: Ratings) -> HeldOutCells:
        """Ask about the rows of the training table itself."""
        return cls(cells, known, np.arange(known.n_users + 1), np.arange(known.n_users))

    @classmethod
    def of_people(cls, cells: Probe, known: Ratings, released: TrainingRows) -> HeldOutCells:
        """Ask about the people of the source, each served by the rows of the own group."""
        lengths = np.diff(released.group_indptr)[released.owner]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        places = np.repeat(released.group_indptr[released.owner] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return cls(cells, known, indptr, released.group_rows[places])

    def rows_of(self, users: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all rows that serve some users one after the other, and where those of each begin."""
        lengths = np.diff(self.rows_indptr)[users]
        starts = np.cumsum(lengths) - lengths
        places = np.repeat(self.rows_indptr[users] - starts, lengths) + np.arange(int(lengths.sum()))
        return self.rows[places], starts


def rmse_of(predict: Predict, questions: HeldOutCells) -> float | None:
    """Return the root of the mean squared error over all questions; None without any."""
    cells = questions.cells
    if not len(cells):
        return None
    rows, starts = questions.rows_of(cells.users)
    lengths = np.diff(np.append(starts, len(rows)))
    predicted = np.asarray(predict(rows, np.repeat(cells.items, lengths)), np.float64)
    scale = questions.known.scale
    mean = np.clip(np.add.reduceat(predicted, starts) / lengths, scale.low, scale.high)
    return float(np.sqrt(np.mean((mean - cells.values) ** 2)))


def ndcg_of(score: ScoreRows, questions: HeldOutCells) -> float | None:
    """Return the mean nDCG@10 over the people who like at least one held-out item; None without any."""
    cells = questions.cells
    liked = is_liked(cells.values, questions.known.scale)
    users, items = cells.users[liked], cells.items[liked]
    people, starts = np.unique(users, return_index=True)
    ends = np.append(starts, len(users))
    gains = []
    for first in range(0, len(people), _BLOCK):
        block = people[first : first + _BLOCK]
        top = _top(_scores_of(score, questions, block), questions.known, block)
        for place, found in enumerate(top):
            wanted = items[ends[first + place] : ends[first + place + 1]]
            gains.append(ndcg_of_hits(np.isin(found, wanted), len(wanted)))
    return float(np.mean(gains)) if gains else None


def _scores_of(score: ScoreRows, questions: HeldOutCells, people: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the scores of every item for some people: the mean over the rows that serve each."""
    rows, starts = questions.rows_of(people)
    scores = score(rows)
    if len(rows) == len(people):
        return scores
    lengths = np.diff(np.append(starts, len(rows)))
    return (np.add.reduceat(scores, starts, axis=0) / lengths[:, None]).astype(np.float32)


def _top(scores: NDArray[np.float32], known: Ratings, people: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the first ten items of each person among those not known; ties go to the smaller number."""
    scores = np.array(scores)
    for place, person in enumerate(people):
        scores[place, known.items[known.row(int(person))]] = -np.inf
    n = min(TOP, scores.shape[1])
    chosen = np.sort(np.argpartition(-scores, n - 1, axis=1)[:, :n], axis=1)
    order = np.argsort(-np.take_along_axis(scores, chosen, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1)


def ndcg_of_hits(hits: NDArray[np.bool_], n_wanted: int) -> float:
    """Return the discounted gain of the hits over that of the best order: sum 1 / log2(place + 1)."""
    discount = 1 / np.log2(np.arange(2, TOP + 2))
    return float(discount[: len(hits)][hits].sum() / discount[:n_wanted].sum())
