"""Parquet: by pyarrow batch by batch, and quickly where a file's own statistics promise plain rows.

Plain rows have whole ids, no gaps, and one kind of time. The promise is checked row by row; what breaks it, or never
made it, is read the general way, which also finds the words for a bad row. Pyarrow and not polars reads the files, for
on a damaged one polars prints a panic and without memory it aborts; the time is the same.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._core.progress import Advance
from recloak._ratings.column_roles import COUNT_NAMES, fold
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Intake, Ratings, Scale
from recloak._ratings.opened_files import Sample, SourceFile, require_text
from recloak._ratings.options import ReadOptions
from recloak._ratings.packed_rows import ColumnLimits, OutsideError, PackedRows, layout_of
from recloak._ratings.reader import Reader
from recloak._ratings.table_input import FAILURES, LazyTable
from recloak._ratings.times import odd_times, on_first_day
from recloak._ratings.value_kinds import COUNTS, PRESENCE
from recloak._ratings.value_meaning import after_adding, meaning_of

_MAGIC = b"PAR1"
_INT32 = np.iinfo(np.int32)
_KINDS = {"user": [pa.int32()], "item": [pa.int32()], "rating": [pa.float32(), pa.int8()]}
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # of a second
_BOUNDS = ((10**11, 1), (10**14, 10**3), (10**17, 10**6), (10**20, 10**9))  # numbers below the first are seconds
_DAY = 86_400
_GENERAL_ROWS, _QUICK_ROWS = 1 << 20, 1 << 17  # of a batch
_FREE_ROWS = 1 << 23  # rows that any file may hold
_ROWS_PER_BYTE = 25  # 200 bytes, at eight for a row's smallest parts
Span = tuple[Any, Any]


class Plain(NamedTuple):
    """What a file of plain rows states: each role's column, how it becomes numbers, its ends, and the rows."""

    file: SourceFile
    names: dict[str, str]
    numbers: dict[str, Callable[[Any], NDArray[Any]]]
    spans: dict[str, Span]
    n_rows: int


def _matches(sample: Sample) -> bool:
    """Return whether a file begins as Parquet files do."""
    return sample.head.startswith(_MAGIC)


def _tables(sample: Sample) -> Iterator[LazyTable]:
    """Yield the file as a table; Parquet is read from its end, so of a pipe or a packed file a copy is read."""
    if not _matches(sample):
        require_text(sample)
        raise SourceError("is no Parquet file", file=sample.path)
    assert sample.file is not None
    opened = _opened(sample.file)
    if not _is_plausible(opened, sample.file):
        rule = f"holds more than {_ROWS_PER_BYTE} rows for each of its bytes; no_limit=True reads it all the same"
        raise SourceError(rule, file=sample.path, value=opened.metadata.num_rows)
    yield LazyTable(opened.schema_arrow.names, partial(_frames, opened, sample.path))
    sample.file.require_unchanged()


def _opened(file: SourceFile) -> pq.ParquetFile:
    return pq.ParquetFile(file.seekable(), coerce_int96_timestamp_unit="us")


def _is_plausible(opened: pq.ParquetFile, file: SourceFile) -> bool:
    """Return whether a file can hold the rows it claims: real ratings never fit so many into so few bytes."""
    n_rows, n_bytes = opened.metadata.num_rows, file.n_seekable
    return file.no_limit or n_rows <= max(_FREE_ROWS, _ROWS_PER_BYTE * n_bytes)


def _frames(opened: pq.ParquetFile, path: Path, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    for name in columns:
        if pa.types.is_decimal256(kind := opened.schema_arrow.field(name).type):
            raise SourceError(
                f"{name!r} must have a type that 128 bits hold", file=path, value=str(kind)
            )  # polars would panic
    for batch in opened.iter_batches(_GENERAL_ROWS, columns=list(columns)):
        for column in batch.columns:
            if not pa.types.is_primitive(column.type):
                column.validate(full=True)  # what is no UTF-8 must not reach polars
        frame = pl.from_arrow(pa.Table.from_batches([batch]))
        assert isinstance(frame, pl.DataFrame)
        yield frame


def read_quickly(files: Sequence[SourceFile], options: ReadOptions, advance: Advance) -> Ratings | None:
    """Read Parquet files as one source; None where they are not as plain as that, or not what they say."""
    if not all(_matches(file.sample()) and not file.is_packed for file in files):
        return None
    try:
        sources = [_stated(file, options) for file in files]
        limits = _limits(sources, options.bounds())
        layout = None if limits is None else layout_of(limits)
        if limits is None or layout is None:
            return None
        timed = "time" in sources[0].names
        with closing(PackedRows(layout, limits.n_rows, timed=timed)) as rows:
            for source in sources:
                for columns in _batches(source):
                    ratings = columns.get("rating", np.ones(len(columns["user"]), np.float32))
                    rows.add(columns["user"], columns["item"], ratings, columns.get("time"))
                advance(source.file.megabytes)
            return _ratings(rows, limits.n_rows, sources[0].names.get("rating"), options.kind)
    except (SourceError, OutsideError, *FAILURES):
        return None


def _stated(file: SourceFile, options: ReadOptions) -> Plain:
    """Return what a file states of its columns, always in the same order of roles; not plain is outside any limits."""
    opened = _opened(file)
    described, schema = opened.metadata, opened.schema_arrow
    if not described.num_rows or not _is_plausible(opened, file):
        raise OutsideError
    file.close()  # there may be more of them than can be open at once
    names = options.find(schema.names)
    place = {described.schema.column(c).path: c for c in range(len(described.schema))}
    numbers, spans = {}, {}
    for role, name in names.items():
        if name not in place:
            raise OutsideError  # a column of lists or structs
        kind, span = schema.field(name).type, _span(described, place[name])
        if role == "time":
            numbers[role], spans[role] = _in_seconds(kind, span)
        elif pa.types.is_integer(kind) or (role == "rating" and kind in (pa.float32(), pa.float64())):
            numbers[role], spans[role] = partial(_cast, _KINDS[role]), span
        else:
            raise OutsideError
    return Plain(file, names, numbers, spans, described.num_rows)


def _cast(kinds: Sequence[pa.DataType], column: pa.Array) -> NDArray[Any]:
    """Return a column as numbers of one of some kinds; a number that does not fit is an error of pyarrow."""
    numbers: NDArray[Any] = np.from_dlpack(column if column.type in kinds else column.cast(kinds[0]))
    return numbers  # pyarrow's `to_numpy` would import pandas


def _span(described: Any, column: int) -> Span:
    """Return the least and greatest value of a column as the file stores them, over all row groups."""
    ends: list[Any] = []
    for group in range(described.num_row_groups):
        if not described.row_group(group).num_rows:
            continue
        found = described.row_group(group).column(column).statistics
        if found is None or not (found.has_min_max and found.has_null_count) or found.null_count:
            raise OutsideError
        ends += [found.min_raw, found.max_raw]
    if not ends:
        raise OutsideError
    return min(ends), max(ends)


def _in_seconds(kind: pa.DataType, span: Span) -> tuple[Callable[[Any], NDArray[np.int64]], Span]:
    """Return how times become whole seconds, and their ends: of moments, of days, or of numbers of one unit."""
    if pa.types.is_timestamp(kind):
        unit = _UNITS[kind.unit]
        return partial(_divided, unit), _plausible((span[0] // unit, span[1] // unit))
    if pa.types.is_date32(kind):
        days_seen = _plausible((span[0] * _DAY, span[1] * _DAY))
        return lambda days: days.view(pa.int32()).to_numpy() * np.int64(_DAY), days_seen
    if not pa.types.is_integer(kind):
        raise OutsideError
    lower = -_BOUNDS[0][0] + 1
    for bound, unit in _BOUNDS:
        ends = np.array(span, np.int64) // unit
        if lower <= span[0] and span[1] < bound and odd_times(ends) is None and not on_first_day(ends):
            return partial(_divided, unit), (span[0] // unit, span[1] // unit)
        lower = bound
    raise OutsideError


def _plausible(ends: Span) -> Span:
    """Return the ends of times; those on the first day of 1970 are left to the general way, which notes them."""
    if on_first_day(np.array(ends, np.int64)):
        raise OutsideError
    return ends


def _divided(unit: int, column: pa.Array) -> NDArray[np.int64]:
    whole: NDArray[np.int64] = _cast((pa.int64(),), column)
    return whole if unit == 1 else whole // unit


def _limits(sources: Sequence[Plain], scale: Scale | None) -> ColumnLimits | None:
    """Return the limits that files state together; None where only some have times, or rows are not plain."""
    if len({tuple(source.names) for source in sources}) > 1:
        return None
    whole = {
        role: (min(source.spans[role][0] for source in sources), max(source.spans[role][1] for source in sources))
        for role in sources[0].names
    }
    n_rows = sum(source.n_rows for source in sources)
    rated = whole.get("rating", (1.0, 1.0))
    limits = ColumnLimits(whole["user"], whole["item"], rated, whole.get("time", (0, 0)), n_rows)
    return limits if _is_plain(limits, scale) else None


def _is_plain(limits: ColumnLimits, scale: Scale | None) -> bool:
    """Return whether ids fit 32 bits and ratings lie on the scale given."""
    ids = all(_INT32.min <= low and high <= _INT32.max for low, high in (limits.users, limits.items))
    low, high = limits.ratings
    rated = np.isfinite(low) and np.isfinite(high) and (scale is None or (scale.low <= low and high <= scale.high))
    return bool(ids and rated)


def _batches(source: Plain) -> Iterator[dict[str, NDArray[Any]]]:
    opened = _opened(source.file)
    for batch in opened.iter_batches(_QUICK_ROWS, columns=list(source.names.values())):
        columns = {role: batch.column(name) for role, name in source.names.items()}
        if any(column.null_count for column in columns.values()):
            raise OutsideError
        yield {role: source.numbers[role](column) for role, column in columns.items()}
    source.file.require_unchanged()
    source.file.close()


def _ratings(rows: PackedRows, n_rows: int, column: str | None, said: str | None) -> Ratings | None:
    """Assemble the rows; None where events must be added up, which the general way does."""
    users, items, indptr, of, values, times = rows.finish()
    count_column = column if column is not None and fold(column) in COUNT_NAMES else None
    meaning = meaning_of(None if column is None else [values], said, column=count_column)
    meaning = after_adding(meaning, n_rows, len(of))
    if meaning.kind is COUNTS:
        return None
    user_ids, item_ids = (IdMap(pl.Series(found.astype(np.int64, copy=False))) for found in (users, items))
    notes = () if meaning.note is None else (meaning.note,)
    intake = Intake(n_rows, n_repeated=n_rows - len(of), notes=notes)
    if meaning.kind is PRESENCE:
        values = np.ones(len(of), np.float32)
    # A row that was dropped may have held an end of the scale.
    scale = Scale.seen_in(values if intake.n_repeated or meaning.kind is PRESENCE else rows.distinct())
    return Ratings(indptr, of, values, user_ids, item_ids, scale, times, intake, meaning.kind)


READER = Reader(
    name="parquet",
    title="Parquet",
    text="Parquet files with columns for user, item, rating and perhaps time",
    matches=_matches,
    tables=_tables,
    quick=read_quickly,
    spark="parquet",
)
