"""Released tables, read block by block, with nothing assumed about what they hold."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from recloak._core.threads import workers

_TYPES: dict[str, tuple[pa.DataType, ...]] = {
    "user": (pa.int32(),),
    "group": (pa.int32(),),
    "item": (pa.int32(), pa.int64(), pa.string()),
    "rating": (pa.float32(),),
}
_CSV_BLOCK = 1 << 24
_SHORTEST_ROW = len("1,1\n")

Unreadable = (pa.ArrowException, OSError, ValueError)


class WrongTableError(ValueError):
    """A table does not have the form that the format demands."""


def blocks(path: Path, columns: tuple[str, ...]) -> Iterator[list[pa.Array]]:
    """Return a file's columns block by block, reading ahead by one; raise `WrongTableError` or Arrow's errors."""
    source = (_parquet_blocks if path.suffix == ".parquet" else _csv_blocks)(path, columns)
    with workers(1) as worker:
        waiting = worker.submit(next, source, None)
        while (block := waiting.result()) is not None:
            waiting = worker.submit(next, source, None)
            if block.num_rows:
                yield _arrays(path, block)


def most_rows(path: Path) -> int:
    """Return a bound on the rows of a file without reading it."""
    if path.suffix == ".parquet":
        return int(pq.read_metadata(path).num_rows)
    return path.stat().st_size // _SHORTEST_ROW


def _parquet_blocks(path: Path, columns: tuple[str, ...]) -> Iterator[Any]:
    with pq.ParquetFile(path) as file:
        if file.metadata.metadata:
            raise WrongTableError(f"{path.name}: carries further metadata {sorted(map(str, file.metadata.metadata))}")
        _check_schema(path, file.schema_arrow, columns)
        texts = [field.name for field in file.schema_arrow if field.type == pa.string()]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number)


def _csv_blocks(path: Path, columns: tuple[str, ...]) -> Iterator[Any]:
    header, text_items = _peek(path)
    if header != list(columns):
        raise WrongTableError(f"{path.name}: must have the columns {', '.join(columns)}, got {', '.join(header)}")
    types = {name: _TYPES[name][0] for name in columns}
    if "item" in types:
        types["item"] = pa.string() if text_items else pa.int64()
    reader = pacsv.open_csv(
        path,
        read_options=pacsv.ReadOptions(block_size=_CSV_BLOCK, use_threads=False),
        parse_options=pacsv.ParseOptions(newlines_in_values=True),
        convert_options=pacsv.ConvertOptions(column_types=types, strings_can_be_null=False, null_values=[]),
    )
    with reader:
        yield from reader


def _peek(path: Path) -> tuple[list[str], bool]:
    """Read the header, and tell whether items are quoted, that is texts."""
    with path.open(encoding="utf-8", newline="") as file:
        header = next(csv.reader([file.readline()]), [])
        return header, ',"' in file.readline()


def _check_schema(path: Path, schema: pa.Schema, columns: tuple[str, ...]) -> None:
    if schema.names != list(columns):
        raise WrongTableError(f"{path.name}: must have the columns {', '.join(columns)}, got {', '.join(schema.names)}")
    for field in schema:
        if field.type not in _TYPES[field.name] or field.nullable:
            kind = f"{field.type}{' or nothing' if field.nullable else ''}"
            raise WrongTableError(f"{path.name}: the column {field.name} must not be of type {kind}")


def _array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; where it is one already, nothing is copied."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole


def _arrays(path: Path, block: Any) -> list[pa.Array]:
    arrays = [_array(column) for column in block.columns]
    if any(array.null_count for array in arrays):
        raise WrongTableError(f"{path.name}: has empty cells")
    if any(_has_unused_words(array) for array in arrays):
        raise WrongTableError(f"{path.name}: a dictionary holds a text that stands in no row")
    return arrays


def _has_unused_words(array: pa.Array) -> bool:
    """Tell whether a column's dictionary names what no row shows; readers of tables never see it, others do."""
    if not pa.types.is_dictionary(array.type):
        return False
    return not np.bincount(array.indices.to_numpy(), minlength=len(array.dictionary)).all()
