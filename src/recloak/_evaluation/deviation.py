"""Deviations of Chang et al.: how far a user's ratings lie from the released profile.

*Target deviation* predicts a held-out rating by the user's own released profile. *Similar-user deviation* predicts it
by the released profile most similar to the user's known ratings, and the *self-rank* is the rank of the user's own
profile in that order. The paper scored a missing cell as 0, which mixes coverage into the error (its 2.37); here error
and coverage are reported separately.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.clue_matching import Scores, paper_kernel, score
from recloak._attacks.model import Clues, Knowledge, Public
from recloak._attacks.public_columns import labels_for
from recloak._core.randomness import Randomness
from recloak._evaluation.holdout import Probe, sample_users
from recloak._evaluation.model import Accuracy, SelfRank, accuracy_of
from recloak._ratings.model import Ratings

_TWENTIETHS = 20
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def target_deviation(public: Public, probe: Probe) -> Accuracy:
    """Predict each held-out rating by the label of the user's own profile."""
    return accuracy_of(labels_for(public, public.owner[probe.users], probe.items), probe.values)


def similar_users(
    public: Public, ratings: Ratings, probe: Probe, *, most_users: int, rng: Randomness
) -> tuple[Accuracy, SelfRank]:
    """Rank all profiles by the paper's distance to each user's ratings; predict by the nearest one."""
    users = sample_users(probe, most_users, rng.stream("similar users"))
    scores = score(public, _all_ratings_of(ratings, users), paper_kernel(public))
    nearest = np.full(ratings.n_users, -1, np.int64)
    nearest[users] = scores.winner.astype(np.int64)
    compared = nearest[probe.users] >= 0
    predicted = labels_for(public, nearest[probe.users[compared]], probe.items[compared])
    return accuracy_of(predicted, probe.values[compared]), _self_rank(scores, public.n_profiles)


def _all_ratings_of(ratings: Ratings, users: NDArray[np.int32]) -> Clues:
    lengths = ratings.activity[users]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    places = np.repeat(ratings.indptr[users] - indptr[:-1], lengths) + np.arange(indptr[-1])
    knowledge = Knowledge(known=max(int(lengths.max(initial=1)), 1))
    return Clues(knowledge, users, indptr, ratings.items[places], ratings.values[places])


def _self_rank(scores: Scores, n_profiles: int) -> SelfRank:
    rank = scores.self_rank
    # Tied profiles share a rank that may end in .5: count half ranks, so that whole numbers decide the twentieth.
    half_ranks = np.rint(2 * (rank - 1)).astype(np.int64)
    twentieth = np.minimum(_TWENTIETHS * half_ranks // max(2 * (n_profiles - 1), 1), _TWENTIETHS - 1)
    counts = np.bincount(twentieth, minlength=_TWENTIETHS)
    return SelfRank(
        quantiles={f"{100 * q:g} %": float(np.quantile(rank, q)) for q in _QUANTILES},
        first=float((scores.profiles_above_own == 0).mean()),
        shares=tuple((counts / len(rank)).tolist()),
        n_profiles=n_profiles,
        n_users=len(rank),
    )
