"""The Netflix Prize layout: lines ``ITEM:`` and, below each, ``USER,RATING,DATE``.

Either one file per item (``mv_0000001.txt`` ...) or a few large ones (``combined_data_1.txt`` ...). Small files are
joined into blocks, so that 17,770 of them cost no more than four.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._core.threads import n_threads, workers
from recloak._ratings import text_kernels
from recloak._ratings.column_roles import NO_TIME
from recloak._ratings.delimited import BLOCK_BYTES, Ids, Parsed, parse_block, problems_of, shown, take_rows, text_blocks
from recloak._ratings.dialect import NO_QUOTES, Dialect
from recloak._ratings.opened_files import Sample, SourceFile, require_text
from recloak._ratings.options import ReadOptions
from recloak._ratings.reader import Reader
from recloak._ratings.row_buffer import RowBuffer, RowProblem

_NONE = -1  # the item of a row that stands below no item line
_DIALECT = Dialect(",", NO_QUOTES, n_head=0, n_fields=3, roles=(0, -1, 1, 2), has_header=False)
_ITEM = re.compile(rb"(0|[1-9]\d{0,17}):")
_ITEM_RULE = "an item must be a whole number of up to 18 digits and a colon"
_START = b":\n"  # put before each file, so that its rows do not fall to the item of the file before


def _matches(sample: Sample) -> bool:
    """Return whether this is a file whose first line is a whole number and a colon."""
    return any(re.fullmatch(r"[0-9]+:\s*", line) for line in sample.lines()[:1])


@dataclass(slots=True)
class _Joined:
    """Whole lines of one or several files, and where each file's part begins: offset, file, line before it."""

    data: bytearray = field(default_factory=bytearray)
    parts: list[tuple[int, Path, int]] = field(default_factory=list)

    def error_of(self, problem: RowProblem) -> SourceError:
        """Return the error of a row of the block, with its file and its line there."""
        end = -1
        for _ in range(problem.line - 1):
            end = self.data.find(b"\n", end + 1)
        offset, file, before = next(part for part in reversed(self.parts) if part[0] <= end + 1)
        line = before + self.data.count(b"\n", offset, end + 1) + 1
        return SourceError(problem.rule, file=file, line=line, value=problem.value)


def _read_netflix(files: Sequence[SourceFile], rows: RowBuffer, options: ReadOptions) -> Iterator[float]:
    """Add the rows of all files to a buffer, yielding the megabytes read."""
    dialect = _dialect(options, files[0].path)
    item = _NONE
    with workers(n_threads()) as pool:
        waiting: deque[tuple[_Joined, Future[Parsed]]] = deque()
        for block in _blocks(files):
            waiting.append((block, pool.submit(parse_block, block.data, len(block.data), dialect)))
            if len(waiting) > n_threads():
                item = _take(*waiting.popleft(), item, rows)
            yield len(block.data) / 1e6
        while waiting:
            item = _take(*waiting.popleft(), item, rows)


def _dialect(options: ReadOptions, path: Path) -> Dialect:
    """Return how rows are read; no column can be named but ``time="none"``."""
    named = [role for role, name in options.columns().items() if name is not None and (role, name) != ("time", NO_TIME)]
    if named:
        raise SourceError(f"{named[0]}=... is not for the Netflix layout, whose columns have no names", file=path)
    return _DIALECT if options.time is None else replace(_DIALECT, roles=(0, -1, 1, -1))


def _blocks(files: Sequence[SourceFile]) -> Iterator[_Joined]:
    """Join small files and cut large ones into blocks of whole lines."""
    block = _Joined()
    for file in files:
        require_text(file.sample())
        line, before = -1, _START  # the line put before the file is none of its own
        with file.stream() as stream:
            for part in text_blocks(stream, 0, file.longest_line):
                text = before + part.data[: part.stop]
                if text and not text.endswith(b"\n"):
                    text += b"\n"
                block.parts.append((len(block.data), file.path, line))
                block.data += text
                line, before = line + text.count(b"\n"), b""
                if len(block.data) >= BLOCK_BYTES or part.refused:
                    yield block
                    block = _Joined()
                if part.refused:
                    raise SourceError(part.refused, file=file.path, line=line + 1)
        file.close()
    yield block


def _take(block: _Joined, future: Future[Parsed], item: int, rows: RowBuffer) -> int:
    """Add a block whose first rows belong to the item carried over; return the item to carry on."""
    parsed = future.result()
    items, others, item, wrong = _items(parsed, item)
    numbered = Ids(parsed.users.starts, parsed.users.ends, items, all_whole=True, one_empty=False)
    parsed = replace(parsed, items=numbered, places=parsed.places[others])
    problems = [*problems_of(parsed, 3, rows.bounds), *wrong, *_bad_ids(parsed)]
    rows.refuse(problems, block.error_of)
    take_rows(rows, parsed, problems)
    return item


def _items(parsed: Parsed, carried: int) -> tuple[NDArray[np.int64], NDArray[np.bool_], int, list[RowProblem]]:
    """Return the item of each row, which places are no line with an item, the last item, and what is no item."""
    others = np.ones(len(parsed.places), np.bool_)
    items, starts, wrong = [carried], [0], []
    for place, (kind, line, start, end, row, count) in enumerate(parsed.places.tolist()):
        if kind == text_kernels.FIELDS and count == 1:
            text = parsed.buffer[start:end].tobytes().strip()
            if text.endswith(b":"):
                others[place] = False
                is_item = _ITEM.fullmatch(text) is not None
                if not is_item and text != _START.strip():
                    wrong.append(RowProblem(line, _ITEM_RULE, shown(text), None))
                items.append(int(text[:-1]) if is_item else _NONE)
                starts.append(row)
    counts = np.diff([*starts, len(parsed.values)])
    return np.repeat(np.array(items, np.int64), counts), others, items[-1], wrong


def _bad_ids(parsed: Parsed) -> Iterator[RowProblem]:
    for row in np.flatnonzero(parsed.items.numbers == _NONE).tolist():
        rule = "a rating must stand below a line with its item, such as '1:'"
        yield RowProblem(int(parsed.lines[row]), rule, None, row)
    if not parsed.users.all_whole:
        for row, (start, end) in enumerate(zip(parsed.users.starts.tolist(), parsed.users.ends.tolist(), strict=True)):
            text = parsed.buffer[start:end].tobytes()
            if not re.fullmatch(rb"0|-?[1-9]\d{0,17}", text):
                rule = "a user's id must be a whole number in this layout"
                yield RowProblem(int(parsed.lines[row]), rule, shown(text), row)


READER = Reader(
    name="netflix",
    title="Netflix",
    text="the Netflix Prize: lines `ITEM:` and, below each, `USER,RATING,DATE`; one file per item or a few large ones",
    matches=_matches,
    files=_read_netflix,
)
