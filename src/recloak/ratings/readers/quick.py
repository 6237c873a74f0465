"""The quick way through Parquet files whose own statistics promise plain rows: whole ids, no gaps, times in seconds.

The promise is checked row by row; what breaks it, or never made it, is read the general way, which also finds the
words for a bad row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from recloak.errors import SourceError
from recloak.progress import Advance
from recloak.ratings.columns import find_columns
from recloak.ratings.ids import IdMap
from recloak.ratings.model import Intake, Ratings, Scale
from recloak.ratings.options import ReadOptions
from recloak.ratings.packed import Limits, OutsideError, PackedRows, layout_of

_INT32 = np.iinfo(np.int32)
_MOST_SECONDS = 10**11  # from here on numbers are taken for milliseconds
_KINDS = {"user": (pl.Int32,), "item": (pl.Int32,), "rating": (pl.Float32, pl.Int8), "time": (pl.Int64,)}
Span = tuple[Any, Any]


def read_quickly(files: Sequence[Path], options: ReadOptions, advance: Advance) -> Ratings | None:
    """Read Parquet files as one source; None where they are not as plain as that."""
    try:
        columns = [_columns(file, options) for file in files]
        limits = _limits(files, columns, options.bounds())
        layout = None if limits is None else layout_of(limits)
        if limits is None or layout is None:
            return None
        timed = "time" in columns[0]
        with closing(PackedRows(layout, limits.n_rows, timed=timed)) as rows:
            for file, names in zip(files, columns, strict=True):
                for batch in _batches(file, names):
                    rows.add(*(batch[role].to_numpy() for role in names), *(() if timed else (None,)))
                advance(file.stat().st_size / 1e6)
            return _ratings(rows, limits.n_rows)
    except (SourceError, OutsideError, pl.exceptions.PolarsError, pa.ArrowException, OSError):
        return None


def _columns(file: Path, options: ReadOptions) -> dict[str, str]:
    """Give the names of the columns by role, always in the same order."""
    return find_columns(pq.read_schema(file).names, **options.columns())


def _limits(files: Sequence[Path], columns: Sequence[dict[str, str]], scale: Scale | None) -> Limits | None:
    """Give the limits that the files state together; None where one does not, or rows are not plain."""
    if len({tuple(names) for names in columns}) > 1:
        return None
    spans: dict[str, list[Span]] = {role: [] for role in columns[0]}
    n_rows = 0
    for file, names in zip(files, columns, strict=True):
        described = pq.read_metadata(file)
        n_rows += described.num_rows
        stated = _stated(described, names)
        if stated is None:
            return None
        for role, span in stated:
            spans[role].append(span)
    if not n_rows:
        return None
    whole = {role: (min(low for low, _ in all_), max(high for _, high in all_)) for role, all_ in spans.items()}
    limits = Limits(whole["user"], whole["item"], whole["rating"], whole.get("time", (0, 0)), n_rows)
    return limits if _is_plain(limits, scale) else None


def _stated(described: Any, names: dict[str, str]) -> list[tuple[str, Span]] | None:
    """Give the least and greatest value of each column of each row group, as the file states them."""
    kinds = {described.schema.column(c).name: c for c in range(len(described.schema))}
    stated = []
    for role, name in names.items():
        kind = described.schema.to_arrow_schema().field(name).type
        if not (pa.types.is_integer(kind) or (role == "rating" and pa.types.is_floating(kind))):
            return None
        for span in _spans(described, kinds[name]):
            if span is None:
                return None
            stated.append((role, span))
    return stated


def _spans(described: Any, column: int) -> Iterator[Span | None]:
    for group in range(described.num_row_groups):
        found = described.row_group(group).column(column).statistics
        complete = found is not None and found.has_min_max and found.has_null_count and not found.null_count
        yield (found.min, found.max) if complete else None


def _is_plain(limits: Limits, scale: Scale | None) -> bool:
    """Tell whether ids fit 32 bits, ratings lie on the scale given, and times can only be seconds."""
    ids = all(_INT32.min <= low and high <= _INT32.max for low, high in (limits.users, limits.items))
    low, high = limits.ratings
    rated = np.isfinite(low) and np.isfinite(high) and (scale is None or (scale.low <= low and high <= scale.high))
    return bool(ids and rated and all(abs(end) < _MOST_SECONDS for end in limits.times))


def _batches(file: Path, names: dict[str, str]) -> Iterator[pl.DataFrame]:
    chosen = pl.scan_parquet(file, glob=False).select(pl.col(name).alias(role) for role, name in names.items())
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
