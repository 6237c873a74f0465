"""Group users whose padded rows are alike, k to 2k - 1 in a group (Predictive Anonymization, step 2).

By default: users become points whose squared distance is the error of taking one padded row for another (`embed`), a
tree cuts them into even bins (`tree`), each bin is grouped (`bins`), and then the groups, binned anew by a different
tree each time, exchange members (`exchange`). Time grows as m log m, memory as m. The paper's
own way is `sampled`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.options import Options, option
from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.model import Ratings
from recloak._releases.bin_grouping import NEAR, by_group, start_bins
from recloak._releases.bin_tree import even_bins
from recloak._releases.bounded_means import CENTRES
from recloak._releases.distance import METRICS, PaddedRows
from recloak._releases.embed import embed
from recloak._releases.exchange import exchange_bins
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.sampled_grouping import Sampled, group_sampled, paper_bins

START = 2560  # users of a bin when groups are started
BIN = 10240  # users of a bin when groups exchange members: its points and sums stay in a core's cache
ROUNDS = 2  # times that a bin is gone through in a sweep
METHODS = ("default", "paper")
ROWS = ("mean", "fit")
_SAMPLE = 100_000  # ratings looked at to measure the residuals


@dataclass(frozen=True, kw_only=True)
class GroupOptions(Options):
    """How users are put into groups."""

    k: int = option(5, "size of the smallest group", at_least=2)
    rows: str = option(
        "mean", "what the row of a group will be: the mean of its members, or fitted to all their ratings", choices=ROWS
    )
    method: str = option("default", "default: lowest error; paper: sampling and bounded t-means", choices=METHODS)
    sweeps: int | None = option(
        None, "times that groups, binned anew, exchange members (default); by default 1, of few users 2", at_least=0
    )
    metric: str = option("weighted-squared", "distance between padded rows (paper)", choices=METRICS)
    centres: str = option("virtual", "mean rows or real users as centres (paper)", choices=CENTRES)
    sample: int | None = option(None, "users in the sample (paper); by default 10 for each centre", at_least=1)
    rounds: int = option(10, "most rounds of bounded t-means (paper)", at_least=1)


def group(
    padding: Padding, options: GroupOptions | None = None, *, ratings: Ratings | None = None, rng: Rng = None
) -> Grouping:
    """Return groups of k to 2k - 1 users with similar padded rows.

    ``ratings`` tell how often items and users occur, so that frequent ones count more; without them all count alike.
    """
    options = options or GroupOptions()
    n_users = padding.shape[0]
    if n_users < options.k:
        raise InputError(f"the number of users must be at least k = {options.k}, got {n_users}")
    rng = randomness(rng).child("group")
    by = _by_sampling if options.method == "paper" else _by_exchange
    grouping = Grouping(by(padding, options, ratings, rng), options.k)
    grouping.require_bounds()
    return grouping


def bin_users(
    padding: Padding, options: GroupOptions | None = None, *, ratings: Ratings | None = None, rng: Rng = None
) -> NDArray[np.int32]:
    """Return the bins that the paper's method makes before it groups (002, figure 3: their sizes by kind of centre)."""
    return paper_bins(PaddedRows(padding, ratings), _sampled(options or GroupOptions()), randomness(rng).child("group"))


def _sampled(options: GroupOptions) -> Sampled:
    return Sampled(options.k, options.metric, options.centres, options.sample, options.rounds)


def _by_sampling(
    padding: Padding, options: GroupOptions, ratings: Ratings | None, rng: Randomness
) -> NDArray[np.int32]:
    return group_sampled(PaddedRows(padding, ratings), _sampled(options), rng)


def _by_exchange(
    padding: Padding, options: GroupOptions, ratings: Ratings | None, rng: Randomness
) -> NDArray[np.int32]:
    if ratings is None:
        return group_points(embed(padding), options.k, sweeps=options.sweeps, rng=rng)
    fitted = options.rows == "fit"
    return group_points(
        embed(padding, ratings.popularity),
        options.k,
        weights=user_weights(ratings),
        fitted=fitted,
        crowding=0.0 if fitted else crowding(ratings, padding, rng.stream("crowding")),
        sweeps=options.sweeps,
        rng=rng,
    )


def user_weights(ratings: Ratings) -> NDArray[np.float64]:
    """Weigh users by their number of ratings, 1 on average: who rates more is asked for more."""
    return np.maximum(ratings.activity, 1) / max(1.0, float(ratings.activity.mean()))


def crowding(ratings: Ratings, padding: Padding, stream: np.random.Generator) -> float:
    """Estimate the noise that one average member's ratings bring into another's row.

    A member who rated the item puts the residual e of the rating into the group's mean, so a row asked for at an item
    drawn as ratings are has the noise ``sum_v P(v rated it) E[e^2] / n^2``, with ``P = activity_v sum_i pi_i^2`` and
    pi_i the item's share of the ratings. E[e^2] is measured on a sample.
    """
    if ratings.n_ratings == 0:
        return 0.0
    some = stream.integers(ratings.n_ratings, size=_SAMPLE)
    users = np.searchsorted(ratings.indptr, some, side="right") - 1
    residuals = ratings.values[some] - padding.predict(users, ratings.items[some])
    shares = ratings.popularity / ratings.n_ratings
    return float(ratings.activity.mean() * (shares**2).sum() * (residuals.astype(np.float64) ** 2).mean())


def group_points(
    points: NDArray[np.float32],
    k: int,
    *,
    weights: NDArray[np.floating] | None = None,
    fitted: bool = False,
    crowding: float = 0.0,
    sweeps: int | None = None,
    rng: Rng = None,
) -> NDArray[np.int32]:
    """Label points with groups of k to 2k - 1 so that the weighted squared error to the groups' centres is low.

    A centre is the plain mean of its members, or, if ``fitted``, the weighted one. The points are first put into an
    order of their own, so that the numbering of the users does not matter.
    """
    weights = np.ones(len(points)) if weights is None else weights
    canonical = _canonical(points)
    ordered = weights[canonical].astype(np.float32)
    work = _Work(_wide(points, canonical), ordered, ordered if fitted else np.ones_like(ordered), crowding, k)
    labels = np.empty(len(points), np.int32)
    sweeps = (2 if len(points) <= BIN else 1) if sweeps is None else sweeps
    labels[canonical] = _group_sorted(work, sweeps, randomness(rng))
    return labels


def _canonical(points: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return an order that the points alone decide: by their first dimension, and by three more where it has ties."""
    if not points.shape[1]:
        return np.arange(len(points))
    order = np.argsort(points[:, 0], kind="stable")
    if (np.diff(points[order, 0]) > 0).all():
        return order
    return np.lexsort(points.T[:4][::-1])


class _Work(NamedTuple):
    """What every sweep needs."""

    points: NDArray[np.float32]
    weights: NDArray[np.float32]
    parts: NDArray[np.float32]  # of each point in its group's centre
    crowding: float
    k: int


def _wide(points: NDArray[np.float32], order: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the points in an order, their dimensions filled with zeros to a multiple of 8: the width of registers."""
    n, d = points.shape
    wide = np.zeros((n, max(8, -(-d // 8) * 8)), np.float32)
    wide[:, :d] = points[order]
    return wide


def _group_sorted(work: _Work, sweeps: int, rng: Randomness) -> NDArray[np.int32]:
    with task("grouping", sweeps + 1) as advance:
        order, starts = even_bins(work.points, size=START, unit=work.k, stream=rng.stream("bins"), power=4)
        labels = start_bins(work.points, order, starts, work.k)
        advance(1)
        for sweep in range(sweeps):
            _sweep(work, labels, rng.stream("sweep", sweep))
            advance(1)
    return labels


def _sweep(work: _Work, labels: NDArray[np.int32], stream: np.random.Generator) -> float:
    """Bin the groups anew by their centres and let the groups of a bin exchange members; return the gain."""
    points, weights, parts, crowding, k = work
    group_starts, users = by_group(labels)
    centres = np.add.reduceat(points[users], group_starts[:-1], axis=0) / np.diff(group_starts)[:, None].astype(
        np.float32
    )
    bins = even_bins(centres.astype(np.float32), size=max(BIN // k, 8), unit=1, stream=stream)
    return exchange_bins(
        points, weights, parts, crowding, labels, (group_starts, users), bins, k=k, near=NEAR, rounds=ROUNDS
    )  # fmt: skip
