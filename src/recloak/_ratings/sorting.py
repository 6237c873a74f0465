"""Compiled kernels behind `_ratings.assemble`: counting, dealing, sorting and writing out rows."""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit

_DIGIT_BITS = 12
MOST_COUNT = np.uint32(1 << 24)  # whole numbers are exact in 32-bit floats up to here
RECENT = 32  # slots that remember a value seen lately


@njit(cache=True, nogil=True)
def distinct_few(values, few, recent):  # type: ignore[no-untyped-def]
    """Collect distinct values as long as there is room; -1 when there is none left. ``recent`` is all NaN."""
    n = 0
    for r in range(len(values)):
        value = values[r]
        slot = int(abs(value) * 2) & (RECENT - 1)
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
def count(users, shift, counts):  # type: ignore[no-untyped-def]
    """Count the rows of each bucket (a user's code without its last ``shift`` bits)."""
    for r in range(len(users)):
        counts[users[r] >> shift] += 1


@njit(cache=True, nogil=True)
def scatter(users, items, bits, times, item_of, item_bits, first, shift, place, records):  # type: ignore[no-untyped-def]
    """Write each row as a record to the next place of its bucket."""
    timed, up = len(times) > 0, np.uint64(item_bits)
    for r in range(len(users)):
        user = users[r]
        p = place[user >> shift]
        place[user >> shift] = p + 1
        records[p, 0] = (np.uint64(user) << up) | np.uint64(item_of[items[r]])
        time = np.uint64(times[r] - first) if timed else np.uint64(0)
        records[p, 1] = (np.uint64(bits[r]) << np.uint64(32)) | time


@njit(cache=True, nogil=True, inline="always")
def _ascends(records):  # type: ignore[no-untyped-def]
    for r in range(1, len(records)):  # noqa: SIM110 (numba compiles this loop, not all())
        if records[r - 1, 0] > records[r, 0]:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _count_digits(records, first_key, width, starts):  # type: ignore[no-untyped-def]
    """Count every digit of the keys in one sweep, and fill in where each digit's records begin in each pass."""
    n_passes, mask, first_key = len(starts), np.uint64((1 << width) - 1), np.uint64(first_key)
    for r in range(len(records)):
        key = records[r, 0] - first_key
        for p in range(n_passes):
            starts[p, np.int64((key >> np.uint64(p * width)) & mask) + 1] += 1
    for p in range(n_passes):
        for d in range(1 << width):
            starts[p, d + 1] += starts[p, d]


@njit(cache=True, nogil=True, inline="always")
def _radix_pass(source, target, first_key, shift, width, place):  # type: ignore[no-untyped-def]
    """Put records in the order of ``width`` bits of their key, keeping the order among equals."""
    mask, first_key, shift = np.uint64((1 << width) - 1), np.uint64(first_key), np.uint64(shift)
    for r in range(len(source)):
        digit = np.int64(((source[r, 0] - first_key) >> shift) & mask)
        p = place[digit]
        place[digit] = p + 1
        target[p, 0] = source[r, 0]
        target[p, 1] = source[r, 1]


def sort_records(
    records: NDArray[np.uint64], room: NDArray[np.uint64], first_key: int, bits: int
) -> NDArray[np.uint64]:
    """Return the records in the order of their keys, which lie within so many bits of the first.

    They stand in their own memory or in ``room``; what is in order already is not moved.
    """
    n_passes = max(1, -(-bits // _DIGIT_BITS))
    width = -(-bits // n_passes)
    starts = np.zeros((n_passes, (1 << width) + 1), np.int64)
    return room if _sort(records, room, first_key, width, starts) else records


@njit(cache=True, nogil=True)
def _sort(records, room, first_key, width, starts):  # type: ignore[no-untyped-def]
    """Sort by one digit after the other, and return whether the last pass wrote into ``room``."""
    if _ascends(records):
        return False
    _count_digits(records, first_key, width, starts)
    source, target = records, room
    for p in range(len(starts)):
        _radix_pass(source, target, first_key, p * width, width, starts[p])
        source, target = target, source
    return len(starts) % 2 == 1


@njit(cache=True, nogil=True)
def write_latest(records, item_bits, first, user_of, items, values, times, activity):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def write_sums(records, item_bits, first, user_of, items, values, times, first_times, activity):  # type: ignore[no-untyped-def]
    """Write sorted records by columns; equal pairs are added up, with the last and the first of their times."""
    up, low, low32 = np.uint64(item_bits), np.uint64((1 << item_bits) - 1), np.uint64(0xFFFFFFFF)
    timed, n = len(times) > 0, 0
    for r in range(len(records)):
        time, value = np.int64(records[r, 1] & low32) + first, np.uint32(records[r, 1] >> np.uint64(32))
        if r > 0 and records[r, 0] == records[r - 1, 0]:
            values[n - 1] = min(values[n - 1] + value, MOST_COUNT)
            if timed:
                times[n - 1] = max(times[n - 1], time)
                first_times[n - 1] = min(first_times[n - 1], time)
            continue
        activity[user_of[np.int64(records[r, 0] >> up)]] += 1
        items[n] = np.int32(records[r, 0] & low)
        values[n] = value
        if timed:
            times[n] = time
            first_times[n] = time
        n += 1


def transpose_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return column starts, the row of each column entry, and the order that takes row entries to column entries."""
    n = len(items)
    made = np.zeros(n_items + 1, np.int64), np.empty(n, np.int32), np.empty(n, np.int64)
    _transpose(indptr, items, made[0], np.empty(n_items, np.int64), *made[1:])
    return made


@njit(cache=True)
def _transpose(indptr, items, starts, place, rows, order):  # type: ignore[no-untyped-def]
    n_items = len(place)
    for r in range(len(items)):
        starts[items[r] + 1] += 1
    for i in range(n_items):
        starts[i + 1] += starts[i]
    for i in range(n_items):
        place[i] = starts[i]
    for u in range(len(indptr) - 1):
        for r in range(indptr[u], indptr[u + 1]):
            p = place[items[r]]
            place[items[r]] = p + 1
            rows[p] = u
            order[p] = r
