"""From numbered rows in file order to a sparse matrix: the compiled kernels behind `recloak.ratings.model`.

A row becomes a record of 16 bytes: user and item in one word, rating and time in the other. Records are first dealt
into buckets of neighbouring users (one pass over memory), then each bucket, small enough for the cache, is sorted by
(user, item) with a radix sort. Both steps keep the file's order among equals, so of a repeated pair the latest can be
kept: the greatest time, among equal times the last in the file. Threads own whole chunks and whole buckets, so their
number changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recloak.ratings.threads import n_threads

_BUCKET_ROWS = 1 << 15  # 512 kB of records and as much again to sort into: fits a core's cache
_MAX_BUCKETS = 1 << 11
_DIGIT_BITS = 12
_CHUNK_ROWS = 1 << 20


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
    n_users, n_items = _size(user_of), _size(item_of)
    timed = bool(chunks) and chunks[0].times is not None
    first, last = _time_span(chunks) if timed else (0, 0)
    if last - first >= 1 << 32:
        return _assemble_by_lexsort(chunks, user_of, item_of, n_users)
    shift, n_buckets = _buckets(n_users, sum(map(len, chunks)))
    records, starts = _deal(chunks, user_of, item_of, first, shift, n_buckets)
    return _sort_buckets(records, starts, shift, n_users, n_items, first if timed else None)


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


def _buckets(n_users: int, n_rows: int) -> tuple[int, int]:
    """Choose how many neighbouring users share a bucket, as a power of two, and give how many buckets that makes."""
    wanted = min(max(n_rows // _BUCKET_ROWS, 1), _MAX_BUCKETS)
    shift = max(n_users // wanted, 1).bit_length() - 1
    return shift, (max(n_users - 1, 0) >> shift) + 1


def _deal(
    chunks: list[Chunk],
    user_of: NDArray[np.int32],
    item_of: NDArray[np.int32],
    first: int,
    shift: int,
    n_buckets: int,
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Deal the rows of all chunks into buckets, each chunk to places of its own; frees a chunk once dealt."""
    counts = np.zeros((n_buckets, len(chunks)), np.int64)  # bucket-major, so that file order survives in a bucket
    _in_threads(lambda c: _count(chunks[c].users, user_of, shift, counts[:, c]), range(len(chunks)))
    ends = np.cumsum(counts.ravel()).reshape(counts.shape)
    places = ends - counts
    starts = np.append(places[:, 0], ends[-1, -1]) if len(chunks) else np.zeros(n_buckets + 1, np.int64)
    records = np.empty((int(starts[-1]), 2), np.uint64)  # (n_rows, 2): user and item, rating and time
    nothing = np.empty(0, np.int64)

    def deal(c: int) -> None:
        chunk, chunks[c] = chunks[c], _EMPTY
        times = nothing if chunk.times is None else chunk.times
        place = np.ascontiguousarray(places[:, c])
        bits = chunk.values.view(np.uint32)
        _scatter(chunk.users, chunk.items, bits, times, user_of, item_of, first, shift, place, records)

    _in_threads(deal, range(len(chunks)))
    chunks.clear()
    return records, starts


_EMPTY = Chunk(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32), None)


def _sort_buckets(
    records: NDArray[np.uint64],
    starts: NDArray[np.int64],
    shift: int,
    n_users: int,
    n_items: int,
    first: int | None,
) -> Rows:
    """Sort every bucket and write it out by columns, then close the gaps that repeated pairs left."""
    n = len(records)
    items, values = np.empty(n, np.int32), np.empty(n, np.uint32)
    times = np.empty(0 if first is None else n, np.int64)
    activity = np.zeros(n_users, np.int64)
    item_bits = max(n_items - 1, 1).bit_length()

    def sort(b: int) -> None:
        part = slice(int(starts[b]), int(starts[b + 1]))
        ordered = _radix_sort(records[part], b << shift, shift, item_bits, _DIGIT_BITS)
        out_times = times[part] if first is not None else times
        _write(ordered, first or 0, items[part], values[part], out_times, activity)

    _in_threads(sort, range(len(starts) - 1))
    indptr = np.zeros(n_users + 1, np.int64)
    np.cumsum(activity, out=indptr[1:])
    if indptr[-1] < n:
        items, values, times = (_closed_up(column, starts, indptr, shift) for column in (items, values, times))
    return indptr, items, values.view(np.float32), None if first is None else times


def _closed_up(column: Any, starts: NDArray[np.int64], indptr: NDArray[np.int64], shift: int) -> Any:
    """Move each bucket's kept rows up against the bucket before it."""
    if not len(column):
        return column
    ends = indptr[np.minimum(np.arange(len(starts)) << shift, len(indptr) - 1)]
    parts = [column[a : a + (stop - start)] for a, start, stop in zip(starts[:-1], ends[:-1], ends[1:], strict=True)]
    return np.concatenate(parts)


def _assemble_by_lexsort(
    chunks: list[Chunk], user_of: NDArray[np.int32], item_of: NDArray[np.int32], n_users: int
) -> Rows:
    """Do the same plainly, for times that span more than the 136 years a record can hold."""
    users = np.concatenate([user_of[chunk.users] for chunk in chunks])
    items = np.concatenate([item_of[chunk.items] for chunk in chunks])
    values = np.concatenate([chunk.values for chunk in chunks])
    times = np.concatenate([chunk.times for chunk in chunks if chunk.times is not None])
    chunks.clear()
    order = np.lexsort((times, items, users))
    users, items = users[order], items[order]
    latest = np.append((users[1:] != users[:-1]) | (items[1:] != items[:-1]), True)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(users[latest], minlength=n_users))))
    return indptr, items[latest], values[order][latest], times[order][latest]


def _in_threads(work: Callable[[int], None], numbers: Iterable[int]) -> None:
    with ThreadPoolExecutor(n_threads()) as pool:
        list(pool.map(work, numbers))


@njit(cache=True, nogil=True)
def _count(users, user_of, shift, counts):  # type: ignore[no-untyped-def]
    for r in range(len(users)):
        counts[user_of[users[r]] >> shift] += 1


@njit(cache=True, nogil=True)
def _scatter(users, items, bits, times, user_of, item_of, first, shift, place, records):  # type: ignore[no-untyped-def]
    timed = len(times) > 0
    for r in range(len(users)):
        user = user_of[users[r]]
        p = place[user >> shift]
        place[user >> shift] = p + 1
        records[p, 0] = (np.uint64(user) << np.uint64(32)) | np.uint64(item_of[items[r]])
        time = np.uint64(times[r] - first) if timed else np.uint64(0)
        records[p, 1] = (np.uint64(bits[r]) << np.uint64(32)) | time


@njit(cache=True, nogil=True)
def _radix_sort(records, first_user, user_bits, item_bits, digit_bits):  # type: ignore[no-untyped-def]
    """Sort a bucket by (user, item), stable; a digit that is already in order costs no move."""
    n = len(records)
    low32 = np.uint64(0xFFFFFFFF)
    bits = user_bits + item_bits
    n_passes = (bits + digit_bits - 1) // digit_bits
    width = (bits + n_passes - 1) // n_passes
    mask = np.uint64((1 << width) - 1)
    source, target = records, records
    keys, other_keys = np.empty(n, np.uint64), np.empty(n, np.uint64)
    ascending = True
    for r in range(n):
        user = (source[r, 0] >> np.uint64(32)) - np.uint64(first_user)
        keys[r] = (user << np.uint64(item_bits)) | (source[r, 0] & low32)
        ascending &= r == 0 or keys[r - 1] <= keys[r]
    if ascending:
        return records
    target = np.empty_like(records)
    for p in range(n_passes):
        shift = np.uint64(p * width)
        place = np.zeros((1 << width) + 1, np.int64)
        for r in range(n):
            place[((keys[r] >> shift) & mask) + np.uint64(1)] += 1
        for d in range(1 << width):
            place[d + 1] += place[d]
        for r in range(n):
            digit = (keys[r] >> shift) & mask
            q = place[digit]
            place[digit] = q + 1
            other_keys[q] = keys[r]
            target[q, 0] = source[r, 0]
            target[q, 1] = source[r, 1]
        keys, other_keys = other_keys, keys
        if p == 0:
            source, target = target, np.empty_like(records)
        else:
            source, target = target, source
    return source


@njit(cache=True, nogil=True)
def _write(records, first, items, values, times, activity):  # type: ignore[no-untyped-def]
    """Write sorted records by columns; of equal pairs the latest, which is the last among equal times."""
    low32, timed, n = np.uint64(0xFFFFFFFF), len(times) > 0, 0
    for r in range(len(records)):
        time = np.int64(records[r, 1] & low32) + first
        repeated = r > 0 and records[r, 0] == records[r - 1, 0]
        if repeated and timed and time < times[n - 1]:
            continue
        if not repeated:
            activity[records[r, 0] >> np.uint64(32)] += 1
            n += 1
        items[n - 1] = np.int32(records[r, 0] & low32)
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
