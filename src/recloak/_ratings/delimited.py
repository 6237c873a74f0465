"""Delimited text in blocks: threads parse whole blocks with the compiled kernels, rows are added in file order."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._core.threads import n_threads, workers
from recloak._ratings import text_kernels
from recloak._ratings.dialect import NO_QUOTES, QUOTES, Dialect
from recloak._ratings.numbering import Numbering
from recloak._ratings.opened_files import LONGEST_LINE, too_long
from recloak._ratings.row_buffer import RowBuffer, RowProblem
from recloak._ratings.times import number_of, seconds_of
from recloak._ratings.value_meaning import Bounds

BLOCK_BYTES = 1 << 21  # a block and what it is split into stay in a core's cache
_SHORT = 11  # digits that every kernel takes for a plain whole number
_SHOWN = 60  # characters of a value in a message
_LONGEST_RECORD = 1 << 26  # bytes of a record with quotes, which is parsed again with every block that it goes on in
OPEN_QUOTE = "a quote is opened and never closed"
_COMMA = " with a decimal point, not a comma"
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
NUL = "a line must not hold a NUL byte"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Some whole lines of a file; after them comes one that cannot be read, where ``refused`` says why."""

    data: bytearray
    stop: int
    is_last: bool
    refused: str | None = None


def read_delimited(
    stream: BinaryIO, path: Path, dialect: Dialect, rows: RowBuffer, *, longest: int = LONGEST_LINE
) -> Iterator[float]:
    """Add the rows of an open file to a buffer, yielding the megabytes read; ``path`` is what messages call it."""
    rows.valued_by(dialect.value_name)
    taker = _Taker(path, dialect, rows, longest)
    with workers(n_threads()) as pool:
        waiting: deque[Future[Parsed]] = deque()
        for block in text_blocks(stream, dialect.n_head, longest):
            if taker.is_open or (dialect.quoting == QUOTES and block.data.find(b'"', 0, block.stop) >= 0):
                while waiting:
                    taker.take(waiting.popleft().result())
                taker.take_quoted(block)
            else:
                waiting.append(pool.submit(parse_block, block.data, block.stop, dialect))
            while len(waiting) > (0 if block.refused else n_threads()):
                taker.take(waiting.popleft().result())
            if block.refused:
                raise SourceError(block.refused, file=path, line=taker.next_line)
            yield block.stop / 1e6
        while waiting:
            taker.take(waiting.popleft().result())
        taker.end()


def text_blocks(stream: BinaryIO, n_head: int, longest: int) -> Iterator[TextBlock]:
    """Cut a stream after a line feed into blocks; the head is left out. A block grows as long as a line goes on."""
    rest, wanted = _after_head(stream, n_head), BLOCK_BYTES
    while True:
        data = bytearray(len(rest) + wanted)
        data[: len(rest)] = rest
        stop = len(rest) + _fill(stream, memoryview(data)[len(rest) :])
        is_last = stop < len(data)
        cut = stop if is_last else data.rfind(b"\n", len(rest), stop) + 1
        if (refused := _refused_line(data, stop, longest)) is not None:
            yield TextBlock(data, refused[0], True, refused[1])
            return
        if cut or is_last:
            yield TextBlock(data, cut, is_last)
        if is_last:
            return
        rest, wanted = bytes(data[cut:stop]), max(BLOCK_BYTES, 0 if cut else stop)


def _refused_line(data: bytearray, stop: int, longest: int) -> tuple[int, str] | None:
    """Find the first line that is too long or no text; return where it begins, and the rule that it breaks."""
    found = [(data.rfind(b"\n", 0, nul) + 1, NUL) for nul in (data.find(0, 0, stop),) if nul >= 0]
    for inside in range(longest, stop, longest):  # a line that is too long holds such a byte
        begin, end = data.rfind(b"\n", 0, inside) + 1, data.find(b"\n", inside, stop)
        if (stop if end < 0 else end) - begin > longest:
            found.append((begin, too_long(longest)))
            break
    return min(found, default=None)


def _fill(stream: BinaryIO, view: memoryview) -> int:
    """Read until the view is full or the stream ends; packed streams give less than they are asked for."""
    n = 0
    while n < len(view):
        got = stream.readinto(view[n:])  # type: ignore[attr-defined]
        if not got:
            break
        n += got
    return n


def _after_head(stream: BinaryIO, n_head: int) -> bytes:
    """Pass over the head's lines and a byte order mark; return what was read of the data."""
    if n_head:
        for _ in range(n_head):
            stream.readline()
        return b""
    return stream.read(3).removeprefix(b"\xef\xbb\xbf")


class _Taker:
    """Takes parsed blocks of one file into the rows, in order, and counts lines on the way."""

    def __init__(self, path: Path, dialect: Dialect, rows: RowBuffer, longest: int) -> None:
        self._path, self._dialect, self._rows = path, dialect, rows
        self._longest = min(longest, _LONGEST_RECORD)
        self._line = dialect.n_head
        self._rest = b""

    @property
    def is_open(self) -> bool:
        """Whether a quote of the last block is still open."""
        return bool(self._rest)

    @property
    def next_line(self) -> int:
        """The number of the line after all that were taken."""
        return self._line + self._rest.count(b"\n") + 1

    def take_quoted(self, block: TextBlock) -> None:
        """Take in a block with quotes: a quoted field may span lines, so a record may go on in the next block."""
        data = bytearray(self._rest) + block.data[: block.stop]
        self._rest = b""
        while data:
            parsed = parse_block(data, len(data), self._dialect)
            self.take(parsed)
            data = data[parsed.rest :]
            if data and len(data) <= self._longest and not block.is_last:
                self._rest = bytes(data)
                return
            if data:
                self._refuse([RowProblem(1, OPEN_QUOTE, shown(data.partition(b"\n")[0]), None)])
                self._line += 1
                data = data[(data.find(b"\n") + 1) or len(data) :]

    def end(self) -> None:
        """Take in a record whose quote was still open when the file ended."""
        self.take_quoted(TextBlock(bytearray(), 0, True))

    def take(self, parsed: Parsed) -> None:
        """Take in what a block holds."""
        problems = problems_of(parsed, self._dialect.n_fields, self._rows.bounds)
        self._refuse(problems)
        take_rows(self._rows, parsed, problems)
        self._line += parsed.n_lines

    def _refuse(self, problems: list[RowProblem]) -> None:
        self._rows.refuse(problems, self._error_of)

    def _error_of(self, problem: RowProblem) -> SourceError:
        return SourceError(problem.rule, file=self._path, line=self._line + problem.line, value=problem.value)


def take_rows(rows: RowBuffer, parsed: Parsed, problems: list[RowProblem]) -> None:
    """Take in the rows of a block that have no problem."""
    users, items, values, times = parsed.users, parsed.items, parsed.values, parsed.times
    if problems:
        keep = np.ones(len(values), np.bool_)
        keep[[problem.row for problem in problems if problem.row is not None]] = False
        users, items = users.only(parsed.buffer, keep), items.only(parsed.buffer, keep)
        values, times = values[keep], None if times is None else times[keep]
    _number(rows.users, users, parsed.buffer)
    _number(rows.items, items, parsed.buffer)
    rows.add(values, times)


def _number(numbering: Numbering, ids: Ids, buffer: NDArray[np.uint8]) -> None:
    if ids.all_whole and not numbering.is_text:
        numbering.add_numbers(ids.numbers)
    else:
        numbering.add_texts(buffer, ids.starts, ids.ends)


def problems_of(parsed: Parsed, n_fields: int, bounds: Bounds | None) -> list[RowProblem]:
    """Read what is odd in a block and list the rows that cannot be right."""
    return [*_bad_or_odd(parsed, n_fields), *_empty_ids(parsed), *_outside(parsed, bounds)]


def _bad_or_odd(parsed: Parsed, n_fields: int) -> Iterator[RowProblem]:
    for kind, line, start, end, row, count in parsed.places.tolist():
        if kind == text_kernels.FIELDS:
            yield RowProblem(line, f"a row must have {n_fields} fields", count, None)
            continue
        raw = parsed.buffer[start:end].tobytes()
        text = raw.decode("utf-8", "backslashreplace").strip()
        rule = _read_rating(text, parsed, row) if kind == text_kernels.RATING else _read_time(text, parsed, row)
        if rule is not None:
            yield RowProblem(line, rule, shown(raw) or None, row)


def _empty_ids(parsed: Parsed) -> Iterator[RowProblem]:
    for role, ids in (("user", parsed.users), ("item", parsed.items)):
        if ids.one_empty:
            for row in np.flatnonzero(ids.starts == ids.ends).tolist():
                yield RowProblem(int(parsed.lines[row]), f"the {role}'s id must not be empty", None, row)


def _outside(parsed: Parsed, bounds: Bounds | None) -> Iterator[RowProblem]:
    """Find values outside what is known of them."""
    if bounds is None:
        return
    for row, value in bounds.broken(parsed.values):
        yield RowProblem(int(parsed.lines[row]), bounds.rule, value, row)


def shown(raw: bytes | bytearray) -> str:
    """Return bytes as text for a message, the beginning of a long one."""
    text = bytes(raw).decode("utf-8", "backslashreplace").strip()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _read_rating(text: str, parsed: Parsed, row: int) -> str | None:
    """Read a rating that is not a plain decimal; return the rule it breaks, if any."""
    if not text:
        return "a rating must not be empty"
    number = number_of(text)
    if number is None:
        return "a rating must be a number" + _COMMA * bool(_DECIMAL_COMMA.fullmatch(text))
    with np.errstate(over="ignore"):
        parsed.values[row] = number
    return None if np.isfinite(parsed.values[row]) else "a rating must be a finite number"


def _read_time(text: str, parsed: Parsed, row: int) -> str | None:
    """Read a time that is neither plain seconds nor a plain ISO date; return the rule it breaks, if any."""
    if not text:
        return "a time must not be empty (time='none' leaves times out)"
    seconds = seconds_of(text)
    if seconds is None:
        return "a time must be in seconds, milliseconds or an ISO date (time='none' leaves times out)"
    assert parsed.times is not None
    parsed.times[row] = seconds
    return None


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a block: where each starts and ends, and the whole number it is, if it is one."""

    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    numbers: NDArray[np.int64]
    all_whole: bool
    one_empty: bool

    def only(self, buffer: NDArray[np.uint8], keep: NDArray[np.bool_]) -> Ids:
        """Return the ids of some rows; what the others held does not make these texts."""
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
    values, times = np.ones(len(fields.lines), np.float32), None
    if dialect.roles[text_kernels.RATED] >= 0:
        n_places = _read(text_kernels.read_ratings, buffer, fields, text_kernels.RATED, values, places, n_places)
    if dialect.roles[text_kernels.TIMED] >= 0:
        times = np.empty(len(values), np.int64)
        n_places = _read(text_kernels.read_times, buffer, fields, text_kernels.TIMED, times, places, n_places)
    return Parsed(buffer, users, items, values, times, fields.lines, places[:n_places], n_lines, rest)


def _split(
    buffer: NDArray[np.uint8], data: bytearray, stop: int, dialect: Dialect, most: int, places: NDArray[np.int32]
) -> tuple[_Fields, int, int, int]:
    """Return the fields of the lines, the number of places and of lines, and where an unfinished record begins."""
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
    """Read one column and return the number of places after it.

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
