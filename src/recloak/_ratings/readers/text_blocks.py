"""A block of delimited text, parsed by the compiled kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._ratings.readers import text_kernels
from recloak._ratings.readers.dialect import NO_QUOTES, Dialect

_SHORT = 11  # digits that every kernel takes for a plain whole number


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a block: where each starts and ends, and the whole number it is, if it is one."""

    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    numbers: NDArray[np.int64]
    all_whole: bool
    one_empty: bool

    def only(self, buffer: NDArray[np.uint8], keep: NDArray[np.bool_]) -> Ids:
        """Give the ids of some rows; what the others held does not make these texts."""
        starts, ends = self.starts[keep], self.ends[keep]
        if self.all_whole:
            return Ids(starts, ends, self.numbers[keep], all_whole=True, one_empty=False)
        return _read_ids(buffer, starts, ends, np.zeros(len(starts), np.uint64), np.full(len(starts), 255, np.uint8))


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was found in a block; lines count from 1 inside it."""

    buffer: NDArray[np.uint8]
    users: Ids
    items: Ids
    values: NDArray[np.float32]
    times: NDArray[np.int64] | None
    lines: NDArray[np.int32]
    places: NDArray[np.int32]  # (n_places, 6): what is bad or odd
    n_lines: int
    rest: int  # where a record begins whose quote does not close


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of each row that are read, by role."""

    starts: NDArray[np.int32]  # (4, n_rows)
    ends: NDArray[np.int32]  # (4, n_rows)
    wholes: NDArray[np.uint64]  # (4, n_rows) the number that the digits make
    odds: NDArray[np.uint8]  # (4, n_rows) how many bytes are no digits
    lines: NDArray[np.int32]  # (n_rows,)


def parse_block(data: bytearray, stop: int, dialect: Dialect) -> Parsed:
    """Parse the lines of ``data[:stop]``."""
    buffer = np.frombuffer(data, np.uint8)
    most = int(np.count_nonzero(buffer[:stop] == text_kernels.LF)) + 1
    places = np.empty((2 * most, 6), np.int32)  # a line is bad itself or has an odd rating and an odd time
    fields, n_places, n_lines, rest = _split(buffer, data, stop, dialect, most, places)
    users = _ids(buffer, fields, text_kernels.USER)
    items = _ids(buffer, fields, text_kernels.ITEM) if dialect.roles[text_kernels.ITEM] >= 0 else users
    values, times = np.empty(len(fields.lines), np.float32), None
    n_places = _read(text_kernels.read_ratings, buffer, fields, text_kernels.RATED, values, places, n_places)
    if dialect.roles[text_kernels.TIMED] >= 0:
        times = np.empty(len(values), np.int64)
        n_places = _read(text_kernels.read_times, buffer, fields, text_kernels.TIMED, times, places, n_places)
    return Parsed(buffer, users, items, values, times, fields.lines, places[:n_places], n_lines, rest)


def _split(
    buffer: NDArray[np.uint8], data: bytearray, stop: int, dialect: Dialect, most: int, places: NDArray[np.int32]
) -> tuple[_Fields, int, int, int]:
    """Split the lines into fields; give these, the number of places and of lines, and where a record is unfinished."""
    starts, ends = np.empty((4, most), np.int32), np.empty((4, most), np.int32)
    wholes, odds = np.empty((4, most), np.uint64), np.empty((4, most), np.uint8)
    lines = np.empty(most, np.int32)
    role_of = np.full(dialect.n_fields + 1, -1, np.int64)
    for role, column in enumerate(dialect.roles):
        if column >= 0:
            role_of[column] = role
    separator = np.frombuffer(bytearray(dialect.separator.encode()), np.uint8)
    quoting = dialect.quoting if data.find(b'"', 0, stop) >= 0 else NO_QUOTES
    rest = stop
    if quoting == NO_QUOTES and len(separator):
        first, second = separator[0], separator[1] if len(separator) > 1 else np.uint8(0)
        n, n_places, n_lines = text_kernels.split_plain(
            buffer, stop, first, second, dialect.n_fields, role_of, starts, ends, wholes, odds, lines, places
        )
    else:
        n, n_places, n_lines, rest = text_kernels.split_quoted(
            buffer, stop, separator, quoting, dialect.n_fields, role_of, starts, ends, odds, lines, places
        )
    fields = _Fields(starts[:, :n], ends[:, :n], wholes[:, :n], odds[:, :n], lines[:n])
    return fields, n_places, n_lines, rest


def _read(
    kernel: Any, buffer: NDArray[np.uint8], fields: _Fields, role: int, out: NDArray[Any], places: Any, n_places: int
) -> int:
    """Read one column; give the number of places after it.

    Where all are short whole numbers they are read already, and what reads others is not even compiled.
    """
    starts, ends, wholes, odds = (by_role[role] for by_role in (fields.starts, fields.ends, fields.wholes, fields.odds))
    if not odds.any() and ((lengths := ends - starts) > 0).all() and lengths.max(initial=1) <= _SHORT:
        out[:] = wholes
        return n_places
    return int(kernel(buffer, starts, ends, wholes, odds, fields.lines, out, places, n_places))


def _ids(buffer: NDArray[np.uint8], fields: _Fields, role: int) -> Ids:
    return _read_ids(buffer, fields.starts[role], fields.ends[role], fields.wholes[role], fields.odds[role])


def _read_ids(
    buffer: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    wholes: NDArray[np.uint64],
    odds: NDArray[np.uint8],
) -> Ids:
    numbers = np.empty(len(starts), np.int64)
    all_whole, one_empty = text_kernels.read_ids(buffer, starts, ends, wholes, odds, numbers)
    return Ids(starts, ends, numbers, all_whole, one_empty)
