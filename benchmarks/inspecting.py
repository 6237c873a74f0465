"""Exposure: the streaming count against an obvious scipy version, and alone on 100 M ratings (seconds, memory)."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import polars as pl
from numba import njit

from benchmarks.measure import measure
from recloak._ratings import exposure
from recloak._ratings.exposure import expose
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Intake, Ratings, Scale
from recloak._ratings.options import ExposureOptions
from recloak._ratings.summary import summarise
from recloak._ratings.synthetic.options import SynthOptions
from recloak._ratings.synthetic.rating_stream import synthesise

N_ITEMS = 17_770
KNOWN = (1, 2, 4, 8)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks inspecting", description=__doc__)
    parser.add_argument("--ratings", type=float, default=100e6)
    parser.add_argument("--targets", type=int, default=1000)
    given = parser.parse_args(arguments)
    ours, rival = measure("benchmarks.inspecting:side_by_side", given.targets).result
    print(f"MovieLens-1M's shape, {given.targets} targets: ours {ours:.2f} s CPU, scipy {rival:.2f} s CPU", end="")
    print(f", {rival / ours:.0f} times")
    bare = measure("benchmarks.inspecting:only_made", given.ratings)
    found = measure("benchmarks.inspecting:inspected", given.ratings, given.targets)
    print(f"{given.ratings / 1e6:.0f} M ratings, {found.result['mb']:.0f} MB:")
    for name in ("summarise", "expose"):
        wall, cpu = found.result[name]
        print(f"  {name:10} {wall:6.1f} s wall {cpu:6.1f} s CPU")
    print(f"  memory beyond the ratings: {max(0.0, found.peak_mb - bare.peak_mb):.0f} MB")


def side_by_side(targets: int) -> tuple[float, float]:
    ratings = synthesise(SynthOptions(preset="ml-1m"), rng=1)
    expose(ratings, ExposureOptions(targets=1), rng=1)
    ours = _timed(lambda: expose(ratings, ExposureOptions(targets=targets), rng=1))
    rival = _timed(lambda: by_columns(ratings, targets))
    return ours[1], rival[1]


def by_columns(ratings: Ratings, targets: int) -> list[tuple[int, int]]:
    """Count the rows that hold all known columns, question by question."""
    options = ExposureOptions(targets=targets)
    knowledge = exposure._draw(ratings, options, np.random.default_rng(1))
    matrix, counts = ratings.matrix.tocsc(), []
    for t in range(len(knowledge.targets)):
        places = knowledge.places[knowledge.starts[t] : knowledge.starts[t + 1]]
        for n in KNOWN:
            columns, values = matrix[:, ratings.items[places[:n]]].tocsr(), ratings.values[places[:n]]
            held = np.flatnonzero(np.diff(columns.indptr) == len(values))
            counts.append((len(held), int((columns[held].toarray() == values).all(axis=1).sum())))
    return counts


def only_made(n_ratings: float) -> int:
    expose(_few(), rng=1)  # compiled here too, so that the peaks differ by the work alone
    return make(int(n_ratings)).n_ratings


def inspected(n_ratings: float, targets: int) -> dict[str, Any]:
    expose(_few(), rng=1)  # compiled before the clock starts
    ratings = make(int(n_ratings))
    size = (ratings.indptr.nbytes + ratings.items.nbytes + ratings.values.nbytes) / 2**20
    return {
        "mb": size,
        "summarise": _timed(lambda: summarise(ratings)),
        "expose": _timed(lambda: expose(ratings, ExposureOptions(targets=targets), rng=1)),
    }


def _few() -> Ratings:
    return Ratings.from_arrays([1, 2], [1, 1], [1.0, 2.0])


def _timed(function: Any) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - cpu


def make(n_ratings: int) -> Ratings:
    """Make ratings with long-tailed activity and popularity, straight into their arrays."""
    rng = np.random.default_rng(1)
    n_users = max(2, n_ratings // 209)
    activity = np.exp(rng.normal(4.56, 1.35, n_users)).clip(3, 6000)
    activity = np.minimum(activity * n_ratings / activity.sum(), 6000).astype(np.int64) + 1
    weights = np.minimum(np.exp(rng.normal(6.33, 2.0, N_ITEMS)), 160_000)
    indptr = np.concatenate(([0], np.cumsum(activity)))
    items, values = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    _fill(indptr, items, values, np.cumsum(weights) / weights.sum(), rng)
    ids = IdMap(pl.Series(np.arange(n_users))), IdMap(pl.Series(np.arange(N_ITEMS)))
    return Ratings(indptr, items, values, *ids, Scale(1, 5), None, Intake(len(items)))


@njit(cache=True)
def _fill(indptr, items, values, cumulated, rng):
    seen = np.full(len(cumulated), -1, np.int64)
    for user in range(len(indptr) - 1):
        place = indptr[user]
        while place < indptr[user + 1]:
            item = np.searchsorted(cumulated[:-1], rng.random())
            if seen[item] != user:
                seen[item] = user
                items[place] = item
                values[place] = 1 + int(5 * rng.random())
                place += 1
        items[indptr[user] : indptr[user + 1]].sort()
