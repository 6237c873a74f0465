"""Bins of near users, one per task: a sample gives centres, each user goes to the nearest, and the driver packs.

A sample of bounded size comes to the driver, where the tree of the local engine (`_releases.bin_tree`) cuts it into
many small cells; their means are the centres, in the order of the tree, so that neighbours are near each other. Each
user goes to the nearest centre. Then the driver, who knows only how many users and ratings each cell has, packs
neighbouring cells into bins: a cell too large for a worker is split by blocks (its users are near each other, and
blocks are random parts of them), small ones are merged until a bin holds what a task can take.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from recloak._core.randomness import Randomness
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.bin_tree import even_bins
from recloak._releases.embed import gram, item_weights, root, times
from recloak._releases.model.steps import Padding
from recloak._spark.array_cells import Row, address, element_kind, joined, map_rows, row_batch, rows_of, schema
from recloak._spark.padding import ItemPadding
from recloak._spark.user_blocks import Blocks, ratings_in

_SAMPLE = 100_000  # users who come to the driver as points, at most
_PER_CELL = 25  # of the sample, to make a centre
_CELLS_PER_BIN = 16
_MOST_CELLS = 4096
_STEP = 4096  # users who are compared with all centres at once


class BinLimits(NamedTuple):
    """What a bin may hold, and what it must."""

    users: int
    ratings: int
    least_users: int


class Piece(NamedTuple):
    """A cell, or one of the parts it is split into."""

    cell: int
    part: int
    n_users: int
    n_ratings: int


def bin_users(
    spark: SparkSession, blocks: Blocks, padding: ItemPadding, folder: Path, limits: BinLimits, rng: Randomness
) -> tuple[DataFrame, int]:
    """Write the users by cells with the beliefs about them; return them with the number of their bin."""
    to_points = point_matrix(padding, blocks.popularity)
    centres = _centres(_sample(blocks, padding, to_points, rng), _n_cells(blocks, limits), rng)
    kinds = cell_kinds(element_kind(blocks.frame))
    _cut(blocks, padding, to_points, centres, kinds).write.parquet(address(folder / "cells", reading=False))
    cells = spark.read.parquet(address(folder / "cells"))
    return _with_bins(spark, cells, blocks.n_blocks, limits)


def _n_cells(blocks: Blocks, limits: BinLimits) -> int:
    n_bins = max(-(-blocks.n_users // limits.users), -(-blocks.n_ratings // limits.ratings))
    return 1 if n_bins == 1 else min(_CELLS_PER_BIN * n_bins, _MOST_CELLS)


def point_matrix(padding: ItemPadding, popularity: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return R such that ``(p_u, b_u) R`` are points whose squared distances are errors (see `_releases.embed`)."""
    rank, mean, no_users = padding.items.rank, padding.items.mean, np.zeros(0, np.float32)
    items = Padding(padding.mu, no_users, mean[:, rank], no_users.reshape(0, rank), mean[:, :rank], padding.scale)
    return root(gram(items, item_weights(items, popularity))).astype(np.float32)


def _points(padding: Padding, to_points: NDArray[np.float32]) -> NDArray[np.float32]:
    return times(np.column_stack([padding.user_factors, padding.user_bias]), to_points)


def take_users(ratings: Ratings, users: NDArray[np.integer]) -> Ratings:
    """Return the ratings of some users, in the given order."""
    counts = ratings.activity[users]
    indptr = np.concatenate(([0], np.cumsum(counts)))
    places = np.repeat(ratings.indptr[users] - indptr[:-1], counts) + np.arange(indptr[-1])
    ids = IdMap(pl.Series(np.arange(len(users))))
    return Ratings(indptr, ratings.items[places], ratings.values[places], ids, ratings.item_ids, ratings.scale)


def _sample(
    blocks: Blocks, padding: ItemPadding, to_points: NDArray[np.float32], rng: Randomness
) -> NDArray[np.float32]:
    """Return the points of a random sample of the users, by block."""
    item_ids, scale, share = blocks.item_ids, blocks.scale, min(1.0, _SAMPLE / blocks.n_users)
    kinds = {"block": pa.int32(), "points": pa.binary()}

    def draw(row: Row) -> dict[str, Any]:
        ratings, block = ratings_in(row, item_ids, scale), row["block"].as_py()
        size = int(np.ceil(share * ratings.n_users))
        some = rng.stream("sample", block).choice(ratings.n_users, size, replace=False)
        return {"block": block, "points": _points(padding.of(take_users(ratings, np.sort(some))), to_points)}

    drawn = map_rows(blocks.frame, draw, kinds).toArrow().sort_by("block")
    return joined(drawn, "points", np.float32).reshape(-1, to_points.shape[1])


def _centres(sample: NDArray[np.float32], n_cells: int, rng: Randomness) -> NDArray[np.float32]:
    """Return the means of the sample's cells, neighbours near each other."""
    size = max(-(-len(sample) // n_cells), _PER_CELL)
    order, starts = even_bins(np.ascontiguousarray(sample), size=size, unit=1, stream=rng.stream("centres"), power=4)
    sums = np.add.reduceat(sample[order].astype(np.float64), starts[:-1], axis=0)
    return (sums / np.diff(starts)[:, None]).astype(np.float32)


def cell_kinds(user_id: pa.DataType) -> dict[str, pa.DataType]:
    """Return the columns of a cell's users in one block."""
    numbers = {"cell": pa.int32(), "block": pa.int32(), "n_users": pa.int64(), "n_ratings": pa.int64()}
    arrays = dict.fromkeys(("indptr", "items", "values", "user_bias", "user_factors"), pa.binary())
    return {**numbers, "ids": pa.list_(user_id), **arrays}


def _cut(
    blocks: Blocks, padding: ItemPadding, to_points: NDArray[np.float32], centres: NDArray[np.float32],
    kinds: dict[str, pa.DataType],
) -> DataFrame:  # fmt: skip
    """Solve the users of every block and cut it by cells."""
    item_ids, scale = blocks.item_ids, blocks.scale

    def cut(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            ratings = ratings_in(row, item_ids, scale)
            solved = padding.of(ratings)
            cells = nearest(_points(solved, to_points), centres)
            for cell in np.unique(cells):
                users = np.flatnonzero(cells == cell)
                ids = row["ids"].values.take(pa.array(users)).to_pylist()
                about = {"cell": int(cell), "block": row["block"].as_py(), "ids": ids}
                yield row_batch({**about, **_cell_columns(users, ratings, solved)}, kinds)

    columns = blocks.frame.select("block", "n_users", "n_ratings", "ids", "indptr", "items", "values")
    return columns.mapInArrow(cut, schema(kinds))


def _cell_columns(users: NDArray[np.int64], ratings: Ratings, solved: Padding) -> dict[str, Any]:
    taken = take_users(ratings, users)
    columns = {name: getattr(taken, name) for name in ("n_users", "n_ratings", "indptr", "items", "values")}
    return {**columns, "user_bias": solved.user_bias[users], "user_factors": solved.user_factors[users]}


def nearest(points: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the nearest centre of each point, the first of equals."""
    norms = np.square(centres).sum(axis=1)
    found = np.empty(len(points), np.int32)
    for start in range(0, len(points), _STEP):
        part = slice(start, start + _STEP)
        found[part] = (norms - 2 * points[part] @ centres.T).argmin(axis=1)
    return found


def _with_bins(spark: SparkSession, cells: DataFrame, n_blocks: int, limits: BinLimits) -> tuple[DataFrame, int]:
    """Return the cells with the number of their bin, and how many bins there are."""
    parts = {row.cell: _n_parts(row, limits, n_blocks) for row in _counted(cells, "cell")}
    split = spark.createDataFrame(list(parts.items()), "cell int, n_parts int")
    pieces = cells.join(sf.broadcast(split), "cell").withColumn("part", sf.col("block") % sf.col("n_parts"))
    found = [Piece(row.cell, row.part, row.n_users, row.n_ratings) for row in _counted(pieces, "cell", "part")]
    packed = pack(sorted(found), limits)
    rows = [(piece.cell, piece.part, number) for piece, number in packed.items()]
    numbers = spark.createDataFrame(rows, "cell int, part int, bin int")
    return pieces.join(sf.broadcast(numbers), ["cell", "part"]).drop("part", "n_parts"), max(packed.values()) + 1


def _counted(cells: DataFrame, *by: str) -> list:  # type: ignore[type-arg]
    sums = [sf.sum(name).alias(name) for name in ("n_users", "n_ratings")]
    return cells.select(*by, "n_users", "n_ratings").groupBy(*by).agg(*sums).collect()


def _n_parts(row: NamedTuple, limits: BinLimits, n_blocks: int) -> int:
    wanted = max(-(-row.n_users // limits.users), -(-row.n_ratings // limits.ratings))  # type: ignore[attr-defined]
    return min(wanted, n_blocks)


def pack(pieces: Sequence[Piece], limits: BinLimits) -> dict[Piece, int]:
    """Return the bins of pieces in the order of the tree: neighbours together, none too small."""
    bins: list[list[Piece]] = []
    for piece in pieces:
        if not bins or _overfull([*bins[-1], piece], limits):
            bins.append([])
        bins[-1].append(piece)
    return {piece: number for number, one in enumerate(_merged(bins, limits)) for piece in one}


def _overfull(pieces: list[Piece], limits: BinLimits) -> bool:
    return len(pieces) > 1 and (
        sum(piece.n_users for piece in pieces) > limits.users
        or sum(piece.n_ratings for piece in pieces) > limits.ratings
    )


def _merged(bins: list[list[Piece]], limits: BinLimits) -> list[list[Piece]]:
    """Merge a bin of too few users with the one before it, the first with the one after."""
    merged: list[list[Piece]] = []
    for one in bins:
        if merged and min(_n_users(one), _n_users(merged[-1])) < limits.least_users:
            merged[-1] += one
        else:
            merged.append(list(one))
    return merged


def _n_users(pieces: list[Piece]) -> int:
    return sum(piece.n_users for piece in pieces)
