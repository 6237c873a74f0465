"""The bytes of a released table, worked out the obvious way from docs/files.md: whole numbers and joined texts only.

It shares nothing with the writer or the verifier, and takes a thousand times as long.
"""

import struct
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import polars as pl

BLOCK_CELLS = 4_000_000
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
TYPES = {pl.Int32: 1, pl.Int64: 2, pl.Float32: 4, pl.String: 6}


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + varint(number // 128)


def zigzag(number: int) -> bytes:
    return varint(2 * number if number >= 0 else -2 * number - 1)


def i32(number: int) -> tuple[int, bytes]:
    return I32, zigzag(number)


def i64(number: int) -> tuple[int, bytes]:
    return I64, zigzag(number)


def text(content: str) -> tuple[int, bytes]:
    return BINARY, varint(len(content.encode())) + content.encode()


def list_of(entries: list[tuple[int, bytes]]) -> tuple[int, bytes]:
    kind, n = entries[0][0], len(entries)
    head = bytes([n * 16 + kind]) if n < 15 else bytes([240 + kind]) + varint(n)
    return LIST, head + b"".join(content for _, content in entries)


def struct_of(fields: dict[int, tuple[int, bytes]]) -> tuple[int, bytes]:
    out, last = b"", 0
    for number in sorted(fields):
        out += bytes([(number - last) * 16 + fields[number][0]]) + fields[number][1]
        last = number
    return STRUCT, out + b"\0"


def page(kind: int, content: bytes, about: dict[int, tuple[int, bytes]], field: int) -> bytes:
    head = {1: i32(kind), 2: i32(len(content)), 3: i32(len(content)), field: struct_of(about)}
    return struct_of(head)[1] + content


def data_page(content: bytes, n: int, encoding: int) -> bytes:
    return page(0, content, {1: i32(n), 2: i32(encoding), 3: i32(3), 4: i32(3)}, 5)


def bits(numbers: list[int], width: int, n_bytes: int) -> bytes:
    return sum(number << width * place for place, number in enumerate(numbers)).to_bytes(n_bytes, "little")


def width_of(n: int) -> int:
    return max(1, (n - 1).bit_length())


def packed(codes: list[int], n_words: int) -> bytes:
    eights, width = -(-len(codes) // 8), width_of(n_words)
    return bytes([width]) + varint(2 * eights + 1) + bits(codes, width, eights * width)


def differences(values: list[int], n_bits: int) -> bytes:
    half, whole = 1 << (n_bits - 1), 1 << n_bits
    steps = [(b - a + half) % whole - half for a, b in pairwise(values)]
    out = varint(128) + varint(4) + varint(len(values)) + zigzag(values[0])
    for start in range(0, len(steps), 128):
        block = steps[start : start + 128]
        parts = [[step - min(block) for step in block[q : q + 32]] for q in (0, 32, 64, 96)]
        widths = [max((step.bit_length() for step in part), default=0) for part in parts]
        out += zigzag(min(block)) + bytes(widths)
        out += b"".join(bits(part, width, 4 * width) for part, width in zip(parts, widths, strict=True))
    return out


def dictionary_page(words: list[Any], kind: Any) -> bytes:
    plain = [plain_word(word, kind) for word in words]
    return page(2, b"".join(plain), {1: i32(len(words)), 2: i32(0)}, 7)


def plain_word(word: Any, kind: Any) -> bytes:
    if kind == pl.String:
        return struct.pack("<I", len(word.encode())) + word.encode()
    return struct.pack({pl.Int32: "<i", pl.Int64: "<q", pl.Float32: "<f"}[kind], word)


def chunk(column: pl.Series, stored: str, grid: list[float] | None) -> tuple[bytes, int, list[int]]:
    """Give the pages of a column, the size of its dictionary and its encodings."""
    values, kind = column.to_list(), column.dtype
    if stored == "names":
        runs = [(name, len(list(group))) for name, group in groupby(values)]
        n_bytes = (width_of(len(runs)) + 7) // 8
        counts = [varint(2 * n) + place.to_bytes(n_bytes, "little") for place, (_, n) in enumerate(runs)]
        content, words = bytes([width_of(len(runs))]) + b"".join(counts), [name for name, _ in runs]
    elif stored == "items" and kind == pl.String:
        words = sorted(set(values))
        content = packed([words.index(value) for value in values], len(words))
    elif stored == "labels" and grid is not None:
        words = grid if set(values) <= set(grid) else sorted(set(values))
        content = packed([words.index(value) for value in values], len(words))
    elif stored == "decimals":
        words = sorted(set(values))
        content = packed([words.index(value) for value in values], len(words))
    elif kind == pl.Float32:
        return data_page(b"".join(plain_word(value, kind) for value in values), len(values), 0), 0, [0]
    else:
        n_bits = 32 if kind == pl.Int32 else 64
        return data_page(differences(values, n_bits), len(values), 5), 0, [5]
    dictionary = dictionary_page(words, kind)
    return dictionary + data_page(content, len(values), 8), len(dictionary), [0, 3, 8]


def row_groups(table: pl.DataFrame, named: bool, most: int) -> list[pl.DataFrame]:
    """Cut a table into as many whole rows as fit."""
    sizes = [len(list(group)) for _, group in groupby(table[:, 0])] if named else [1] * len(table)
    cuts, size = [0], 0
    for n in sizes:
        if size and size + n > most:
            cuts.append(cuts[-1] + size)
            size = 0
        size += n
    return [table[start:stop] for start, stop in pairwise([*cuts, len(table)])]


def grid_of(manifest: dict[str, Any]) -> list[float] | None:
    if manifest["grid"] is None:
        return None
    low, high, step = manifest["scale"]["low"], manifest["scale"]["high"], manifest["grid"]
    n = int((high - low) / step + 1e-6) + 1
    return [float(np.float32(round(low + place * step, 6) + 0.0)) for place in range(n)]


def parquet_bytes(
    table: pl.DataFrame, stored: dict[str, str], grid: list[float] | None, most: int = BLOCK_CELLS
) -> bytes:
    """Write a table as Parquet."""
    out, entries = b"PAR1", []
    for group in row_groups(table, "names" in stored.values(), most):
        columns, total = [], 0
        for name in group.columns:
            made = chunk(group[name], stored[name], grid)
            columns.append(column_entry(name, group[name], made, len(out)))
            out += made[0]
            total += len(made[0])
        entries.append(struct_of({1: list_of(columns), 2: i64(total), 3: i64(len(group))}))
    schema = [struct_of({4: text("schema"), 5: i32(len(table.columns))})]
    for name, kind in table.schema.items():
        said = {1: i32(TYPES[type(kind)]), 3: i32(0), 4: text(name)}
        schema.append(struct_of(said | ({6: i32(0)} if kind == pl.String else {})))
    about = {1: i32(2), 2: list_of(schema), 3: i64(len(table)), 4: list_of(entries), 6: text("recloak version 1")}
    footer = struct_of(about)[1]
    return out + footer + struct.pack("<I", len(footer)) + b"PAR1"


def column_entry(name: str, column: pl.Series, made: tuple[bytes, int, list[int]], place: int) -> tuple[int, bytes]:
    pages, dictionary, encodings = made
    about = {
        1: i32(TYPES[type(column.dtype)]), 2: list_of([i32(one) for one in encodings]), 3: list_of([text(name)]),
        4: i32(0), 5: i64(len(column)), 6: i64(len(pages)), 7: i64(len(pages)), 9: i64(place + dictionary),
    }  # fmt: skip
    return struct_of({2: i64(place), 3: struct_of(about | ({11: i64(place)} if dictionary else {}))})


def csv_cell(value: Any, kind: Any) -> str:
    if kind == pl.String:
        return '"' + value.replace('"', '""') + '"'
    if kind == pl.Float32:
        return np.format_float_positional(np.float32(value) + np.float32(0), trim="0")
    return str(value)


def csv_bytes(table: pl.DataFrame) -> bytes:
    """Write a table as CSV."""
    lines = [",".join(f'"{name}"' for name in table.columns)]
    kinds = list(table.schema.values())
    lines += [",".join(csv_cell(value, kind) for value, kind in zip(row, kinds, strict=True)) for row in table.rows()]
    return ("\n".join(lines) + "\n").encode()
