"""From numbered rows in file order to a sparse matrix: the compiled kernels behind `recloak.ratings.model`.

A row becomes a record of 16 bytes: user and item in one word, rating and time in the other. Records are first dealt
into buckets of neighbouring users (one pass over memory), then each bucket, small enough for the cache, is sorted by
(user, item) with a radix sort. Both steps keep the file's order among equals, so of a repeated pair the latest can be
kept: the greatest time, among equal times the last in the file. Threads own whole chunks and whole buckets, so their
number changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recloak.ratings.threads import n_threads

_BUCKET_ROWS = 1 << 14  # 256 kB of records and as much again to sort into: fits a core's cache
_MAX_BUCKETS = 1 << 11  # more of them, and dealing loses more than sorting gains
_DIGIT_BITS = 12
_CHUNK_ROWS = 1 << 20
_FEW, _RECENT = 256, 32


@dataclass(slots=True)
class Chunk:
    """Some rows in file order; codes become numbers by the axes' tables."""

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    times: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.users)


Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.int64] | None]


def assemble_chunks(chunks: list[Chunk], user_of: NDArray[np.int32], item_of: NDArray[np.int32]) -> Rows:
    """Sort rows by user and item and keep the latest of each pair; ``chunks`` is emptied on the way.

    ``user_of`` and ``item_of`` take a chunk's codes to the numbers 0, 1, 2, ... of the axes.
    """
    n_items = _size(item_of)
    timed = bool(chunks) and chunks[0].times is not None
    first, last = _time_span(chunks) if timed else (0, 0)
    if last - first >= 1 << 32:
        return _assemble_by_lexsort(chunks, user_of, item_of)
    user_of = _ascending(chunks, user_of)
    shift, n_buckets = _buckets(len(user_of), sum(map(len, chunks)))
    item_bits = max(n_items - 1, 1).bit_length()
    records, starts = _deal(chunks, item_of, item_bits, first, shift, n_buckets)
    return _sort_buckets(records, starts, shift, user_of, item_bits, first if timed else None)


def assemble_rows(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    values: NDArray[np.float32],
    times: NDArray[np.int64] | None,
    n_users: int,
    n_items: int,
) -> Rows:
    """Sort numbered rows by user and item and keep the latest of each pair."""
    parts = [slice(start, start + _CHUNK_ROWS) for start in range(0, len(users), _CHUNK_ROWS)]
    chunks = [Chunk(users[p], items[p], values[p], None if times is None else times[p]) for p in parts]
    return assemble_chunks(chunks, np.arange(n_users, dtype=np.int32), np.arange(n_items, dtype=np.int32))


def _size(number_of: NDArray[np.int32]) -> int:
    return int(number_of.max()) + 1 if len(number_of) else 0


def _time_span(chunks: list[Chunk]) -> tuple[int, int]:
    full = [chunk.times for chunk in chunks if chunk.times is not None and len(chunk)]
    return (min(int(t.min()) for t in full), max(int(t.max()) for t in full)) if full else (0, 0)


def _ascending(chunks: list[Chunk], user_of: NDArray[np.int32]) -> NDArray[np.int32]:
    """Make the users' codes ascend as their numbers do, and give the table from such codes to numbers.

    Codes that are ids ascend already: then rows are sorted by them, and the table is looked up in order, at the end,
    instead of at random for every row.
    """
    if (user_of[1:] >= user_of[:-1]).all():
        return user_of

    def renumber(c: int) -> None:
        chunks[c].users = user_of[chunks[c].users]

    _in_threads(renumber, range(len(chunks)))
    return np.arange(_size(user_of), dtype=np.int32)


def _buckets(n_codes: int, n_rows: int) -> tuple[int, int]:
    """Choose how many neighbouring users share a bucket, as a power of two, and give how many buckets that makes."""
    wanted = min(max(n_rows // _BUCKET_ROWS, 1), _MAX_BUCKETS)
    shift = (max(n_codes - 1, 0) // wanted).bit_length()
    return shift, (max(n_codes - 1, 0) >> shift) + 1


def _deal(
    chunks: list[Chunk],
    item_of: NDArray[np.int32],
    item_bits: int,
    first: int,
    shift: int,
    n_buckets: int,
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Deal the rows of all chunks into buckets, each chunk to places of its own; frees a chunk once dealt."""
    counts = np.zeros((len(chunks), n_buckets), np.int64)
    _in_threads(lambda c: _count(chunks[c].users, shift, counts[c]), range(len(chunks)))
    starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
    places = starts[:-1] + np.cumsum(counts, axis=0) - counts  # chunk after chunk, so that file order survives
    records = np.empty((int(starts[-1]), 2), np.uint64)  # (n_rows, 2): user and item, rating and time
    nothing = np.empty(0, np.int64)

    def deal(c: int) -> None:
        chunk, chunks[c] = chunks[c], _EMPTY
        times = nothing if chunk.times is None else chunk.times
        bits = chunk.values.view(np.uint32)
        _scatter(chunk.users, chunk.items, bits, times, item_of, item_bits, first, shift, places[c], records)

    _in_threads(deal, range(len(chunks)))
    chunks.clear()
    return records, starts


_EMPTY = Chunk(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32), None)


def _sort_buckets(
    records: NDArray[np.uint64],
    starts: NDArray[np.int64],
    shift: int,
    user_of: NDArray[np.int32],
    item_bits: int,
    first: int | None,
) -> Rows:
    """Sort every bucket and write it out by columns, then close the gaps that repeated pairs left."""
    n, n_users = len(records), _size(user_of)
    items, values = np.empty(n, np.int32), np.empty(n, np.uint32)
    times = np.empty(0 if first is None else n, np.int64)
    activity = np.zeros(n_users, np.int64)
    largest = int(np.diff(starts).max())
    rooms = threading.local()

    def sort(b: int) -> None:
        part = slice(int(starts[b]), int(starts[b + 1]))
        if not hasattr(rooms, "room"):
            rooms.room = np.empty((largest, 2), np.uint64)
        first_key = b << shift << item_bits
        out = items[part], values[part], times[part] if first is not None else times, activity
        room = rooms.room[: part.stop - part.start]
        _sort_and_write(records[part], room, first_key, shift + item_bits, item_bits, first or 0, user_of, *out)

    _in_threads(sort, range(len(starts) - 1))
    indptr = np.zeros(n_users + 1, np.int64)
    np.cumsum(activity, out=indptr[1:])
    if indptr[-1] < n:
        below = np.arange(1, len(starts) - 1) << shift  # the first code of each bucket but the first
        firsts = np.concatenate(([0], user_of[below - 1] + 1, [n_users]))  # the first user of each, and the end
        items, values, times = (_closed_up(column, starts, indptr[firsts]) for column in (items, values, times))
    return indptr, items, values.view(np.float32), None if first is None else times


def _closed_up(column: Any, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Any:
    """Move each bucket's kept rows up against the bucket before it, and cut off what is left over, in place."""
    if len(column):
        for place, (start, stop) in zip(starts.tolist(), pairwise(ends.tolist()), strict=False):
            if place > start:
                column[start:stop] = column[place : place + stop - start]
        column.resize(int(ends[-1]), refcheck=False)  # no view of it is left
    return column


def distinct_values(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Give the distinct values, ascending; quick where they are few, as ratings are."""
    few = np.empty(_FEW, values.dtype)
    n = _distinct_few(values, few)
    return np.unique(values if n < 0 else few[:n])


def _assemble_by_lexsort(chunks: list[Chunk], user_of: NDArray[np.int32], item_of: NDArray[np.int32]) -> Rows:
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
    return indptr, items[latest], values[order][latest], times[order][latest]


def _in_threads(work: Callable[[int], None], numbers: Iterable[int]) -> None:
    with ThreadPoolExecutor(n_threads()) as pool:
        list(pool.map(work, numbers))


@njit(cache=True, nogil=True)
def _distinct_few(values, few):  # type: ignore[no-untyped-def]
    """Collect distinct values as long as there is room; -1 when there is none left."""
    recent = np.full(_RECENT, np.nan, np.float32)
    n = 0
    for r in range(len(values)):
        value = values[r]
        slot = int(abs(value) * 2) & (_RECENT - 1)
        if recent[slot] == value:
            continue
        recent[slot] = value
        k = 0
        while k < n and few[k] != value:
            k += 1
        if k == n:
            if n == len(few):
                return -1
            few[n] = value
            n += 1
    return n


@njit(cache=True, nogil=True)
def mark(codes, seen):  # type: ignore[no-untyped-def]
    """Set the marks of the codes that occur."""
    for code in codes:
        seen[code] = True


@njit(cache=True, nogil=True)
def _count(users, shift, counts):  # type: ignore[no-untyped-def]
    for r in range(len(users)):
        counts[users[r] >> shift] += 1


@njit(cache=True, nogil=True)
def _scatter(users, items, bits, times, item_of, item_bits, first, shift, place, records):  # type: ignore[no-untyped-def]
    timed, up = len(times) > 0, np.uint64(item_bits)
    for r in range(len(users)):
        user = users[r]
        p = place[user >> shift]
        place[user >> shift] = p + 1
        records[p, 0] = (np.uint64(user) << up) | np.uint64(item_of[items[r]])
        time = np.uint64(times[r] - first) if timed else np.uint64(0)
        records[p, 1] = (np.uint64(bits[r]) << np.uint64(32)) | time


@njit(cache=True, nogil=True)
def _ascends(records):  # type: ignore[no-untyped-def]
    for r in range(1, len(records)):  # noqa: SIM110 (numba compiles this loop, not all())
        if records[r - 1, 0] > records[r, 0]:
            return False
    return True


@njit(cache=True, nogil=True)
def _digit_starts(records, first_key, n_passes, width):  # type: ignore[no-untyped-def]
    """Count every digit of the keys in one sweep, and give where each digit's records begin in each pass."""
    mask, first_key = np.uint64((1 << width) - 1), np.uint64(first_key)
    starts = np.zeros((n_passes, (1 << width) + 1), np.int64)
    for r in range(len(records)):
        key = records[r, 0] - first_key
        for p in range(n_passes):
            starts[p, np.int64((key >> np.uint64(p * width)) & mask) + 1] += 1
    for p in range(n_passes):
        for d in range(1 << width):
            starts[p, d + 1] += starts[p, d]
    return starts


@njit(cache=True, nogil=True)
def _radix_pass(source, target, first_key, shift, width, place):  # type: ignore[no-untyped-def]
    """Put records in the order of ``width`` bits of their key, keeping the order among equals."""
    mask, first_key, shift = np.uint64((1 << width) - 1), np.uint64(first_key), np.uint64(shift)
    for r in range(len(source)):
        digit = np.int64(((source[r, 0] - first_key) >> shift) & mask)
        p = place[digit]
        place[digit] = p + 1
        target[p, 0] = source[r, 0]
        target[p, 1] = source[r, 1]


@njit(cache=True, nogil=True)
def _sort_and_write(records, room, first_key, bits, item_bits, first, user_of, items, values, times, activity):  # type: ignore[no-untyped-def]
    """Sort a bucket by (user, item) and write it out; what is in order already is not moved."""
    source, target = records, room
    if not _ascends(records):
        n_passes = (bits + _DIGIT_BITS - 1) // _DIGIT_BITS
        width = (bits + n_passes - 1) // n_passes
        starts = _digit_starts(records, first_key, n_passes, width)
        for p in range(n_passes):
            _radix_pass(source, target, first_key, p * width, width, starts[p])
            source, target = target, source
    _write(source, item_bits, first, user_of, items, values, times, activity)


@njit(cache=True, nogil=True)
def _write(records, item_bits, first, user_of, items, values, times, activity):  # type: ignore[no-untyped-def]
    """Write sorted records by columns; of equal pairs the latest, which is the last among equal times."""
    up, low, low32 = np.uint64(item_bits), np.uint64((1 << item_bits) - 1), np.uint64(0xFFFFFFFF)
    timed, n = len(times) > 0, 0
    for r in range(len(records)):
        time = np.int64(records[r, 1] & low32) + first
        repeated = r > 0 and records[r, 0] == records[r - 1, 0]
        if repeated and timed and time < times[n - 1]:
            continue
        if not repeated:
            activity[user_of[np.int64(records[r, 0] >> up)]] += 1
            n += 1
        items[n - 1] = np.int32(records[r, 0] & low)
        values[n - 1] = np.uint32(records[r, 1] >> np.uint64(32))
        if timed:
            times[n - 1] = time


@njit(cache=True)
def transpose_rows(indptr, items, n_items):  # type: ignore[no-untyped-def]
    """Give column starts, the row of each column entry, and the order that takes row entries to column entries."""
    n = len(items)
    starts = np.zeros(n_items + 1, np.int64)
    for r in range(n):
        starts[items[r] + 1] += 1
    for i in range(n_items):
        starts[i + 1] += starts[i]
    place = starts[:-1].copy()
    rows, order = np.empty(n, np.int32), np.empty(n, np.int64)
    for u in range(len(indptr) - 1):
        for r in range(indptr[u], indptr[u + 1]):
            p = place[items[r]]
            place[items[r]] = p + 1
            rows[p] = u
            order[p] = r
    return starts, rows, order
