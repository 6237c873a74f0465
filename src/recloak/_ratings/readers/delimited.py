"""Reading delimited text in blocks: threads parse whole blocks, their rows are taken in in file order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._core.progress import Advance
from recloak._core.threads import workers
from recloak._ratings.model import Scale
from recloak._ratings.numbering import Numbering
from recloak._ratings.readers import text_kernels
from recloak._ratings.readers.dialect import QUOTES, Dialect
from recloak._ratings.readers.source_files import unpacked
from recloak._ratings.readers.text_blocks import Ids, Parsed, parse_block
from recloak._ratings.readers.times import number_of, seconds_of
from recloak._ratings.row_buffer import RowBuffer
from recloak._ratings.thread_count import n_threads

BLOCK_BYTES = 1 << 21  # a block and what it is split into stay in a core's cache
_SHOWN = 60  # characters of a value in a message
MAX_RECORD = 1 << 20  # bytes; a quote that stays open for longer was never meant to span lines


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Some whole lines of a file."""

    data: bytearray
    stop: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that cannot be right."""

    line: int
    rule: str
    value: object | None
    row: int | None  # its number in the block; None where its line is no row


def read_delimited(
    path: Path, dialect: Dialect, rows: RowBuffer, *, scale: Scale | None, skip_bad: bool, advance: Advance
) -> None:
    """Take the rows of a file in."""
    taker = _Taker(path, dialect, rows, scale, skip_bad)
    with unpacked(path) as stream, workers(n_threads()) as pool:
        waiting: deque[Future[Parsed]] = deque()
        for block in _blocks(stream, dialect):
            if taker.is_open or (dialect.quoting == QUOTES and block.data.find(b'"', 0, block.stop) >= 0):
                while waiting:
                    taker.take(waiting.popleft().result())
                taker.take_quoted(block)
            else:
                waiting.append(pool.submit(parse_block, block.data, block.stop, dialect))
            if len(waiting) > n_threads():
                taker.take(waiting.popleft().result())
            advance(block.stop / 1e6)
        while waiting:
            taker.take(waiting.popleft().result())
        taker.end()


def _blocks(stream: BinaryIO, dialect: Dialect) -> Iterator[TextBlock]:
    """Cut a stream after a line feed into blocks; the head is left out."""
    rest = _after_head(stream, dialect.n_head)
    while True:
        data = bytearray(len(rest) + BLOCK_BYTES)
        data[: len(rest)] = rest
        n = _fill(stream, memoryview(data)[len(rest) :])
        stop = len(rest) + n
        if n < BLOCK_BYTES:
            yield TextBlock(data, stop, True)
            return
        cut = data.rfind(b"\n", 0, stop) + 1
        rest = bytes(data[cut:stop])
        if cut:
            yield TextBlock(data, cut, False)


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
    """Pass over the head's lines and a byte order mark; give what was read of the data."""
    if n_head:
        for _ in range(n_head):
            stream.readline()
        return b""
    return stream.read(3).removeprefix(b"\xef\xbb\xbf")


class _Taker:
    """Takes parsed blocks of one file into the rows, in order, and counts lines on the way."""

    def __init__(self, path: Path, dialect: Dialect, rows: RowBuffer, scale: Scale | None, skip_bad: bool) -> None:
        self._path, self._dialect, self._rows, self._scale, self._skip_bad = path, dialect, rows, scale, skip_bad
        self._line = dialect.n_head
        self._rest = b""

    @property
    def is_open(self) -> bool:
        """Whether a quote of the last block is still open."""
        return bool(self._rest)

    def take_quoted(self, block: TextBlock) -> None:
        """Take in a block with quotes: a quoted field may span lines, so a record may go on in the next block."""
        data = bytearray(self._rest) + block.data[: block.stop]
        self._rest = b""
        while data:
            parsed = parse_block(data, len(data), self._dialect)
            self.take(parsed)
            data = data[parsed.rest :]
            if data and len(data) <= MAX_RECORD and not block.is_last:
                self._rest = bytes(data)
                return
            if data:
                self._refuse(
                    [RowProblem(1, "a quote is opened and never closed", shown(data.partition(b"\n")[0]), None)]
                )
                self._line += 1
                data = data[(data.find(b"\n") + 1) or len(data) :]

    def end(self) -> None:
        """Take in a record whose quote was still open when the file ended."""
        self.take_quoted(TextBlock(bytearray(), 0, True))

    def take(self, parsed: Parsed) -> None:
        """Take in what a block holds."""
        problems = problems_of(parsed, self._dialect.n_fields, self._scale)
        self._refuse(problems)
        take_rows(self._rows, parsed, problems)
        self._line += parsed.n_lines

    def _refuse(self, problems: list[RowProblem]) -> None:
        refuse(problems, self._rows, lambda line: (self._path, self._line + line), skip_bad=self._skip_bad)


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


def refuse(
    problems: list[RowProblem], rows: RowBuffer, locate: Callable[[int], tuple[Path, int]], *, skip_bad: bool
) -> None:
    """Stop at the first problem, or count them."""
    if problems and not skip_bad:
        first = min(problems, key=lambda problem: problem.line)
        file, line = locate(first.line)
        raise SourceError(first.rule, file=file, line=line, value=first.value)
    rows.n_skipped += len({problem.line for problem in problems})


def problems_of(parsed: Parsed, n_fields: int, scale: Scale | None) -> list[RowProblem]:
    """Read what is odd in a block and list the rows that cannot be right."""
    return [*_bad_or_odd(parsed, n_fields), *_empty_ids(parsed), *_outside(parsed, scale)]


def _bad_or_odd(parsed: Parsed, n_fields: int) -> Iterator[RowProblem]:
    for kind, line, start, end, row, count in parsed.places.tolist():
        if kind == text_kernels.FIELDS:
            yield RowProblem(line, f"a row must have {n_fields} fields", count, None)
            continue
        text = shown(parsed.buffer[start:end].tobytes())
        rule = _read_rating(text, parsed, row) if kind == text_kernels.RATING else _read_time(text, parsed, row)
        if rule is not None:
            yield RowProblem(line, rule, text or None, row)


def _empty_ids(parsed: Parsed) -> Iterator[RowProblem]:
    for role, ids in (("user", parsed.users), ("item", parsed.items)):
        if ids.one_empty:
            for row in np.flatnonzero(ids.starts == ids.ends).tolist():
                yield RowProblem(int(parsed.lines[row]), f"the {role}'s id must not be empty", None, row)


def _outside(parsed: Parsed, scale: Scale | None) -> Iterator[RowProblem]:
    """Find ratings outside the scale that was given."""
    if scale is None:
        return
    low, high = np.float32(scale.low), np.float32(scale.high)
    rule = f"a rating must lie between {scale.low:g} and {scale.high:g}"
    for row in np.flatnonzero((parsed.values < low) | (parsed.values > high)).tolist():
        yield RowProblem(int(parsed.lines[row]), rule, float(f"{parsed.values[row]:.7g}"), row)


def shown(raw: bytes | bytearray) -> str:
    """Give bytes as text for a message, the beginning of a long one."""
    text = bytes(raw).decode("utf-8", "backslashreplace").strip()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _read_rating(text: str, parsed: Parsed, row: int) -> str | None:
    """Read a rating that is not a plain decimal; give the rule it breaks, if any."""
    if not text:
        return "a rating must not be empty"
    number = number_of(text)
    if number is None:
        return "a rating must be a number"
    with np.errstate(over="ignore"):
        parsed.values[row] = number
    return None if np.isfinite(parsed.values[row]) else "a rating must be a finite number"


def _read_time(text: str, parsed: Parsed, row: int) -> str | None:
    """Read a time that is neither plain seconds nor a plain ISO date; give the rule it breaks, if any."""
    if not text:
        return "a time must not be empty (time='none' leaves times out)"
    seconds = seconds_of(text)
    if seconds is None:
        return "a time must be in seconds, milliseconds or an ISO date (time='none' leaves times out)"
    assert parsed.times is not None
    parsed.times[row] = seconds
    return None
