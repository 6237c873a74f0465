"""Purchases and plays as a release shows them: that an item was used, a level of how often, or a propensity.

A count of 352,698 names its person, and so does a count of 37. A release therefore shows the level of a count, on a
logarithmic grid: level 1 is a count of 1, level 2 is 2 to 3, level 3 is 4 to 7, and so on, each twice as wide as the
one before. The highest level shown is one that enough people reach; who counts more is shown at it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recloak._ratings.model import Ratings, Scale
from recloak._ratings.value_kinds import COUNTS, PRESENCE, RATINGS

USED = Scale(1.0, 1.0, 1.0)
PROPENSITIES = Scale(0.0, 1.0, None)


def levels_of(counts: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the level of each count: ``1 + floor(log2 count)``."""
    return np.frexp(counts)[1].astype(np.float32)  # a count lies in [2^(e-1), 2^e)


def highest_level(ratings: Ratings, holders: int) -> int:
    """Return the highest level that at least so many people reach with some item; at least 1."""
    if not ratings.n_ratings:
        return 1
    most = np.zeros(ratings.n_users, np.float32)
    np.maximum.at(most, ratings.users(), levels_of(ratings.values))
    reached = np.bincount(most.astype(np.int64))[::-1].cumsum()[::-1]  # (levels + 1,) people at a level or above
    return int(np.flatnonzero(reached >= holders).max(initial=1))


def as_levels(ratings: Ratings, highest: int) -> Ratings:
    """Return counts as levels, those above the highest brought down to it."""
    levels = np.minimum(levels_of(ratings.values), np.float32(highest))
    return replace(ratings, values=levels, scale=Scale(1.0, float(highest), 1.0))


def as_used(ratings: Ratings) -> Ratings:
    """Return who used what: every stored cell is 1, as it is in presence already."""
    if ratings.kind is PRESENCE and ratings.scale.low == ratings.scale.high == 1:
        return replace(ratings, scale=USED)
    return replace(ratings, values=np.ones(ratings.n_ratings, np.float32), scale=USED)


def as_propensities(ratings: Ratings) -> Ratings:
    """Return the cells as certain propensities: who used an item has 1 on a scale from 0 to 1."""
    return replace(as_used(ratings), scale=PROPENSITIES)


def shows_propensities(ratings: Ratings) -> bool:
    """Return whether values are propensities."""
    return ratings.kind is not RATINGS and ratings.scale == PROPENSITIES


def shown_values(ratings: Ratings, *, is_complete: bool, highest: int) -> Ratings:
    """Return the source in the values of a release; ratings are left as they are.

    ``is_complete`` says that rows have every item, and ``highest`` is the highest level of counts.
    """
    if ratings.kind is RATINGS:
        return ratings
    if is_complete:
        return as_propensities(ratings)
    return as_levels(ratings, highest) if ratings.kind is COUNTS else as_used(ratings)
