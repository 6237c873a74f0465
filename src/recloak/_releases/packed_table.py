"""A full table of profiles to Parquet: every group has every item, and labels are numbers of a grid's values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recloak._releases.parquet_pages import (
    MAGIC,
    ColumnChunk,
    coded_chunk,
    footer,
    foreign_chunk,
    packed_codes,
    row_group,
    runs_of,
)
from recloak._releases.table_writing import ItemColumn, settings


class PackedSink:
    """Takes the blocks of one table in order; every block becomes one row group."""

    def __init__(self, file: BinaryIO, name: str, items: ItemColumn, values: NDArray[np.float32]) -> None:
        self._file = file
        self._columns = [name, "item", "rating"]
        self._values = values
        self._items = lru_cache(maxsize=1)(lambda n_rows, n_items: _item_chunk(items, n_rows, n_items))
        self._row_groups: list[bytes] = []
        self._kinds: list[str] = []
        self._n_rows = 0
        file.write(MAGIC)

    def write(self, names: NDArray[np.int32], codes: NDArray[np.uint8]) -> None:
        """Append the groups of these names with the labels of these numbers: (n_groups, n_items)."""
        n_groups, n_items = codes.shape
        chunks = [
            coded_chunk(names, runs_of(n_groups, n_items), codes.size),
            self._items(n_groups, n_items),
            coded_chunk(self._values, packed_codes(codes.reshape(-1), len(self._values)), codes.size),
        ]
        self._row_groups.append(row_group(self._file.tell(), self._columns, chunks))
        for chunk in chunks:
            self._file.write(chunk.pages)
        self._kinds = [chunk.kind for chunk in chunks]
        self._n_rows += codes.size

    def close(self) -> None:
        """Write the end of the file."""
        self._file.write(footer(self._columns, self._kinds, self._n_rows, self._row_groups))


def _item_chunk(items: ItemColumn, n_rows: int, n_items: int) -> ColumnChunk:
    """Return the column of all items, again for each row."""
    every = np.tile(np.arange(n_items, dtype=np.int32), n_rows)
    field = pa.field("item", items.type, nullable=False)
    return foreign_chunk(items.of(every), field, **settings({"item": items.type}, gridded=True))


@contextmanager
def packed_file(path: Path, name: str, items: ItemColumn, values: NDArray[np.float32]) -> Iterator[PackedSink]:
    """Open a table ``name``, ``item``, ``rating`` for writing; its time of change is a fixed moment."""
    with path.open("wb") as file:
        sink = PackedSink(file, name, items, values)
        yield sink
        sink.close()
    os.utime(path, (0, 0))
