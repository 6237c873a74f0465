"""The Netflix Prize layout: lines ``ITEM:`` and, below each, ``USER,RATING,DATE``.

Either one file per item (``mv_0000001.txt`` ...) or a few large ones (``combined_data_1.txt`` ...). Small files are
joined into blocks, so that 17,770 of them cost no more than four.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from recloak.progress import Advance
from recloak.ratings.readers import kernels
from recloak.ratings.readers.delimited import BLOCK_BYTES, Parsed, problems_of, refuse, take_rows
from recloak.ratings.readers.options import ReadOptions
from recloak.ratings.readers.sources import Sample, unpacked
from recloak.ratings.rows import Rows
from recloak.ratings.threads import n_threads

_START = b":\n"  # put before each file, so that its rows do not fall to the item of the file before


def matches(sample: Sample) -> bool:
    """Tell a file whose first line is a whole number and a colon."""
    return any(re.fullmatch(r"\d+:\s*", line) for line in sample.lines()[:1])


@dataclass(slots=True)
class _Joined:
    """Whole lines of one or several files, and where each file's part begins: offset, file, line before it."""

    data: bytearray = field(default_factory=bytearray)
    parts: list[tuple[int, Path, int]] = field(default_factory=list)

    def locate(self, line: int) -> tuple[Path, int]:
        """Give the file and the line in it of a line of the block."""
        end = -1
        for _ in range(line - 1):
            end = self.data.find(b"\n", end + 1)
        offset, file, before = next(part for part in reversed(self.parts) if part[0] <= end + 1)
        return file, before + self.data.count(b"\n", offset, end + 1) + 1


def read_netflix(files: list[Path], rows: Rows, options: ReadOptions, advance: Advance) -> None:
    """Take the rows of all files in."""
    item = kernels.NONE
    with ThreadPoolExecutor(n_threads()) as pool:
        waiting: deque[tuple[_Joined, Future[tuple[Parsed, int]]]] = deque()
        for block in _blocks(files):
            waiting.append((block, pool.submit(_parse, block.data)))
            if len(waiting) > n_threads():
                item = _take(*waiting.popleft(), item, rows, options)
            advance(len(block.data) / 1e6)
        while waiting:
            item = _take(*waiting.popleft(), item, rows, options)


def _blocks(files: list[Path]) -> Iterator[_Joined]:
    """Join small files and cut large ones into blocks of whole lines."""
    block = _Joined()
    for path in files:
        line = -1  # the line put before the file is none of its own
        with unpacked(path) as stream:
            rest = _START
            while piece := stream.read(BLOCK_BYTES):
                piece = rest + (piece.removeprefix(b"\xef\xbb\xbf") if line < 0 else piece)
                cut = piece.rfind(b"\n") + 1
                block.parts.append((len(block.data), path, line))
                block.data += piece[:cut]
                line += piece.count(b"\n", 0, cut)
                rest = piece[cut:]
                if len(block.data) >= BLOCK_BYTES:
                    yield block
                    block = _Joined()
            if rest and rest != _START:
                block.parts.append((len(block.data), path, line))
                block.data += rest + b"\n"
    yield block


def _parse(data: bytearray) -> tuple[Parsed, int]:
    n = data.count(b"\n") + 1
    numbers, spans = np.empty((2, n), np.int64), np.empty((4, 0), np.int32)
    values, times = np.empty(n, np.float32), np.empty(n, np.int64)
    lines, places = np.empty(n, np.int32), np.empty((2 * n, 5), np.int32)
    buffer = np.frombuffer(data, np.uint8)
    n_rows, n_places, n_lines, item = kernels.parse_netflix(buffer, len(data), numbers, values, times, lines, places)
    parsed = Parsed(
        buffer,
        numbers[:, :n_rows],
        spans,
        values[:n_rows],
        times[:n_rows],
        lines[:n_rows],
        places[:n_places],
        n_lines,
        len(data),
        (True, True),
    )
    return parsed, int(item)


def _take(block: _Joined, future: Future[tuple[Parsed, int]], item: int, rows: Rows, options: ReadOptions) -> int:
    """Take in a block whose first rows belong to the item carried over; give the item to carry on."""
    parsed, last = future.result()
    parsed.numbers[1][parsed.numbers[1] == kernels.CARRIED] = item
    problems = problems_of(parsed, 3, options.bounds())
    refuse(problems, rows, block.locate, skip_bad=options.skip_bad)
    take_rows(rows, parsed, problems)
    return item if last == kernels.CARRIED else last
