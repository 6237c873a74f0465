"""Parquet files, read by polars batch by batch."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from recloak._core.errors import SourceError
from recloak._core.progress import Advance
from recloak._core.threads import workers
from recloak._ratings.column_roles import find_columns
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers.source_files import Sample, unpacked
from recloak._ratings.row_buffer import RowBuffer
from recloak._ratings.table_input import add_columns

_BATCH_ROWS = 1 << 20


def matches(sample: Sample) -> bool:
    """Tell a file that begins as Parquet files do."""
    return sample.head.startswith(b"PAR1")


def begins_as_parquet(path: Path) -> bool:
    """Tell whether a file is Parquet as it lies there, not packed by gzip or zstd."""
    try:
        with path.open("rb") as raw:
            return raw.read(4) == b"PAR1"
    except OSError:
        return False


def read_parquet(sample: Sample, rows: RowBuffer, options: ReadOptions, advance: Advance) -> None:
    """Take the rows of a file in."""
    path = sample.path
    if not matches(sample):
        raise SourceError("is no Parquet file", file=path)
    try:
        _read(path, rows, options, advance)
    except pl.exceptions.PolarsError:
        raise SourceError("the Parquet file is cut short, damaged or of a kind not supported", file=path) from None


def _read(path: Path, rows: RowBuffer, options: ReadOptions, advance: Advance) -> None:
    lazy = pl.scan_parquet(_bytes(path), glob=False)
    try:
        columns = find_columns(lazy.collect_schema().names(), **options.columns())
    except SourceError as error:
        raise SourceError(error.rule, file=path, value=error.value) from None
    chosen = lazy.select(pl.col(name).alias(role) for role, name in columns.items())
    batches = chosen.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=True)
    n_rows, taking = 0, None
    with workers(1) as pool:  # a batch is taken in while polars decodes the next
        for batch in batches:
            if taking is not None:
                taking.result()
            taking = pool.submit(
                add_columns,
                rows,
                batch,
                scale=options.bounds(),
                skip_bad=options.skip_bad,
                file=path,
                first_row=n_rows,
            )
            n_rows += batch.height
        if taking is not None:
            taking.result()
    advance(path.stat().st_size / 1e6)


def _bytes(path: Path) -> Path | io.BytesIO:
    """Give the file, or its bytes where it is compressed as a whole: Parquet is read from its end."""
    if begins_as_parquet(path):
        return path
    with unpacked(path) as stream:
        return io.BytesIO(stream.read())
