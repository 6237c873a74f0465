"""Decoys: items in the row of a group that nobody in it rated, so that the items of a row say less about its members.

They are drawn from the rows of near groups, each item as often as it stands there, so that a decoy looks like an item
that the group might have rated; its label is what is predicted for the group.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recloak._core.randomness import Rng, randomness
from recloak._releases.bin_tree import even_bins
from recloak._releases.diversity import group_points_of, with_cells
from recloak._releases.grid import Grid
from recloak._releases.profiles import GroupMeans, SparseProfiles

_NEAR = 24  # groups whose rows decoys are drawn from


def add_decoys(
    profiles: SparseProfiles, means: GroupMeans, popularity: NDArray[np.int64], grid: Grid, share: float, *,
    rng: Rng = None,
) -> tuple[SparseProfiles, int]:  # fmt: skip
    """Return the profiles with ``share`` decoys for each item that stands in a row, as far as there are any.

    Also return how many were added.
    """
    stream = randomness(rng).stream("decoys")
    points = group_points_of(means, popularity)
    order, starts = even_bins(points, size=_NEAR, unit=1, stream=stream)
    groups, items = [], []
    for first, last in pairwise(starts):
        near = order[first:last]
        cells = profiles.rows(near)
        known, counts = np.unique(cells.items, return_counts=True)
        for place, group in enumerate(near):
            own = cells.items[cells.indptr[place] : cells.indptr[place + 1]]
            drawn = _draw(known, np.where(np.isin(known, own), 0, counts), round(share * len(own)), stream)
            groups.append(np.full(len(drawn), group, np.int32))
            items.append(drawn)
    added = np.concatenate(items)
    return with_cells(profiles, np.concatenate(groups), added, means, grid), len(added)


def _draw(
    items: NDArray[np.int32], weights: NDArray[np.int64], n: int, stream: np.random.Generator
) -> NDArray[np.int32]:
    """Draw n different items, or all there are, each as likely as its weight (Efraimidis and Spirakis 2006)."""
    possible = np.flatnonzero(weights)
    keys = stream.standard_exponential(len(possible)) / weights[possible]
    return items[possible[np.argsort(keys, kind="stable")[:n]]]
