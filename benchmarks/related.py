"""Related-item lists: similarity beside scipy and implicit, the simulation beside a literal one, a large release."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks.measure import measure


def source() -> str:
    return str(Path(os.environ["RECLOAK_DATA"]) / "ml" / "ml-1m.inter")


def ours_similarity(path: str) -> None:
    from recloak._ratings.readers import read
    from recloak._related.similarity import nearest

    ratings = read(path)
    nearest(ratings.until(0), 5)  # compiled before the clock that matters
    timed(lambda: nearest(ratings, 5))


def scipy_similarity(path: str) -> None:
    import numpy as np
    import scipy.sparse

    from recloak._ratings.readers import read

    matrix = scipy.sparse.csc_array(read(path).matrix, dtype=np.float64)
    timed(lambda: top_of((matrix / np.sqrt((matrix**2).sum(axis=0))).tocsr()))


def top_of(normed):
    import numpy as np

    scores = (normed.T @ normed).tocsr()
    for row in range(scores.shape[0]):
        place = slice(scores.indptr[row], scores.indptr[row + 1])
        np.argpartition(-scores.data[place], min(6, len(scores.data[place]) - 1))


def implicit_similarity(path: str) -> None:
    import warnings

    import scipy.sparse
    from implicit.nearest_neighbours import CosineRecommender

    from recloak._ratings.readers import read

    warnings.simplefilter("ignore")
    matrix = scipy.sparse.csr_matrix(read(path).matrix)
    timed(lambda: CosineRecommender(K=6, num_threads=2).fit(matrix, show_progress=False))


def timed(work) -> None:
    """Print the best of three in wall and CPU seconds on standard error (the process itself also reads the data)."""
    import sys
    import time

    best = []
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        best.append((time.process_time() - cpu, time.perf_counter() - wall))
    print(f"    the step alone: {min(best)[0]:.2f} s CPU, {min(best)[1]:.2f} s wall", file=sys.stderr)


def simulation(path: str, evidence: str, method: str, literal: bool) -> dict[str, float]:
    from recloak._ratings.readers import read
    from recloak._related.options import BoundOptions, MethodOptions
    from recloak._related.simulation import simulate

    run = simulate(
        read(path),
        bound=BoundOptions(evidence=evidence),
        method=MethodOptions(method=method, literal=literal),
        compare=False,
    )
    return {
        "recall": run.mean("recall"),
        "targeted": run.mean("targeted_recall"),
        "max_breach": run.max_breach,
        "seconds_anonymising": sum(record.seconds for record in run.records),
        "seconds_all": sum(record.seconds_all for record in run.records),
    }


def first_releases(path: str, n_releases: int) -> list[float]:
    """Make the first releases by ours, with similarities and proof; CPU seconds of every release."""
    import time

    from recloak._ratings.readers import read
    from recloak._related.model import Holders
    from recloak._related.options import BoundOptions, MethodOptions, ProtocolOptions
    from recloak._related.release_making import Before, make_release
    from recloak._related.similarity import nearest
    from recloak._related.simulation import schedule

    ratings = read(path)
    holders, method = Holders.of(ratings), MethodOptions()
    bound, before = BoundOptions(evidence="total", window=4, min_support=1), Before()
    spent: list[float] = []
    for moment in schedule(ratings, ProtocolOptions())[:n_releases]:
        started = time.process_time()
        ranking = nearest(ratings.until(moment), method.depth)
        before = before.after(make_release(before, ranking, holders, moment, bound, method).release, bound)
        spent.append(time.process_time() - started)
    return spent


def beside_printed(path: str, limit: float) -> None:
    """Print what the printed algorithm and ours need for the same releases, and the ratio."""
    theirs = measure("benchmarks.printed:printed", path, limit).result
    ours = measure("benchmarks.related:first_releases", path, len(theirs)).result
    for name, seconds in (("printed PERM in Python", theirs), ("ours, with proof", ours)):
        print(f"  {name:22} {sum(seconds):8.2f} s CPU, {len(seconds)} releases: {[round(s, 2) for s in seconds]}")
    print(f"  ratio {sum(theirs) / sum(ours):.1f}")


def large_release(path: str) -> dict[str, float]:
    from recloak._ratings.readers import read
    from recloak._related.model import Holders
    from recloak._related.options import BoundOptions, MethodOptions, ProtocolOptions
    from recloak._related.release_making import Before, make_release
    from recloak._related.similarity import nearest
    from recloak._related.simulation import schedule

    ratings = read(path)
    holders, method, bound = Holders.of(ratings), MethodOptions(), BoundOptions()
    before, now = schedule(ratings, ProtocolOptions(initial=95, gap=5))
    first = make_release(Before(), nearest(ratings.until(before), method.depth), holders, before, bound, method)
    seen = Before().after(first.release, bound)
    step = make_release(seen, nearest(ratings.until(now), method.depth), holders, now, bound, method)
    return {"recall": step.cost.recall, "max_breach": step.verdict.max_breach, "seconds_anonymising": step.seconds}


def one_night(store: str, path: str) -> dict[str, float]:
    from recloak import related

    made = related.publish(store, path, accept_times=True)
    return {"release": made.number, "recall": made.cost.recall, "starts": made.verdict.n_pairs}


def nights(path: str) -> None:
    """Publish all but the newest 30,000 ratings, then three nights of 10,000, each in a process of its own."""
    from tempfile import TemporaryDirectory

    import polars as pl

    from recloak._ratings.readers import read

    with TemporaryDirectory() as folder:
        log, store = read(path).to_polars().sort("time"), str(Path(folder) / "lists.db")
        for left in (30_000, 20_000, 10_000, 0):
            file = str(Path(folder) / "night.parquet")
            log.head(len(log) - left).with_columns(pl.col("user", "item").cast(pl.Int32)).write_parquet(file)
            print(f"  {(done := measure('benchmarks.related:one_night', store, file))} {done.result}")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks related")
    parser.add_argument(
        "what", choices=["similarity", "simulation", "literal", "large", "nights"], nargs="?", default="similarity"
    )
    parser.add_argument("--source", help="ratings to use; by default MovieLens-1M from RECLOAK_DATA")
    parser.add_argument("--limit", type=float, default=1e9, help="CPU seconds after which the printed algorithm ends")
    given = parser.parse_args(arguments)
    path = given.source or source()
    if given.what == "similarity":
        for name in ("ours", "scipy", "implicit"):
            print(f"  {name:9} {measure(f'benchmarks.related:{name}_similarity', path)}")
    elif given.what == "large":
        print(f"  one release {(done := measure('benchmarks.related:large_release', path))} {done.result}")
    elif given.what == "nights":
        nights(path)
    elif given.what == "literal":
        beside_printed(path, given.limit)
    else:
        for evidence in ("fresh", "total"):
            done = measure("benchmarks.related:simulation", path, evidence, "perm", False)
            print(f"  {evidence} {done} {done.result}")
