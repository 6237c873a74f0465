"""Verify on a cluster: each part of a release is read where a task is free, and all rows' marks are held together.

It re-derives what `_releases.verifier` re-derives, and shares no code with the makers. What comes back are counts
and the first problem of each part.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from recloak._core.errors import InputError, OptionError
from recloak._core.progress import task
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import TABLES, Diversity, Verdict
from recloak._releases.verifier.claims import Claims, read_claims
from recloak._releases.verifier.contents import read_contents
from recloak._releases.verifier.diversity_check import check_diversity
from recloak._releases.verifier.scan import allowed
from recloak._spark.array_cells import batch, rows_of, schema
from recloak._spark.marks import Part, Seen, look_at_cells, look_at_members
from recloak._spark.user_blocks import Blocks, ratings_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SEEN = {
    "table": pa.string(),
    "part": pa.int32(),
    "problem": pa.string(),
    "n_rows": pa.int64(),
    "first": pa.int64(),
    "last": pa.int64(),
    "kind": pa.string(),
    "item": pa.string(),
    "name": pa.int64(),
    "n": pa.int64(),
    "one": pa.int64(),
    "two": pa.int64(),
}
_MOST_BITS = 32 * 10**9  # items times rows that a worker holds to check diversity: 4 GB


def verify(
    spark: SparkSession,
    folder: str | Path,
    *,
    k: int | None = None,
    original: Blocks | None = None,
    diversity: Diversity | str | None = None,
) -> Verdict:
    """Check a released folder; ``k`` demands at least that, ``original`` and ``diversity`` check (b, l)-diversity."""
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: is not a folder")
    if k is not None and k < 2:
        raise OptionError(f"k must be at least 2, got {k}")
    if diversity is not None and original is None:
        raise OptionError("diversity can only be checked against the original ratings; give original=... as well")
    claims, problems = read_claims(Path(folder).resolve(), hashed=False)
    required = k if claims is None else max(k or 2, claims.k)
    if claims is None or problems:
        return Verdict(required, None, None, None, tuple(problems))
    with task("verifying", 1) as advance:
        verdict = _judge(spark, claims, max(k or 2, claims.k))
        advance(1)
    wanted = Diversity.parse(diversity) if isinstance(diversity, str) else diversity or claims.diversity
    if original is not None and claims.max_link is not None:
        raise OptionError(
            "engine='spark' does not check a cap on links; leave original=... out or verify on one machine"
        )
    if original is None or wanted is None or verdict.k_found is None:
        return verdict
    more = _diversity_problems(claims, original, wanted)
    return Verdict(required, verdict.k_found, verdict.n_users, verdict.n_groups, (*verdict.problems, *more))


def _judge(spark: SparkSession, claims: Claims, required: int) -> Verdict:
    seen = _looked_at(spark, claims).persist()
    try:
        problems = list(dict.fromkeys(_part_problems(claims, seen)))
        if problems:
            return Verdict(required, None, None, None, tuple(problems))
        return _derive(claims, seen, required)
    finally:
        seen.unpersist()


def _looked_at(spark: SparkSession, claims: Claims) -> DataFrame:
    """Look at every part, one task each: a row about the part, one for each of its items, one for each of its rows."""
    parts = [part._replace(path=str(part.path)) for part in _parts(claims)]  # type: ignore[arg-type]
    kinds = "table string, number int, path string, sha256 string, columns array<string>, most int"
    rows = spark.createDataFrame([tuple(part) for part in parts], kinds).repartition(len(parts), "path")
    return rows.mapInArrow(_looker(claims), schema(_SEEN))


def _parts(claims: Claims) -> Iterator[Part]:
    numbers: dict[str, int] = {}
    for name, sha256 in claims.digests.items():
        table = name.partition(".")[0]
        most = claims.n_users if claims.layout == "long" else claims.n_groups
        numbers[table] = numbers.get(table, -1) + 1
        yield Part(table, numbers[table], claims.folder / name, sha256, TABLES[claims.layout][table], most)


def _looker(claims: Claims) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    keys, secret = (secrets.randbits(64), secrets.randbits(64)), secrets.token_bytes(32)

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        labels = allowed(claims.low, claims.high, claims.grid)
        for row in rows_of(batches):
            values = {name: cell.as_py() for name, cell in row.items()}
            part = Part(**{**values, "path": Path(values["path"]), "columns": tuple(values["columns"])})
            seen = look_at_members(part) if part.table == "members" else look_at_cells(part, labels, keys, secret)
            yield from _told(part, seen)

    return look


def _told(part: Part, seen: Seen) -> Iterator[pa.RecordBatch]:
    """Give what was seen as rows."""
    about = {"table": part.table, "part": part.number}
    told = {"problem": seen.problem, "n_rows": seen.n_rows, "first": seen.first, "last": seen.last, "kind": seen.kind}
    yield _rows(1, {**about, **told})
    if seen.items:
        yield _rows(len(seen.items), {**about, "item": sorted(seen.items)})
    for place, (names, counts) in enumerate(zip(seen.names, seen.counts, strict=True)):
        words = seen.marks[place].view(np.int64).T if seen.marks else (None, None)
        yield _rows(len(names), {**about, "name": names, "n": counts, "one": words[0], "two": words[1]})


def _rows(n: int, given: dict[str, Any]) -> pa.RecordBatch:
    """Make n rows of columns, of single values that repeat, and of nothing where nothing is given."""
    arrays = []
    for name, kind in _SEEN.items():
        value = given.get(name)
        arrays.append(pa.array([value] * n if value is None or isinstance(value, (str, int)) else value, kind))
    return pa.RecordBatch.from_arrays(arrays, names=list(_SEEN))


def _part_problems(claims: Claims, seen: DataFrame) -> Iterator[str]:
    """Say what is wrong with the parts, one by one and as they follow each other."""
    told = seen.where(sf.col("n_rows").isNotNull()).select(*list(_SEEN)[:7]).collect()
    yield from sorted(part.problem for part in told if part.problem is not None)
    for table in TABLES[claims.layout]:
        parts = sorted((part for part in told if part.table == table), key=lambda part: part.part)
        n_rows = sum(part.n_rows for part in parts)
        if n_rows != claims.rows[table]:
            yield f"{table} has {n_rows} rows, the manifest says {claims.rows[table]}"
        if any(later.first <= earlier.last for earlier, later in itertools.pairwise(parts)):
            yield f"the parts of {table} do not follow each other"
        if table != "members" and len({part.kind for part in parts}) > 1:
            yield f"the items of {table} are of several types"
        if table == "members" and (parts[0].first, parts[-1].last, n_rows) != (1, claims.n_users, claims.n_users):
            yield f"members must name the users 1 to {claims.n_users} in order, each once"


def _derive(claims: Claims, seen: DataFrame, required: int) -> Verdict:
    """Find k: users whose rows have the same mark share their items and labels."""
    cells = seen.where((sf.col("table") != "members") & sf.col("name").isNotNull())
    rows = cells.select("name", sf.col("n").alias("n_cells"), "one", "two")
    if claims.layout == "long":
        rows = rows.withColumn("size", sf.lit(1))
    else:
        members = seen.where((sf.col("table") == "members") & sf.col("name").isNotNull())
        sizes = members.groupBy("name").agg(sf.sum("n").alias("size"))
        rows = rows.join(sizes, "name", "full")
    found = _totals(rows)
    found["n_items"] = seen.where(sf.col("item").isNotNull()).select("item").distinct().count()
    problems = tuple(_count_problems(claims, found))
    if found["k"] is not None and found["k"] < required:
        problems += (f"k must be at least {required}, but a row is shared by only {found['k']} users",)
    n_groups = found["n_distinct"] if claims.layout == "long" else found["n_names"]
    return Verdict(required, found["k"], found["n_users"], n_groups, problems)


def _totals(rows: DataFrame) -> dict[str, Any]:
    sums = rows.agg(
        sf.count("one").alias("n_names"),
        sf.count(sf.when(sf.col("size").isNull(), 1)).alias("n_empty"),
        sf.count(sf.when(sf.col("one").isNull(), 1)).alias("n_bare"),
        sf.sum("size").alias("n_users"),
        sf.sum(sf.col("size") * sf.col("n_cells")).alias("n_ratings"),
        sf.min("n_cells").alias("fewest"),
        sf.max("n_cells").alias("most"),
    )
    shared = rows.where(sf.col("one").isNotNull()).groupBy("one", "two").agg(sf.sum("size").alias("n"))
    smallest = shared.agg(sf.min("n").alias("k"), sf.count("*").alias("n_distinct"))
    return {**sums.collect()[0].asDict(), **smallest.collect()[0].asDict()}


def _count_problems(claims: Claims, found: dict[str, Any]) -> Iterator[str]:
    row, n_rows = ("user", claims.n_users) if claims.layout == "long" else ("group", claims.n_groups)
    if found["n_names"] != n_rows or found["n_bare"]:
        yield f"{n_rows - found['n_names']} {row}s have no ratings"
    if found["n_empty"]:
        yield f"{found['n_empty']} groups have no members"
    if found["n_items"] != claims.n_items:
        yield f"there are {found['n_items']} items, the manifest says {claims.n_items}"
    if found["n_ratings"] != claims.n_ratings:
        yield f"there are {found['n_ratings']} ratings, the manifest says {claims.n_ratings}"
    if MODES[claims.mode].is_complete and (found["fewest"], found["most"]) != (claims.n_items, claims.n_items):
        yield f"in a {claims.mode} release every row must have every item"
    if found["n_distinct"] > claims.n_groups:
        yield f"there are {found['n_distinct']} distinct rows, the manifest says {claims.n_groups} groups"


def _diversity_problems(claims: Claims, original: Blocks, diversity: Diversity) -> list[str]:
    """Hold every block of the original against the whole release, as the local verifier does with all of it."""
    if claims.n_items * claims.n_groups > _MOST_BITS:
        raise OptionError(
            f"diversity cannot be checked for {claims.n_groups} groups of {claims.n_items} items: a worker would need "
            f"{claims.n_items * claims.n_groups / 8e9:.0f} GB; publish without it, or the users in several releases"
        )
    item_ids, scale = original.item_ids, original.scale

    def check(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        contents = read_contents(claims)
        for row in rows_of(batches):
            found = check_diversity(claims, contents, ratings_in(row, item_ids, scale), diversity)
            yield batch({"problem": found}, {"problem": pa.string()})

    columns = original.frame.select("block", "n_users", "indptr", "items", "values")
    found = columns.mapInArrow(check, "problem string").collect()
    return sorted({row.problem for row in found})[:1]
