"""Related-item lists: similarity beside scipy and implicit, the simulation beside a literal one, a large release."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from benchmarks.measure import measure


def source() -> str:
    return str(Path(os.environ["RECLOAK_DATA"]) / "ml" / "ml-1m.inter")


def ours_similarity(path: str) -> None:
    from recloak.ratings import read
    from recloak.related.similarity import nearest

    ratings = read(path)
    nearest(ratings.until(0), 5)  # compiled before the clock that matters
    timed(lambda: nearest(ratings, 5))


def scipy_similarity(path: str) -> None:
    import numpy as np
    import scipy.sparse

    from recloak.ratings import read

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

    from recloak.ratings import read

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
    from recloak.ratings import read
    from recloak.related.options import BoundOptions, MethodOptions
    from recloak.related.simulate import simulate

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


def literal_beside_ours(path: str, n_releases: int) -> dict[str, list[float]]:
    """Anonymise the first releases by the printed algorithm in Python and by ours; CPU seconds of every release.

    The printed algorithm looks for replacements down the whole ranking; it gets its similarities for nothing.
    """
    import time

    from recloak.ratings import read
    from recloak.related.anonymise import anonymise
    from recloak.related.leaks import Watch
    from recloak.related.literal import literal
    from recloak.related.model import Holders, Release
    from recloak.related.options import BoundOptions, ProtocolOptions
    from recloak.related.simulate import schedule

    ratings = read(path)
    holders, bound = Holders.of(ratings), BoundOptions(evidence="total")
    makers: dict[str, Any] = {"literal": literal, "ours": lambda *given: anonymise(*given).lists}
    made: dict[str, list[Release]] = {name: [] for name in makers}
    spent: dict[str, list[float]] = {name: [] for name in makers}
    for number, time_ in enumerate(schedule(ratings, ProtocolOptions())[: n_releases + 1]):
        ranking = whole_ranking(ratings.until(time_))
        for name, make in makers.items():
            watch = Watch(tuple(made[name][-3:]), time_, holders, bound)
            started = time.process_time()
            lists = (
                make(watch, ranking if name == "literal" else ranking.cut(20), 5, "supp") if number else ranking.cut(5)
            )
            spent[name].append(time.process_time() - started)
            made[name].append(Release(number + 1, time_, lists))
    return {name: seconds[2:] for name, seconds in spent.items()}  # the second release compiles


def whole_ranking(ratings):
    """Give the whole ranking of every item, by scipy."""
    import numpy as np
    import scipy.sparse

    from recloak.related.model import Lists

    matrix = scipy.sparse.csc_array(ratings.matrix, dtype=np.float64)
    lengths = np.sqrt((matrix**2).sum(axis=0))
    normed = matrix / np.where(lengths == 0, 1, lengths)
    scores = (normed.T @ normed).toarray()
    np.fill_diagonal(scores, 0)
    order = np.argsort(-scores, axis=1, kind="stable").astype(np.int32)
    order[np.take_along_axis(scores, order, 1) <= 0] = -1
    return Lists(order)


def large_release(path: str) -> dict[str, float]:
    from recloak.ratings import read
    from recloak.related.model import Holders
    from recloak.related.options import BoundOptions, MethodOptions, ProtocolOptions
    from recloak.related.recipe import make_release
    from recloak.related.similarity import nearest
    from recloak.related.simulate import schedule

    ratings = read(path)
    holders, method, bound = Holders.of(ratings), MethodOptions(), BoundOptions()
    before, now = schedule(ratings, ProtocolOptions(initial=95, gap=5))
    first = make_release((), nearest(ratings.until(before), method.depth), holders, before, bound, method)
    step = make_release((first.release,), nearest(ratings.until(now), method.depth), holders, now, bound, method)
    return {"recall": step.cost.recall, "max_breach": step.verdict.max_breach, "seconds_anonymising": step.seconds}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks related")
    parser.add_argument(
        "what", choices=["similarity", "simulation", "literal", "large"], nargs="?", default="similarity"
    )
    parser.add_argument("--source", help="ratings to use; by default MovieLens-1M from RECLOAK_DATA")
    given = parser.parse_args(arguments)
    path = given.source or source()
    if given.what == "similarity":
        for name in ("ours", "scipy", "implicit"):
            print(f"  {name:9} {measure(f'benchmarks.related:{name}_similarity', path)}")
    elif given.what == "large":
        print(f"  one release {(done := measure('benchmarks.related:large_release', path))} {done.result}")
    elif given.what == "literal":
        spent = measure("benchmarks.related:literal_beside_ours", path, 6).result
        for name, seconds in spent.items():
            print(f"  {name:8} {sum(seconds):7.2f} s CPU for {len(seconds)} releases")
        print(f"  ratio {sum(spent['literal']) / sum(spent['ours']):.1f}")
    else:
        for evidence in ("fresh", "total"):
            done = measure("benchmarks.related:simulation", path, evidence, "perm", False)
            print(f"  {evidence} {done} {done.result}")
