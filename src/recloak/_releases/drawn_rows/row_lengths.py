"""How many ratings each drawn row has: around its group's mean, and over all rows as in the source."""

import numpy as np
from numpy.typing import NDArray

from recloak._releases.model.steps import Grouping


def draw_lengths(
    activity: NDArray[np.int64], grouping: Grouping, most: int, stream: np.random.Generator, *, together: int
) -> NDArray[np.int64]:
    """Return the lengths of all rows, group by group.

    A row's length is its group's mean times a ratio of own to group's mean that is dealt out over everybody; the
    lengths then become those of the source rank by rank, each a mean of ``together`` neighbours, so that nobody's exact
    number of ratings stands there.
    """
    labels, sizes = grouping.labels, grouping.sizes
    means = np.bincount(labels, activity) / sizes
    ratios = stream.permutation(activity / means[labels])
    wanted = np.repeat(means, sizes) * ratios
    ranks = np.empty(len(wanted), np.int64)
    ranks[np.lexsort((stream.permutation(len(wanted)), wanted))] = np.arange(len(wanted))
    return np.clip(_smoothed(np.sort(activity), together)[ranks], 1, most)


def _smoothed(ordered: NDArray[np.int64], together: int) -> NDArray[np.int64]:
    """Return ascending numbers with each run of so many neighbours replaced by its mean; the last run is longer."""
    runs = np.minimum(np.arange(len(ordered)) // together, max(len(ordered) // together - 1, 0))
    means = np.bincount(runs, ordered) / np.bincount(runs)
    return np.rint(means[runs]).astype(np.int64)
