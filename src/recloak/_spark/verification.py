"""Verify on a cluster: a task inspects each part of a release (`_releases.verifier`), and Spark adds the parts up.

Only the parts' summaries and the totals come to the driver; the marks of the rows stay where they are. To check a
cap on links, all members of a row are brought to one task, which compares their ratings with the part that holds the
row by the local check (`_releases.verifier.link_check`).
"""

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from recloak._core.errors import OptionError
from recloak._core.progress import task
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings, Scale
from recloak._releases.model.release_format import Diversity, Verdict
from recloak._releases.model.statistics import STATISTICS
from recloak._releases.verifier.claims import Claims
from recloak._releases.verifier.diversity_check import Starved, starved_users
from recloak._releases.verifier.drawn_check import DrawnFindings
from recloak._releases.verifier.item_numbers import ItemNumbers, words_of
from recloak._releases.verifier.judgement import Totals, check_release
from recloak._releases.verifier.link_check import Exceeded, exceeded_links
from recloak._releases.verifier.local_inspection import LocalInspection
from recloak._releases.verifier.part_findings import PartSummary, inspect_part
from recloak._releases.verifier.table_blocks import blocks
from recloak._spark.array_cells import address, array, batch, element_kind, row_batch, rows_of, schema
from recloak._spark.naming import Map
from recloak._spark.user_blocks import Blocks, ratings_in

_NUMBERS = dict.fromkeys(("item", "name", "n", "one", "two"), pa.int64())
_FOUND = {"place": pa.int32(), "summary": pa.string(), **_NUMBERS}  # place: of the part
_SUMS = (
    "sum(size) n_users", "sum(size * n) n_ratings", "min(n) fewest", "max(n) most",
    "min(if(n = 0, name, null)) bare", "min(if(size = 0, name, null)) empty",
)  # fmt: skip
_EXCEEDED = {"n_cells": pa.int64(), "share": pa.float64()}
_MOST_BITS = 32 * 10**9  # items times rows that a worker holds to check diversity: 4 GB


def verify(
    spark: SparkSession, folder: str | Path, *, k: int | None = None, original: Blocks | None = None,
    diversity: Diversity | str | None = None, mapping: str | Path | None = None, content: bool = False,
) -> Verdict:  # fmt: skip
    """Check a released folder as `_releases.verifier.verify` does; ``mapping`` is the address of who is who."""
    with ExitStack() as stack:

        def inspect(claims: Claims) -> SparkInspection:
            return stack.enter_context(closing(SparkInspection(spark, claims)))

        return check_release(
            folder, inspect, k=k, original=original, diversity=diversity, mapping=mapping, content=content
        )


class SparkInspection:
    """What the parts of a release hold, found by one task each under one secret."""

    def __init__(self, spark: SparkSession, claims: Claims) -> None:
        self.spark, self.claims = spark, claims
        n_parts = len(claims.parts)
        places = spark.range(0, n_parts, 1, n_parts)
        self._secret = secrets.token_bytes(32)
        self._found = places.mapInArrow(_inspector(claims, self._secret), schema(_FOUND)).persist()

    def close(self) -> None:
        """Free what the cluster keeps."""
        self._found.unpersist()

    @cached_property
    def summaries(self) -> list[PartSummary]:
        """The parts, in the order of the manifest."""
        with task("verifying", 1) as advance:
            rows = self._found.where(sf.col("summary").isNotNull()).select("place", "summary").collect()
            advance(1)
        return [PartSummary(*json.loads(row.summary)) for row in sorted(rows, key=lambda row: row.place)]

    def _rows(self, *, members: bool) -> DataFrame:
        """Return what was found about users or groups."""
        places = [place for place, part in enumerate(self.claims.parts) if (part.table == "members") == members]
        return self._found.where(sf.col("place").isin(places) & sf.col("name").isNotNull())

    @cached_property
    def _cells(self) -> DataFrame:
        """The number of cells and the mark of every user or group, zeros where there are no cells."""
        rows = self._rows(members=False).select("name", "n", "one", "two")
        if rows.count() == self.claims.n_names:
            return rows
        return _padded(self.spark.range(1, self.claims.n_names + 1).toDF("name"), rows)

    def _items(self) -> DataFrame:
        return self._found.where(sf.col("item").isNotNull()).select("item").distinct()

    def unknown_items(self, original: Blocks) -> int:
        """Count the items that the original does not have."""
        words = words_of(original.item_ids.ids.to_list(), self._secret)[0].view(np.int64)
        return len(np.setdiff1d(self._items().toArrow()["item"].to_numpy(), words))

    def named_once(self, original: Blocks, mapping: str | Path) -> bool:
        """Return whether the mapping names every user of the original, and every published one, once."""
        return _fits(self.claims, original, _mapping(self.spark, mapping), _users(original))

    def totals(self) -> Totals:
        """Add the parts up: users whose rows have the same mark share their items and labels."""
        rows = self._cells.withColumn("size", sf.lit(1).cast("bigint"))
        if self.claims.row_name == "group":
            sizes = self._rows(members=True).groupBy("name").agg(sf.sum("n").alias("size"))
            rows = _padded(self._cells, sizes)
        shared = rows.groupBy("one", "two").agg(sf.sum("size").alias("size"))
        smallest = shared.agg(sf.min("size").alias("k"), sf.count("*").alias("n_distinct")).collect()[0]
        found = {**smallest.asDict(), **rows.selectExpr(*_SUMS).collect()[0].asDict(), **self._groups()}
        return Totals(n_items=self._items().count(), **found)

    def _groups(self) -> dict[str, int | None]:
        """Return the smallest number of rows drawn for a group, and the first group without any, where rows are drawn.

        What is shared is then the group, not the row.
        """
        if not self.claims.is_drawn:
            return {}
        counted = self._rows(members=True).groupBy("name").agg(sf.sum("n").alias("size"))
        sizes = _padded(self.spark.range(1, self.claims.n_groups + 1).toDF("name"), counted)
        found = sizes.selectExpr("min(size) k", "min(if(size = 0, name, null)) empty").collect()[0]
        return dict(found.asDict())

    def starved(self, original: Blocks, diversity: Diversity) -> Starved:
        """Compare every block of the original with the whole release, which each task reads for itself."""
        claims, item_ids, scale = self.claims, original.item_ids, original.scale
        _require_memory(claims)
        kinds = {"n_users": pa.int64(), "n_missing": pa.int64()}

        def check(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            bits = None
            for row in rows_of(batches):
                ratings = ratings_in(row, item_ids, scale)
                bits = LocalInspection(claims).item_bits(ratings) if bits is None else bits
                found = starved_users(bits, ratings, diversity)
                yield row_batch(found._asdict(), kinds)

        blocks = original.frame.select("block", "n_users", "indptr", "items", "values")
        found = blocks.mapInArrow(check, schema(kinds)).agg(sf.sum("n_users"), sf.sum("n_missing")).collect()[0]
        return Starved(*found)

    def drawn_against(self, original: Blocks, mapping: str | Path) -> DrawnFindings | None:  # noqa: ARG002
        """Refuse: the rows are compared with people on one machine."""
        raise OptionError("drawn rows are compared with their source by engine='local'")

    def exceeded(self, original: Blocks, mapping: str | Path) -> Exceeded | None:
        """Count the cells above the cap on links."""
        first_names = [part.first for part in self.summaries if part.table not in ("members", *STATISTICS)]
        return exceeded_on_spark(self.spark, self.claims, self._cells, first_names, original, mapping)


def _inspector(claims: Claims, secret: bytes) -> Map:
    """Return the function that inspects parts: a row about each, and one for every item and row in it."""

    def inspect(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            place, items = row["id"].as_py(), ItemNumbers(secret)
            summary, (names, counts, marks) = inspect_part(claims.parts[place], claims, items)
            yield _batch(place, 1, {"summary": [json.dumps(summary)]})
            yield _batch(place, len(items), {"item": items.words()[0].view(np.int64)})
            one, two = np.ascontiguousarray(marks.T).view(np.int64)
            yield _batch(place, len(names), {"name": names, "n": counts, "one": one, "two": two})

    return inspect


def _batch(place: int, n: int, given: dict[str, Any]) -> pa.RecordBatch:
    """Return n rows about a part; columns that are not given are empty."""
    columns = {"place": np.full(n, place, np.int32), **given}
    arrays = [pa.array(columns[name], kind) if name in columns else pa.nulls(n, kind) for name, kind in _FOUND.items()]
    return pa.RecordBatch.from_arrays(arrays, names=list(_FOUND))


def _padded(names: DataFrame, rows: DataFrame) -> DataFrame:
    """Join the columns of some names to all names, zeros for the others."""
    return names.join(rows, "name", "left").fillna(0)


def _require_memory(claims: Claims) -> None:
    if claims.n_items * claims.n_groups > _MOST_BITS:
        raise OptionError(
            f"diversity cannot be checked for {claims.n_groups} groups of {claims.n_items} items: a worker would need "
            f"{claims.n_items * claims.n_groups / 8e9:.0f} GB; publish without it, or the users in several releases"
        )


def exceeded_on_spark(
    spark: SparkSession, claims: Claims, cells: DataFrame, first_names: list[int], original: Blocks, mapping: str | Path
) -> Exceeded | None:
    """Count the cells above the cap; None where the mapping does not name every user of the source once.

    ``cells`` has the mark of every row, and ``first_names`` the first user or group in each part of the table of cells.
    """
    known, users = _mapping(spark, mapping), _users(original)
    if not _fits(claims, original, known, users):
        return None
    members = users.join(known.select("user_id", "user"), "user_id").join(_rows_of_users(spark, claims, cells), "user")
    placed = members.select("row", "items").mapInArrow(_placer(first_names), "place int, row bigint, items binary")
    checked = placed.groupBy("place").applyInArrow(_checker(claims, original.item_ids), schema(_EXCEEDED))
    found = checked.agg(sf.sum("n_cells"), sf.max("share")).collect()[0]
    return Exceeded(*found)


def _mapping(spark: SparkSession, mapping: str | Path) -> DataFrame:
    return spark.read.parquet(str(mapping) if "://" in str(mapping) else address(mapping))


def _users(original: Blocks) -> DataFrame:
    """Return a row for every user of the source: the id, and the items rated."""
    kinds = {"user_id": element_kind(original.frame), "items": pa.binary()}

    def split(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            cuts = array(row["indptr"], np.int64)[1:-1]
            yield batch({"user_id": row["ids"].as_py(), "items": np.split(array(row["items"], np.int32), cuts)}, kinds)

    return original.frame.select("ids", "indptr", "items").mapInArrow(split, schema(kinds))


def _fits(claims: Claims, original: Blocks, known: DataFrame, users: DataFrame) -> bool:
    """Return whether a mapping names every user of the source, and every published one, once."""
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


def _placer(first_names: list[int]) -> Map:
    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in batches:
            places = np.searchsorted(first_names, rows["row"].to_numpy(), side="right") - 1
            columns = [pa.array(places, pa.int32()), rows["row"], rows["items"]]
            yield pa.RecordBatch.from_arrays(columns, names=["place", "row", "items"])

    return place


def _checker(claims: Claims, item_ids: IdMap) -> Callable[[pa.Table], pa.Table]:
    def check(table: pa.Table) -> pa.Table:
        part = claims.cell_parts[table["place"][0].as_py()]
        found = exceeded_links(claims, [part], table["row"].to_numpy(), _ratings(table["items"], item_ids))
        return pa.Table.from_batches([row_batch(found._asdict(), _EXCEEDED)])

    return check


def _ratings(column: pa.ChunkedArray, item_ids: IdMap) -> Ratings:
    """Return the users' items as ratings; the values are not used."""
    rated: list[NDArray[np.int32]] = [array(cell, np.int32) for cell in column]
    indptr = np.concatenate(([0], np.cumsum([len(items) for items in rated])))
    items = np.concatenate(rated)
    ids = IdMap(pl.Series(np.arange(len(rated))))
    return Ratings(indptr, items, np.ones(len(items), np.float32), ids, item_ids, Scale(1.0, 1.0))
