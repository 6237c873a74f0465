"""Synthetic data against the real figures: counts, quantiles, histogram, years, and the ladder of held-out errors.

``python -m benchmarks synthetic [ml-1m] [netflix] [--no-ladder]`` writes each preset with ``recloak synth``'s own
function in a fresh process (time and peak memory), reads it back and prints target, made and how far off. The ladder
holds out the last tenth of each user's ratings and predicts it by item means, by user and item biases, and by the
regularised factorisation of ``recloak._releases.pad``; on more than 50,000 users it takes the first 50,000, all items.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.measure import measure
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings, Scale

SEED = 1
HELD_OUT = 0.1
LADDER_USERS = 50_000
CHUNK = 1 << 20

# Real figures. Shares and histogram in per cent, years in millions of ratings, ladder in stars.
TARGETS: dict[str, dict[str, Any]] = {
    "ml-1m": {
        "sizes": (6_040, 3_706, 1_000_209),
        "at": (1, 5, 10, 25, 50, 75, 90, 95, 99),
        "activity": (20, 23, 27, 44, 96, 208, 400, 556, 906),
        "popularity": (1, 2, 7, 33, 123, 350, 729, 1051, 1784),
        "histogram": (5.6, 10.8, 26.1, 34.9, 22.6),
        "ladder": (0.985, 0.913, 0.863),
        "rank": 40,
    },
    "netflix": {
        "sizes": (480_189, 17_770, 100_480_507),
        "at": (1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9),
        "activity": (3, 12, 18, 38, 96, 258, 539, 777, 1389, 2511),
        "popularity": (69, 98, 117, 192, 561, 2667, 12_295, 29_110, 96_660, 155_037),
        "top": (14, 45, 62),
        "histogram": (4.6, 10.1, 28.7, 33.6, 23.1),
        "years": (0.9, 1.8, 4.3, 10.0, 30.0, 53.0),
        "ladder": (1.035, 0.959, 0.895),
        "rank": 32,
    },
}


def main(arguments: list[str]) -> None:
    presets = [name for name in TARGETS if name in arguments] or ["ml-1m"]
    for name in presets:
        compare(name, with_ladder="--no-ladder" not in arguments)


def compare(name: str, *, with_ladder: bool) -> None:
    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.parquet"
        cost = measure("benchmarks.synthetic:write", str(path), name)
        print(f"\n{name}: {cost}  {path.stat().st_size / 1e6:.0f} MB of Parquet")
        made = shape_of(path, target)
        for part in ("sizes", "activity", "popularity", "top", "histogram", "years"):
            if part in target:
                show(part, target[part], made[part], points=part in ("top", "histogram"))
        if with_ladder:
            rungs = measure("benchmarks.synthetic:ladder_of_file", str(path), target["rank"])
            show("ladder", target["ladder"], rungs.result)


def show(part: str, target: tuple[float, ...], made: list[float], *, points: bool = False) -> None:
    off = [m - t if points else 100 * (m / t - 1) for m, t in zip(made, target, strict=True)]
    for label, row in (("target", target), ("made", made), ("off, points" if points else "off, %", off)):
        print(f"  {part:11} {label:12}" + "".join(f"{value:>13,.5g}" for value in row))


def write(path: str, name: str) -> int:
    from recloak._ratings.synthetic.options import SynthOptions
    from recloak._ratings.synthetic.synthetic_files import write_synthetic

    return write_synthetic(path, SynthOptions(preset=name), rng=SEED).n_ratings


def shape_of(path: Path, target: dict[str, Any]) -> dict[str, list[float]]:
    activity, popularity = (counts_by(path, pl.col(axis)) for axis in ("user", "item"))
    stars = counts_by(path, pl.col("rating"))
    n_ratings = int(activity.sum())
    sorted_down = np.sort(popularity)[::-1]
    at = np.array(target["at"]) / 100
    return {
        "sizes": [len(activity), len(popularity), n_ratings],
        "activity": np.quantile(activity, at).tolist(),
        "popularity": np.quantile(popularity, at).tolist(),
        "top": [100 * sorted_down[:n].sum() / n_ratings for n in (100, 500, 1000)],
        "histogram": (100 * stars / n_ratings).tolist(),
        "years": (counts_by(path, pl.from_epoch("timestamp").dt.year()) / 1e6).tolist(),
    }


def counts_by(path: Path, key: pl.Expr) -> NDArray[np.int64]:
    """Count the rows of each value of a key, in the order of the key."""
    counted = pl.scan_parquet(path).group_by(key.alias("key")).len().collect(engine="streaming")
    return counted.sort("key")["len"].to_numpy().astype(np.int64)


def ladder_of_file(path: str, rank: int) -> list[float]:
    return ladder(read_rows(path, LADDER_USERS), rank)


def read_rows(path: str, n_users: int) -> Ratings:
    """Read the first users of a synthetic file in its own order: users ascend, times ascend inside a user."""
    table = pl.scan_parquet(path).filter(pl.col("user") <= n_users).collect()
    activity = np.bincount(table["user"].to_numpy())[1:]
    indptr = np.concatenate(([0], np.cumsum(activity)))
    items = table["item"].to_numpy() - 1
    values = table["rating"].to_numpy().astype(np.float32)
    n_items = int(items.max()) + 1
    return Ratings(
        indptr,
        items.astype(np.int32),
        values,
        IdMap.of(np.arange(len(activity))),
        IdMap.of(np.arange(n_items)),
        Scale(1.0, 5.0),
    )


def ladder(ratings: Ratings, rank: int) -> list[float]:
    """Give the held-out RMSE of item means, of the bias model and of the factorisation; rows must ascend by time."""
    from recloak._releases.options import PadOptions
    from recloak._releases.pad import pad

    held = last_of_each(ratings.activity)
    users, items, values = ratings.users()[held], ratings.items[held], ratings.values[held]
    train = ratings.where(~held)
    rungs = []
    for predictor in ("mean", "bias", "svd"):
        padding = pad(train, PadOptions(predictor=predictor, rank=rank, iterations=8), rng=SEED)
        squares = sum(
            float(((padding.predict(users[a : a + CHUNK], items[a : a + CHUNK]) - values[a : a + CHUNK]) ** 2).sum())
            for a in range(0, len(values), CHUNK)
        )
        rungs.append(float(np.sqrt(squares / len(values))))
        print(f"  {predictor}: {rungs[-1]:.4f}", file=sys.stderr)
    return rungs


def last_of_each(activity: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the last tenth of each user's ratings, at least one of those who have two."""
    n_held = np.minimum(np.maximum(1, np.round(activity * HELD_OUT).astype(np.int64)), activity - 1)
    from_end = np.repeat(np.cumsum(activity), activity) - np.arange(int(activity.sum()))
    marked: NDArray[np.bool_] = from_end <= np.repeat(n_held, activity)
    return marked
