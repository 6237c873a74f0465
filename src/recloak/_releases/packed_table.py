"""A table to a Parquet file of our own pages, one row group for each block; the rows decide every byte."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from recloak._releases.parquet_pages import MAGIC, ColumnChunk, footer, row_group


class PackedSink:
    """Takes the row groups of one table in order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._kinds: dict[str, str] = {}  # physical types, by column
        self._row_groups: list[bytes] = []
        self._n_rows = 0
        file.write(MAGIC)

    def write(self, chunks: dict[str, ColumnChunk]) -> None:
        """Append a row group."""
        places = []
        for chunk in chunks.values():
            places.append(self._file.tell())
            self._file.write(chunk.pages)
        self._row_groups.append(row_group(list(chunks), list(chunks.values()), places))
        self._kinds = {name: chunk.kind for name, chunk in chunks.items()}
        self._n_rows += next(iter(chunks.values())).n_values

    def close(self) -> None:
        """Write the end of the file."""
        kinds = list(self._kinds.values())
        self._file.write(footer(list(self._kinds), kinds, self._n_rows, self._row_groups))


@contextmanager
def packed_file(path: Path) -> Iterator[PackedSink]:
    """Open a Parquet file for writing; its time of change is a fixed moment."""
    with path.open("wb") as file:
        sink = PackedSink(file)
        yield sink
        sink.close()
    os.utime(path, (0, 0))
