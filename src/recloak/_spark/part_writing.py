"""The parts of released tables, written by the tasks themselves with the local engine's writer.

A part appears under its name when it is whole: a task writes it aside in the work folder and renames it, so that one
that is killed or run twice leaves nothing behind. Its SHA-256 is taken there, and only its description comes back.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from recloak._core.files import sha256_of
from recloak._releases.model.release_format import BLOCK_CELLS, part_name
from recloak._releases.row_digests import row_digests
from recloak._releases.table_writing import Column, ItemColumn, Names, Numbers, rating_column, table_file
from recloak._spark.array_cells import batch, rows_of
from recloak._spark.bin_groups import Plan, profiles_from
from recloak._spark.naming import Bucket, Map

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DESCRIPTION = {"file": pa.string(), "rows": pa.int64(), "bytes": pa.int64(), "sha256": pa.string()}
Row = dict[str, pa.Scalar]


@dataclass(frozen=True, slots=True)
class Described:
    """What the manifest says of a part."""

    file: str
    rows: int
    bytes: int
    sha256: str

    def entry(self) -> dict[str, Any]:
        """Return the manifest's entry."""
        return {"rows": self.rows, "bytes": self.bytes, "sha256": self.sha256}


class PartFolders(NamedTuple):
    """The folders that tasks write into; every worker must reach them under the same path."""

    public: Path
    private: Path
    work: Path


def write_part(places: PartFolders, name: str, blocks: Iterable[tuple[dict[str, Column], int]]) -> Described:
    """Write one part from its blocks of columns, each with its number of rows, and describe it."""
    aside = _aside(places.work, name)
    n_rows = 0
    with table_file(aside, "parquet") as sink:
        for columns, n_cells in blocks:
            sink.write(columns)
            n_rows += n_cells
    described = Described(name, n_rows, aside.stat().st_size, sha256_of(aside))
    aside.replace(places.public / name)
    return described


def _aside(work: Path, name: str) -> Path:
    from pyspark import TaskContext  # noqa: PLC0415 (known on a worker only)

    context = TaskContext.get()
    attempt = "driver" if context is None else context.taskAttemptId()
    return work / f"{name.replace('/', '-')}.{attempt}"


def profile_blocks(rows: Iterable[Row], plan: Plan, first: int, name: str) -> Iterator[tuple[dict[str, Column], int]]:
    """Return the cells of profiles in runs; the rows are named from ``first + 1`` on."""
    items = ItemColumn(plan.item_ids)
    for run in runs_of_rows(rows):
        cells = profiles_from(run, plan).rows(np.arange(len(run)))
        names = np.arange(first + 1, first + 1 + len(run), dtype=np.int32)
        columns = {
            name: Names(names, np.diff(cells.indptr)),
            "item": items.of(cells.items),
            "rating": rating_column(cells.labels, plan.grid),
        }
        yield columns, len(cells.items)
        first += len(run)


def n_distinct_rows(groups: DataFrame, plan: Plan) -> int:
    """Count the rows of groups that differ."""

    def digest(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for run in runs_of_rows(rows_of(batches)):
            digests = list(row_digests(profiles_from(run, plan).rows(np.arange(len(run)))))
            yield pa.RecordBatch.from_arrays([pa.array(digests, pa.binary())], names=["digest"])

    columns = groups.select("n_cells", "items", "labels", "mean")
    return columns.mapInArrow(digest, "digest binary").distinct().count()


def runs_of_rows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Cut rows into runs of as many as fit into a row group, at least one each."""
    run: list[Row] = []
    n_cells = 0
    for row in rows:
        size = row["n_cells"].as_py()
        if run and n_cells + size > BLOCK_CELLS:
            yield run
            run, n_cells = [], 0
        run.append(row)
        n_cells += size
    if run:
        yield run


def by_bucket(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Iterator[Row]]]:
    """Return the rows of each bucket that a task holds, in the order of their keys."""
    return itertools.groupby(rows_of(batches), key=lambda row: row["bucket"].as_py())


def members_writer(places: PartFolders, buckets: dict[int, Bucket]) -> Map:
    """Return the function that writes who is in which group, and who is who."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, rows in by_bucket(batches):
            bucket, who = buckets[number], _Who()
            kept = [who.keep(row) for row in rows]
            users = np.arange(bucket.first + 1, bucket.first + 1 + len(kept), dtype=np.int32)
            who.write(places, bucket)
            blocks = _member_blocks(users, np.array(who.groups, np.int32))
            yield described_batch(write_part(places, part_name("members.parquet", bucket.part), blocks))

    return write


def _member_blocks(users: NDArray[np.int32], groups: NDArray[np.int32]) -> Iterator[tuple[dict[str, Column], int]]:
    for start in range(0, len(users), BLOCK_CELLS):
        part = slice(start, start + BLOCK_CELLS)
        yield {"user": Numbers(users[part]), "group": Numbers(groups[part])}, len(users[part])


def ratings_writer(places: PartFolders, plan: Plan, buckets: dict[int, Bucket]) -> Map:
    """Return the function that writes every user's row, and who is who."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, rows in by_bucket(batches):
            bucket, who = buckets[number], _Who()
            blocks = profile_blocks((who.keep(row) for row in rows), plan, bucket.first, "user")
            described = write_part(places, part_name("ratings.parquet", bucket.part), blocks)
            who.write(places, bucket)
            yield described_batch(described)

    return write


def described_batch(described: Described) -> pa.RecordBatch:
    """Return a description as a row."""
    return batch({name: [value] for name, value in asdict(described).items()}, DESCRIPTION)


class _Who:
    """Collects who is who in a bucket while its rows pass."""

    def __init__(self) -> None:
        self.ids: list[int] | list[str] = []
        self.groups: list[int] = []

    def keep(self, row: Row) -> Row:
        self.ids.append(row["user_id"].as_py())
        self.groups.append(row["number"].as_py())
        return row

    def write(self, places: PartFolders, bucket: Bucket) -> None:
        """Write the private part, which only the owner may read."""
        users = np.arange(bucket.first + 1, bucket.first + 1 + len(self.ids), dtype=np.int32)
        table = pl.DataFrame({"user_id": self.ids, "user": users, "group": np.array(self.groups, np.int32)})
        name = part_name("mapping.parquet", bucket.part)
        aside = _aside(places.work, name)
        table.write_parquet(aside)
        aside.chmod(0o600)
        aside.replace(places.private / name)
