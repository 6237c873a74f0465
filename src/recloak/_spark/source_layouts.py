"""What a source is made of, as Spark reads it: Parquet, or delimited text in a dialect that the local readers know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as sf

from recloak._core.errors import SourceError
from recloak._ratings.column_roles import ROLES, find_columns
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import csv, movielens, netflix, parquet, recbole
from recloak._ratings.readers.dialect import NO_QUOTES, Dialect
from recloak._ratings.readers.source_files import SAMPLE_BYTES, Sample, files_of, sample_of
from recloak._spark.array_cells import address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DELIMITED = {"csv": csv.dialect, "tsv": csv.dialect, "movielens": movielens.dialect, "recbole": recbole.dialect}
_LINES = 300


@dataclass(frozen=True, slots=True)
class SourceLayout:
    """A source as it stands: its columns, which of them is what, and ``file``, ``place`` of every row."""

    frame: DataFrame
    roles: dict[str, str]
    is_text: bool
    n_fields: int
    notes: tuple[str, ...] = ()


def open_layout(spark: SparkSession, source: Sequence[str], options: ReadOptions) -> SourceLayout:
    """Recognise what a source is made of, by its first file."""
    paths = [one for path in source for one in _paths(path)]
    sample = _sample(spark, source, options)
    reader = options.reader or _reader(sample)
    if reader == "netflix":
        raise SourceError(
            "the Netflix layout is read by the local engine only; make Parquet of it first", file=paths[0]
        )
    try:
        if reader == "parquet":
            return _parquet(spark, paths, options)
        return _delimited(spark, paths, _DELIMITED[reader](sample, options))
    except AnalysisException as error:
        raise SourceError(f"Spark cannot read it ({str(error).splitlines()[0]})", file=source[0]) from None


def _paths(path: str) -> list[str]:
    """Give the addresses of a source's files; a path of this machine is one that every worker must have as well."""
    if "://" in path:
        return [path]
    return [address(file) for file in files_of(path)]


def _sample(spark: SparkSession, source: Sequence[str], options: ReadOptions) -> Sample:
    first = source[0]
    if "://" not in first:
        return sample_of(files_of(first)[0])
    if options.reader == "parquet" or first.rstrip("/").endswith(".parquet"):
        return Sample(Path(first), b"PAR1", False)
    lines = [row.value for row in spark.read.text(first).take(_LINES)]
    return Sample(Path(first), "\n".join(lines).encode()[:SAMPLE_BYTES] + b"\n", False)


def _reader(sample: Sample) -> str:
    known: dict[str, Any] = {"parquet": parquet, "netflix": netflix, "recbole": recbole, "movielens": movielens}
    return next((name for name, reader in known.items() if reader.matches(sample)), "csv")


def _parquet(spark: SparkSession, paths: list[str], options: ReadOptions) -> SourceLayout:
    frame = spark.read.parquet(*paths)
    try:
        roles = find_columns(frame.columns, **options.columns())
    except SourceError as error:
        raise SourceError(error.rule, file=paths[0], value=error.value) from None
    place = sf.col("_metadata.row_index").alias("place")
    return SourceLayout(_placed(spark, frame, list(roles.values()), place), roles, False, len(frame.columns))


def _delimited(spark: SparkSession, paths: list[str], dialect: Dialect) -> SourceLayout:
    """Read every field as text, so that the same rules as on one machine decide what it is."""
    if not dialect.separator:
        raise SourceError("columns between blanks are read by the local engine only", file=paths[0])
    names = [f"field{number}" for number in range(dialect.n_fields)]
    schema = ", ".join(f"{name} string" for name in [*names, "broken"])
    settings: dict[str, str | bool] = {
        "sep": dialect.separator,
        "header": dialect.has_header,
        "comment": "#" if dialect.n_head > dialect.has_header else "",
        "quote": "" if dialect.quoting == NO_QUOTES else '"',
        "escape": '"',
        "columnNameOfCorruptRecord": "broken",
        "columnPruning": False,
        "enforceSchema": True,
    }
    frame = spark.read.options(**settings).schema(schema).csv(paths)
    roles = {role: names[place] for role, place in zip(ROLES, dialect.roles, strict=True) if place >= 0}
    # A row has more than one byte, so the start of its split plus its number there ascends through a whole file.
    number = sf.monotonically_increasing_id().bitwiseAND(sf.lit((1 << 33) - 1))
    place = (sf.col("_metadata.file_block_start") + number).alias("place")
    placed = _placed(spark, frame, [*roles.values(), "broken"], place)
    return SourceLayout(placed, roles, True, dialect.n_fields, () if dialect.note is None else (dialect.note,))


def _placed(spark: SparkSession, frame: DataFrame, columns: list[str], place: Any) -> DataFrame:
    """Say of every row in which file it stands and where; with several files also the file's rank by name."""
    rows = frame.select(*columns, sf.col("_metadata.file_path").alias("file"), place)
    files = sorted(frame.inputFiles())
    if len(files) < 2:
        return rows
    ranks = spark.createDataFrame(list(enumerate(files)), "rank long, file string")
    return rows.join(sf.broadcast(ranks), "file", "left")
