"""Group users whose padded rows are alike, k to 2k - 1 in a group (Predictive Anonymization, step 2).

By default: users become points whose squared distance is the error of taking one padded row for another (`embed`), a
tree cuts them into even bins (`tree`), each bin is grouped (`bins`), and then the groups, binned anew by a different
tree each time, exchange members (`exchange`). Time grows as m log m, memory as m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak.errors import InputError
from recloak.options import Options, option
from recloak.progress import task
from recloak.publish.bins import NEAR, ROUNDS, exchange_bins, group_bins
from recloak.publish.embed import embed
from recloak.publish.model import Grouping, Padding
from recloak.publish.tree import even_bins
from recloak.randomness import Randomness, Rng, randomness
from recloak.ratings import Ratings

BIN = 1280  # users of a bin: its points and groups stay in a core's cache


@dataclass(frozen=True, kw_only=True)
class GroupOptions(Options):
    """How users are put into groups."""

    k: int = option(5, "size of the smallest group", at_least=2)
    sweeps: int = option(6, "times that groups, binned anew, exchange members", at_least=0)


def group(
    padding: Padding, options: GroupOptions | None = None, *, ratings: Ratings | None = None, rng: Rng = None
) -> Grouping:
    """Give every user a group of k to 2k - 1 users with similar padded rows.

    ``ratings`` tell how often items and users occur, so that frequent ones count more; without them all count alike.
    """
    options = options or GroupOptions()
    n_users = padding.shape[0]
    if n_users < options.k:
        raise InputError(f"the number of users must be at least k = {options.k}, got {n_users}")
    points = embed(padding, None if ratings is None else ratings.popularity)
    weights = np.ones(n_users) if ratings is None else user_weights(ratings)
    labels = group_points(points, options.k, weights=weights, sweeps=options.sweeps, rng=randomness(rng).child("group"))
    grouping = Grouping(labels, options.k)
    grouping.require_bounds()
    return grouping


def user_weights(ratings: Ratings) -> NDArray[np.float64]:
    """Weigh users by their number of ratings, 1 on average: who rates more is asked for more."""
    return np.maximum(ratings.activity, 1) / max(1.0, float(ratings.activity.mean()))


def group_points(
    points: NDArray[np.float32],
    k: int,
    *,
    weights: NDArray[np.floating] | None = None,
    sweeps: int = 6,
    rng: Rng = None,
) -> NDArray[np.int32]:
    """Label points with groups of k to 2k - 1 so that the weighted squared error to the groups' means is low.

    The points are first put into an order of their own, so that the numbering of the users does not matter.
    """
    chance = randomness(rng)
    weights = np.ones(len(points)) if weights is None else weights
    canonical = np.lexsort(points.T[: min(4, points.shape[1])][::-1]) if points.shape[1] else np.arange(len(points))
    sorted_labels = _group_sorted(
        np.ascontiguousarray(points[canonical]), weights[canonical].astype(np.float32), k, sweeps, chance
    )
    labels = np.empty_like(sorted_labels)
    labels[canonical] = sorted_labels
    return labels


def _group_sorted(
    points: NDArray[np.float32], weights: NDArray[np.float32], k: int, sweeps: int, chance: Randomness
) -> NDArray[np.int32]:
    with task("grouping", sweeps + 1) as advance:
        order, starts = even_bins(points, size=max(BIN, 2 * k), unit=k, stream=chance.stream("bins"), power=4)
        labels = group_bins(points, weights, order, starts, k, NEAR, ROUNDS)
        advance(1)
        for sweep in range(sweeps):
            _sweep(points, weights, labels, k, chance.stream("sweep", sweep))
            advance(1)
    return labels


def _sweep(
    points: NDArray[np.float32],
    weights: NDArray[np.float32],
    labels: NDArray[np.int32],
    k: int,
    stream: np.random.Generator,
) -> float:
    """Bin the groups anew by their centres and let the groups of a bin exchange members; give the gain."""
    users = np.argsort(labels, kind="stable").astype(np.int32)
    firsts = np.concatenate(([0], np.cumsum(np.bincount(labels))))
    centres = np.add.reduceat(points[users], firsts[:-1], axis=0) / np.diff(firsts)[:, None].astype(np.float32)
    order, starts = even_bins(centres.astype(np.float32), size=max(BIN // k, 8), unit=1, stream=stream)
    return float(exchange_bins(points, weights, labels, users, firsts, order, starts, k, NEAR, 1).sum())
