"""Evaluate a release: deviations, recommenders, baselines and shape."""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Public
from recloak._attacks.public_view import ReleaseView
from recloak._core.progress import Advance, task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._evaluation.deviation import similar_users, target_deviation
from recloak._evaluation.holdout import Probe, sample_users
from recloak._evaluation.model import Evaluation, RecommenderScore, accuracy_of
from recloak._evaluation.options import EvaluateOptions
from recloak._evaluation.ranking import rank
from recloak._evaluation.recommenders import RECOMMENDERS, Fit, Model, as_training_set, fit_item_mean, require_trainable
from recloak._evaluation.shape import compare_pairs, shape
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS
from recloak._releases.pad import pad


def evaluate(
    ratings: Ratings, release: ReleaseView, probe: Probe, *, options: EvaluateOptions | None = None, rng: Rng = None
) -> Evaluation:
    """Evaluate a release of ``ratings`` on held-out ratings of the same users."""
    options, source = options or EvaluateOptions(), randomness(rng)
    if ratings.kind is not RATINGS:
        from recloak._evaluation.use_evaluation import evaluate_uses  # noqa: PLC0415 (which few evaluations need)

        return evaluate_uses(ratings, release, probe, users=options.users, rng=source)
    public, child = release.public, source.child("evaluate")
    require_trainable(public)
    users = sample_users(probe, options.users, child.stream("ranking"))
    with task("evaluating", 3 + 2 * len(RECOMMENDERS)) as advance:
        target = target_deviation(public, probe)
        similar, self_rank = similar_users(public, ratings, probe, most_users=options.users, rng=child)
        advance(1)
        recommenders = {
            name: _train_and_score(fit, ratings, public, probe, users, child, advance)
            for name, fit in RECOMMENDERS.items()
        }
        baselines = _baselines(ratings, probe, users)
        advance(1)
        pairs = compare_pairs(ratings, pad(ratings, rng=child), public.owner, child)
        changes = {**shape(ratings, public), "pairs": pairs}
        advance(1)
    return Evaluation(target, similar, self_rank, recommenders, baselines, changes, source.seed)


def _train_and_score(
    fit: Fit, ratings: Ratings, public: Public, probe: Probe, users: NDArray[np.int32], rng: Randomness,
    advance: Advance,
) -> dict[str, RecommenderScore]:  # fmt: skip
    """Train one recommender on the original and on the release, and score both on the probe."""
    everyone = np.arange(ratings.n_users, dtype=np.int32)
    original = _score(fit(ratings, rng), everyone, ratings, probe, users)
    advance(1)
    released = _score(fit(as_training_set(public, ratings.item_ids), rng), public.owner, ratings, probe, users)
    advance(1)
    return {"original": original, "release": released}


def _score(
    model: Model, row_of: NDArray[np.int32], ratings: Ratings, probe: Probe, users: NDArray[np.int32]
) -> RecommenderScore:
    """Score a model; ``row_of`` is the row of the model that serves each user."""
    accuracy = accuracy_of(model.predict(row_of[probe.users], probe.items), probe.values)
    return RecommenderScore(accuracy, rank(lambda some: model.rows(row_of[some]), ratings, probe, users))


def _baselines(ratings: Ratings, probe: Probe, users: NDArray[np.int32]) -> dict[str, RecommenderScore]:
    """Score what needs no release: the mean of each item, and its popularity for rankings."""
    everyone = np.arange(ratings.n_users, dtype=np.int32)
    item_mean = _score(fit_item_mean(ratings, randomness(0)), everyone, ratings, probe, users)
    popularity = ratings.popularity.astype(np.float32)
    by_popularity = rank(lambda some: np.tile(popularity, (len(some), 1)), ratings, probe, users)
    no_prediction = accuracy_of(np.full(len(probe), np.nan, np.float32), probe.values)
    return {"item-mean": item_mean, "popularity": RecommenderScore(no_prediction, by_popularity)}
