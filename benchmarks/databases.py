"""Reading a database or JSON Lines beside the engine's own bare read: ``python -m benchmarks databases``."""

import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

import recloak

ROWS = 1_000_000


def main(_: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = made()
        for name, bare, ours in rivals(Path(folder), table):
            ours()  # compiles
            least = [min(cpu_seconds(one) for _ in range(3)) for one in (bare, ours)]
            print(f"{name:8} bare {least[0]:.2f}  recloak {least[1]:.2f}  ratio {least[1] / least[0]:.2f}")


def made() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "user": rng.integers(0, 20_000, ROWS),
            "item": rng.integers(0, 5_000, ROWS),
            "rating": rng.integers(1, 6, ROWS).astype(np.float64),
            "time": rng.integers(10**9, 15 * 10**8, ROWS),
        }
    )


def rivals(folder: Path, table: pl.DataFrame) -> list[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    lite, duck, lines = folder / "r.sqlite", folder / "r.duckdb", folder / "r.jsonl"
    with closing(sqlite3.connect(lite)) as opened:
        opened.execute("CREATE TABLE r (user INTEGER, item INTEGER, rating REAL, time INTEGER)")
        opened.executemany("INSERT INTO r VALUES (?, ?, ?, ?)", table.rows())
        opened.commit()
    with duckdb.connect(str(duck)) as made_here:
        made_here.execute("CREATE TABLE r AS SELECT * FROM table")
    table.write_ndjson(lines)

    def bare_sqlite() -> Any:
        with closing(sqlite3.connect(lite)) as opened:
            return opened.execute("SELECT * FROM r").fetchall()

    def bare_duckdb() -> Any:
        with duckdb.connect(str(duck), read_only=True) as opened:
            return opened.sql("SELECT * FROM r").to_arrow_table()

    return [
        ("sqlite", bare_sqlite, lambda: recloak.read(f"sqlite:///{lite}")),
        ("duckdb", bare_duckdb, lambda: recloak.read(f"duckdb:///{duck}")),
        ("jsonl", lambda: pl.read_ndjson(lines), lambda: recloak.read(lines)),
    ]


def cpu_seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin
