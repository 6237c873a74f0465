"""Tables to files, block by block, as Parquet or CSV; the bytes depend on the rows and on nothing else.

A column of a block knows both of its forms: `chunk`, its pages in Parquet, and `texts`, its cells in CSV.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._ratings.ids import IdMap
from recloak._releases.grid import Grid
from recloak._releases.packed_table import PackedSink, packed_file
from recloak._releases.parquet_pages import (
    ColumnChunk,
    label_chunk,
    number_chunk,
    plain_chunk,
    run_chunk,
    text_chunk,
)


class Column(Protocol):
    """The cells of one column of a block."""

    def chunk(self) -> ColumnChunk:
        """Return the column as pages of Parquet."""
        ...

    def texts(self) -> pl.Series:
        """Return the cells as they stand in a CSV file."""
        ...


class Names(NamedTuple):
    """Ascending names of users or groups, each repeated for its cells."""

    names: NDArray[np.int32]
    counts: NDArray[np.integer]

    def chunk(self) -> ColumnChunk:
        """Return the names as runs."""
        return run_chunk(self.names, self.counts)

    def texts(self) -> pl.Series:
        """Return the names in digits."""
        return Numbers(np.repeat(self.names, self.counts)).texts()


class Numbers(NamedTuple):
    """Whole numbers."""

    values: NDArray[np.int32] | NDArray[np.int64]

    def chunk(self) -> ColumnChunk:
        """Return the numbers as differences."""
        return number_chunk(self.values)

    def texts(self) -> pl.Series:
        """Return the numbers in digits."""
        return pl.Series(self.values).cast(pl.String)


class Texts(NamedTuple):
    """Texts by their places among all that there are, in ascending order."""

    all_texts: pl.Series
    codes: NDArray[np.int32]

    def chunk(self) -> ColumnChunk:
        """Return the texts by dictionary; a text that no row shows must not stand in the file."""
        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.all_texts)))
        place = np.zeros(len(self.all_texts), np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        return text_chunk(self.all_texts[used].to_list(), place[self.codes])

    def texts(self) -> pl.Series:
        """Return the texts in quotes, so that odd ids come back as they were."""
        quoted = '"' + self.all_texts.str.replace_all('"', '""', literal=True) + '"'
        return quoted[self.codes]


class Labels(NamedTuple):
    """Ratings on a grid, by their places among its values."""

    values: NDArray[np.float32]
    codes: NDArray[np.integer]

    def chunk(self) -> ColumnChunk:
        """Return the labels by dictionary."""
        return label_chunk(self.values, self.codes)

    def texts(self) -> pl.Series:
        """Return the labels as decimals."""
        return decimals(self.values)[self.codes]


class Reals(NamedTuple):
    """Any numbers."""

    values: NDArray[np.float32]

    def chunk(self) -> ColumnChunk:
        """Return the numbers as they are; zero has no sign."""
        return plain_chunk(self.values + np.float32(0))

    def texts(self) -> pl.Series:
        """Return the numbers as decimals."""
        distinct, places = np.unique(self.values + np.float32(0), return_inverse=True)
        return decimals(distinct)[places]


class Decimals(NamedTuple):
    """Multiples of a precision, of which many are the same."""

    values: NDArray[np.float32]

    def chunk(self) -> ColumnChunk:
        """Return the numbers by a dictionary of those there are, in ascending order."""
        return label_chunk(*np.unique(self.values, return_inverse=True))

    def texts(self) -> pl.Series:
        """Return the numbers as decimals."""
        return Reals(self.values).texts()


def decimals(values: NDArray[np.float32]) -> pl.Series:
    """Return the shortest decimals that give the same numbers back, without exponents."""
    return pl.Series([np.format_float_positional(value, trim="0") for value in values], dtype=pl.String)


def rating_column(labels: NDArray[np.float32], grid: Grid) -> Column:
    """Return labels by their places on a grid, or as they are where there is none."""
    if grid.step is None:
        return Reals(labels)
    codes = np.rint((labels - np.float64(grid.scale.low)) / grid.step).astype(np.int32)
    return Labels(grid.values, np.clip(codes, 0, len(grid.values) - 1))


class ItemColumn:
    """Turns inside item numbers into the column of the source's own ids, in the narrowest type that holds them."""

    def __init__(self, ids: IdMap) -> None:
        self._texts = ids.ids.cast(pl.String) if ids.is_text else None
        numbers = np.empty(0, np.int64) if ids.is_text else ids.ids.to_numpy()
        narrow = not len(numbers) or (numbers[0] >= -(2**31) and numbers[-1] < 2**31)
        self._numbers: NDArray[Any] = numbers.astype(np.int32 if narrow else np.int64)
        self.repeated = lru_cache(maxsize=1)(self._repeated)  # blocks of full rows are equally long

    def of(self, items: NDArray[np.int32]) -> Column:
        """Return the ids of item numbers."""
        return Numbers(self._numbers[items]) if self._texts is None else Texts(self._texts, items)

    def _repeated(self, n_rows: int, n_items: int) -> Column:
        """Return all items, again for each of some rows."""
        return _Kept(self.of(np.tile(np.arange(n_items, dtype=np.int32), n_rows)))


class _Kept:
    """A column that is made once however often it is asked for."""

    def __init__(self, column: Column) -> None:
        self.chunk = lru_cache(maxsize=1)(column.chunk)
        self.texts = lru_cache(maxsize=1)(column.texts)


class Sink(Protocol):
    """Takes the blocks of one table in order."""

    def write(self, columns: dict[str, Column]) -> None:
        """Append one block."""
        ...


@contextmanager
def table_file(path: Path, file_format: str) -> Iterator[Sink]:
    """Open a table for writing block by block; its time of change is set to a fixed moment when it closes."""
    if file_format == "csv":
        with path.open("wb") as file:
            yield _CsvSink(file)
        os.utime(path, (0, 0))
    else:
        with packed_file(path) as sink:
            yield _ParquetSink(sink)


class _ParquetSink:
    """Every block becomes one row group."""

    def __init__(self, sink: PackedSink) -> None:
        self._sink = sink

    def write(self, columns: dict[str, Column]) -> None:
        self._sink.write({name: column.chunk() for name, column in columns.items()})


class _CsvSink:
    """A header, then rows."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._fresh = True

    def write(self, columns: dict[str, Column]) -> None:
        frame = pl.DataFrame({name: column.texts() for name, column in columns.items()})
        if self._fresh:
            self._file.write(",".join(f'"{name}"' for name in columns).encode() + b"\n")
            self._fresh = False
        frame.write_csv(self._file, include_header=False, quote_style="never")
