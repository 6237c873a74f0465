"""A released Parquet file to the byte: the magic, the pages that the footer names one after the other, the footer.

Each kind of column has one encoding, a chunk one page (and one of its dictionary), and a file one way to be cut into
row groups. The values come out of the same pass, so nothing reads them in another way than it was checked.
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recloak._releases.model.release_format import BLOCK_CELLS
from recloak._releases.verifier.arrow_arrays import arrow_numbers, arrow_texts
from recloak._releases.verifier.page_values import read_codes, read_differences, read_runs
from recloak._releases.verifier.parquet_structure import (
    BY_DICTIONARY,
    DIFFERENCES,
    FLOAT,
    INT32,
    INT64,
    MAGIC,
    PLAIN,
    TEXT,
    ChunkPlace,
    RowGroup,
    WrongTableError,
    as_footer,
    page_content,
    read_footer,
)

_TAIL = len(MAGIC) + 4
_MINUS_ZERO = 0x80000000


class Runs(NamedTuple):
    """Names in ascending order, each with the number of its rows."""

    names: NDArray[np.int32]
    counts: NDArray[np.int64]


class Codes(NamedTuple):
    """Labels by their places among the values of a grid."""

    codes: NDArray[np.uint32]


Values: TypeAlias = Any  # Runs, Codes, an Arrow array, or the numbers of a column of reals
Reader = Callable[[bytes, ChunkPlace, int], Values]


def canonical_blocks(
    path: Path, columns: dict[str, str], grid: NDArray[np.float32] | None
) -> Iterator[dict[str, Values]]:
    """Return a table's columns by row group; raise WrongTableError where a byte is not the one that must stand there.

    ``columns`` says what each column stores, and ``grid`` has the values that labels may take, or is None where they
    may take any.
    """
    with path.open("rb") as file:
        types, groups = _structure(file, columns, grid)
        readers = [_reader(kind, stored, grid) for kind, stored in zip(types, columns.values(), strict=True)]
        chunks = [_Chunks(file, read) for read in readers]
        place, before = len(MAGIC), None
        for group in groups:
            values = []
            for column, where in zip(chunks, group.chunks, strict=True):
                values.append(column.values(where, place, group.n_rows))
                place += where.size
                _check_cut(before, group.n_rows, values[0] if len(values) == 1 else None)
            yield dict(zip(columns, values, strict=True))
            before = group.n_rows
        if place != _footer_place(file):
            raise WrongTableError("there are bytes that no column names")


def _structure(
    file: BinaryIO, columns: dict[str, str], grid: NDArray[np.float32] | None
) -> tuple[list[int], list[RowGroup]]:
    """Read the footer, and require that it says nothing else."""
    start = _footer_place(file)
    file.seek(0)
    magic = file.read(len(MAGIC))
    file.seek(start)
    said = file.read()[:-_TAIL]
    types, groups = read_footer(said, len(columns))
    encodings = [_encoding(kind, stored, grid) for kind, stored in zip(types, columns.values(), strict=True)]
    if magic != MAGIC or as_footer(tuple(columns), types, encodings, groups) != said:
        raise WrongTableError("its footer is not the one that recloak writes")
    return types, groups


def _footer_place(file: BinaryIO) -> int:
    size = file.seek(0, 2)
    file.seek(max(size - _TAIL, 0))
    tail = file.read(_TAIL)
    start = size - _TAIL - int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or start < len(MAGIC):
        raise WrongTableError("it is no Parquet file")
    return start


def _encoding(kind: int, stored: str, grid: NDArray[np.float32] | None) -> int:
    """Return the one encoding of a column; raise WrongTableError if it is of another type than it may be."""
    wanted = {
        "names": {INT32: BY_DICTIONARY},
        "numbers": {INT32: DIFFERENCES},
        "items": {INT32: DIFFERENCES, INT64: DIFFERENCES, TEXT: BY_DICTIONARY},
        "labels": {FLOAT: PLAIN if grid is None else BY_DICTIONARY},
        "reals": {FLOAT: PLAIN},
        "decimals": {FLOAT: BY_DICTIONARY},
    }
    if kind not in wanted[stored]:
        raise WrongTableError(f"a column of {stored} is of the wrong type")
    return wanted[stored][kind]


def _reader(kind: int, stored: str, grid: NDArray[np.float32] | None) -> Reader:
    if stored == "labels" and grid is not None:
        return lambda chunk, where, n_rows: _labels(chunk, where, n_rows, grid)
    if kind in (INT32, INT64) and stored != "names":
        return lambda chunk, where, n_rows: _numbers(chunk, where, n_rows, 32 if kind == INT32 else 64)
    return {"names": _runs, "items": _texts, "labels": _reals, "reals": _reals, "decimals": _decimals}[stored]


class _Chunks:
    """The chunks of one column in order; the values of one with the same pages as the one before are known already."""

    def __init__(self, file: BinaryIO, read: Reader) -> None:
        self._file, self._read = file, read
        self._known: tuple[bytes, int, int] | None = None
        self._values: Values = None

    def values(self, where: ChunkPlace, place: int, n_rows: int) -> Values:
        """Return the values of the next chunk, which must lie at a place."""
        if where.start != place or not 0 <= where.dictionary <= where.size:
            raise WrongTableError("its pages do not follow each other")
        self._file.seek(where.start)
        pages = self._file.read(where.size)
        if len(pages) != where.size:
            raise WrongTableError("a page is cut off")
        if (pages, where.dictionary, n_rows) != self._known:
            self._values = self._read(pages, where, n_rows)
            self._known = pages, where.dictionary, n_rows
        return self._values


def _pages(chunk: bytes, where: ChunkPlace, n_rows: int, encoding: int) -> tuple[memoryview, int, memoryview]:
    """Return a dictionary's content, its number of values, and the content of the page of data."""
    if (encoding == BY_DICTIONARY) != (where.dictionary > 0):
        raise WrongTableError("a dictionary is missing, or stands where there is none")
    dictionary, n_words = (
        page_content(chunk[: where.dictionary], None, None) if where.dictionary else (memoryview(b""), 0)
    )
    return dictionary, n_words, page_content(chunk[where.dictionary :], n_rows, encoding)[0]


def _runs(chunk: bytes, where: ChunkPlace, n_rows: int) -> Runs:
    dictionary, n_names, data = _pages(chunk, where, n_rows, BY_DICTIONARY)
    if len(dictionary) != 4 * n_names:
        raise WrongTableError("a dictionary is of the wrong size")
    names, counts = np.frombuffer(dictionary, "<i4"), read_runs(data, n_names)
    if (names[1:] <= names[:-1]).any() or counts.sum() != n_rows:
        raise WrongTableError("names are not written as one run each")
    return Runs(names, counts)


def _labels(chunk: bytes, where: ChunkPlace, n_rows: int, grid: NDArray[np.float32]) -> Codes:
    dictionary, n_values, data = _pages(chunk, where, n_rows, BY_DICTIONARY)
    if n_values != len(grid) or dictionary != grid.tobytes():
        raise WrongTableError("the dictionary of labels is not the published grid")
    return Codes(read_codes(data, n_rows, n_values))


def _numbers(chunk: bytes, where: ChunkPlace, n_rows: int, bits: int) -> pa.Array:
    values = read_differences(_pages(chunk, where, n_rows, DIFFERENCES)[2], n_rows, bits)
    return arrow_numbers(values.astype(np.int32) if bits == 32 else values)


def _texts(chunk: bytes, where: ChunkPlace, n_rows: int) -> pa.Array:
    dictionary, n_texts, data = _pages(chunk, where, n_rows, BY_DICTIONARY)
    texts, place = [], 0
    while place < len(dictionary):
        size = int.from_bytes(dictionary[place : place + 4], "little")
        texts.append(bytes(dictionary[place + 4 : place + 4 + size]).decode("utf-8"))
        place += 4 + size
    codes = read_codes(data, n_rows, n_texts) if n_texts == len(texts) > 0 else np.empty(0, np.uint32)
    ascending = all(one < other for one, other in itertools.pairwise(texts))
    if place != len(dictionary) or not len(codes) or not ascending or not np.bincount(codes, minlength=n_texts).all():
        raise WrongTableError("a dictionary must hold the texts of its rows in order, each once, and no other")
    return pa.DictionaryArray.from_arrays(arrow_numbers(codes.astype(np.int32)), arrow_texts(texts))


def _decimals(chunk: bytes, where: ChunkPlace, n_rows: int) -> NDArray[np.float32]:
    dictionary, n_values, data = _pages(chunk, where, n_rows, BY_DICTIONARY)
    values = np.frombuffer(dictionary, "<f4") if len(dictionary) == 4 * n_values > 0 else np.full(1, np.nan, "<f4")
    if not _are_plain(values) or (values[1:] <= values[:-1]).any():
        raise WrongTableError("a dictionary must hold the numbers of its rows in order, each once, and no other")
    codes = read_codes(data, n_rows, n_values)
    if not np.bincount(codes, minlength=n_values).all():
        raise WrongTableError("a dictionary must hold the numbers of its rows in order, each once, and no other")
    return np.asarray(values[codes], np.float32)


def _are_plain(values: NDArray[np.float32]) -> bool:
    """Return whether all numbers are finite and no zero has a sign."""
    return bool(np.isfinite(values).all() and not (values.view(np.uint32) == _MINUS_ZERO).any())


def _reals(chunk: bytes, where: ChunkPlace, n_rows: int) -> NDArray[np.float32]:
    data = _pages(chunk, where, n_rows, PLAIN)[2]
    values = np.frombuffer(data, "<f4") if len(data) == 4 * n_rows else np.full(1, np.nan, np.float32)
    if not _are_plain(values):
        raise WrongTableError("a number is not finite, or a zero has a sign")
    return values


def _check_cut(before: int | None, n_rows: int, first: Values | None) -> None:
    """Require that a row group holds as many whole rows as fit; ``before`` has the size of the one before.

    Only the first column tells where rows end, and it is looked at before any other is read.
    """
    if first is None:
        return
    runs = first.counts if isinstance(first, Runs) else np.ones(min(n_rows, 2), np.int64)
    full = before is None or before + runs[0] > BLOCK_CELLS
    if not full or n_rows < 1 or (n_rows > BLOCK_CELLS and len(runs) > 1):
        raise WrongTableError(f"its row groups do not hold as many rows as fit into {BLOCK_CELLS} cells")
