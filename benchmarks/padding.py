"""Padding: held-out error of each predictor, its time and memory, and the same bits with 1 and 2 threads.

python -m benchmarks padding ml-1m.inter    ratings of a file, a tenth held out
python -m benchmarks padding 10             so many million synthetic ratings of Netflix's shape (at most 100)
"""

from __future__ import annotations

import hashlib
import resource
import sys
import time
from typing import Any

import numpy as np

from benchmarks.measure import measure
from recloak._ratings.model import Ratings
from recloak._ratings.readers import read
from recloak._ratings.synthetic.options import SynthOptions
from recloak._ratings.synthetic.rating_stream import synthesise
from recloak._releases.model.steps import Padding
from recloak._releases.options import RANK, PadOptions
from recloak._releases.pad import pad

NETFLIX = 480_189, 17_770, 100_480_507  # users, items, ratings
LADDER: tuple[dict[str, Any], ...] = (
    {"predictor": "mean"},
    {"predictor": "bias"},
    {"predictor": "svd", "rank": 14},
    {"predictor": "svd"},
    {"predictor": "svd", "rank": 38},
)


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        print(__doc__)
        sys.exit(2)
    source = arguments[0]
    for options in LADDER:
        cost = measure("benchmarks.padding:run", source, options).result
        print(f"{options['predictor']:4} rank {options.get('rank', RANK):3}  {_line(cost)}", flush=True)
    digests = {measure("benchmarks.padding:run", source, {}, threads=n).result["digest"] for n in (1, 2)}
    print("1 and 2 threads:", "the same bits" if len(digests) == 1 else "DIFFERENT")


def run(source: str, options: dict[str, Any]) -> dict[str, Any]:
    """Pad nine tenths of the ratings and predict the rest; compiling and making the data do not count."""
    ratings = _ratings(source)
    held = np.random.default_rng(0).random(ratings.n_ratings) < 0.1
    users, items, values = ratings.users()[held], ratings.items[held], ratings.values[held]
    train = ratings.where(~held)
    del ratings, held
    pad(Ratings.from_arrays([1, 2, 2], [1, 1, 2], [1.0, 2.0, 3.0]), PadOptions(**options), rng=0)
    before, wall, cpu = _peak_mb(), time.perf_counter(), time.process_time()
    padding = pad(train, PadOptions(**options), rng=0)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rmse = float(np.sqrt(np.mean((padding.predict(users, items) - values) ** 2)))
    return {"rmse": rmse, "wall": wall, "cpu": cpu, "more_mb": _peak_mb() - before, "digest": _digest(padding)}


def _ratings(source: str) -> Ratings:
    if not source.isdigit():
        return read(source)
    n_users, n_items, n_ratings = NETFLIX
    n = min(int(source) * 1_000_000, n_ratings)
    return synthesise(SynthOptions(preset="netflix", users=n_users * n // n_ratings, items=n_items, ratings=n), rng=0)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _digest(padding: Padding) -> str:
    arrays = padding.user_bias, padding.item_bias, padding.user_factors, padding.item_factors
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def _line(cost: dict[str, Any]) -> str:
    return "RMSE {rmse:.4f} {cpu:7.2f} s CPU {wall:7.2f} s wall {more_mb:6.0f} MB above the ratings' peak".format(
        **cost
    )
