"""The structure of a released Parquet file, read by our own code and written again.

Only as much of Thrift's compact protocol as metadata needs. What is read is not trusted: headers and footer are written
again from the few numbers taken out of them, and must be the same bytes. So whatever else they may say is refused.
"""

from typing import Any, NamedTuple

_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_WIDTHS = {3: 1, 7: 8}  # fixed bytes: a byte, a double
_DEEPEST = 8
PLAIN, RLE, DIFFERENCES, BY_DICTIONARY = 0, 3, 5, 8
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_WRITER = "recloak version 1"
MAGIC = b"PAR1"
INT32, INT64, FLOAT, TEXT = 1, 2, 4, 6


class WrongTableError(ValueError):
    """A table does not have the form that the format demands."""


class ChunkPlace(NamedTuple):
    """Where the pages of one column of one row group lie, as the footer says."""

    start: int
    size: int
    dictionary: int  # bytes of the dictionary's page, which comes first; 0: there is none


class RowGroup(NamedTuple):
    """A row group, as the footer says."""

    n_rows: int
    chunks: list[ChunkPlace]


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return number, place
        if shift > 63:
            raise WrongTableError("a number of its metadata is too long")


def _value(data: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (1, 2):  # a truth value stands in the field's head
        return kind == 1, place
    if kind in (4, _I32, _I64):
        number, place = _varint(data, place)
        return (number >> 1) ^ -(number & 1), place
    if kind == _BINARY:
        size, place = _varint(data, place)
        return data[place : place + size], place + size
    if kind in _WIDTHS:
        return data[place : place + _WIDTHS[kind]], place + _WIDTHS[kind]
    if kind == _LIST:
        return _entries(data, place, depth)
    if kind == _STRUCT and depth < _DEEPEST:
        return read_struct(data, place, depth + 1)
    raise WrongTableError("its metadata cannot be read")


def _entries(data: bytes, place: int, depth: int) -> tuple[list[Any], int]:
    n, kind = data[place] >> 4, data[place] & 15
    n, place = _varint(data, place + 1) if n == 15 else (n, place + 1)
    entries = []
    for _ in range(min(n, len(data))):
        entry, place = _value(data, place, kind, depth)
        entries.append(entry)
    return entries, place


def read_struct(data: bytes, place: int = 0, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Read a struct into its fields by number, and the place after it; raise WrongTableError for other bytes."""
    fields: dict[int, Any] = {}
    number = 0
    try:
        while head := data[place]:
            place += 1
            if head >> 4:
                number += head >> 4
            else:
                number, place = _varint(data, place)
            fields[number], place = _value(data, place, head & 15, depth)
    except IndexError:
        raise WrongTableError("its metadata ends too early") from None
    return fields, place + 1


def as_varint(number: int) -> bytes:
    """Write a number in its one form, seven bits a byte."""
    out = []
    while number > 0x7F:
        out.append(0x80 | number % 128)
        number //= 128
    return bytes([*out, number])


def _written(value: Any) -> tuple[int, bytes]:
    """Write a value; a tuple is the kind and the number, a dictionary is a struct."""
    if isinstance(value, dict):
        return _STRUCT, as_struct(value)
    if isinstance(value, str):
        return _BINARY, as_varint(len(value.encode())) + value.encode()
    if isinstance(value, list):
        kinds, entries = zip(*map(_written, value), strict=True)
        n = len(value)
        head = bytes([16 * n + kinds[0]]) if n < 15 else bytes([0xF0 + kinds[0]]) + as_varint(n)
        return _LIST, head + b"".join(entries)
    kind, number = value
    return kind, as_varint(2 * number)


def as_struct(fields: dict[int, Any]) -> bytes:
    """Write a struct in its one form."""
    out, last = [], 0
    for number, value in fields.items():
        kind, content = _written(value)
        out.append(bytes([16 * (number - last) + kind]) + content)
        last = number
    return b"".join(out) + b"\0"


def _int(number: int) -> tuple[int, int]:
    return _I32, number


def _long(number: int) -> tuple[int, int]:
    return _I64, number


def struct_in(fields: dict[int, Any], number: int) -> dict[int, Any]:
    """Return a field that is a struct; an empty one where it is missing or something else."""
    found = fields.get(number)
    return found if isinstance(found, dict) else {}


def number_in(fields: dict[int, Any], number: int) -> int:
    """Return a field that is a number; -1 where it is missing or something else."""
    found = fields.get(number)
    return found if type(found) is int else -1


def page_content(page: bytes, n_values: int | None, encoding: int | None) -> tuple[memoryview, int]:
    """Return what is in a page and its number of values; an encoding of None means a dictionary.

    Raises WrongTableError if the header is not the one that such a page must have.
    """
    fields, end = read_struct(page)
    if n_values is None:
        n_values = number_in(struct_in(fields, 7), 1)
    size, kind = _int(len(page) - end), _DATA_PAGE if encoding is not None else _DICTIONARY_PAGE
    about = {5: {1: _int(n_values), 2: _int(encoding), 3: _int(RLE), 4: _int(RLE)}} if encoding is not None else {
        7: {1: _int(n_values), 2: _int(PLAIN)}
    }  # fmt: skip
    if n_values < 0 or as_struct({1: _int(kind), 2: size, 3: size, **about}) != page[:end]:
        raise WrongTableError("a page's header is not the one that recloak writes")
    return memoryview(page)[end:], n_values


def read_footer(said: bytes, n_columns: int) -> tuple[list[int], list[RowGroup]]:
    """Return the columns' types and the row groups that a footer names; nothing of it is checked yet."""
    fields, _ = read_struct(said)
    try:
        types = [column[1] for column in fields[2][1:]]
        groups = [RowGroup(group[3], [_place(entry[3]) for entry in group[1]]) for group in fields[4]]
    except (LookupError, TypeError, AttributeError):
        raise WrongTableError("its footer is not the one that recloak writes") from None
    numbers = [number for group in groups for chunk in group.chunks for number in (group.n_rows, *chunk)]
    if not all(type(number) is int and number >= 0 for number in (*types, *numbers)):
        raise WrongTableError("its footer is not the one that recloak writes")
    if len(types) != n_columns or any(len(group.chunks) != n_columns for group in groups) or not groups:
        raise WrongTableError(f"it must have {n_columns} columns and at least one row group")
    return types, groups


def _place(about: dict[int, Any]) -> ChunkPlace:
    start = about.get(11, about[9])
    return ChunkPlace(start, about[7], about[9] - start)


def as_footer(names: tuple[str, ...], types: list[int], encodings: list[int], groups: list[RowGroup]) -> bytes:
    """Write the footer that such a file must have."""
    columns = [
        {1: _int(kind), 3: _int(0), 4: name} | ({6: _int(0)} if kind == TEXT else {})
        for name, kind in zip(names, types, strict=True)
    ]
    entries = [_group_entry(names, types, encodings, group) for group in groups]
    root = {4: "schema", 5: _int(len(names))}
    n_rows = sum(group.n_rows for group in groups)
    return as_struct({1: _int(2), 2: [root, *columns], 3: _long(n_rows), 4: entries, 6: _WRITER})


def _group_entry(names: tuple[str, ...], types: list[int], encodings: list[int], group: RowGroup) -> dict[int, Any]:
    entries = []
    for name, kind, encoding, (start, size, dictionary) in zip(names, types, encodings, group.chunks, strict=True):
        used = [PLAIN, RLE, BY_DICTIONARY] if encoding == BY_DICTIONARY else [encoding]
        about: dict[int, Any] = {1: _int(kind), 2: [_int(one) for one in used], 3: [name], 4: _int(0)}
        about |= {5: _long(group.n_rows), 6: _long(size), 7: _long(size), 9: _long(start + dictionary)}
        entries.append({2: _long(start), 3: about | ({11: _long(start)} if dictionary else {})})
    return {1: entries, 2: _long(sum(chunk.size for chunk in group.chunks)), 3: _long(group.n_rows)}
