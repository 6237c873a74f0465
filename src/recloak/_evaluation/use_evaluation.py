"""Evaluate a release of purchases or plays by how recommenders trained on it rank what people go on to use.

There is no rating to predict, so errors (RMSE, MAE), the deviations of the paper and the self-rank are not applicable.
What counts is ranking. Held-out uses are looked for among the first ten of all items that a person did not have:

    nDCG@10      their discounted places over those of the best order
    recall@10    the share of them that is there
    catalogue    the share of all items that stands among anybody's first ten

A person is served by the row or rows of the own group, and popularity stands beside every recommender.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._attacks.public_view import ReleaseView
from recloak._core.progress import Advance, task
from recloak._core.randomness import Randomness
from recloak._core.results import sizes_only
from recloak._evaluation.fidelity.compared_statistics import compare_statistics
from recloak._evaluation.fidelity.entry_scores import TOP, HeldOutCells, ndcg_of_hits
from recloak._evaluation.fidelity.ranking_models import ScoreRows, fit_ease, fit_implicit, fit_item_cosines
from recloak._evaluation.fidelity.training import Training
from recloak._evaluation.fidelity.training_rows import TrainingRows
from recloak._evaluation.fidelity.uses import in_uses, uses_of
from recloak._evaluation.holdout import Probe, sample_users
from recloak._evaluation.model import Accuracy, Ranking, RecommenderScore, SelfRank, UseEvaluation
from recloak._ratings.model import Ratings

MOST_ITEMS = 4000  # that take part, the most used: a linear item model is a table of items by items
_BLOCK = 128

NO_ERRORS = Accuracy(None, None, 0.0, 0)  # there is no rating to predict

Fit = Callable[[Training], ScoreRows]
Scores = dict[str, RecommenderScore]  # by recommender


def fit_factorisation(training: Training) -> ScoreRows:
    """Train implicit factors; a row that has every item is such a prediction already, and is taken as it is."""
    rows = training.ratings
    if rows.n_ratings == rows.n_users * rows.n_items and rows.scale.span:
        table = rows.values.reshape(rows.shape)
        return lambda some: table[some]
    return fit_implicit(training, rank=32, ridge=10.0, confidence=5.0, rounds=10)


RECOMMENDERS_OF_USES: dict[str, Fit] = {
    "factorisation": fit_factorisation,
    "item-knn": partial(fit_item_cosines, n=100),
    "ease": partial(fit_ease, ridge=500.0),
}


@dataclass(frozen=True, eq=False, slots=True)
class UseContest:
    """People, items and held-out uses, the same for every release of a source: recommenders compete on them."""

    items: NDArray[np.int64]  # that take part, the most used
    here: TrainingRows  # the source
    asked: Probe
    people: NDArray[np.int32]  # who are ranked for
    rng: Randomness

    __repr__ = sizes_only

    @classmethod
    def of(cls, ratings: Ratings, probe: Probe, *, users: int, rng: Randomness) -> UseContest:
        """Choose the items and the people."""
        source = uses_of(ratings)
        items = np.sort(np.argsort(-source.popularity, kind="stable")[:MOST_ITEMS])
        here = TrainingRows.of_original(source).of_people(np.arange(source.n_users), items)
        asked = _about(probe, items, source.n_items)
        return cls(items, here, asked, sample_users(asked, users, rng.stream("ranking")), rng.child("train"))

    def part_of(self, released: TrainingRows) -> TrainingRows:
        """Return the uses of released rows that take part."""
        return in_uses(released).of_people(np.arange(len(released.owner)), self.items)

    def on_original(self, advance: Advance = lambda _: None) -> Scores:
        """Train every recommender on the source and score it."""
        return self._scores(self.here.rows, HeldOutCells.of_rows(self.asked, self.here.rows), advance)

    def on_release(self, part: TrainingRows, advance: Advance = lambda _: None) -> Scores:
        """Train every recommender on released rows and score it; a person is served by the own group's."""
        return self._scores(part.rows, HeldOutCells.of_people(self.asked, self.here.rows, part), advance)

    def by_popularity(self) -> RecommenderScore:
        """Score the order of popularity."""
        popular = self.here.rows.popularity.astype(np.float32)
        questions = HeldOutCells.of_rows(self.asked, self.here.rows)
        return _scored(lambda rows: np.tile(popular, (len(rows), 1)), questions, self.people)

    def covered(self, part: TrainingRows) -> Accuracy:
        """Return how many held-out uses stand in a row of the person's own group."""
        return _covered(self.asked, part)

    def _scores(self, rows: Ratings, questions: HeldOutCells, advance: Advance) -> Scores:
        training, scores = Training(rows, self.rng), {}
        for name, fit in RECOMMENDERS_OF_USES.items():
            scores[name] = _scored(fit(training), questions, self.people)
            advance(1)
        return scores


@dataclass(frozen=True, slots=True)
class BestRanking:
    """The recommender that ranks best on one side."""

    recommender: str
    ndcg: float
    recall: float
    catalogue: float


def best_of(scores: Scores) -> BestRanking | None:
    """Return the best recommender by nDCG@10; None where nobody could be ranked for."""
    found = {name: one.ranking for name, one in scores.items() if one.ranking and one.ranking.ndcg is not None}
    if not found:
        return None
    name = max(found, key=lambda one: found[one].ndcg or 0.0)
    best = found[name]
    return BestRanking(name, best.ndcg or 0.0, best.recall or 0.0, best.catalogue or 0.0)


def evaluate_uses(
    ratings: Ratings, release: ReleaseView, probe: Probe, *, users: int, rng: Randomness
) -> UseEvaluation:
    """Evaluate a release of presence or counts on held-out uses of the same people."""
    contest = UseContest.of(ratings, probe, users=users, rng=rng.child("evaluate"))
    there = contest.part_of(TrainingRows.of_release(release, ratings))
    with task("evaluating", 2 * len(RECOMMENDERS_OF_USES)) as advance:
        sides = {"original": contest.on_original(advance), "release": contest.on_release(there, advance)}
    scores = {name: {side: found[name] for side, found in sides.items()} for name in RECOMMENDERS_OF_USES}
    statistics = {name: one.to_json() for name, one in compare_statistics(contest.here.rows, there).items()}
    return UseEvaluation(
        contest.covered(there), NO_ERRORS, SelfRank({}, float("nan"), (), 0, 0), scores,
        {"popularity": contest.by_popularity()}, {"statistics": statistics}, rng.seed, n_items=len(contest.items),
        values=ratings.kind.name,
    )  # fmt: skip


def _about(probe: Probe, items: NDArray[np.integer], n_items: int) -> Probe:
    """Return the part of a probe that is about some items, with their numbers."""
    number = np.full(n_items, -1, np.int32)
    number[items] = np.arange(len(items))
    kept = number[probe.items] >= 0
    n_left_out = probe.n_left_out + int((~kept).sum())
    return Probe(probe.users[kept], number[probe.items[kept]], np.ones(int(kept.sum()), np.float32), n_left_out)


def _covered(probe: Probe, released: TrainingRows) -> Accuracy:
    """Return how many held-out uses stand in a row of the person's own group; an error is not applicable."""
    uses = released.rows.where(released.rows.values >= 0.75 * released.rows.scale.high)
    groups = np.repeat(np.arange(released.n_groups), np.diff(released.group_indptr))
    in_group = scipy.sparse.csr_array(
        (np.ones(len(groups), np.float32), (groups, released.group_rows)), shape=(released.n_groups, uses.n_users)
    )
    shown = (in_group @ uses.matrix).tocsr()
    found = shown[released.owner[probe.users], probe.items] > 0
    return Accuracy(None, None, float(found.mean()) if len(probe) else 0.0, len(probe))


def _scored(score: ScoreRows, questions: HeldOutCells, people: NDArray[np.integer]) -> RecommenderScore:
    """Rank for some people and count what was held out among the first ten."""
    cells, known = questions.cells, questions.known
    ends = np.searchsorted(cells.users, np.append(people, people[-1] + 1 if len(people) else 0))
    gains, recalls, named = [], [], np.zeros(known.n_items, bool)
    for first in range(0, len(people), _BLOCK):
        block = people[first : first + _BLOCK]
        for place, top in enumerate(first_ten(score, questions, block)):
            at = first + place
            wanted = cells.items[ends[at] : np.searchsorted(cells.users, people[at] + 1)]
            hits = np.isin(top, wanted)
            gains.append(ndcg_of_hits(hits, len(wanted)))
            recalls.append(hits.sum() / min(len(wanted), TOP))
            named[top] = True
    none = Accuracy(None, None, 0.0, len(cells))
    if not gains:
        return RecommenderScore(none, Ranking(None, None, 0))
    ranking = Ranking(float(np.mean(gains)), float(np.mean(recalls)), len(people), float(named.mean()))
    return RecommenderScore(none, ranking)


def first_ten(score: ScoreRows, questions: HeldOutCells, people: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the first ten items of each person among those not had; ties go to the smaller number."""
    rows, starts = questions.rows_of(people)
    lengths = np.diff(np.append(starts, len(rows)))
    scores = np.add.reduceat(np.asarray(score(rows), np.float64), starts, axis=0) / lengths[:, None]
    for place, person in enumerate(people):
        scores[place, questions.known.items[questions.known.row(int(person))]] = -np.inf
    return np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
