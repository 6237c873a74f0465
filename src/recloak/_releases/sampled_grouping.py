"""The paper's own way to group: a sample, bins by nearest centre, bounded t-means in each bin (002, Algorithm 1).

It works on whole padded rows, a block at a time: time grows as m^1.5 times the number of items, memory as one block and
the centres. A bin of fewer than k users is merged with the nearest one, which the paper leaves open.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.progress import task
from recloak._core.randomness import Randomness
from recloak._releases.bounded_means import bounded_means
from recloak._releases.distance import PaddedRows, distances


class Sampled(NamedTuple):
    """How the paper's method is to run."""

    k: int
    metric: str
    centres: str
    sample: int | None  # users sampled; None: 10 for each centre, at least 1000
    rounds: int


def paper_bins(rows: PaddedRows, how: Sampled, rng: Randomness) -> NDArray[np.int32]:
    """Return for every user the bin of the nearest of the sample's ``t1 = ceil(sqrt(m))`` centres, as Step 2.3 begins.

    Some bins may be empty or smaller than k; the sizes are ``numpy.bincount`` of the answer.
    """
    return _nearest_bins(rows, how, rng)[0]


def group_sampled(rows: PaddedRows, how: Sampled, rng: Randomness) -> NDArray[np.int32]:
    """Label users with groups of k to 2k - 1."""
    nearest, centres = _nearest_bins(rows, how, rng)
    bins = merge_small(nearest, distances(centres, centres, how.metric, rows.padding.scale.span), how.k)
    labels, n_groups = np.empty(len(bins), np.int32), 0
    with task("grouping", len(np.unique(bins))) as advance:
        for number in np.unique(bins):
            users = np.flatnonzero(bins == number)
            inside, _ = bounded_means(
                rows, users, len(users) // how.k, how.k,
                metric=how.metric, centres=how.centres, rounds=how.rounds, stream=rng.stream("bin", int(number)),
            )  # fmt: skip
            labels[users] = inside + n_groups
            n_groups += int(inside.max()) + 1
            advance(1)
    return labels


def _nearest_bins(rows: PaddedRows, how: Sampled, rng: Randomness) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Cluster a sample of the users and send everyone to the nearest centre."""
    n_users = rows.padding.shape[0]
    n_centres = math.isqrt(n_users - 1) + 1
    size = min(n_users, max(n_centres, how.sample or max(1000, 10 * n_centres)))
    sample = np.sort(rng.stream("sample").choice(n_users, size=size, replace=False))
    _, centres = bounded_means(
        rows, sample, n_centres, size // n_centres,
        metric=how.metric, centres=how.centres, rounds=how.rounds, stream=rng.stream("centres"),
    )  # fmt: skip
    nearest = np.empty(n_users, np.int32)
    step = max(1, 4_000_000 // len(centres))
    for start in range(0, n_users, step):
        users = np.arange(start, min(start + step, n_users))
        nearest[users] = rows.distances(users, centres, how.metric).argmin(axis=1)
    return nearest, centres


def merge_small(bins: NDArray[np.int32], between: NDArray[np.float32], k: int) -> NDArray[np.int32]:
    """Put the smallest bin below k into the nearest other one, until none is left (given at least k users)."""
    bins, sizes = bins.copy(), np.bincount(bins, minlength=len(between))
    while (small := np.flatnonzero((sizes > 0) & (sizes < k))).size:
        source = small[np.argmin(sizes[small])]
        others = np.flatnonzero((sizes > 0) & (np.arange(len(sizes)) != source))
        target = others[np.argmin(between[source, others])]
        bins[bins == source] = target
        sizes[target] += sizes[source]
        sizes[source] = 0
    return bins
