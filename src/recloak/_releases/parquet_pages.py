"""The few parts of the Parquet format that a release needs, written byte by byte.

A general writer may split pages, choose encodings and add statistics as it likes, and the next version of it likes
otherwise. Here the same rows give the same bytes, so that a verifier can account for each of them; and a page is made
in a twentieth of the time. Format: Apache Parquet 2 (parquet.thrift), metadata in Thrift's compact protocol.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._releases.page_encodings import differences, packed_codes, runs_of, varint

MAGIC = b"PAR1"
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12  # kinds of fields of the compact protocol
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_PLAIN, _RLE, _DELTAS, _BY_DICTIONARY = 0, 3, 5, 8  # encodings
_KINDS = {"int32": "INT32", "int64": "INT64", "float32": "FLOAT"}
_TYPES = {"INT32": 1, "INT64": 2, "FLOAT": 4, "BYTE_ARRAY": 6}
_UNCOMPRESSED, _REQUIRED, _UTF8 = 0, 0, 0

Field = tuple[int, int, bytes]  # number, kind, bytes


class ColumnChunk(NamedTuple):
    """One column of one row group: its pages, and what the footer says about them."""

    pages: bytes
    kind: str  # physical type
    encodings: tuple[int, ...]
    n_values: int
    dictionary: int = 0  # bytes of the dictionary's page, which comes first; 0: there is none


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


def _page(content: bytes, n_values: int, encoding: int) -> bytes:
    """Return a page of data with its header."""
    encodings = [(field, _I32, _integer(value)) for field, value in ((2, encoding), (3, _RLE), (4, _RLE))]
    said: Field = (5, _STRUCT, _struct((1, _I32, _integer(n_values)), *encodings))
    return _with_header(_DATA_PAGE, content, said)


def _dictionary_page(content: bytes, n_values: int) -> bytes:
    said: Field = (7, _STRUCT, _struct((1, _I32, _integer(n_values)), (2, _I32, _integer(_PLAIN))))
    return _with_header(_DICTIONARY_PAGE, content, said)


def _with_header(kind: int, content: bytes, said: Field) -> bytes:
    size = _integer(len(content))
    return _struct((1, _I32, _integer(kind)), (2, _I32, size), (3, _I32, size), said) + content


def run_chunk(names: NDArray[np.int32], counts: NDArray[np.integer]) -> ColumnChunk:
    """Return a column of names, each repeated so many times."""
    return _coded(names.tobytes(), len(names), "INT32", runs_of(counts), int(counts.sum()))


def label_chunk(values: NDArray[np.float32], codes: NDArray[np.integer]) -> ColumnChunk:
    """Return a column of labels; ``codes`` are their places among all values of the grid."""
    return _coded(values.tobytes(), len(values), "FLOAT", packed_codes(codes, len(values)), len(codes))


def text_chunk(texts: list[str], codes: NDArray[np.integer]) -> ColumnChunk:
    """Return a column of texts; ``codes`` are their places among the given ones."""
    encoded = [text.encode() for text in texts]
    content = b"".join(len(text).to_bytes(4, "little") + text for text in encoded)
    return _coded(content, len(texts), "BYTE_ARRAY", packed_codes(codes, len(texts)), len(codes))


def _coded(values: bytes, n_values: int, kind: str, codes: bytes, n_rows: int) -> ColumnChunk:
    dictionary = _dictionary_page(values, n_values)
    data = _page(codes, n_rows, _BY_DICTIONARY)
    return ColumnChunk(dictionary + data, kind, (_PLAIN, _RLE, _BY_DICTIONARY), n_rows, len(dictionary))


def number_chunk(values: NDArray[np.int32] | NDArray[np.int64]) -> ColumnChunk:
    """Return a column of whole numbers as differences."""
    page = _page(differences(values), len(values), _DELTAS)
    return ColumnChunk(page, _KINDS[values.dtype.name], (_DELTAS,), len(values))


def plain_chunk(values: NDArray[np.float32]) -> ColumnChunk:
    """Return a column of any numbers as they are."""
    return ColumnChunk(_page(values.tobytes(), len(values), _PLAIN), "FLOAT", (_PLAIN,), len(values))


def row_group(names: list[str], chunks: list[ColumnChunk], places: list[int]) -> bytes:
    """Return the footer's entry of a row group whose chunks lie at these places of the file."""
    entries = [
        _struct((2, _I64, _integer(place)), (3, _STRUCT, _column_metadata(name, chunk, place)))
        for name, chunk, place in zip(names, chunks, places, strict=True)
    ]
    n_bytes = sum(len(chunk.pages) for chunk in chunks)
    return _struct(
        (1, _LIST, _list(_STRUCT, entries)), (2, _I64, _integer(n_bytes)), (3, _I64, _integer(chunks[0].n_values))
    )


def _column_metadata(name: str, chunk: ColumnChunk, place: int) -> bytes:
    size = _integer(len(chunk.pages))
    fields = [
        (1, _I32, _integer(_TYPES[chunk.kind])),
        (2, _LIST, _list(_I32, [_integer(encoding) for encoding in chunk.encodings])),
        (3, _LIST, _list(_BINARY, [_text(name)])),
        (4, _I32, _integer(_UNCOMPRESSED)),
        (5, _I64, _integer(chunk.n_values)),
        (6, _I64, size),
        (7, _I64, size),
        (9, _I64, _integer(place + chunk.dictionary)),
    ]
    if chunk.dictionary:
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
