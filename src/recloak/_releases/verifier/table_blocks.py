"""Released tables, read block by block, with nothing assumed about what they hold.

`cell_blocks` and `number_blocks` give what the verifier judges: of a canonical file by the pass that accounts for each
of its bytes, of one that another tool wrote by what pyarrow makes of it. `blocks` reads a file that was judged.
"""

import csv
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from recloak._core.threads import ahead
from recloak._releases.verifier.arrow_arrays import as_numpy
from recloak._releases.verifier.canonical_csv import CsvEcho
from recloak._releases.verifier.canonical_parquet import Codes, Runs, canonical_blocks
from recloak._releases.verifier.foreign_pages import require_small_pages
from recloak._releases.verifier.parquet_structure import WrongTableError

_TYPES: dict[str, tuple[pa.DataType, ...]] = {
    "user": (pa.int32(),),
    "group": (pa.int32(),),
    "item": (pa.int32(), pa.int64(), pa.string()),
    "rating": (pa.float32(),),
    "other": (pa.int32(), pa.int64(), pa.string()),
    **dict.fromkeys(("raters", "people", "at_least"), (pa.int32(),)),
}
_NUMBER = (pa.float32(),)  # of a bias or a factor
_CSV_BLOCK = 1 << 24
_BATCH_ROWS = 1 << 20
_SHORTEST_ROW = len("1,1\n")

Unreadable = (pa.ArrowException, OSError, ValueError)


class CellColumns(NamedTuple):
    """A block of cells: names in runs, the items' ids, and labels, by their places on a grid where those are known."""

    runs: Runs
    items: pa.Array
    labels: Codes | NDArray[np.float32]


def cell_blocks(
    path: Path, columns: dict[str, str], grid: NDArray[np.float32] | None, *, canonical: bool
) -> Iterator[CellColumns]:
    """Return the blocks of a table of cells; raise `WrongTableError` or Arrow's errors."""
    if canonical and path.suffix == ".parquet":
        for block in ahead(canonical_blocks(path, columns, grid)):
            yield CellColumns(*block.values())
        return
    for names, items, labels in blocks(path, tuple(columns), canonical=canonical):
        yield CellColumns(_runs_in(as_numpy(names)), items, labels.to_numpy())


def number_blocks(path: Path, columns: dict[str, str], *, canonical: bool) -> Iterator[list[NDArray[Any]]]:
    """Return the blocks of a table of numbers; raise `WrongTableError` or Arrow's errors."""
    for block in row_blocks(path, columns, canonical=canonical):
        yield [as_numpy(values) for values in block]


def row_blocks(path: Path, columns: dict[str, str], *, canonical: bool) -> Iterator[list[Any]]:
    """Return the columns of a table that has no runs, as they were read; raise `WrongTableError` or Arrow's errors."""
    if canonical and path.suffix == ".parquet":
        for block in ahead(canonical_blocks(path, columns, None)):
            yield list(block.values())
        return
    yield from blocks(path, tuple(columns), canonical=canonical)


def _runs_in(names: NDArray[np.int32]) -> Runs:
    starts = np.concatenate(([0], np.flatnonzero(names[1:] != names[:-1]) + 1))
    return Runs(names[starts], np.diff(starts, append=len(names)))


def blocks(path: Path, columns: tuple[str, ...], *, canonical: bool = False) -> Iterator[list[pa.Array]]:
    """Return a file's columns block by block as pyarrow reads them; of a canonical CSV file every byte is compared."""
    source = (_parquet_blocks if path.suffix == ".parquet" else _csv_blocks)(path, columns)
    with ExitStack() as stack:
        echo = CsvEcho(stack.enter_context(path.open("rb")), columns) if canonical else None
        for block in ahead(source):
            if block.num_rows:
                arrays = _arrays(block)
                if echo:
                    echo.take(arrays)
                yield arrays
        if echo:
            echo.close()


def most_rows(path: Path) -> int:
    """Return a bound on the rows of a file without reading it."""
    if path.suffix == ".parquet":
        return int(pq.read_metadata(path).num_rows)
    return path.stat().st_size // _SHORTEST_ROW


def _parquet_blocks(path: Path, columns: tuple[str, ...]) -> Iterator[Any]:
    """Read batches of bounded size, whatever the size of a row group; texts stay in their dictionaries."""
    with pq.ParquetFile(path) as file:
        if file.metadata.metadata:
            raise WrongTableError(f"it carries further metadata {sorted(map(str, file.metadata.metadata))}")
        _check_schema(file.schema_arrow, columns)
        texts = [field.name for field in file.schema_arrow if field.type == pa.string()]
        require_small_pages(path, file.metadata)
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        yield from file.iter_batches(_BATCH_ROWS, use_threads=False)


def _csv_blocks(path: Path, columns: tuple[str, ...]) -> Iterator[Any]:
    header, text_items = _peek(path)
    if header != list(columns):
        raise WrongTableError(f"it must have the columns {', '.join(columns)}, got {', '.join(header)}")
    types = {name: _TYPES.get(name, _NUMBER)[0] for name in columns}
    for name in {"item", "other"} & set(types):
        types[name] = pa.string() if text_items else pa.int64()
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
        return header, '"' in file.readline()


def _check_schema(schema: pa.Schema, columns: tuple[str, ...]) -> None:
    if schema.names != list(columns):
        raise WrongTableError(f"it must have the columns {', '.join(columns)}, got {', '.join(schema.names)}")
    for field in schema:
        if field.type not in _TYPES.get(field.name, _NUMBER) or field.nullable:
            kind = f"{field.type}{' or nothing' if field.nullable else ''}"
            raise WrongTableError(f"the column {field.name} must not be of type {kind}")


def _array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; where it is one already, nothing is copied."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole


def _arrays(block: Any) -> list[pa.Array]:
    arrays = [_array(column) for column in block.columns]
    if any(array.null_count for array in arrays):
        raise WrongTableError("it has empty cells")
    return arrays
