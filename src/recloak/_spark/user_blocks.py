"""Users in blocks: a source read once, numbered, without repeated pairs, as sparse matrices.

A block holds the whole rows of those users whose ids hash to its number. How many there are depends on the number of
ratings only, so the same source gives the same blocks on every cluster. No task needs to know all users: inside a
block they are numbered in the order of their ids. The items' ids are few and known to every task.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from recloak._core.errors import InputError, SourceError
from recloak._core.files import scratch_folder
from recloak._ratings.assemble import distinct_values
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings, Scale, assemble
from recloak._ratings.options import ReadOptions
from recloak._spark.array_cells import Row, address, array, batch, joined, map_rows, row_batch, rows_of, schema
from recloak._spark.source import open_source
from recloak._spark.source_paths import SparkSource

LEAST_BLOCKS = 8
BLOCK_RATINGS = 4_000_000
_MOST_VALUES = 10_000  # more distinct ratings than these in a block are no steps of a scale


@dataclass(frozen=True, eq=False, slots=True)
class Blocks:
    """The ratings of a source by blocks of users, and what holds for all of them."""

    frame: DataFrame  # block, n_users, n_ratings, ids, indptr, items, values
    folder: Path  # of their files
    item_ids: IdMap
    popularity: NDArray[np.int64]  # (n_items,)
    scale: Scale
    mean: float
    spread: float  # the standard deviation of the ratings
    n_users: int
    n_ratings: int
    n_blocks: int

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.item_ids)


def make_blocks(
    spark: SparkSession, source: SparkSource, folder: Path, *, block_ratings: int, bounds: Scale | None = None,
    until: int | None = None, timed: bool = False,
) -> Blocks:  # fmt: skip
    """Read a source, up to a time where one is given, and write its blocks into a folder that every worker reaches.

    ``timed`` keeps the times of the ratings.
    """
    if (timed or until is not None) and not source.has_times:
        raise InputError("these ratings carry no times")
    items = source.frame.select("item").distinct().toArrow()
    item_ids = IdMap.of(pl.Series(pl.from_arrow(items["item"].combine_chunks())))
    n_blocks = max(LEAST_BLOCKS, -(-(source.n_rows - source.n_skipped) // block_ratings))
    kinds = block_kinds(text_users=source.is_text("user"), timed=timed)
    rows, place = source.frame.repartition(n_blocks, "user"), folder / "blocks"
    made = rows.mapInArrow(_builder(item_ids, kinds, n_blocks, until), schema(kinds))
    made.write.parquet(address(place, reading=False))
    return _summed_up(spark.read.parquet(address(place)), place, item_ids, bounds, n_blocks)


@contextmanager
def opened_blocks(
    spark: SparkSession, source: str | Iterable[str], reading: ReadOptions | None = None, *,
    block_ratings: int = BLOCK_RATINGS, beside: Path | None = None, until: int | None = None, timed: bool = False,
) -> Iterator[Blocks]:  # fmt: skip
    """Yield the blocks of a source, in a hidden folder (by default in the working one) that is removed afterwards."""
    reading = reading or ReadOptions()
    with scratch_folder(beside or Path("recloak-spark").absolute()) as folder:
        opened = open_source(spark, source, reading)
        bounds = reading.bounds()
        yield make_blocks(spark, opened, folder, block_ratings=block_ratings, bounds=bounds, until=until, timed=timed)


def block_kinds(*, text_users: bool, timed: bool = False) -> dict[str, pa.DataType]:
    """Return the columns of a block; the moments are the sums of its ratings and of their squares."""
    times = ("times",) if timed else ()
    ids = pa.list_(pa.string() if text_users else pa.int64())
    arrays = dict.fromkeys(("indptr", "items", "values", "popularity", "moments", "levels", *times), pa.binary())
    return {"block": pa.int32(), "n_users": pa.int64(), "n_ratings": pa.int64(), "ids": ids, **arrays}


def _builder(
    item_ids: IdMap, kinds: dict[str, pa.DataType], n_blocks: int, until: int | None
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Return the function that makes a block of one partition."""
    known = item_ids.ids.to_arrow()

    def build(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext  # noqa: PLC0415 (known on a worker only)

        parts = list(batches)
        if not sum(part.num_rows for part in parts):
            return
        ratings = _ratings_of(pa.Table.from_batches(parts), IdMap(pl.Series(pl.from_arrow(known))))
        parts.clear()
        context = TaskContext.get()
        assert context is not None
        ratings = ratings if until is None else ratings.until(until)
        yield block_row(ratings, context.partitionId() % n_blocks, kinds)

    return build


def _ratings_of(table: pa.Table, item_ids: IdMap) -> Ratings:
    """Return rows as ratings; of a repeated pair the latest, else the last by place, is kept."""
    frame = pl.DataFrame(pl.from_arrow(table)).sort("place")
    user_ids = IdMap.of(frame["user"])
    times = frame["time"].to_numpy() if "time" in frame.columns else None
    users, items = user_ids.encode(frame["user"]), item_ids.encode(frame["item"])
    values, scale = frame["rating"].to_numpy().astype(np.float32), Scale(0.0, 0.0)
    return assemble(users, items, values, times, user_ids=user_ids, item_ids=item_ids, scale=scale)


def block_row(ratings: Ratings, block: int, kinds: dict[str, pa.DataType]) -> pa.RecordBatch:
    """Return ratings as the one row that is a block."""
    values = ratings.values.astype(np.float64)
    row = {
        "block": block,
        "n_users": ratings.n_users,
        "n_ratings": ratings.n_ratings,
        "ids": ratings.user_ids.ids.to_list(),
        "indptr": ratings.indptr,
        "items": ratings.items,
        "values": ratings.values,
        "popularity": ratings.popularity,
        "moments": np.array([values.sum(), np.square(values).sum()]),
        "levels": _levels(ratings.values),
        "times": ratings.times,
    }
    return row_batch(row, kinds)


def _levels(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the distinct ratings, or their ends and the middle where there are too many to be steps of a scale."""
    distinct = distinct_values(values)
    return distinct if len(distinct) <= _MOST_VALUES else distinct[[0, len(distinct) // 2, -1]]


def _summed_up(frame: DataFrame, folder: Path, item_ids: IdMap, bounds: Scale | None, n_blocks: int) -> Blocks:
    """Add up what the blocks hold; of each only a few numbers and the items' counts come to the driver."""
    popularity = added_up(frame.select("popularity"), "popularity")
    about = frame.select("block", "n_users", "moments", "levels").toArrow().sort_by("block")  # one order, one rounding
    n_ratings, n_users = int(popularity.sum()), int(about["n_users"].to_numpy().sum())
    if not n_ratings:
        raise SourceError("there are no ratings")
    total, squares = np.sum([array(cell, np.float64) for cell in about["moments"]], axis=0)
    scale = Scale.seen_in(joined(about, "levels", np.float32))
    if bounds is not None:
        scale = Scale(bounds.low, bounds.high, scale.step)
    mean = float(total) / n_ratings
    spread = float(np.sqrt(max(float(squares) / n_ratings - mean**2, 0.0))) or 1.0
    return Blocks(frame, folder, item_ids, popularity, scale, mean, spread, n_users, n_ratings, n_blocks)


def added_up(frame: DataFrame, column: str) -> NDArray[np.int64]:
    """Add up the counts in a column of arrays, on the workers as far as each goes."""

    def add(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrays = [array(row[column], np.int64) for row in rows_of(batches)]
        if arrays:
            yield batch({"total": [np.sum(arrays, axis=0)]}, {"total": pa.binary()})

    totals = frame.mapInArrow(add, "total binary").toArrow()["total"]
    return np.sum([array(cell, np.int64) for cell in totals], axis=0)


def counted(frame: DataFrame, count: Callable[[Row], NDArray[np.int64]]) -> NDArray[np.int64]:
    """Add up an array of counts that a function returns for every row."""
    return added_up(map_rows(frame, lambda row: {"counts": count(row)}, {"counts": pa.binary()}), "counts")


def ratings_in(row: Row, item_ids: IdMap, scale: Scale) -> Ratings:
    """Return a block's ratings, with its users by number."""
    user_ids = IdMap(pl.Series(np.arange(row["n_users"].as_py())))
    return Ratings(*rows_in(row), user_ids, item_ids, scale)


def rows_in(row: Row) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Return where the users of a block begin, their items and their ratings."""
    return array(row["indptr"], np.int64), array(row["items"], np.int32), array(row["values"], np.float32)
