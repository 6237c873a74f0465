"""Files that take tables one after the other: Parquet or CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

Write = Callable[[pl.DataFrame], object]


@contextmanager
def parquet_sink(path: Path) -> Iterator[Write]:
    """Open a Parquet file; every table becomes a row group."""
    writer: pq.ParquetWriter | None = None

    def write(table: pl.DataFrame) -> None:
        nonlocal writer
        rows = table.to_arrow()
        texts = [
            field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field for field in rows.schema
        ]
        rows = rows.cast(pa.schema(texts))
        writer = writer or pq.ParquetWriter(path, rows.schema, compression="zstd")
        writer.write_table(rows)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def csv_sink(path: Path) -> Iterator[Write]:
    """Open a CSV file with a header."""
    with path.open("wb") as file:
        is_first = True

        def write(table: pl.DataFrame) -> None:
            nonlocal is_first
            table.write_csv(file, include_header=is_first)
            is_first = False

        yield write
