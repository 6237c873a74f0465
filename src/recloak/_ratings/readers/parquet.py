"""Parquet: by polars batch by batch, and quickly where a file's own statistics promise plain rows.

Plain rows have whole ids, no gaps, and one kind of time. The promise is checked row by row; what breaks it, or never
made it, is read the general way, which also finds the words for a bad row.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from recloak._core.errors import SourceError
from recloak._core.progress import Advance
from recloak._ratings.column_roles import find_columns
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Intake, Ratings, Scale
from recloak._ratings.options import ReadOptions
from recloak._ratings.packed_rows import ColumnLimits, OutsideError, PackedRows, layout_of
from recloak._ratings.reader import Reader
from recloak._ratings.source_files import Sample, require_text
from recloak._ratings.table_input import seconds_of_moments

_MAGIC = b"PAR1"
_INT32 = np.iinfo(np.int32)
_KINDS = {"user": (pl.Int32,), "item": (pl.Int32,), "rating": (pl.Float32, pl.Int8), "time": (pl.Int64,)}
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # of a second
_BOUNDS = ((10**11, 1), (10**14, 10**3), (10**17, 10**6), (10**20, 10**9))  # numbers below the first are seconds
_DAY = 86_400
Span = tuple[Any, Any]


class Plain(NamedTuple):
    """What a file of plain rows states: each role's column as polars is asked for it, its ends, and the rows."""

    file: Path
    columns: dict[str, pl.Expr]
    spans: dict[str, Span]
    n_rows: int


def _matches(sample: Sample) -> bool:
    """Tell a file that begins as Parquet files do."""
    return sample.head.startswith(_MAGIC)


def _begins_as_parquet(path: Path) -> bool:
    """Tell whether a file is Parquet as it lies there, not packed by gzip or zstd."""
    try:
        with path.open("rb") as raw:
            return raw.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _tables(sample: Sample) -> Iterator[pl.LazyFrame]:
    """Yield the file as a lazy table; its bytes where it is packed as a whole, for Parquet is read from its end."""
    if not _matches(sample):
        require_text(sample)
        raise SourceError("is no Parquet file", file=sample.path)
    if _begins_as_parquet(sample.path):
        yield pl.scan_parquet(sample.path, glob=False)
    else:
        with sample.open() as stream:
            yield pl.scan_parquet(io.BytesIO(stream.read()), glob=False)


def read_quickly(files: Sequence[Path], options: ReadOptions, advance: Advance) -> Ratings | None:
    """Read Parquet files as one source; None where they are not as plain as that."""
    if not all(_begins_as_parquet(file) for file in files):
        return None
    try:
        sources = [_stated(file, options) for file in files]
        limits = _limits(sources, options.bounds())
        layout = None if limits is None else layout_of(limits)
        if limits is None or layout is None:
            return None
        timed = "time" in sources[0].columns
        with closing(PackedRows(layout, limits.n_rows, timed=timed)) as rows:
            for source in sources:
                for batch in _batches(source):
                    rows.add(*(column.to_numpy() for column in batch.get_columns()), *(() if timed else (None,)))
                advance(source.file.stat().st_size / 1e6)
            return _ratings(rows, limits.n_rows)
    except (SourceError, OutsideError, pl.exceptions.PolarsError, pa.ArrowException, OSError):
        return None


def _stated(file: Path, options: ReadOptions) -> Plain:
    """Give what a file states of its columns, always in the same order of roles; not plain is outside any limits."""
    described = pq.read_metadata(file)
    schema = described.schema.to_arrow_schema()
    names = find_columns(schema.names, **options.columns())
    place = {described.schema.column(c).name: c for c in range(len(described.schema))}
    columns, spans = {}, {}
    for role, name in names.items():
        kind, span = schema.field(name).type, _span(described, place[name])
        if role == "time":
            columns[role], spans[role] = _in_seconds(pl.col(name), kind, span)
        elif pa.types.is_integer(kind) or (role == "rating" and pa.types.is_floating(kind)):
            columns[role], spans[role] = pl.col(name), span
        else:
            raise OutsideError
    return Plain(file, columns, spans, described.num_rows)


def _span(described: Any, column: int) -> Span:
    """Give the least and greatest value of a column as the file stores them, over all row groups."""
    ends: list[Any] = []
    for group in range(described.num_row_groups):
        found = described.row_group(group).column(column).statistics
        if found is None or not (found.has_min_max and found.has_null_count) or found.null_count:
            raise OutsideError
        ends += [found.min_raw, found.max_raw]
    if not ends:
        raise OutsideError
    return min(ends), max(ends)


def _in_seconds(time: pl.Expr, kind: pa.DataType, span: Span) -> tuple[pl.Expr, Span]:
    """Give times and their ends as whole seconds: of moments, of days, or of numbers that are all of one unit."""
    if pa.types.is_timestamp(kind):
        unit = _UNITS[kind.unit]
        return seconds_of_moments(time), (span[0] // unit, span[1] // unit)
    if pa.types.is_date32(kind):
        return seconds_of_moments(time), (span[0] * _DAY, span[1] * _DAY)
    if not pa.types.is_integer(kind):
        raise OutsideError
    lower = -_BOUNDS[0][0] + 1
    for bound, unit in _BOUNDS:
        if lower <= span[0] and span[1] < bound:
            return (time if unit == 1 else time.floordiv(unit)), (span[0] // unit, span[1] // unit)
        lower = bound
    raise OutsideError


def _limits(sources: Sequence[Plain], scale: Scale | None) -> ColumnLimits | None:
    """Give the limits that files state together; None where only some have times, or rows are not plain."""
    if len({tuple(source.columns) for source in sources}) > 1:
        return None
    whole = {
        role: (min(source.spans[role][0] for source in sources), max(source.spans[role][1] for source in sources))
        for role in sources[0].columns
    }
    n_rows = sum(source.n_rows for source in sources)
    limits = ColumnLimits(whole["user"], whole["item"], whole["rating"], whole.get("time", (0, 0)), n_rows)
    return limits if _is_plain(limits, scale) else None


def _is_plain(limits: ColumnLimits, scale: Scale | None) -> bool:
    """Tell whether ids fit 32 bits and ratings lie on the scale given."""
    ids = all(_INT32.min <= low and high <= _INT32.max for low, high in (limits.users, limits.items))
    low, high = limits.ratings
    rated = np.isfinite(low) and np.isfinite(high) and (scale is None or (scale.low <= low and high <= scale.high))
    return bool(ids and rated)


def _batches(source: Plain) -> Iterator[pl.DataFrame]:
    chosen = pl.scan_parquet(source.file, glob=False).select(**source.columns)
    for batch in chosen.collect_batches(maintain_order=True):
        if any(column.null_count() for column in batch.get_columns()):
            raise OutsideError
        other: Any = {role: _KINDS[role][0] for role, kind in batch.schema.items() if kind not in _KINDS[role]}
        yield (batch.cast(other) if other else batch).rechunk()  # a cast to nothing still costs a query


def _ratings(rows: PackedRows, n_rows: int) -> Ratings:
    users, items, indptr, of, values, times = rows.finish()
    user_ids, item_ids = (IdMap(pl.Series(found.astype(np.int64, copy=False))) for found in (users, items))
    intake = Intake(n_rows, n_repeated=n_rows - len(of))
    # A row that was dropped may have held an end of the scale.
    scale = Scale.seen_in(values if intake.n_repeated else rows.distinct())
    return Ratings(indptr, of, values, user_ids, item_ids, scale, times, intake)


READER = Reader(
    name="parquet",
    title="Parquet",
    text="Parquet files with columns for user, item, rating and perhaps time",
    matches=_matches,
    tables=_tables,
    quick=read_quickly,
    spark="parquet",
)
