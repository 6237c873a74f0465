"""What the attackers of the panel learn from other people: how times and opinions of posts go with those of ratings.

A clue is the logarithm of how much likelier an observation is of the poster than of somebody else:

- *same item*: the time from the candidate's rating of the item to the mention of it;
- *active*: the time from the candidate's nearest rating of anything; its chance for others is counted at that moment;
- *opinion*: the difference between the opinion and the candidate's rating, on a scale of five stars.

Counts are means per person, so that nobody who posts much decides, and begin from `PRIOR_PEOPLE` made-up people who
post as forums do (`_POSTER_LAGS`: mostly within a month after the rating), so that few people cannot mislead.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recloak._mentions.algorithms import Candidates
from recloak._mentions.identification_kernels import in_parts
from recloak._mentions.learned_weights import fit_weights
from recloak._mentions.likelihood import PAPER_RATED_SHARE, rated_by_mentioner
from recloak._mentions.model import Mentions
from recloak._mentions.panel_kernels import (
    ACTIVE,
    N_BINS,
    N_STEPS,
    OPINION,
    RATIO,
    SAME_ITEM,
    TIMED,
    CandidatePool,
    Constants,
    clue_counts,
    score_all,
)
from recloak._ratings.model import Ratings

PRIOR_PEOPLE = 2.0
_STARS = 4.0  # span of the scale on which opinions are compared
_IGNORED = (0.01, 0.02)  # shares of the items, most rated first, that the adaptive attackers ignore
_PROPOSED = 0.2  # up to this share may be proposed as additions
_LEAST_PROPOSED = 40
_MOST_TRAINED = 150  # people for the learned weights
_RIVALS = 60  # best and evenly spaced other candidates that each of them is compared with
_POSTER_LAGS = np.array(
    [0.005, 0.005, 0.005, 0.005, 0.01, 0.01, 0.01, 0.01, 0.12, 0.18, 0.28, 0.2, 0.08, 0.05, 0.02, 0.01]
)
_OTHER_LAGS = np.array(
    [0.02, 0.12, 0.06, 0.04, 0.02, 0.01, 0.004, 0.001, 0.002, 0.008, 0.03, 0.07, 0.1, 0.23, 0.26, 0.025]
)
_POSTER_STEPS = np.array([0.58, 0.15, 0.17, 0.03, 0.03, 0.02, 0.01, 0.01])
_OTHER_STEPS = np.array([0.26, 0.15, 0.25, 0.1, 0.13, 0.04, 0.05, 0.02])
_WEIGHTS = np.array([1.0, 1.0, 0.5, 0.5])  # of the learned attacker before it learned


def in_stars(values: NDArray[np.floating], ratings: Ratings) -> NDArray[np.float32]:
    """Return values of the ratings' scale on one from 0 to 4."""
    span = ratings.scale.span or 1.0
    return ((values - ratings.scale.low) / span * _STARS).astype(np.float32)


def make_pool(
    ratings: Ratings,
    candidates: Candidates,
    gains: NDArray[np.float64],
    listed: NDArray[np.bool_],
    *,
    least_raters: float = 0.0,
) -> CandidatePool:
    """Prepare the listed users as candidates; counts of raters and activity are those of all users.

    ``least_raters`` is how many must have rated an item that an advisor may propose.
    """
    columns = ratings.by_item()
    numbers = np.where(listed, np.cumsum(listed) - 1, -1)
    keep = listed[columns.users]
    ends = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    activity = ratings.activity
    moments, moments_from = _moments(ratings, listed)
    return CandidatePool(
        indptr=ends[columns.indptr],
        users=numbers[columns.users[keep]].astype(np.int32),
        values=in_stars(columns.values[keep], ratings),
        times=np.zeros(0, np.int64) if columns.times is None else columns.times[keep],
        moments_from=moments_from,
        moments=moments,
        appetite=(activity / max(float(activity.mean()), 1e-9))[listed],
        norms=candidates.norms[listed],
        heavy=candidates.heavy[listed],
        rates=-np.log1p(-np.minimum(np.maximum(candidates.raters, 1) / (ratings.n_users + 1), 1.0)),
        gains=gains,
        squared_idf=candidates.idf**2,
        ignored=_ignored(candidates.raters, least_raters),
    )


def _moments(ratings: Ratings, listed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return when each listed user rated, ascending, and where each user's times start."""
    if ratings.times is None:
        return np.zeros(0, np.int64), np.zeros(int(listed.sum()) + 1, np.int64)
    users = ratings.users()
    order = np.lexsort((ratings.times, users))
    counts = ratings.activity[listed]
    return ratings.times[order][listed[users[order]]], np.concatenate(([0], np.cumsum(counts)))


def _ignored(raters: NDArray[np.int64], least_raters: float) -> NDArray[np.int8]:
    """Return how many of five attackers ignore each item, the most-rated first.

    One ignores what any advisor may propose, one what an advisor may propose who asks for so many raters: it must not
    ignore more, for it would lose what tells the writer. One ignores the better-known half of that.
    """
    popular, n_rated = np.argsort(-raters, kind="stable"), int(np.count_nonzero(raters))
    ignored = np.zeros(len(raters), np.int8)
    ends = [math.ceil(share * n_rated) for share in _IGNORED]
    most = math.ceil(_PROPOSED * n_rated)
    for wanted in (min(most, int((raters >= least_raters).sum())), most):
        ends.append(min(max(wanted, ends[1] + _LEAST_PROPOSED), n_rated))
    ends.append((ends[1] + ends[2]) // 2)
    for end in ends:
        ignored[popular[:end]] += 1
    return ignored


def proposed(ignored: NDArray[np.int8], raters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the items that an advisor may propose to add, the most-rated first.

    They are many, so that the attacker who ignores them all (`knowing_time`) ignores most of what is said.
    """
    popular = np.argsort(-raters, kind="stable")
    return popular[(ignored[popular] == 2) | (ignored[popular] == 3)]


def default_constants() -> Constants:
    """Return what attackers believe of posters whom nobody has counted."""
    return _constants(PAPER_RATED_SHARE, np.zeros((2, N_BINS)), np.zeros((2, N_BINS + N_STEPS)), _WEIGHTS)


def _constants(
    q: float, lags: NDArray[np.float64], rest: NDArray[np.float64], learned: NDArray[np.float64]
) -> Constants:
    active, steps = rest[:, :N_BINS], rest[:, N_BINS:]
    return Constants(
        logit=float(np.log(q / (1 - q))),
        same_item=_log_ratio(lags, _POSTER_LAGS, _OTHER_LAGS),
        active=np.log(_shrunk(active[0], _POSTER_LAGS)),
        opinion=_log_ratio(steps, _POSTER_STEPS, _OTHER_STEPS),
        learned=learned,
    )


def _shrunk(counts: NDArray[np.float64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = (counts + PRIOR_PEOPLE * prior) / (counts.sum() + PRIOR_PEOPLE)
    return shares


def _log_ratio(
    counts: NDArray[np.float64], poster: NDArray[np.float64], other: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the clue of each bin; a bin that posters never used says no more than one made-up person would."""
    return np.log(_shrunk(counts[0], poster)) - np.log(_shrunk(counts[1], other))


class ClueCounts:
    """The counts of each target, made once and added up for any part of the targets."""

    def __init__(
        self, pool: CandidatePool, mentions: Mentions, ratings: Ratings, numbers: NDArray[np.int64] | None = None
    ) -> None:
        """Count; ``numbers`` are those of the users in the pool, where it is not of all users, -1 for the others."""
        rated = rated_by_mentioner(mentions, ratings)
        if numbers is not None:
            users = np.where(mentions.present, numbers[np.maximum(mentions.users, 0)], -1).astype(np.int32)
            mentions = replace(mentions, users=users)
        self.pool, self.mentions = pool, mentions
        self.opinions = in_stars(mentions.opinions, ratings)
        by_mention = (mentions.items, mentions.times, self.opinions)
        self.lags, self.rest = in_parts(clue_counts, mentions.indptr, by_mention, (mentions.users,), (pool,))
        self.rated = np.bincount(mentions.owners()[rated], minlength=mentions.n_targets)

    def constants(self, people: NDArray[np.bool_]) -> Constants:
        """Return what is learned from some of the targets, among them those who are not in the ratings never."""
        people = people & self.mentions.present
        n_said = int(self.mentions.totals[people].sum())
        q = (self.rated[people].sum() + 10 * PAPER_RATED_SHARE) / (n_said + 10)
        lags, rest = self.lags[people].sum(axis=0), self.rest[people].sum(axis=0)
        first = _constants(float(np.clip(q, 0.01, 0.99)), lags, rest, _WEIGHTS)
        return first._replace(learned=self._weights(first, people))

    def _weights(self, known: Constants, people: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the weights that put the given people first among their rivals."""
        chosen = np.flatnonzero(people & (self.mentions.counts > 0))
        chosen = chosen[:: max(len(chosen) // _MOST_TRAINED, 1)]
        return fit_weights([self._rivals(int(t), known) for t in chosen], _WEIGHTS)

    def _rivals(self, t: int, known: Constants) -> NDArray[np.float64]:
        """Return the four features of a target (first row), of the best candidates and of some others."""
        said = slice(int(self.mentions.indptr[t]), int(self.mentions.indptr[t + 1]))
        mentions, me = self.mentions, int(self.mentions.users[t])
        scores = score_all(mentions.items[said], mentions.times[said], self.opinions[said], self.pool, known)
        order = np.argsort(-scores[:, TIMED], kind="stable")
        order = order[order != me]
        rivals = np.concatenate(([me], order[:_RIVALS], order[_RIVALS :: max(len(order) // _RIVALS, 1)]))
        ratio, opinion = scores[rivals, RATIO], scores[rivals, OPINION]
        timed = (scores[rivals, SAME_ITEM] - opinion, scores[rivals, ACTIVE] - opinion)
        return np.column_stack((ratio, opinion - ratio, *timed))
