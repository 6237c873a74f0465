"""Name groups and users afresh and write the tables of a release: in the grouped layout or in the long one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from recloak._core.progress import task
from recloak._releases.folder_checks import MAPPING
from recloak._releases.model.manifest import Facts
from recloak._releases.model.release_format import TABLES, part_name
from recloak._spark.array_cells import address, batch, element_kind, schema
from recloak._spark.bin_groups import Plan
from recloak._spark.naming import Map, dealt, group_key, in_key_order, signed, user_key
from recloak._spark.part_writing import (
    DESCRIPTION,
    Described,
    PartFolders,
    by_bucket,
    members_writer,
    profile_blocks,
    ratings_writer,
    write_part,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NAMED_ROWS = 2_000_000  # groups or members of a bucket that holds no cells


@dataclass(frozen=True, eq=False, slots=True)
class Naming:
    """What it takes to name and write a release."""

    spark: SparkSession
    plan: Plan
    secret: bytes
    facts: Facts
    places: PartFolders
    layout: str
    part_cells: int


def write_tables(naming: Naming, groups: DataFrame) -> list[Described]:
    """Write the tables of the layout and who is who; describe the public parts."""
    for table in TABLES[naming.layout]:
        (naming.places.public / f"{table}.parquet").mkdir()
    (naming.places.private / MAPPING).mkdir(mode=0o700)
    with task("writing", 2) as advance:
        parts, named = _name_groups(naming, groups)
        advance(1)
        parts += _write_users(naming, named)
        advance(1)
    return parts


def _name_groups(naming: Naming, groups: DataFrame) -> tuple[list[Described], DataFrame]:
    """Assign numbers to the groups, write their profiles if grouped, and return the parts and the named groups."""
    n_cells = groups.agg(sf.sum("n_cells")).collect()[0][0]
    size = n_cells / naming.part_cells if naming.layout == "grouped" else naming.facts.n_groups / _NAMED_ROWS
    keyed = groups.drop("bin", "group", "links", "n_fake").mapInArrow(*_keyed_groups(groups, naming.secret))
    keyed, buckets = dealt(keyed, naming.facts.n_groups, size)
    written = naming.layout == "grouped"
    names = _group_namer(
        naming.plan, naming.places if written else None, buckets, kinds := _named_kinds(groups, written)
    )
    in_key_order(keyed, len(buckets)).mapInArrow(names, schema(kinds)).write.parquet(
        address(naming.places.work / "named", reading=False)
    )
    named = naming.spark.read.parquet(address(naming.places.work / "named"))
    return _descriptions(named.where(sf.col("file").isNotNull())), named.where(sf.col("number").isNotNull())


def _write_users(naming: Naming, named: DataFrame) -> list[Described]:
    """Name the users and write them: who is in which group, or everybody's whole row."""
    size = naming.facts.n_ratings / naming.part_cells if naming.layout == "long" else naming.facts.n_users / _NAMED_ROWS
    keyed, buckets = dealt(named.mapInArrow(*_keyed_users(named, naming.secret)), naming.facts.n_users, size)
    write = (
        ratings_writer(naming.places, naming.plan, buckets)
        if naming.layout == "long"
        else members_writer(naming.places, buckets)
    )
    return _descriptions(in_key_order(keyed, len(buckets)).mapInArrow(write, schema(DESCRIPTION)))


_PROFILE = {"n_cells": pa.int64(), "items": pa.binary(), "labels": pa.binary(), "mean": pa.binary()}
_KEY = {"key": pa.int64()}


def _keyed_groups(groups: DataFrame, secret: bytes) -> tuple[Map, str]:
    """Return the function that draws every group's key, and the schema of its result."""
    kinds = {"ids": pa.list_(element_kind(groups)), **_PROFILE, **_KEY}

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in batches:
            keys = [signed(group_key(secret, ids)) for ids in part["ids"].to_pylist()]
            yield _extended(part, keys, kinds)

    return draw, schema(kinds)


def _extended(part: pa.RecordBatch, keys: list[int], kinds: dict[str, pa.DataType]) -> pa.RecordBatch:
    columns = {name: part[name] for name in kinds if name not in _KEY} | {"key": pa.array(keys, pa.int64())}
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _named_kinds(groups: DataFrame, written: bool) -> dict[str, pa.DataType]:
    """Return the columns of named groups; once their profiles are written only who is in them matters."""
    return {"number": pa.int32(), "ids": pa.list_(element_kind(groups)), **({} if written else _PROFILE), **DESCRIPTION}


def _group_namer(plan: Plan, places: PartFolders | None, buckets: dict[int, Any], kinds: dict[str, pa.DataType]) -> Map:
    """Return the function that numbers the groups of a bucket and, where there is a place, writes their profiles."""

    def name(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, rows in by_bucket(batches):
            bucket = buckets[number]
            if places is None:
                for place, row in enumerate(rows, bucket.first + 1):
                    yield _named_row(place, row, kinds)
                continue
            ids: list[Any] = []
            kept = (ids.append(row["ids"].as_py()) or row for row in rows)  # type: ignore[func-returns-value]
            blocks = profile_blocks(kept, plan, bucket.first, "group")
            described = write_part(places, part_name("profiles.parquet", bucket.part), blocks)
            numbers = range(bucket.first + 1, bucket.first + 1 + len(ids))
            yield _filled({"number": list(numbers), "ids": ids}, kinds)
            yield _filled({name: [getattr(described, name)] for name in DESCRIPTION}, kinds)

    return name


def _named_row(number: int, row: dict[str, pa.Scalar], kinds: dict[str, pa.DataType]) -> pa.RecordBatch:
    return _filled({"number": [number], **{name: [row[name].as_py()] for name in ("ids", *_PROFILE)}}, kinds)


def _filled(columns: dict[str, list[Any]], kinds: dict[str, pa.DataType]) -> pa.RecordBatch:
    """Make a batch; columns that are not given hold nothing."""
    n_rows = len(next(iter(columns.values())))
    return batch({name: columns.get(name, [None] * n_rows) for name in kinds}, kinds)


def _keyed_users(named: DataFrame, secret: bytes) -> tuple[Map, str]:
    """Return the function that makes a row with a key for every member, and the schema of its result."""
    profile = {name: kind for name, kind in _PROFILE.items() if name in named.columns}
    kinds = {"user_id": element_kind(named), "number": pa.int32(), **profile, **_KEY}

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in batches:
            members = part["ids"].to_pylist()
            who = np.repeat(np.arange(len(members)), [len(ids) for ids in members])
            ids = [one for group in members for one in group]
            keys = [signed(user_key(secret, one)) for one in ids]
            repeated = part.select(["number", *profile]).take(pa.array(who))
            columns = [pa.array(ids, kinds["user_id"]), *repeated.columns]
            whole = pa.RecordBatch.from_arrays(columns, names=["user_id", "number", *profile])
            yield _extended(whole, keys, kinds)

    return draw, schema(kinds)


def _descriptions(frame: DataFrame) -> list[Described]:
    found = [Described(*row) for row in frame.select(*DESCRIPTION).collect()]
    return sorted(found, key=lambda one: one.file)
