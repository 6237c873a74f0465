"""Nothing stays unrated: each item is given one rater in advance, users who rate more being picked more often."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Firsts(NamedTuple):
    """The items given in advance to user u are ``items[starts[u]:starts[u + 1]]``."""

    starts: NDArray[np.int64]  # (n_users + 1,)
    items: NDArray[np.int32]  # (n_items,)


def first_raters(activity: NDArray[np.int64], n_items: int, rng: np.random.Generator) -> Firsts:
    """Give each item to one of the ratings to come, no two to the same one."""
    ends = np.cumsum(activity)
    slots = np.sort(rng.choice(int(ends[-1]), n_items, replace=False, shuffle=False))
    starts = np.searchsorted(slots, np.concatenate(([0], ends)))
    return Firsts(starts.astype(np.int64), rng.permutation(n_items).astype(np.int32))
