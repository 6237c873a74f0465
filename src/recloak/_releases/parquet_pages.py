"""The few parts of the Parquet format that a full table of profiles needs, written byte by byte.

A general writer looks every value up in a dictionary. In a full table each group is one run, the items are the same in
every block, and labels are numbers on a grid already, so its pages are made in a twentieth of the time. Format: Apache
Parquet 2 (parquet.thrift), metadata in Thrift's compact protocol.
"""

from __future__ import annotations

import io
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numba import njit
from numpy.typing import NDArray

MAGIC = b"PAR1"
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12  # kinds of fields of the compact protocol
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_PLAIN, _RLE, _BY_DICTIONARY = 0, 3, 8  # encodings
_ENCODINGS = {"PLAIN": 0, "RLE": 3, "DELTA_BINARY_PACKED": 5, "RLE_DICTIONARY": 8}
_CODECS = {"UNCOMPRESSED": 0, "ZSTD": 6}
_TYPES = {"INT32": 1, "INT64": 2, "FLOAT": 4, "BYTE_ARRAY": 6}
_REQUIRED, _UTF8 = 0, 0

Field = tuple[int, int, bytes]  # number, kind, bytes


class ColumnChunk(NamedTuple):
    """One column of one row group: its pages, and what the footer says about them."""

    pages: bytes
    kind: str  # physical type
    encodings: tuple[str, ...]
    codec: str
    n_values: int
    n_bytes: int  # before compression
    data_page: int  # where the data pages begin
    has_dictionary: bool


def varint(number: int) -> bytes:
    """Write a number, seven bits a byte, the lowest first."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _integer(number: int) -> bytes:
    return varint(number << 1)  # zigzag, and nothing here is below 0


def _text(text: str) -> bytes:
    return varint(len(text.encode())) + text.encode()


def _list(kind: int, entries: list[bytes]) -> bytes:
    n = len(entries)
    return (bytes([n << 4 | kind]) if n < 15 else bytes([0xF0 | kind]) + varint(n)) + b"".join(entries)


def _struct(*fields: Field) -> bytes:
    out, last = b"", 0
    for number, kind, value in fields:
        out += bytes([(number - last) << 4 | kind]) + value
        last = number
    return out + b"\0"


def _page(kind: int, content: bytes, n_values: int) -> bytes:
    """Return a page that is not compressed, with its header."""
    size = _integer(len(content))
    if kind == _DICTIONARY_PAGE:
        said: Field = (7, _STRUCT, _struct((1, _I32, _integer(n_values)), (2, _I32, _integer(_PLAIN))))
    else:
        encodings = [(field, _I32, _integer(value)) for field, value in ((2, _BY_DICTIONARY), (3, _RLE), (4, _RLE))]
        said = (5, _STRUCT, _struct((1, _I32, _integer(n_values)), *encodings))
    return _struct((1, _I32, _integer(kind)), (2, _I32, size), (3, _I32, size), said) + content


def coded_chunk(values: NDArray[np.int32] | NDArray[np.float32], codes: bytes, n_values: int) -> ColumnChunk:
    """Return a column whose values stand in a dictionary; ``codes`` are their places in it, encoded already."""
    dictionary = _page(_DICTIONARY_PAGE, values.tobytes(), len(values))
    data = _page(_DATA_PAGE, codes, n_values)
    kind = "FLOAT" if values.dtype == np.float32 else "INT32"
    size = len(dictionary) + len(data)
    encodings = ("PLAIN", "RLE", "RLE_DICTIONARY")
    return ColumnChunk(dictionary + data, kind, encodings, "UNCOMPRESSED", n_values, size, len(dictionary), True)


def runs_of(n_runs: int, length: int) -> bytes:
    """Encode the numbers 0 to n_runs - 1, each repeated so many times."""
    width = bits_for(n_runs)
    n_bytes, head = -(-width // 8), varint(length << 1)
    return bytes([width]) + b"".join(head + number.to_bytes(n_bytes, "little") for number in range(n_runs))


def packed_codes(codes: NDArray[np.uint8], n_codes: int) -> bytes:
    """Encode codes below ``n_codes`` in as few bits as hold them, eight codes at a time."""
    width, n_eights = bits_for(n_codes), -(-len(codes) // 8)
    packed = np.zeros((n_eights, width), np.uint8)
    _pack(codes, width, packed)
    return bytes([width]) + varint(n_eights << 1 | 1) + packed.tobytes()


def bits_for(n_codes: int) -> int:
    """Return the bits that the numbers below ``n_codes`` need, at least one."""
    return max(1, (n_codes - 1).bit_length())


@njit(cache=True, nogil=True)
def _pack(codes, width, packed):  # type: ignore[no-untyped-def]
    for eight in range(len(packed)):
        word = np.uint64(0)
        for place in range(min(8, len(codes) - 8 * eight)):
            word |= np.uint64(codes[8 * eight + place]) << np.uint64(width * place)
        for byte in range(width):
            packed[eight, byte] = word & np.uint64(0xFF)
            word >>= np.uint64(8)


def foreign_chunk(column: pa.Array, field: pa.Field, **settings: object) -> ColumnChunk:
    """Return a column as pyarrow writes it, its pages cut out of a file of its own."""
    file = io.BytesIO()
    table = pa.table([column], schema=pa.schema([field]))
    pq.write_table(table, file, row_group_size=max(len(table), 1), **settings)
    said = pq.read_metadata(file).row_group(0).column(0)
    start = said.dictionary_page_offset if said.has_dictionary_page else said.data_page_offset
    pages = file.getvalue()[start : start + said.total_compressed_size]
    return ColumnChunk(
        pages,
        said.physical_type,
        tuple(said.encodings),
        said.compression,
        said.num_values,
        said.total_uncompressed_size,
        said.data_page_offset - start,
        said.has_dictionary_page,
    )


def row_group(start: int, names: list[str], chunks: list[ColumnChunk]) -> bytes:
    """Return the footer's entry of a row group that begins at a place of the file."""
    entries, place = [], start
    for name, chunk in zip(names, chunks, strict=True):
        entries.append(_struct((2, _I64, _integer(place)), (3, _STRUCT, _column_metadata(name, chunk, place))))
        place += len(chunk.pages)
    n_bytes = sum(chunk.n_bytes for chunk in chunks)
    return _struct(
        (1, _LIST, _list(_STRUCT, entries)), (2, _I64, _integer(n_bytes)), (3, _I64, _integer(chunks[0].n_values))
    )


def _column_metadata(name: str, chunk: ColumnChunk, place: int) -> bytes:
    fields = [
        (1, _I32, _integer(_TYPES[chunk.kind])),
        (2, _LIST, _list(_I32, [_integer(_ENCODINGS[encoding]) for encoding in chunk.encodings])),
        (3, _LIST, _list(_BINARY, [_text(name)])),
        (4, _I32, _integer(_CODECS[chunk.codec])),
        (5, _I64, _integer(chunk.n_values)),
        (6, _I64, _integer(chunk.n_bytes)),
        (7, _I64, _integer(len(chunk.pages))),
        (9, _I64, _integer(place + chunk.data_page)),
    ]
    if chunk.has_dictionary:
        fields.append((11, _I64, _integer(place)))
    return _struct(*fields)


def footer(names: list[str], kinds: list[str], n_rows: int, row_groups: list[bytes]) -> bytes:
    """Return the end of a file: the schema, of which no column may hold nothing, and the row groups."""
    root = _struct((4, _BINARY, _text("schema")), (5, _I32, _integer(len(names))))
    columns = [_schema_element(name, kind) for name, kind in zip(names, kinds, strict=True)]
    said = _struct(
        (1, _I32, _integer(2)),
        (2, _LIST, _list(_STRUCT, [root, *columns])),
        (3, _I64, _integer(n_rows)),
        (4, _LIST, _list(_STRUCT, row_groups)),
        (6, _BINARY, _text("recloak version 1")),
    )
    return said + len(said).to_bytes(4, "little") + MAGIC


def _schema_element(name: str, kind: str) -> bytes:
    fields = [(1, _I32, _integer(_TYPES[kind])), (3, _I32, _integer(_REQUIRED)), (4, _BINARY, _text(name))]
    if kind == "BYTE_ARRAY":
        fields.append((6, _I32, _integer(_UTF8)))
    return _struct(*fields)
