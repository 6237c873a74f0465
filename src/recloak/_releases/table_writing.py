"""Tables to files, block by block, as Parquet or CSV; the bytes depend on the rows and on nothing else.

Parquet costs almost nothing where a padded release is large: the group and the grid's labels are dictionary-encoded,
items ascend and are stored as differences. Figures: docs/decisions/release-format.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from recloak._ratings.ids import IdMap

Column: TypeAlias = "NDArray[Any] | Any"  # or an Arrow array


class Sink(Protocol):
    """Takes the blocks of one table in order."""

    def write(self, columns: dict[str, Column]) -> None:
        """Append one block."""
        ...


class ItemColumn:
    """Turns inside item numbers into the column of the source's own ids, in the narrowest type that holds them."""

    def __init__(self, ids: IdMap) -> None:
        self.is_text = ids.is_text
        self._last: tuple[NDArray[np.int32], Column] | None = None
        if ids.is_text:
            self._texts = ids.ids.to_arrow().cast(pa.string())
            return
        numbers = ids.ids.to_numpy()
        narrow = not len(numbers) or (numbers[0] >= -(2**31) and numbers[-1] < 2**31)
        self._numbers = numbers.astype(np.int32 if narrow else np.int64)

    @property
    def type(self) -> pa.DataType:
        """The column's type: texts are handed over by number, and the file stores them as plain texts."""
        return pa.dictionary(pa.int32(), pa.string()) if self.is_text else pa.from_numpy_dtype(self._numbers.dtype)

    def of(self, items: NDArray[np.int32]) -> Column:
        """Return the ids of item numbers."""
        if self._last is None or self._last[0] is not items:  # full profiles hand over the same items again and again
            self._last = (items, self._column(items))
        return self._last[1]

    def _column(self, items: NDArray[np.int32]) -> Column:
        if not self.is_text:
            return pa.array(self._numbers[items])
        used = np.flatnonzero(np.bincount(items, minlength=len(self._texts)))  # Arrow writes every word it is handed,
        place = np.zeros(len(self._texts), np.int32)  # and an item that no row shows must not stand in the file
        place[used] = np.arange(len(used), dtype=np.int32)
        return pa.DictionaryArray.from_arrays(pa.array(place[items]), self._texts.take(pa.array(used)))


@contextmanager
def table_file(path: Path, types: dict[str, pa.DataType], file_format: str, *, gridded: bool) -> Iterator[Sink]:
    """Open a table for writing block by block; its time of change is set to a fixed moment when it closes."""
    if file_format == "csv":
        with path.open("wb") as file:
            yield _CsvSink(file)
    else:
        with _parquet_writer(path, types, gridded=gridded) as writer:
            yield _ParquetSink(writer)
    os.utime(path, (0, 0))


def _parquet_writer(path: Path, types: dict[str, pa.DataType], *, gridded: bool) -> pq.ParquetWriter:
    """Open a Parquet file.

    No column may hold nothing; said in the schema, that makes reading the file five times as fast.
    """
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in types.items()])
    return pq.ParquetWriter(path, schema, **settings(types, gridded=gridded))


def settings(types: dict[str, pa.DataType], *, gridded: bool) -> dict[str, Any]:
    """Choose the encodings: differences for ascending whole numbers, a dictionary for what repeats."""
    deltas = {name: "DELTA_BINARY_PACKED" for name, kind in types.items() if pa.types.is_integer(kind)}
    deltas.pop("group", None)
    repeated = [name for name in types if name not in deltas and (gridded or name != "rating")]
    return {
        "compression": {name: "none" if gridded and name == "rating" else "zstd" for name in types},
        "use_dictionary": repeated or False,
        "column_encoding": deltas or None,
        "write_statistics": False,
        "store_schema": False,
    }


class _ParquetSink:
    """Every block becomes one row group."""

    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer

    def write(self, columns: dict[str, Column]) -> None:
        arrays = [_as_arrow(column) for column in columns.values()]
        table = pa.table(arrays, schema=self._writer.schema)
        self._writer.write_table(table, row_group_size=max(len(table), 1))


def _as_arrow(column: Column) -> pa.Array:
    return column if isinstance(column, pa.Array) else pa.array(column)


class _CsvSink:
    """A header, then rows; every text is quoted, so that odd ids come back as they were."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._fresh = True

    def write(self, columns: dict[str, Column]) -> None:
        frame = pl.DataFrame({name: _as_polars(column) for name, column in columns.items()})
        frame.write_csv(self._file, include_header=self._fresh, quote_style="non_numeric")
        self._fresh = False


def _as_polars(column: Column) -> pl.Series:
    series = pl.Series(column) if isinstance(column, np.ndarray) else pl.Series(pl.from_arrow(column))
    return series.cast(pl.String) if isinstance(series.dtype, pl.Categorical) else series
