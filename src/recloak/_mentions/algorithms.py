"""The five algorithms of paper 004, section 4, and the attacker who knows about misdirection.

Each assigns a candidate u the score ``sum over the mentions m that u rated of w(m)``, divided by a norm of u, so one
kernel serves them all:

- Set Intersection (4.1): w = 1; a candidate is possible who reaches the number of mentions.
- TF-IDF (4.2): w_m = log2(|U| / raters(m)); the cosine of the two weight vectors is, up to a constant of the target,
  ``sum w_m^2 / sqrt(sum over all items of u of w^2)``.
- Scoring (4.3, equations 1 and 2): the product over the mentions of ``1 - (raters(m) - 1) / |U|`` where u rated m and
  0.05 where not. In logarithms every candidate starts from the same constant and gains
  ``log(1 - (raters(m) - 1) / |U|) - log 0.05`` per mention rated; hundreds of mentions cannot underflow.
- FuzzyRating and ExactRating (4.4, equation 3): as Scoring, but a rating further than delta = 1 or 0 from the target's
  counts as not rated.

``U`` is all users: for Scoring and its two variants the paper removes users who rated more than a third of all items
from the candidates, not from the counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import OptionError
from recloak._core.spelling import did_you_mean
from recloak._mentions.identification_kernels import in_parts, standings
from recloak._mentions.model import Mentions, Standing
from recloak._mentions.options import IdentifyOptions
from recloak._ratings.model import ItemColumns, Ratings

ALGORITHMS = ("set_intersection", "tf_idf", "scoring", "fuzzy_rating", "exact_rating")
NEED_RATINGS = ("fuzzy_rating", "exact_rating")  # not applicable to data that tell only who used what
_ANY_RATING = -1.0


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """The ratings that the attacker has: by item, with every count that the scores need."""

    columns: ItemColumns
    raters: NDArray[np.int64]  # (n_items,)
    n_users: int
    heavy: NDArray[np.bool_]  # (n_users,) left out by Scoring
    idf: NDArray[np.float64]  # (n_items,) 0 for an item that nobody rated
    norms: NDArray[np.float64]  # (n_users,) length of a user's TF-IDF vector, 1 where it has none

    @classmethod
    def of(cls, ratings: Ratings, options: IdentifyOptions) -> Candidates:
        """Prepare ratings for the attack, without times to save memory."""
        raters = ratings.popularity
        idf = np.where(raters > 0, np.log2(ratings.n_users / np.maximum(raters, 1)), 0.0)
        squares = np.bincount(ratings.users(), weights=(idf**2)[ratings.items], minlength=ratings.n_users)
        norms = np.where(squares > 0, np.sqrt(squares), 1.0)
        heavy = ratings.activity > options.heavy * ratings.n_items
        ids = (ratings.user_ids, ratings.item_ids)
        untimed = Ratings(ratings.indptr, ratings.items, ratings.values, *ids, ratings.scale, None)
        return cls(untimed.by_item(), raters, ratings.n_users, heavy, idf, norms)


def sub_scores(raters: NDArray[np.int64], n_users: int, *, flat: bool = False) -> NDArray[np.float64]:
    """Return equation 1 for a rated mention: ``1 - (raters - 1) / |U|``, or 1 without the weight of popularity."""
    return np.ones(len(raters)) if flat else 1.0 - (np.maximum(raters, 1) - 1) / n_users


def gains(raters: NDArray[np.int64], n_users: int, options: IdentifyOptions) -> NDArray[np.float64]:
    """Return what a rated mention adds to the logarithm of a candidate's score, compared with an unrated one."""
    return np.log(sub_scores(raters, n_users, flat=options.flat)) - np.log(options.floor)


def rank_targets(name: str, candidates: Candidates, mentions: Mentions, options: IdentifyOptions) -> Standing:
    """Return the place of every target by one of `ALGORITHMS`."""
    if name == "set_intersection":
        return intersect(candidates, mentions)[0]
    if name == "tf_idf":
        counts, _ = _standings(candidates, mentions, candidates.idf**2, norms=candidates.norms)
    elif name in ALGORITHMS:
        counts, _ = _standings(
            candidates,
            mentions,
            gains(candidates.raters, candidates.n_users, options),
            eligible=~candidates.heavy,
            tolerance={"scoring": _ANY_RATING, "fuzzy_rating": options.fuzz, "exact_rating": 0.0}[name],
            take_unknown=options.unsaid == "any",
        )
    else:
        raise OptionError(
            f"algorithm must be one of {', '.join(ALGORITHMS)}, got {name!r}{did_you_mean(name, ALGORITHMS)}"
        )
    return Standing(counts[:, 0], counts[:, 1])


def intersect(candidates: Candidates, mentions: Mentions) -> tuple[Standing, NDArray[np.int64]]:
    """Return the place of every target among those who rated every mention, and the number of these."""
    counts, tops = _standings(candidates, mentions, np.ones(len(candidates.raters)))
    full = (np.round(tops) == mentions.counts) & (mentions.outside == 0)
    n_possible = np.where(full, counts[:, 2], 0)
    among = full & (counts[:, 0] == 0) & (counts[:, 1] > 0)
    return Standing(np.zeros(mentions.n_targets, np.int64), np.where(among, n_possible, 0)), n_possible


def _standings(
    candidates: Candidates,
    mentions: Mentions,
    weights: NDArray[np.float64],
    *,
    norms: NDArray[np.float64] | None = None,
    eligible: NDArray[np.bool_] | None = None,
    tolerance: float = _ANY_RATING,
    take_unknown: bool = True,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    columns = candidates.columns
    norms = np.ones(candidates.n_users) if norms is None else norms
    eligible = np.ones(candidates.n_users, np.bool_) if eligible is None else eligible
    shared = (columns.indptr, columns.users, columns.values, weights, norms, eligible, tolerance, take_unknown)
    return in_parts(standings, mentions.indptr, (mentions.items, mentions.ratings), (mentions.users,), shared)


def failures(standing: Standing, n_possible: NDArray[np.int64], k: int) -> dict[str, NDArray[np.bool_]]:
    """Return, from the result of `intersect`, why Set Intersection fails for each target (section 4.1).

    *not narrow*: more than k are possible, including the target; *no one possible*: nobody rated every mention;
    *misdirected*: some did, the target did not.
    """
    among = standing.tied > 0
    return {
        "identified": among & (n_possible <= k),
        "not narrow": among & (n_possible > k),
        "no one possible": n_possible == 0,
        "misdirected": (n_possible > 0) & ~among,
    }


def ignoring_popular(mentions: Mentions, raters: NDArray[np.int64], share: float) -> Mentions:
    """Return the mentions that the adaptive attacker uses: without the most-rated share of all items.

    All mentions are used of a target who mentions nothing else.
    """
    n_ignored = int(np.ceil(share * np.count_nonzero(raters)))
    popular = np.zeros(len(raters), np.bool_)
    popular[np.argsort(-raters, kind="stable")[:n_ignored]] = True
    keep = ~popular[mentions.items]
    left = np.bincount(mentions.owners()[keep], minlength=mentions.n_targets)
    return mentions.where(keep | (left == 0)[mentions.owners()])
