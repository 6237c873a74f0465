"""Grouping: error and time beside MDAV and constrained k-means, growth with the users, accuracy on held-out ratings.

python -m benchmarks grouping                all of these:
python -m benchmarks grouping mdav           50,000 users: error and time beside MDAV
python -m benchmarks grouping constrained    2,000 users: beside k-means-constrained (needs the extra "bench")
python -m benchmarks grouping growth         50,000 to 480,000 users: the exponent of time
python -m benchmarks grouping accuracy       target deviation by rank, k and method

All need RECLOAK_DATA with ml/ml-1m.inter: the points are users of MovieLens-1M, drawn again with noise for larger
numbers. Compilation is left out. CPU seconds feel least who else uses the machine; ours runs on all cores, so that the
ratio of wall seconds is larger. MDAV is compiled too, by the same compiler, and keeps only its k nearest.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numba import njit
from numpy.typing import NDArray

from recloak._ratings.model import Ratings
from recloak._ratings.readers import read
from recloak._releases.embed import embed
from recloak._releases.group import GroupOptions, group, group_points
from recloak._releases.model.steps import Padding
from recloak._releases.options import RANK, PadOptions
from recloak._releases.pad import pad

Points = NDArray[np.float32]
Labels = NDArray[np.int32]


def main(arguments: list[str]) -> None:
    parts: dict[str, Callable[[], None]] = {f.__name__: f for f in (mdav, constrained, growth, accuracy)}
    if not set(arguments) <= set(parts):
        print(__doc__)
        sys.exit(2)
    for part in arguments or parts:
        parts[part]()


def mdav() -> None:
    """Print error and time of MDAV and of ours after 0, 1, 2, ... sweeps of exchanges."""
    points = many_points(50_000)
    for k in (5, 50):
        plain_mdav(points[:500], k)
        rival = timed(plain_mdav, points, k)
        tell(f"k={k} MDAV", points, rival)
        for sweeps in (None, 0, 1, 2, 4, 8):
            tell(f"k={k} ours, {told(sweeps)}", points, timed_grouping(points, k, sweeps), rival)


def constrained() -> None:
    """Print error and time of k-means-constrained with size_min = k, started once (by default ten times), and ours."""
    from k_means_constrained import KMeansConstrained

    points = many_points(2_000)
    for k in (5, 50):
        clustering = KMeansConstrained(n_clusters=len(points) // k, size_min=k, n_init=1, random_state=0)
        rival = timed(clustering.fit_predict, points.astype(np.float64))
        tell(f"k={k} k-means-constrained", points, rival)
        for sweeps in (None, 0, 1, 2, 4):
            tell(f"k={k} ours, {told(sweeps)}", points, timed_grouping(points, k, sweeps), rival)


def growth() -> None:
    """Print time for 50,000 to 480,000 users and the exponent of the fit."""
    for k in (5, 50):
        sizes, times = [50_000, 100_000, 200_000, 480_000], []
        for n_users in sizes:
            points = many_points(n_users)
            timing = timed_grouping(points, k, None)
            times.append(timing.cpu)
            tell(f"k={k} {n_users:,} users", points, timing)
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        print(f"k={k:<3} time grows as m^{exponent:.2f}")


def accuracy() -> None:
    """Print the target deviation of padded releases, mean of three seeds, beside the unanonymised model."""
    ratings = movielens()
    probed = np.random.default_rng(1).random(ratings.n_ratings) < 0.1
    train = ratings.where(~probed)
    probe = ratings.users()[probed], ratings.items[probed], ratings.values[probed]
    for rank in (3, 5, 8, RANK, 32):
        padding = pad(train, PadOptions(rank=rank), rng=0)
        plain = rmse(padding.predict(*probe[:2]), probe[2])
        print(f"rank {rank}: unanonymised {plain:.4f}")
        for k in (5, 50):
            for method in ("default", "paper"):
                options = GroupOptions(k=k, method=method)
                seeds = range(3 if method == "default" else 1)
                found = [deviation(train, padding, group(padding, options, ratings=train, rng=s).labels, probe)
                         for s in seeds]  # fmt: skip
                print(f"  k={k:<3} {method:8} {np.mean(found):.4f} ({np.mean(found) / plain - 1:+.2%})", flush=True)


def deviation(train: Ratings, padding: Padding, labels: Labels, probe: tuple[Any, Any, Any]) -> float:
    """Compute the RMSE of predicting a user by the mean padded row of the user's group, rated cells kept."""
    users, items, values = probe
    sizes = np.bincount(labels)
    members = scipy.sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    factors, bias = members @ padding.user_factors / sizes[:, None], members @ padding.user_bias / sizes
    residuals = train.values - _unclipped(padding, train.users(), train.items)
    kept = members @ scipy.sparse.csr_array((residuals, train.items, train.indptr), shape=train.shape)
    means = Padding(padding.mu, bias, padding.item_bias, factors, padding.item_factors, padding.scale)
    groups = labels[users]
    cells = _unclipped(means, groups, items) + np.asarray(kept[groups, items]).ravel() / sizes[groups]
    return rmse(padding.scale.clip(cells), values)


def _unclipped(padding: Padding, users: Any, items: Any) -> NDArray[np.float64]:
    dots = np.einsum("rf,rf->r", padding.user_factors[users], padding.item_factors[items])
    return padding.mu + padding.user_bias[users] + padding.item_bias[items] + dots


def rmse(predicted: Any, values: Any) -> float:
    return float(np.sqrt(np.mean((predicted - values) ** 2, dtype=np.float64)))


def movielens() -> Ratings:
    return read(Path(os.environ["RECLOAK_DATA"]) / "ml" / "ml-1m.inter")


def many_points(n_users: int) -> Points:
    """Draw users of MovieLens-1M again, each with noise of half the spread of all."""
    real, stream = real_points(), np.random.default_rng(0)
    drawn = real[stream.integers(len(real), size=n_users)]
    noise = stream.standard_normal(drawn.shape, dtype=np.float32) * real.std(axis=0) / 2
    return (drawn + noise).astype(np.float32)


@cache
def real_points() -> Points:
    ratings = movielens()
    return embed(pad(ratings, PadOptions(), rng=0), ratings.popularity)


class Timing(NamedTuple):
    """What a grouping gave and cost."""

    labels: Labels
    cpu: float
    wall: float


def timed(work: Callable[..., Labels], *arguments: Any) -> Timing:
    cpu, wall = time.process_time(), time.perf_counter()
    labels = work(*arguments)
    return Timing(labels, time.process_time() - cpu, time.perf_counter() - wall)


def timed_grouping(points: Points, k: int, sweeps: int | None) -> Timing:
    """Group after compiling; of few points the median of nine runs, for one lasts a few milliseconds."""
    group_points(points[:5000], k, rng=0)  # compiles, the splitting of bins too
    runs = [timed(lambda: group_points(points, k, sweeps=sweeps, rng=0)) for _ in range(9 if len(points) < 5000 else 1)]
    return sorted(runs, key=lambda run: run.cpu)[len(runs) // 2]


def told(sweeps: int | None) -> str:
    return "default" if sweeps is None else f"{sweeps} sweeps"


def tell(name: str, points: Points, timing: Timing, rival: Timing | None = None) -> None:
    error = squared_error(points, timing.labels)
    line = f"{name:26} error {error:10.2f} {timing.cpu:8.3f} s CPU {timing.wall:8.3f} s wall"
    if rival:
        share = error / squared_error(points, rival.labels) - 1
        line += f"  error {share:+.1%}, {rival.cpu / timing.cpu:.1f} x (CPU) {rival.wall / timing.wall:.1f} x (wall)"
    print(line, flush=True)


def squared_error(points: Points, labels: Labels) -> float:
    members = scipy.sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    centres = (members @ points) / np.bincount(labels)[:, None]
    return float(((points - centres[labels]) ** 2).sum(dtype=np.float64))


@njit(cache=True, fastmath=True)
def plain_mdav(points, k):
    """Group by maximum distance to the average vector (Domingo-Ferrer and Torra 2005), as it is written."""
    labels, left, group = np.zeros(len(points), np.int32), np.arange(len(points)), 0
    while len(left) >= 2 * k:
        centre = np.zeros(points.shape[1], np.float32)
        for u in left:
            for j in range(points.shape[1]):
                centre[j] += points[u, j]
        far = left[np.argmax(_gaps(points, left, centre / np.float32(len(left))))]
        other = left[np.argmax(_gaps(points, left, points[far]))]
        left = _take(points, left, far, k, group, labels)
        group += 1
        if len(left) >= 2 * k:
            left = _take(points, left, other, k, group, labels)
            group += 1
    labels[left] = group
    return labels


@njit(cache=True)
def _take(points, left, around, k, group, labels):
    """Label the k nearest and give the others."""
    gaps = _gaps(points, left, points[around])
    limit = np.partition(gaps, k - 1)[k - 1]
    kept, taken = np.ones(len(left), np.bool_), 0
    for m in range(len(left)):
        if gaps[m] <= limit and taken < k:
            labels[left[m]] = group
            kept[m] = False
            taken += 1
    return left[kept]


@njit(cache=True, fastmath=True)
def _gaps(points, left, centre):
    gaps = np.empty(len(left), np.float32)
    for m in range(len(left)):
        total = np.float32(0)
        for j in range(len(centre)):
            total += (points[left[m], j] - centre[j]) ** 2
        gaps[m] = total
    return gaps
