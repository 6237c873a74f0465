"""From numbered rows in file order to a sparse matrix: the compiled kernels behind `_ratings.model`.

A row becomes a record of 16 bytes: user and item in one word, rating and time in the other. Records are first dealt
into buckets of neighbouring users (one pass over memory), then each bucket, small enough for the cache, is sorted by
(user, item) with a radix sort. Both steps keep the file's order among equals, so of a repeated pair the latest can be
kept: the greatest time, among equal times the last in the file. Threads own whole chunks and whole buckets, so their
number changes nothing.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core import stopping
from recloak._core.threads import n_threads, workers
from recloak._ratings.sorting import (
    MOST_COUNT,
    RECENT,
    count,
    distinct_few,
    scatter,
    sort_records,
    transpose_rows,
    write_latest,
    write_sums,
)

_BUCKET_ROWS = 1 << 14  # 256 kB of records and as much again to sort into: fits a core's cache
_MAX_BUCKETS = 1 << 11  # more of them, and dealing loses more than sorting gains
_CHUNK_ROWS = 1 << 20
_FEW = 256


@dataclass(slots=True)
class RowChunk:
    """Some rows in file order; codes become numbers by the axes' tables."""

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    times: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.users)

    def part(self, start: int, stop: int) -> RowChunk:
        """Return some of the rows."""
        rows = slice(start, stop)
        times = None if self.times is None else self.times[rows]
        return RowChunk(self.users[rows], self.items[rows], self.values[rows], times)


__all__ = ["RowChunk", "add_up_chunks", "assemble_chunks", "assemble_rows", "distinct_values", "transpose_rows"]

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.int64] | None]
Sums = tuple[*Rows, NDArray[np.int64] | None]


def assemble_chunks(chunks: list[RowChunk], user_of: NDArray[np.int32], item_of: NDArray[np.int32]) -> Rows:
    """Sort rows by user and item and keep the latest of each pair; ``chunks`` is emptied on the way.

    ``user_of`` and ``item_of`` take a chunk's codes to the numbers 0, 1, 2, ... of the axes.
    """
    return _assembled(chunks, user_of, item_of, adds_up=False)[:4]


def add_up_chunks(chunks: list[RowChunk], user_of: NDArray[np.int32], item_of: NDArray[np.int32]) -> Sums:
    """Sort rows by user and item and add up the whole numbers of each pair; last come the first times of the pairs."""
    return _assembled(chunks, user_of, item_of, adds_up=True)


def _assembled(
    chunks: list[RowChunk], user_of: NDArray[np.int32], item_of: NDArray[np.int32], *, adds_up: bool
) -> Sums:
    n_items = _size(item_of)
    timed = bool(chunks) and chunks[0].times is not None
    first, last = _time_span(chunks) if timed else (0, 0)
    if last - first >= 1 << 32:
        return _assemble_by_lexsort(chunks, user_of, item_of, adds_up)
    user_of = _ascending(chunks, user_of)
    shift, n_buckets = _buckets(len(user_of), sum(map(len, chunks)))
    item_bits = max(n_items - 1, 1).bit_length()
    record = _Recorder(item_of, item_bits, first, adds_up)
    give = _as_they_are if _is_by_user(chunks) else _dealt
    records_of, starts = give(chunks, record, shift, n_buckets)
    return _sort_buckets(records_of, starts, shift, user_of, item_bits, first if timed else None, adds_up)


def assemble_rows(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    values: NDArray[np.float32],
    times: NDArray[np.int64] | None,
    n_users: int,
    n_items: int,
) -> Rows:
    """Sort numbered rows by user and item and keep the latest of each pair."""
    whole = RowChunk(users, items, values, times)
    chunks = [whole.part(start, start + _CHUNK_ROWS) for start in range(0, len(users), _CHUNK_ROWS)]
    return assemble_chunks(chunks, np.arange(n_users, dtype=np.int32), np.arange(n_items, dtype=np.int32))


def _size(number_of: NDArray[np.int32]) -> int:
    return int(number_of.max()) + 1 if len(number_of) else 0


def _time_span(chunks: list[RowChunk]) -> tuple[int, int]:
    full = [chunk.times for chunk in chunks if chunk.times is not None and len(chunk)]
    return (min(int(t.min()) for t in full), max(int(t.max()) for t in full)) if full else (0, 0)


def _ascending(chunks: list[RowChunk], user_of: NDArray[np.int32]) -> NDArray[np.int32]:
    """Make the users' codes ascend as their numbers do, and return the table from such codes to numbers.

    Codes that are ids ascend already: then rows are sorted by them, and the table is looked up in order, at the end,
    instead of at random for every row.
    """
    if (user_of[1:] >= user_of[:-1]).all():
        return user_of

    def renumber(c: int) -> None:
        chunks[c].users = user_of[chunks[c].users]

    in_threads(renumber, range(len(chunks)))
    return np.arange(_size(user_of), dtype=np.int32)


def _buckets(n_codes: int, n_rows: int) -> tuple[int, int]:
    """Choose how many neighbouring users share a bucket, as a power of two, and return how many buckets that makes."""
    wanted = min(max(n_rows // _BUCKET_ROWS, 1), _MAX_BUCKETS)
    shift = (max(n_codes - 1, 0) // wanted).bit_length()
    return shift, (max(n_codes - 1, 0) >> shift) + 1


@dataclass(frozen=True, slots=True)
class _Recorder:
    """Makes the rows of a chunk records: user and item in one word, rating and time in the other."""

    item_of: NDArray[np.int32]
    item_bits: int
    first: int  # the earliest time
    adds_up: bool  # values are whole numbers to be added up; else their bits are carried as they are

    def __call__(self, chunk: RowChunk, shift: int, place: NDArray[np.int64], records: NDArray[np.uint64]) -> None:
        """Write each record to the next place of its bucket (a user's code without its last ``shift`` bits)."""
        times = _NO_TIMES if chunk.times is None else chunk.times
        bits = chunk.values.astype(np.uint32) if self.adds_up else chunk.values.view(np.uint32)
        scatter(chunk.users, chunk.items, bits, times, self.item_of, self.item_bits, self.first, shift, place, records)


_NO_TIMES = np.empty(0, np.int64)
_LARGE = 1 << 22  # bytes; numpy asks for huge pages from here on
_PAGES = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_EMPTY = RowChunk(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32), None)
_ONE_BUCKET = 31  # every code without its last 31 bits is 0

# Returns the records of a bucket, in file order.
RecordsOf = Callable[[int], NDArray[np.uint64]]


def _dealt(
    chunks: list[RowChunk], record: _Recorder, shift: int, n_buckets: int
) -> tuple[RecordsOf, NDArray[np.int64]]:
    """Deal the rows of all chunks into buckets, each chunk to places of its own; frees a chunk once dealt."""
    counts = _counts(chunks, shift, n_buckets)
    starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
    places = starts[:-1] + np.cumsum(counts, axis=0) - counts  # chunk after chunk, so that file order survives
    records = fresh(2 * int(starts[-1]), np.uint64).reshape(-1, 2)

    def deal(c: int) -> None:
        chunk, chunks[c] = chunks[c], _EMPTY
        record(chunk, shift, places[c], records)

    in_threads(deal, range(len(chunks)))
    chunks.clear()
    return lambda b: records[starts[b] : starts[b + 1]], starts


def _as_they_are(
    chunks: list[RowChunk], record: _Recorder, shift: int, n_buckets: int
) -> tuple[RecordsOf, NDArray[np.int64]]:
    """Make the records of a bucket when they are asked for, where rows come by user: no second copy of all rows."""
    starts = np.concatenate(([0], np.cumsum(_counts(chunks, shift, n_buckets).sum(axis=0))))
    ends = np.cumsum([len(chunk) for chunk in chunks])

    def records_of(b: int) -> NDArray[np.uint64]:
        start, stop = int(starts[b]), int(starts[b + 1])
        records, place = np.empty((stop - start, 2), np.uint64), np.zeros(1, np.int64)
        for c in range(int(np.searchsorted(ends, start, "right")), len(chunks)):
            before = int(ends[c]) - len(chunks[c])
            if before >= stop:
                break
            record(chunks[c].part(max(start - before, 0), stop - before), _ONE_BUCKET, place, records)
        return records

    return records_of, starts


def _counts(chunks: list[RowChunk], shift: int, n_buckets: int) -> NDArray[np.int64]:
    """Count the rows of each chunk in each bucket."""
    counts = np.zeros((len(chunks), n_buckets), np.int64)
    in_threads(lambda c: count(chunks[c].users, shift, counts[c]), range(len(chunks)))
    return counts


def _is_by_user(chunks: list[RowChunk]) -> bool:
    """Return whether the users' codes never fall, as in most data sets."""
    ends = [(chunk.users[0], chunk.users[-1]) for chunk in chunks if len(chunk)]
    meet = all(last <= first for (_, last), (first, _) in pairwise(ends))
    return meet and all((chunk.users[:-1] <= chunk.users[1:]).all() for chunk in chunks)


def _sort_buckets(
    records_of: RecordsOf,
    starts: NDArray[np.int64],
    shift: int,
    user_of: NDArray[np.int32],
    item_bits: int,
    first: int | None,
    adds_up: bool,
) -> Sums:
    """Sort every bucket and write it out by columns, then close the gaps that repeated pairs left."""
    n, n_users = int(starts[-1]), _size(user_of)
    items, values = fresh(n, np.int32), fresh(n, np.uint32)
    times = fresh(0 if first is None else n, np.int64)
    first_times = fresh(len(times) if adds_up else 0, np.int64)
    activity = np.zeros(n_users, np.int64)
    known_times = (times, first_times) if adds_up else (times,)
    write = write_sums if adds_up else write_latest
    largest = int(np.diff(starts).max())
    rooms = threading.local()

    def sort(b: int) -> None:
        part = slice(int(starts[b]), int(starts[b + 1]))
        if not hasattr(rooms, "room"):
            rooms.room = np.empty((largest, 2), np.uint64)
        first_key = b << shift << item_bits
        out = items[part], values[part], *(known[part] if len(known) else known for known in known_times)
        records = sort_records(records_of(b), rooms.room[: part.stop - part.start], first_key, shift + item_bits)
        write(records, item_bits, first or 0, user_of, *out, activity)

    in_threads(sort, range(len(starts) - 1))
    indptr = np.zeros(n_users + 1, np.int64)
    np.cumsum(activity, out=indptr[1:])
    if indptr[-1] < n:
        below = np.arange(1, len(starts) - 1) << shift  # the first code of each bucket but the first
        first_users = np.concatenate(([0], user_of[below - 1] + 1, [n_users]))  # the first user of each, and the end
        columns = (items, values, times, first_times)
        items, values, times, first_times = (closed_up(column, starts, indptr[first_users]) for column in columns)
    numbers = values.astype(np.float32) if adds_up else values.view(np.float32)
    return indptr, items, numbers, None if first is None else times, first_times if len(first_times) else None


def fresh(n: int, kind: Any) -> NDArray[Any]:
    """Return an array whose memory, where it is large, comes in small pages.

    Numpy asks for huge pages, and in a virtual machine the first touch of each is dear: of reading 100 M rows it took
    half.
    """
    size = n * np.dtype(kind).itemsize
    return np.empty(n, kind) if size < _LARGE else np.frombuffer(mmap.mmap(-1, size, flags=_PAGES), kind)


def closed_up(column: Any, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Any:
    """Move each bucket's kept rows up against the bucket before it, and leave out what is left over."""
    if len(column):
        for place, (start, stop) in zip(starts.tolist(), pairwise(ends.tolist()), strict=False):
            if place > start:
                column[start:stop] = column[place : place + stop - start]
    return column[: int(ends[-1])]


def distinct_values(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the distinct values, ascending; quick where they are few, as ratings are."""
    few = np.empty(_FEW, values.dtype)
    n = distinct_few(values, few, np.full(RECENT, np.nan, np.float32))
    return np.unique(values if n < 0 else few[:n])


def _assemble_by_lexsort(
    chunks: list[RowChunk], user_of: NDArray[np.int32], item_of: NDArray[np.int32], adds_up: bool
) -> Sums:
    """Do the same plainly, for times that span more than the 136 years a record can hold."""
    users = np.concatenate([user_of[chunk.users] for chunk in chunks])
    items = np.concatenate([item_of[chunk.items] for chunk in chunks])
    values = np.concatenate([chunk.values for chunk in chunks])
    times = np.concatenate([chunk.times for chunk in chunks if chunk.times is not None])
    chunks.clear()
    order = np.lexsort((times, items, users))
    users, items = users[order], items[order]
    latest = np.append((users[1:] != users[:-1]) | (items[1:] != items[:-1]), True)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(users[latest], minlength=_size(user_of)))))
    values, times = values[order], times[order]
    if not adds_up:
        return indptr, items[latest], values[latest], times[latest], None
    begins = np.flatnonzero(np.append(True, latest[:-1]))
    sums = np.minimum(np.add.reduceat(values, begins, dtype=np.float64), MOST_COUNT).astype(np.float32)
    return indptr, items[latest], sums, times[latest], times[begins]


def in_threads(work: Callable[[int], None], numbers: Iterable[int]) -> None:
    """Do the work for every number; each thread takes the next, for a task of its own to each would cost as much."""
    waiting = iter(list(numbers))

    def take() -> None:
        for number in waiting:
            stopping.check()
            work(number)

    with workers(n_threads()) as pool:
        for done in [pool.submit(take) for _ in range(n_threads())]:
            done.result()
