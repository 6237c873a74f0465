"""Reading: a file to `Ratings` against a bare scan of the same file by polars, turn by turn.

Each is measured twice: the first time in a process, which is what a program that reads a file sees, and again and again
in one process, where polars keeps the memory of its last scan and that of a dropped `Ratings` goes back to the system.

    python -m benchmarks reading --rows 10000000 --order time --layouts csv,parquet
    python -m benchmarks reading --layouts parquet-dates,parquet-texts
    python -m benchmarks reading --rows 100000000 --layouts csv,parquet,netflix-files,netflix-combined

The files look like the Netflix Prize: 480,189 users, 17,770 items, times in seconds. Rows come by time (users and items
in random order, the worst case) or by user, as most data sets are kept.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import measure

N_USERS, N_ITEMS, STEP = 480_189, 17_770, 5  # Netflix's ids leave gaps: about one in five is used
PIECE = 10_000_000


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="reading")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--order", choices=("time", "user"), default="time")
    parser.add_argument("--layouts", default="csv,parquet")
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args(arguments)
    for layout in chosen.layouts.split(","):
        with tempfile.TemporaryDirectory() as folder:
            source = str(WRITERS[layout](Path(folder), chosen.rows, chosen.order))
            _report(layout, source, chosen)


def _report(layout: str, source: str, chosen: argparse.Namespace) -> None:
    repeats = 0 if layout.startswith("netflix") else chosen.repeats
    alone = measure("benchmarks.reading:read_alone", source)
    name = f"{layout} {chosen.rows / 1e6:g} M by {chosen.order}"
    print(f"{name:28} read alone: {alone}, {alone.result} ratings")
    if repeats:
        _compare(f"{name}, first", _each_first(source, layout, repeats))
        _compare(f"{name}, again", measure("benchmarks.reading:side_by_side", source, layout, repeats).result)


def _compare(name: str, runs: dict[str, Any]) -> None:
    for unit in ("wall", "cpu"):
        bare, ours = ([run[unit] for run in runs[kind]] for kind in ("bare", "read"))
        middle, best = statistics.median(ours) / statistics.median(bare), min(ours) / min(bare)
        times = f"bare scan {statistics.median(bare):6.2f} s, read {statistics.median(ours):6.2f} s"
        print(f"{name:32} {unit:4}: {times}, ratio {middle:.2f}, of the best runs {best:.2f}")


def _each_first(source: str, layout: str, repeats: int) -> dict[str, Any]:
    kinds = ("bare", "read") * repeats
    runs = [(kind, measure("benchmarks.reading:once", source, layout, kind).result) for kind in kinds]
    return {kind: [result for k, result in runs if k == kind] for kind in ("bare", "read")}


def once(source: str, layout: str, kind: str) -> dict[str, float]:
    """Time one scan or read in a process of its own, once its code is loaded."""
    work = _ways(layout)[kind]
    return _timed(partial(work, source))


def _ways(layout: str) -> dict[str, Callable[[Any], object]]:
    """Give the bare scan and the read, after a first look at a small file that loads the compiled code."""
    from recloak._ratings.readers import read

    bare = pl.read_parquet if layout.startswith("parquet") else pl.read_csv
    ways: dict[str, Callable[[Any], object]] = {"bare": bare, "read": read}
    with tempfile.TemporaryDirectory() as folder:
        small = WRITERS[layout](Path(folder), 1000, "time")
        for way in ways.values():
            way(small)
    return ways


def side_by_side(source: str, layout: str, repeats: int) -> dict[str, Any]:
    """Time the bare scan and the read in turn, in one process."""
    ways = _ways(layout)
    runs: dict[str, Any] = {kind: [] for kind in ways}
    for _ in range(repeats):
        for kind, way in ways.items():
            runs[kind].append(_timed(partial(way, source)))
    return runs


def read_alone(source: str) -> int:
    """Read once, for time and peak memory in a process of its own."""
    from recloak._ratings.readers import read

    return read(source).n_ratings


def _timed(work: Callable[[], object]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def _pieces(n_rows: int, order: str) -> Iterator[pl.DataFrame]:
    """Draw rows piece by piece; a user's items are steps of a prime around the catalogue, so that no pair repeats."""
    rng = np.random.default_rng(1)
    seen = np.zeros(N_USERS, np.int64)  # ratings of each user so far
    for start in range(0, n_rows, PIECE):
        n = min(PIECE, n_rows - start)
        low, high = (start, start + n) if order == "user" else (0, n_rows)  # by user: each piece has users of its own
        users = np.sort(rng.integers(low * N_USERS // n_rows, high * N_USERS // n_rows, n))
        first = np.searchsorted(users, users)  # where the user's run begins
        rank = seen[users] + np.arange(n) - first
        seen += np.bincount(users, minlength=N_USERS)
        items = (users * 31 + rank * 7919) % N_ITEMS
        mixed = rng.permutation(n) if order == "time" else np.arange(n)
        yield pl.DataFrame(
            {
                "user_id": (users[mixed] * STEP + 6).astype(np.int32),
                "item_id": (items[mixed] + 1).astype(np.int32),
                "rating": rng.integers(1, 6, n).astype(np.int8),
                "timestamp": np.sort(rng.integers(942_000_000, 1_136_000_000, n)),
            }
        )


def write_csv(folder: Path, n_rows: int, order: str) -> Path:
    path = folder / "ratings.csv"
    with path.open("wb") as file:
        for number, piece in enumerate(_pieces(n_rows, order)):
            piece.write_csv(file, include_header=number == 0)
    return path


def write_parquet(folder: Path, n_rows: int, order: str) -> Path:
    path = folder / "ratings.parquet"
    pl.concat(list(_pieces(n_rows, order))).write_parquet(path)
    return path


def write_parquet_dates(folder: Path, n_rows: int, order: str) -> Path:
    """Write times as moments."""
    path = folder / "ratings.parquet"
    moments = pl.from_epoch("timestamp").cast(pl.Datetime("us"))
    pl.concat([piece.with_columns(moments) for piece in _pieces(n_rows, order)]).write_parquet(path)
    return path


def write_parquet_texts(folder: Path, n_rows: int, order: str) -> Path:
    """Write ids as texts."""
    path = folder / "ratings.parquet"
    ids = pl.format("A{}", "user_id").alias("user_id"), pl.format("B{}", "item_id").alias("item_id")
    pl.concat([piece.with_columns(ids) for piece in _pieces(n_rows, order)]).write_parquet(path)
    return path


def write_netflix_files(folder: Path, n_rows: int, _: str) -> Path:
    """Write one file per item."""
    for item, lines in _by_item(n_rows):
        (folder / f"mv_{item:07d}.txt").write_bytes(f"{item}:\n".encode() + lines)
    return folder


def write_netflix_combined(folder: Path, n_rows: int, _: str) -> Path:
    """Write four files of many items."""
    for item, lines in _by_item(n_rows):
        with (folder / f"combined_data_{1 + 4 * (item - 1) // N_ITEMS}.txt").open("ab") as file:
            file.write(f"{item}:\n".encode() + lines)
    return folder


def _by_item(n_rows: int) -> Iterator[tuple[int, bytes]]:
    table = pl.concat([piece.sort("item_id") for piece in _pieces(n_rows, "time")]).sort("item_id")
    ends = table["item_id"].search_sorted(np.arange(2, N_ITEMS + 2), "left").to_numpy()
    day = pl.from_epoch("timestamp").dt.date()
    for item, (start, stop) in enumerate(zip(np.append(0, ends[:-1]), ends, strict=True), 1):
        part = table.slice(int(start), int(stop - start)).select("user_id", "rating", day)
        yield item, part.write_csv(include_header=False).encode()


WRITERS = {
    "csv": write_csv,
    "parquet": write_parquet,
    "parquet-dates": write_parquet_dates,
    "parquet-texts": write_parquet_texts,
    "netflix-files": write_netflix_files,
    "netflix-combined": write_netflix_combined,
}
