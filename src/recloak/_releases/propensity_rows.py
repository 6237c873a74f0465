"""The rows of propensities that groups show: what is predicted for them, less what would give their members away.

Three things are taken out of the mean of the members' predictions (docs/decisions/events.md):

- the factors of an item that few people use point to these very people, so it shows its popularity alone;
- so does an item of which most users sit together in groups where most members used it: a clique;
- groups of people who use a great deal have high propensities for everything, and claims about the highest of all rows
  were right of 8 people in 10. Every row is scaled to one sum: the order of items within a row, by which it
  recommends, stays, and how much its members use does not show.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._ratings.model import Ratings
from recloak._releases.embed import times
from recloak._releases.model.steps import Grouping
from recloak._releases.profiles import GroupMeans

COMMON = 0.1  # an item that at least this share of all people use gives nobody away
_LEAST = 0.05  # of the middle sum: a row whose sum is lower is scaled as if it were this
_WITHIN = 0.99  # share of rows whose highest propensity stays below 1
_LOOKED_AT = 512  # rows whose highest propensities are looked at
_BLOCK = 64


def is_given_away(ratings: Ratings, grouping: Grouping) -> NDArray[np.bool_]:
    """Return the items whose factors would point to their users.

    Fewer people use them than two groups have, or most of their users sit in groups of whose members more than half use
    the item, unless a tenth of all people do.
    """
    n_users = ratings.popularity
    together = np.zeros(ratings.n_items, np.int64)
    rows = ratings.indptr, ratings.items
    _count_together(*grouping.members(), *rows, np.zeros(ratings.n_items, np.int32), together)
    is_clique = (2 * together > n_users) & (n_users < COMMON * ratings.n_users)
    found: NDArray[np.bool_] = (n_users < 2 * grouping.k) | is_clique
    return found


@njit(cache=True, nogil=True)
def _count_together(starts, members, row_starts, row_items, count, together):  # type: ignore[no-untyped-def]
    """Add to each item its users in groups of whose members more than half use it; ``count`` holds zeros."""
    for group in range(len(starts) - 1):
        size = starts[group + 1] - starts[group]
        for m in range(starts[group], starts[group + 1]):
            for r in range(row_starts[members[m]], row_starts[members[m] + 1]):
                count[row_items[r]] += 1
        for m in range(starts[group], starts[group + 1]):
            for r in range(row_starts[members[m]], row_starts[members[m] + 1]):
                item = row_items[r]
                if 2 * count[item] > size:
                    together[item] += count[item]
                count[item] = 0


def propensity_rows(means: GroupMeans, ratings: Ratings, grouping: Grouping) -> GroupMeans:
    """Return what groups show of what is predicted for them: popularity of some items, and rows of one sum."""
    alone = is_given_away(ratings, grouping)
    item_factors = np.ascontiguousarray(means.item_factors * ~alone)
    scales = _scales(means.factors, item_factors)
    usual = np.float32(np.median(scales))
    share = (ratings.popularity / max(ratings.n_users, 1)).astype(np.float32)
    base = np.where(alone, usual * share, means.base).astype(np.float32)
    return means._replace(base=base, factors=means.factors * scales[:, None], item_factors=item_factors)


def _scales(factors: NDArray[np.float32], item_factors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what each row is multiplied by, so that all have one sum and hardly a propensity exceeds 1."""
    if not factors.shape[1]:
        return np.ones(len(factors), np.float32)
    totals = np.array([float(np.cumsum(row, dtype=np.float64)[-1]) for row in item_factors], np.float32)
    sums = times(factors, totals[:, None])[:, 0]
    middle = float(np.median(sums))
    if middle <= 0:
        return np.ones(len(factors), np.float32)
    sums = np.maximum(sums, np.float32(_LEAST * middle))
    some = np.unique(np.linspace(0, len(factors) - 1, _LOOKED_AT).astype(np.int64))
    peaks = [
        (times(factors[part], item_factors).max(axis=1) / sums[part]).astype(np.float64)
        for part in np.array_split(some, -(-len(some) // _BLOCK))
    ]
    highest = float(np.quantile(np.concatenate(peaks), _WITHIN))
    return (1 / (max(highest, 1e-12) * sums)).astype(np.float32)
