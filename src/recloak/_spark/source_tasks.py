"""Files read inside Spark's tasks by the readers' own code, so that both engines have the same rules and line numbers.

Delimited text is cut where Spark cuts it, between lines. A layout whose lines depend on each other, a packed file, or a
source in which a quoted field spans lines or a file is written unlike the first, is read a whole file per task. A first
pass only reports: problems are judged on the driver. The table of rows is made by a second pass, whenever it is used.
"""

from __future__ import annotations

import io
import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import functions as sf

from recloak._core.errors import SourceError
from recloak._ratings.delimited import OPEN_QUOTE, read_delimited
from recloak._ratings.dialect import Dialect
from recloak._ratings.model import Scale
from recloak._ratings.opened_files import SAMPLE_BYTES, SourceFile, sample_from
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import FirstFile, dialect_by, read_files, reader_of
from recloak._ratings.row_buffer import SKIPPING, RowBuffer, RowProblem
from recloak._ratings.times import odd_times
from recloak._spark.array_cells import schema
from recloak._spark.source_paths import FILE, SourcePaths, SparkSource, file_column
from recloak._spark.value_counts import ValueCounts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST_TASKS = 256  # of whole files


class _UnlikeFirstError(Exception):
    """A file is not written as the first one, so that its splits cannot be read as those of the first."""


class _TaskRows(RowBuffer):
    """Rows of one piece of a source; problems are counted and the first is kept, for the driver to judge."""

    def __init__(self, scale: Scale | None) -> None:
        super().__init__(scale, skip_bad=True)
        self.n_rows, self.timed = 0, False
        self.odd_times: set[str | None] = set()
        self.error: SourceError | None = None
        self.has_open_quote = False
        self.texts = {"user": False, "item": False}
        self.values = ValueCounts()
        self.latin: dict[str, set[str]] = {"user": set(), "item": set()}

    def refuse(self, problems: Sequence[RowProblem], error_of: Callable[[RowProblem], SourceError]) -> None:
        """Count the problems and keep the first."""
        if problems and self.error is None:
            self.error = error_of(min(problems, key=lambda problem: problem.line))
        self.has_open_quote |= any(problem.rule == OPEN_QUOTE for problem in problems)
        super().refuse(problems, error_of)

    def drain(self) -> pl.DataFrame:
        """Return the rows so far, and remember what kind they were."""
        axes = {"user": self.users, "item": self.items}
        table = super().drain()
        for role, numbering in axes.items():
            self.texts[role] |= numbering.is_text
            self.latin[role].update(numbering.latin)
        self.n_rows += table.height
        self.values.add(table["rating"].to_numpy())
        self.timed |= "time" in table.columns
        if table.height:
            self.odd_times.add(odd_times(table["time"].to_numpy()) if "time" in table.columns else None)
        return table


@dataclass(frozen=True, slots=True)
class _Piece:
    """A file, or some lines of one from a byte on; reading goes on as far as ``megabytes`` is asked."""

    rank: int
    start: int
    rows: _TaskRows
    megabytes: Iterator[float]
    lines: _Lines | None = None

    def tables(self) -> Iterator[pl.DataFrame]:
        """Read the piece, yielding its rows."""
        for _ in itertools.chain(self.megabytes, (0.0,)):
            table = self.rows.drain()
            if table.height:
                yield table


Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class _Task:
    """What a task has to know; `pieces` finds what is there to read."""

    options: ReadOptions
    first: FirstFile
    ranks: dict[str, int]  # of each file, by Spark's name for it
    files: tuple[str, ...]  # local paths by rank

    def pieces(self, batches: Batches) -> Iterator[_Piece]:
        """Yield the pieces of a partition; a piece must be read before the next is asked for."""
        raise NotImplementedError

    def whole(self, rank: int, path: Path) -> _Piece:
        """Return a whole file as a piece."""
        rows = _TaskRows(self.options.bounds())
        file = SourceFile(path, no_limit=self.options.no_limit)
        return _Piece(rank, 0, rows, read_files([file], rows, self.options, self.first))


class _ByLines(_Task):
    """Lines as Spark cuts them: columns ``file``, ``start`` of the split, ``is_long`` enough for a sample, ``line``."""

    def pieces(self, batches: Batches) -> Iterator[_Piece]:
        """Yield the splits of a partition."""
        for (file, start, is_long), runs in itertools.groupby(_runs(batches), key=itemgetter(0, 1, 2)):
            rank, rows, lines = self.ranks[file], _TaskRows(self.options.bounds()), _Lines(run[3] for run in runs)
            yield _Piece(rank, start, rows, self._read(lines, rank, start, rows, is_long=is_long), lines)

    def _read(self, lines: _Lines, rank: int, start: int, rows: _TaskRows, *, is_long: bool) -> Iterator[float]:
        """Read one split."""
        assert self.first.dialect is not None
        dialect = self.first.dialect
        if start:
            dialect = replace(dialect, n_head=0, note=None)
        elif rank:
            dialect = self._dialect(lines, dialect, is_long=is_long)
        if dialect.note:
            rows.note(dialect.note)
        longest = SourceFile(self.first.path, no_limit=self.options.no_limit).longest_line
        yield from read_delimited(lines, self.first.path, dialect, rows, longest=longest)  # type: ignore[arg-type]

    def _dialect(self, lines: _Lines, first: Dialect, *, is_long: bool) -> Dialect:
        """Recognise how a further file is written by its first split, and make sure that it is as the first one."""
        if is_long:
            head = lines.head(SAMPLE_BYTES)
            sample = sample_from(self.first.path, head, is_whole=len(head) < SAMPLE_BYTES)
            reader = reader_of(sample, self.options)
            if reader.name == self.first.reader:
                dialect = dialect_by(reader, sample, self.options).like(first)
                if dialect.splits_like(first):
                    return dialect
        raise _UnlikeFirstError


class _Lines(io.RawIOBase):
    """Lines as a stream of bytes; ``n`` counts those that were taken."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._ready, self.n = chunks, b"", 0

    def _next(self) -> bytes:
        chunk = next(self._chunks, b"")
        self.n += chunk.count(b"\n")
        return chunk

    def head(self, size: int) -> bytes:
        """Return the first bytes without taking them."""
        while len(self._ready) < size and (chunk := self._next()):
            self._ready += chunk
        return self._ready[:size]

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, view: Any) -> int:
        """Fill a view with the next bytes."""
        self._ready = self._ready or self._next()
        n = min(len(view), len(self._ready))
        view[:n], self._ready = self._ready[:n], self._ready[n:]
        return n


def _runs(batches: Batches) -> Iterator[tuple[str, int, bool, bytes]]:
    """Yield the neighbouring lines of one split as bytes, after what is known of the split."""
    for batch in batches:
        files, starts, long, lines = (batch.column(name) for name in ("file", "start", "is_long", "line"))
        codes = files.dictionary_encode().indices.to_numpy()
        differ = (np.diff(codes) != 0) | (np.diff(starts.to_numpy()) != 0)
        cuts = [0, *(np.flatnonzero(differ) + 1).tolist(), batch.num_rows]
        for a, b in itertools.pairwise(cuts):
            if b > a:
                data = b"\n".join([*lines[a:b].to_pylist(), b""])
                yield files[a].as_py(), starts[a].as_py(), long[a].as_py(), data


class _WholeFiles(_Task):
    """Files of paths that every worker has: a column ``id``, the file's rank."""

    def pieces(self, batches: Batches) -> Iterator[_Piece]:
        """Yield the files of a partition."""
        for batch in batches:
            for rank in batch.column("id").to_pylist():
                yield self.whole(rank, Path(self.files[rank]))


class _WholeContents(_Task):
    """Files that only Spark can open: columns ``file``, ``content``; each is laid down beside the task for a while."""

    def pieces(self, batches: Batches) -> Iterator[_Piece]:
        """Yield the files of a partition."""
        for batch in batches:
            for file, content in zip(batch.column("file").to_pylist(), batch.column("content"), strict=True):
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "source"
                    path.write_bytes(content.as_buffer())
                    yield self.whole(self.ranks[file], path)


def _reports(task: _Task) -> Callable[[Batches], Batches]:
    """Return the function that reads pieces and says what was found in each."""

    def report(batches: Batches) -> Batches:
        for piece in task.pieces(batches):
            said = json.dumps(_report(piece))
            yield pa.RecordBatch.from_pydict({"report": [said]})

    return report


def _report(piece: _Piece) -> dict[str, Any]:
    rows, fatal, unlike = piece.rows, False, False
    try:
        for _ in piece.tables():
            pass
    except _UnlikeFirstError:
        unlike = True
    except SourceError as error:
        rows.error, fatal = rows.error or error, True
    first = rows.error
    return {
        "rank": piece.rank,
        "start": piece.start,
        "n_lines": 0 if piece.lines is None else piece.lines.n,
        "n_rows": rows.n_rows,
        "n_bad": rows.n_skipped,
        "texts": rows.texts,
        "timed": rows.timed,
        "odd_times": sorted(rows.odd_times, key=str),
        "values": {"column": rows.value_column, **rows.values.to_json()},
        "notes": rows.notes,
        "latin": {role: sorted(ids) for role, ids in rows.latin.items()},
        "error": None if first is None else (first.rule, first.line, first.value),
        "is_fatal": fatal,
        "is_unlike": unlike or rows.has_open_quote,
    }


def _tables(task: _Task, kinds: dict[str, pa.DataType]) -> Callable[[Batches], Batches]:
    """Return the function that reads pieces and gives their rows."""

    def give(batches: Batches) -> Batches:
        for piece in task.pieces(batches):
            place = piece.rank * FILE + piece.start  # a row has more than one byte, so places ascend over the splits
            for table in piece.tables():
                places = pl.Series("place", np.arange(place, place + table.height))
                place += table.height
                yield from table.with_columns(places).select(*kinds).to_arrow().cast(pa.schema(kinds)).to_batches()

    return give


def read_in_tasks(spark: SparkSession, paths: SourcePaths, options: ReadOptions, first: FirstFile) -> SparkSource:
    """Look all files over, refuse what cannot be right, and return the rest as a table."""
    splittable = first.dialect is not None and not paths.some_packed()
    frame, task = _by_lines(spark, paths, options, first) if splittable else _whole(spark, paths, options, first)
    reports = _collected(frame, task)
    if splittable and any(one["is_unlike"] for one in reports):
        frame, task = _whole(spark, paths, options, first)
        reports = _collected(frame, task)
    _judge(reports, task.files, skip_bad=options.skip_bad)
    kinds = _kinds(reports)
    rows = frame.mapInArrow(_tables(task, kinds), schema(kinds))
    n_bad = sum(one["n_bad"] for one in reports)
    n_rows, values = n_bad + sum(one["n_rows"] for one in reports), [one["values"] for one in reports if one["n_rows"]]
    return SparkSource(rows, n_rows, n_bad, _notes(reports), _value_column(values), ValueCounts.looks_of(values))


def _by_lines(
    spark: SparkSession, paths: SourcePaths, options: ReadOptions, first: FirstFile
) -> tuple[DataFrame, _Task]:
    lines = spark.read.option("lineSep", "\n").text(list(paths.addresses))
    files = paths.in_order(lines.inputFiles())
    frame = lines.select(
        file_column(),
        sf.col("_metadata.file_block_start").alias("start"),
        (sf.col("_metadata.file_block_length") >= sf.least("_metadata.file_size", sf.lit(SAMPLE_BYTES))).alias(
            "is_long"
        ),
        sf.col("value").cast("binary").alias("line"),
    )
    return frame, _ByLines(options, first, *_ranked(paths, files))


def _whole(spark: SparkSession, paths: SourcePaths, options: ReadOptions, first: FirstFile) -> tuple[DataFrame, _Task]:
    if paths.local is not None:
        n_files = len(paths.local)
        ids = spark.range(0, n_files, 1, min(n_files, _MOST_TASKS))
        return ids, _WholeFiles(options, first, {}, tuple(str(path) for path in paths.local))
    contents = spark.read.format("binaryFile").load(list(paths.addresses))
    files = paths.in_order(contents.inputFiles())
    frame = contents.select(file_column(), "content")
    return frame, _WholeContents(options, first, *_ranked(paths, files))


def _ranked(paths: SourcePaths, files: Sequence[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    return {file: rank for rank, file in enumerate(files)}, tuple(paths.shown(file) for file in files)


def _collected(frame: DataFrame, task: _Task) -> list[dict[str, Any]]:
    found = [json.loads(row.report) for row in frame.mapInArrow(_reports(task), "report string").collect()]
    return sorted(found, key=itemgetter("rank", "start"))


def _judge(reports: Sequence[dict[str, Any]], files: Sequence[str], *, skip_bad: bool) -> None:
    """Raise what the local engine would raise: the first problem, no ratings, or times in some files only."""
    n_bad, n_rows = (sum(one[name] for one in reports) for name in ("n_bad", "n_rows"))
    empty = set(range(len(files))) - {one["rank"] for one in reports}
    wrong = [one for one in reports if one["error"] is not None and (one["is_fatal"] or not skip_bad)]
    if empty and (not wrong or min(empty) < wrong[0]["rank"]):
        raise SourceError("the file is empty", file=files[min(empty)])
    if wrong:
        rank, start, (rule, line, value) = (wrong[0][name] for name in ("rank", "start", "error"))
        before = sum(one["n_lines"] for one in reports if one["rank"] == rank and one["start"] < start)
        more = f" ({n_bad} rows cannot be right, this is the first)" if n_bad > 1 else ""
        place = None if line is None else before + line
        hint = None if wrong[0]["is_fatal"] else SKIPPING
        raise SourceError(rule + more, file=files[rank], line=place, value=value, hint=hint)
    if not n_rows:
        raise SourceError("there are no ratings" + (", every row was bad" if n_bad else ""))
    if len({one["timed"] for one in reports if one["n_rows"]}) > 1:
        raise SourceError("some files have times and others have none; time='none' leaves times out")
    rules = {rule for one in reports if one["n_rows"] for rule in one["odd_times"]}
    if len(rules) == 1 and (rule := rules.pop()) is not None:
        raise SourceError(rule, file=files[0])


def _value_column(values: Sequence[dict[str, Any]]) -> str | None:
    """Return what the column of the values is called, None where there is none; all files must agree."""
    columns = {one["column"] for one in values}
    if None in columns and len(columns) > 1:
        raise SourceError("some files have a column of values and others have none; read them apart")
    return next((one for one in columns if one != "rating"), next(iter(columns)))


def _kinds(reports: Sequence[dict[str, Any]]) -> dict[str, pa.DataType]:
    """Return the columns of the rows: ids are whole numbers where all of them are, else texts."""
    texts = {role for one in reports for role, is_text in one["texts"].items() if is_text}
    kinds = {role: pa.string() if role in texts else pa.int64() for role in ("user", "item")}
    times = {"time": pa.int64()} if any(one["timed"] for one in reports) else {}
    return {**kinds, "rating": pa.float32(), **times, "place": pa.int64()}


def _notes(reports: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    notes = list(dict.fromkeys(note for one in reports for note in one["notes"]))
    for role in ("user", "item"):
        latin = {text for one in reports for text in one["latin"][role]}
        if latin:
            notes.append(f"{len(latin)} {role} ids are no UTF-8 and were read as Latin-1")
    return tuple(notes)
