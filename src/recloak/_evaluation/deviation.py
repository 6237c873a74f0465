"""Deviations of Chang et al.: how far a user's ratings lie from the released profile.

*Target deviation* predicts a held-out rating by the user's own released profile. *Similar-user deviation* predicts it
by the released profile most similar to the user's known ratings, and the *self-rank* is the place of the own profile in
that order. The paper scored a missing cell as 0, which mixes coverage into the error (its 2.37); here they stand apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.clue_matching import Scores, paper_kernel, score
from recloak._attacks.model import Clues, Knowledge, Public
from recloak._attacks.public_columns import labels_for
from recloak._core.randomness import Randomness
from recloak._evaluation.model import Accuracy, SelfRank, accuracy_of
from recloak._evaluation.probe import Probe
from recloak._ratings.model import Ratings

_TWENTIETHS = 20
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def target_deviation(public: Public, probe: Probe) -> Accuracy:
    """Predict each held-out rating by the label of the user's own profile."""
    return accuracy_of(labels_for(public, public.owner[probe.users], probe.items), probe.values)


def similar_users(
    public: Public, ratings: Ratings, probe: Probe, *, most_users: int, rng: Randomness
) -> tuple[Accuracy, SelfRank]:
    """Rank all profiles by the paper's distance to each user's ratings; predict by the nearest, and rank the own."""
    users = np.unique(probe.users)
    if len(users) > most_users:
        users = np.sort(rng.stream("similar users").choice(users, most_users, replace=False))
    found = score(public, _everything_known(ratings, users), paper_kernel(public))
    nearest = np.full(ratings.n_users, -1, np.int64)
    nearest[users] = found.winner.astype(np.int64)
    seen = nearest[probe.users] >= 0
    predicted = labels_for(public, nearest[probe.users[seen]], probe.items[seen])
    return accuracy_of(predicted, probe.values[seen]), _self_rank(found, public.n_profiles)


def _everything_known(ratings: Ratings, users: NDArray[np.int32]) -> Clues:
    """Take all of a user's ratings as known."""
    lengths = ratings.activity[users]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    places = np.repeat(ratings.indptr[users] - indptr[:-1], lengths) + np.arange(indptr[-1])
    known = Knowledge(known=max(int(lengths.max(initial=1)), 1))
    return Clues(known, users, indptr, ratings.items[places], ratings.values[places])


def _self_rank(found: Scores, n_profiles: int) -> SelfRank:
    rank = found.self_rank
    half_places = np.rint(2 * (rank - 1)).astype(
        np.int64
    )  # ranks of ties lie half way: whole numbers fall on no border
    twentieth = np.minimum(_TWENTIETHS * half_places // max(2 * (n_profiles - 1), 1), _TWENTIETHS - 1)
    counts = np.bincount(twentieth, minlength=_TWENTIETHS)
    return SelfRank(
        quantiles={f"{100 * q:g} %": float(np.quantile(rank, q)) for q in _QUANTILES},
        first=float((found.profiles_above_own == 0).mean()),
        shares=tuple((counts / len(rank)).tolist()),
        n_profiles=n_profiles,
        n_users=len(rank),
    )
