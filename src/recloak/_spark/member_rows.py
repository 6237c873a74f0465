"""The members of a release's rows, brought to the parts where the rows stand, to check a cap on links there.

All members of a row meet in one task, which holds their ratings against the part by the local check
(`_releases.verifier.link_check`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as sf

from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings, Scale
from recloak._releases.verifier.claims import Claims
from recloak._releases.verifier.link_check import Exceeded, exceeded_links
from recloak._releases.verifier.table_blocks import blocks
from recloak._spark.array_cells import address, array, batch, element_kind, rows_of, schema
from recloak._spark.naming import Map
from recloak._spark.user_blocks import Blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_EXCEEDED = {"n_cells": pa.int64(), "share": pa.float64()}


def exceeded_on_spark(
    spark: SparkSession, claims: Claims, cells: DataFrame, firsts: list[int], original: Blocks, mapping: str | Path
) -> Exceeded | None:
    """Count the cells above the cap; None where the mapping does not name every user of the source once.

    ``cells`` has the mark of every row, and ``firsts`` the first user or group in each part of the table of cells.
    """
    known = spark.read.parquet(str(mapping) if "://" in str(mapping) else address(mapping))
    users = _users(original)
    if not _fits(claims, original, known, users):
        return None
    members = users.join(known.select("user_id", "user"), "user_id").join(_rows_of_users(spark, claims, cells), "user")
    placed = members.select("row", "items").mapInArrow(_placer(firsts), "place int, row bigint, items binary")
    checked = placed.groupBy("place").applyInArrow(_checker(claims, original.item_ids), schema(_EXCEEDED))
    found = checked.agg(sf.sum("n_cells"), sf.max("share")).collect()[0]
    return Exceeded(*found)


def _users(original: Blocks) -> DataFrame:
    """Return a row for every user of the source: the id, and the items rated."""
    kinds = {"user_id": element_kind(original.frame), "items": pa.binary()}

    def split(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            cuts = array(row["indptr"], np.int64)[1:-1]
            yield batch({"user_id": row["ids"].as_py(), "items": np.split(array(row["items"], np.int32), cuts)}, kinds)

    return original.frame.select("ids", "indptr", "items").mapInArrow(split, schema(kinds))


def _fits(claims: Claims, original: Blocks, known: DataFrame, users: DataFrame) -> bool:
    """Tell whether a mapping names every user of the source, and every published one, once."""
    n = claims.n_users
    if original.n_users != n or not {"user_id", "user"} <= set(known.columns):
        return False
    if known.schema["user_id"].dataType != users.schema["user_id"].dataType:
        return False
    ends = known.agg(sf.count("*"), sf.count_distinct("user"), sf.min("user"), sf.max("user")).collect()[0]
    named = users.join(known.select("user_id").distinct(), "user_id").count()
    return tuple(ends) == (n, n, 1, n) and named == n


def _rows_of_users(spark: SparkSession, claims: Claims, cells: DataFrame) -> DataFrame:
    """Return the row of every published user: the group or, in a long release, the first user with the same mark."""
    if claims.layout == "long":
        models = cells.groupBy("one", "two").agg(sf.min("name").alias("row"))
        return cells.join(models, ["one", "two"]).select(sf.col("name").alias("user"), "row")
    parts = [part for part in claims.parts if part.table == "members"]
    kinds = {"user": pa.int64(), "row": pa.int64()}

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place in rows_of(batches):
            part = parts[place["id"].as_py()]
            for columns in blocks(claims.path(part), claims.columns(part)):
                yield pa.RecordBatch.from_arrays([column.cast(pa.int64()) for column in columns], names=list(kinds))

    return spark.range(0, len(parts), 1, len(parts)).mapInArrow(read, schema(kinds))


def _placer(firsts: list[int]) -> Map:
    """Return the function that finds the part of each row."""

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in batches:
            places = np.searchsorted(firsts, rows["row"].to_numpy(), side="right") - 1
            columns = [pa.array(places, pa.int32()), rows["row"], rows["items"]]
            yield pa.RecordBatch.from_arrays(columns, names=["place", "row", "items"])

    return place


def _checker(claims: Claims, item_ids: IdMap) -> Callable[[pa.Table], pa.Table]:
    """Return the function that checks the rows of one part."""

    def check(table: pa.Table) -> pa.Table:
        part = claims.cell_parts[table["place"][0].as_py()]
        found = exceeded_links(claims, [part], table["row"].to_numpy(), _ratings(table["items"], item_ids))
        return pa.Table.from_batches([batch({name: [value] for name, value in found._asdict().items()}, _EXCEEDED)])

    return check


def _ratings(column: pa.ChunkedArray, item_ids: IdMap) -> Ratings:
    """Return the users' items as ratings; nobody asks for the values."""
    rated: list[NDArray[np.int32]] = [array(cell, np.int32) for cell in column]
    indptr = np.concatenate(([0], np.cumsum([len(items) for items in rated])))
    items = np.concatenate(rated)
    ids = IdMap(pl.Series(np.arange(len(rated))))
    return Ratings(indptr, items, np.ones(len(items), np.float32), ids, item_ids, Scale(1.0, 1.0))
