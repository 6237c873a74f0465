"""Ratings from tables: polars, pandas, Arrow, plain columns, or what a reader gives; and the checks of typed columns.

Typed ids keep their type: whole numbers stay numbers and texts stay texts, even ``"7"``. Categories are texts. Whole
numbers stored as floats (what pandas makes of a column with gaps) are taken as the whole numbers they are.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from recloak._core.errors import InputError, RecloakError, SourceError
from recloak._core.results import Tabular
from recloak._core.threads import workers
from recloak._ratings.assemble import in_threads
from recloak._ratings.column_roles import find_columns
from recloak._ratings.model import Ratings, Scale
from recloak._ratings.opened_files import Sample, SourceFile
from recloak._ratings.options import ReadOptions
from recloak._ratings.reader import Reader, failed
from recloak._ratings.row_buffer import RowBuffer, RowProblem
from recloak._ratings.times import seconds_of
from recloak._ratings.value_meaning import Bounds

_CHUNK_ROWS = 1 << 20
# What polars and pyarrow raise for a file that they cannot read.
FAILURES = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    pa.ArrowException,
    OSError,
    ValueError,
    TypeError,
    OverflowError,
    NotImplementedError,
)
_EXACT = 2.0**53  # floats are whole numbers one by one up to here


def ratings_from_table(
    table: Any,
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    time: str | None = None,
    scale: Scale | None = None,
    kind: str | None = None,
) -> Ratings:
    """Make ratings from a polars, pandas or Arrow table."""
    frame = as_polars(table)
    columns = find_columns(frame.columns, user=user, item=item, rating=rating, time=time, values=kind)
    rows = RowBuffer(scale, kind=kind)
    rows.valued_by(columns.get("rating"))
    return _filled(rows, frame.select(pl.col(name).alias(role) for role, name in columns.items()))


def ratings_from_rows(
    frame: pl.DataFrame, *, column: str | None, scale: Scale | None = None, kind: str | None = None
) -> Ratings:
    """Make ratings from rows whose columns are named by their roles; ``column`` is what the values' was called.

    Without one the source has no values, and those in the frame are left out.
    """
    rows = RowBuffer(scale, kind=kind)
    rows.valued_by(column)
    return _filled(rows, frame if column is not None else frame.drop("rating", strict=False))


def ratings_from_columns(
    users: Any, items: Any, values: Any, times: Any = None, *, scale: Scale | None = None, kind: str | None = None
) -> Ratings:
    """Make ratings from equally long columns."""
    given = {"user": users, "item": items, "rating": values, "time": times}
    columns = [_as_series(role, column) for role, column in given.items() if column is not None]
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(f"{len(column)} of {column.name}" for column in columns)
        raise InputError(f"the columns must be equally long, got {lengths}")
    rows = RowBuffer(scale, kind=kind if kind is not None or values is None else "ratings")
    rows.valued_by(None if values is None else "rating")
    return _filled(rows, pl.DataFrame(columns))


def ratings_from_matrix(matrix: Any, *, scale: Scale | None = None, kind: str | None = None) -> Ratings:
    """Make ratings from a scipy sparse matrix of users by items; ids are the row and column numbers.

    Every stored entry is a rating, an explicit zero too.
    """
    entries = matrix.tocoo()
    return ratings_from_columns(entries.row, entries.col, entries.data, scale=scale, kind=kind)


def _filled(rows: RowBuffer, frame: pl.DataFrame) -> Ratings:
    for start in range(0, frame.height, _CHUNK_ROWS):
        add_columns(rows, frame.slice(start, _CHUNK_ROWS), first_row=start)
    return rows.finish(rows.scale)


def read_tables(reader: Reader, file: SourceFile, rows: RowBuffer, options: ReadOptions) -> Iterator[float]:
    """Add the tables that a reader makes of a file to a buffer, yielding the megabytes read."""
    n_rows, adding = 0, None
    with workers(1) as pool:  # a batch is added while the next one is decoded
        for batch in _batches(reader, file, rows, options):
            if adding is not None:
                adding.result()
                yield 0.0
            adding = pool.submit(add_columns, rows, batch, file=file.path, first_row=n_rows)
            n_rows += batch.height
        if adding is not None:
            adding.result()
    yield file.megabytes


def _batches(reader: Reader, file: SourceFile, rows: RowBuffer, options: ReadOptions) -> Iterator[pl.DataFrame]:
    """Yield the tables with their columns named by role; a lazy one in pieces, and only the columns that are needed."""
    for table in _tables(reader, file.sample()):
        with _telling(reader, file):
            lazy = table if isinstance(table, LazyTable) else _own_table(reader, file, table)
        try:
            columns = options.find(lazy.names)
            rows.valued_by(columns.get("rating"))
        except SourceError as error:
            raise SourceError(error.rule, file=file.path, value=error.value) from None
        batches = lazy.batches(list(columns.values()))
        while True:
            with _telling(reader, file):
                batch = next(batches, None)
            if batch is None:
                break
            yield batch.select(pl.col(name).alias(role) for role, name in columns.items())


class LazyTable(NamedTuple):
    """A table that is read in pieces: the names of its columns, and what yields batches of some of them."""

    names: Sequence[str]
    batches: Callable[[Sequence[str]], Iterator[pl.DataFrame]]


def _as_lazy(table: Any) -> LazyTable:
    lazy = table.lazy() if isinstance(table, pl.DataFrame | pl.LazyFrame) else as_polars(table).lazy()

    def batches(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        yield from lazy.select(columns).collect_batches(chunk_size=_CHUNK_ROWS, maintain_order=True)

    return LazyTable(lazy.collect_schema().names(), batches)


def _own_table(reader: Reader, file: SourceFile, table: Any) -> LazyTable:
    try:
        return _as_lazy(table)
    except InputError as error:
        raise SourceError(f"the reader {reader.name!r} failed: {error}", file=file.path) from None


def _tables(reader: Reader, sample: Sample) -> Iterator[Any]:
    """Ask a reader for its tables; a mistake of its own is told in one sentence."""
    assert reader.tables is not None
    try:
        yield from reader.tables(sample)
    except RecloakError:
        raise
    except FAILURES as error:
        raise _damaged(reader, sample.path) from error
    except Exception as error:
        raise failed(reader, sample, error) from error


@contextmanager
def _telling(reader: Reader, file: SourceFile) -> Iterator[None]:
    """Return one sentence for what a parsing library raised, also if it panicked."""
    try:
        yield
    except FAILURES as error:
        file.require_unchanged()
        raise _damaged(reader, file.path) from error


def _damaged(reader: Reader, path: Path) -> SourceError:
    return SourceError(f"the {reader.title} file is cut short, damaged or of a kind not supported", file=path)


def as_polars(table: Any) -> pl.DataFrame:
    """Take a polars, pandas or Arrow table as polars, without copying where that is possible."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, Tabular):
        return table.to_polars()
    if hasattr(table, "__arrow_c_stream__"):
        try:
            return pl.DataFrame(table)
        except (TypeError, *FAILURES) as error:
            raise InputError(f"the table cannot be taken: {str(error).partition(chr(10))[0][:200]}") from error
    raise InputError(f"a table must be of polars, pandas or Arrow, got {type(table).__name__}")


def _as_series(role: str, column: Any) -> pl.Series:
    """Make a polars column of anything column-like, without changing or keeping hold of what was given."""
    if isinstance(column, pl.Series):
        return column.alias(role)
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise InputError(f"the {role} must be a column of one dimension, got {column.ndim}")
        if column.dtype.kind == "U":
            return pl.Series(role, column.tolist(), dtype=pl.String)
    try:
        return pl.Series(role, column)
    except (TypeError, pl.exceptions.PolarsError):
        if role == "rating" and all(isinstance(one, (int, float, np.number)) for one in column):
            return pl.Series(role, [float(one) for one in column])  # whole numbers and fractions in one list
        raise InputError(f"the {role} column mixes kinds of values") from None


def add_columns(rows: RowBuffer, frame: pl.DataFrame, *, file: Path | None = None, first_row: int = 0) -> None:
    """Check columns ``user``, ``item`` and perhaps ``rating`` and ``time``, and add them to a buffer.

    A bad row is named by its number, counted from 1 over all rows of the source.
    """
    users, items = (_ids(frame[role], role, file) for role in ("user", "item"))
    rated = frame["rating"] if "rating" in frame.columns else pl.Series(np.ones(frame.height, np.float32))
    values = _numbers(rated, file)
    times = _seconds(frame["time"], file) if "time" in frame.columns else None
    found = [*_empty_ids(users, items), *_bad_values(rated, values, rows.bounds), *_bad_times(times)]
    problems = [RowProblem(first_row + row + 1, rule, value, row) for row, rule, value in found]
    rows.refuse(problems, lambda bad: SourceError(f"{bad.rule} (row {bad.line})", file=file, value=bad.value))
    if problems:
        keep = np.ones(frame.height, np.bool_)
        keep[[row for row, _, _ in found]] = False
        mask = pl.Series(keep)
        users, items, values = users.filter(mask), items.filter(mask), values[keep]
        times = None if times is None else times.filter(mask)
    axes = (rows.users, users), (rows.items, items)
    in_threads(lambda axis: axes[axis][0].add_series(axes[axis][1]), range(2))
    rows.add(values, None if times is None else times.to_numpy().astype(np.int64, copy=False))


def _ids(column: pl.Series, role: str, file: Path | None) -> pl.Series:
    """Bring ids to Int64 or String."""
    kind = column.dtype
    if kind in (pl.UInt64, pl.Int128, pl.UInt128):
        fitting = column.cast(pl.Int64, strict=False)
        return fitting if fitting.null_count() == column.null_count() else column.cast(pl.String)
    if kind.is_integer() or kind == pl.String:
        return column
    if isinstance(kind, (pl.Categorical, pl.Enum)):
        return column.cast(pl.String)
    if kind.is_float() and _is_whole(column):
        return column.fill_nan(None).cast(pl.Int64)
    if kind == pl.Null:
        return column.cast(pl.Int64)
    raise SourceError(f"the {role}'s ids must be whole numbers or texts, but their type is {kind}", file=file)


def _is_whole(column: pl.Series) -> bool:
    known = column.fill_nan(None).drop_nulls()
    return bool(((known == known.round(0)) & (known.abs() < _EXACT)).all())


def _numbers(column: pl.Series, file: Path | None) -> NDArray[np.float32]:
    """Bring ratings to 32-bit floats, empty ones to NaN."""
    if not (column.dtype.is_numeric() or column.dtype == pl.Null):
        raise SourceError(f"ratings must be numbers, but their type is {column.dtype}", file=file)
    with np.errstate(over="ignore"):
        numbers = column.cast(pl.Float32)
        return (numbers.fill_null(np.nan) if numbers.null_count() else numbers).to_numpy()


def _seconds(column: pl.Series, file: Path | None) -> pl.Series:
    """Bring times to whole seconds, unreadable ones to null."""
    if column.dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Datetime("us")).dt.epoch("s")
    if column.dtype.is_numeric() or column.dtype == pl.Null:
        whole = column.cast(pl.Float64).floor() if column.dtype.is_float() else column
        return _whole_seconds(whole.cast(pl.Int64, strict=False))
    if column.dtype == pl.String:
        return _written_seconds(column)
    raise SourceError(f"times must be numbers, dates or texts, but their type is {column.dtype}", file=file)


def _whole_seconds(time: pl.Series) -> pl.Series:
    """Bring seconds, milli-, micro- or nanoseconds to seconds, as the compiled parser does."""
    ends: list[Any] = [time.min(), time.max()]
    if all(end is None or abs(end) < 10**11 for end in ends):
        return time
    time = time.set(time == np.iinfo(np.int64).min, None)  # has no size
    size, unit = pl.col("time").abs(), pl.lit(1, pl.Int64)
    for bound, per_second in ((10**11, 10**3), (10**14, 10**6), (10**17, 10**9)):
        unit = pl.when(size >= bound).then(pl.lit(per_second, pl.Int64)).otherwise(unit)
    return time.to_frame("time").select(pl.col("time").floordiv(unit))["time"]


def _written_seconds(column: pl.Series) -> pl.Series:
    distinct = column.unique()
    seconds = [None if text is None else seconds_of(text) for text in distinct]
    return column.replace_strict(distinct, pl.Series(seconds, dtype=pl.Int64), return_dtype=pl.Int64)


def _empty_ids(*axes: pl.Series) -> Iterator[tuple[int, str, object]]:
    for role, ids in zip(("user", "item"), axes, strict=True):
        if ids.null_count() or ids.dtype == pl.String:
            empty = ids.is_null() if ids.dtype != pl.String else (ids == "").fill_null(True)
            yield from ((row, f"the {role}'s id must not be empty", None) for row in empty.arg_true().to_list())


def _bad_values(
    column: pl.Series, values: NDArray[np.float32], bounds: Bounds | None
) -> Iterator[tuple[int, str, object]]:
    if column.null_count() or column.dtype.is_float():
        for row in np.flatnonzero(~np.isfinite(values)).tolist():
            empty = column[row] is None
            rule = "a rating must not be empty" if empty else "a rating must be a finite number"
            yield row, rule, None if empty else float(values[row])
    if bounds is not None:
        yield from ((row, bounds.rule, value) for row, value in bounds.broken(values))


def _bad_times(times: pl.Series | None) -> Iterator[tuple[int, str, object]]:
    if times is not None and times.null_count():
        yield from (
            (row, "a time must be readable and not empty", None) for row in times.is_null().arg_true().to_list()
        )
