"""Verify on a cluster: a task looks at each part of a release (`_releases.verifier`), and Spark adds the parts up.

Only the parts' summaries and the totals come to the driver; the marks of the rows stay where they are.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from recloak._core.errors import OptionError
from recloak._core.progress import task
from recloak._releases.model.release_format import Diversity, Verdict
from recloak._releases.verifier.claims import Claims
from recloak._releases.verifier.diversity_check import Starved, starved_users
from recloak._releases.verifier.item_numbers import ItemNumbers
from recloak._releases.verifier.judgement import Totals, check_release
from recloak._releases.verifier.link_check import Exceeded
from recloak._releases.verifier.local_inspection import LocalInspection
from recloak._releases.verifier.part_findings import Summary, inspect_part
from recloak._spark.array_cells import batch, rows_of, schema
from recloak._spark.member_rows import exceeded_on_spark
from recloak._spark.naming import Map
from recloak._spark.user_blocks import Blocks, ratings_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FOUND = {
    "place": pa.int32(),  # of the part
    "summary": pa.string(),
    "item": pa.int64(),
    "name": pa.int64(),
    "n": pa.int64(),
    "one": pa.int64(),
    "two": pa.int64(),
}
_SUMS = (
    "sum(size) n_users", "sum(size * n) n_ratings", "min(n) fewest", "max(n) most",
    "min(if(n = 0, name, null)) bare", "min(if(size = 0, name, null)) empty",
)  # fmt: skip
_MOST_BITS = 32 * 10**9  # items times rows that a worker holds to check diversity: 4 GB


def verify(
    spark: SparkSession,
    folder: str | Path,
    *,
    k: int | None = None,
    original: Blocks | None = None,
    diversity: Diversity | str | None = None,
    mapping: str | Path | None = None,
) -> Verdict:
    """Check a released folder as `_releases.verifier.verify` does; ``mapping`` is the address of who is who."""
    with ExitStack() as stack:

        def inspect(claims: Claims) -> SparkInspection:
            return stack.enter_context(closing(SparkInspection(spark, claims)))

        return check_release(folder, inspect, k=k, original=original, diversity=diversity, mapping=mapping)


class SparkInspection:
    """What the parts of a release hold, found by one task each under one secret."""

    def __init__(self, spark: SparkSession, claims: Claims) -> None:
        self.spark, self.claims = spark, claims
        n_parts = len(claims.parts)
        places = spark.range(0, n_parts, 1, n_parts)
        self._found = places.mapInArrow(_inspector(claims, secrets.token_bytes(32)), schema(_FOUND)).persist()

    def close(self) -> None:
        """Free what the cluster keeps."""
        self._found.unpersist()

    @cached_property
    def summaries(self) -> list[Summary]:
        """The parts, in the order of the manifest."""
        with task("verifying", 1) as advance:
            told = self._found.where(sf.col("summary").isNotNull()).select("place", "summary").collect()
            advance(1)
        return [Summary(*json.loads(row.summary)) for row in sorted(told, key=lambda row: row.place)]

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

    def totals(self) -> Totals:
        """Add the parts up: users whose rows have the same mark share their items and labels."""
        rows = self._cells.withColumn("size", sf.lit(1).cast("bigint"))
        if self.claims.layout == "grouped":
            sizes = self._rows(members=True).groupBy("name").agg(sf.sum("n").alias("size"))
            rows = _padded(self._cells, sizes)
        shared = rows.groupBy("one", "two").agg(sf.sum("size").alias("size"))
        smallest = shared.agg(sf.min("size").alias("k"), sf.count("*").alias("n_distinct")).collect()[0]
        n_items = self._found.where(sf.col("item").isNotNull()).select("item").distinct().count()
        return Totals(n_items=n_items, **smallest.asDict(), **rows.selectExpr(*_SUMS).collect()[0].asDict())

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
                yield batch({name: [value] for name, value in found._asdict().items()}, kinds)

        blocks = original.frame.select("block", "n_users", "indptr", "items", "values")
        found = blocks.mapInArrow(check, schema(kinds)).agg(sf.sum("n_users"), sf.sum("n_missing")).collect()[0]
        return Starved(*found)

    def exceeded(self, original: Blocks, mapping: str | Path) -> Exceeded | None:
        """Count the cells above the cap on links."""
        firsts = [part.first for part in self.summaries if part.table != "members"]
        return exceeded_on_spark(self.spark, self.claims, self._cells, firsts, original, mapping)


def _inspector(claims: Claims, secret: bytes) -> Map:
    """Return the function that looks at parts, and gives a row about each and one for every item and row in it."""

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
    """Make n rows about a part; columns that are not given hold nothing."""
    columns = {"place": np.full(n, place, np.int32), **given}
    arrays = [pa.array(columns[name], kind) if name in columns else pa.nulls(n, kind) for name, kind in _FOUND.items()]
    return pa.RecordBatch.from_arrays(arrays, names=list(_FOUND))


def _padded(names: DataFrame, rows: DataFrame) -> DataFrame:
    """Join what is known of names to them, zeros where nothing is."""
    return names.join(rows, "name", "left").fillna(0)


def _require_memory(claims: Claims) -> None:
    if claims.n_items * claims.n_groups > _MOST_BITS:
        raise OptionError(
            f"diversity cannot be checked for {claims.n_groups} groups of {claims.n_items} items: a worker would need "
            f"{claims.n_items * claims.n_groups / 8e9:.0f} GB; publish without it, or the users in several releases"
        )
