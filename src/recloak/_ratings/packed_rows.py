"""Rows whose limits are known beforehand, packed into one word each: the quick way from a typed source to a matrix.

A row's user (within its bucket), item, rating and time lie side by side in 64 bits. Each batch is dealt at once into
buckets of neighbouring users, in a part of one array that is its own; then each bucket, small enough for the cache, is
sorted by (user, item) in three radix passes and written out. Every step keeps the file's order among equals and batches
and buckets are whole to a thread, so the number of threads changes nothing.

`_ratings.assemble` does the same for rows of any kind; a row outside the stated limits ends up there.
"""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import n_threads
from recloak._ratings.assemble import closed_up, fresh, in_threads

_BUCKET_ROWS = 1 << 16
_MAX_BUCKETS = 1 << 11
_PASSES, _DIGIT_BITS = 3, 10  # the counters of a pass fit a core's first cache: quicker than two passes of 15 bits
_WORD_BITS = 64
_AT_ONCE = 1 << 13  # rows that are packed before they are dealt
_WAITING = 4  # batches that may wait for a thread, so that a quick source does not fill the memory


class OutsideError(Exception):
    """A row lies outside the limits that its source stated."""


class ColumnLimits(NamedTuple):
    """The least and greatest value of each column, and how many rows there are; no times are times of 0."""

    users: tuple[int, int]
    items: tuple[int, int]
    ratings: tuple[float, float]
    times: tuple[int, int]
    n_rows: int


class WordLayout(NamedTuple):
    """Where a row's parts lie in its word, from the top: user within the bucket, item, rating in half steps, time."""

    user_low: int
    user_span: int
    item_low: int
    item_span: int
    rating_low: float
    rating_span: int
    time_low: int
    time_span: int
    shift: int  # bits of a user that tell users of a bucket apart
    item_bits: int
    rating_bits: int
    time_bits: int

    @property
    def n_buckets(self) -> int:
        """Number of buckets."""
        return (self.user_span >> self.shift) + 1

    @property
    def digit_bits(self) -> int:
        """Bits of the key that one pass sorts by."""
        return -(-(self.shift + self.item_bits) // _PASSES)


def layout_of(limits: ColumnLimits) -> WordLayout | None:
    """Return the layout of rows within limits; None where a word or a bucket is too small for them."""
    (user_low, user_high), (item_low, item_high) = limits.users, limits.items
    rating_span, time_span = 2 * (limits.ratings[1] - limits.ratings[0]), limits.times[1] - limits.times[0]
    if not (0 <= rating_span < 1 << 16):
        return None
    item_bits = max((item_high - item_low).bit_length(), 1)
    shift = _shift(user_high - user_low, item_bits, limits.n_rows)
    bits = (item_bits, int(np.ceil(rating_span)).bit_length(), time_span.bit_length())
    if shift < 0 or shift + sum(bits) > _WORD_BITS:
        return None
    spans = (user_low, user_high - user_low, item_low, item_high - item_low)
    return WordLayout(
        *spans, float(limits.ratings[0]), int(np.ceil(rating_span)), limits.times[0], time_span, shift, *bits
    )


def _shift(user_span: int, item_bits: int, n_rows: int) -> int:
    """Choose how many users share a bucket, as a power of two; -1 where the passes could not sort it."""
    wanted = min(max(n_rows // _BUCKET_ROWS, 1), _MAX_BUCKETS)
    shift = min((user_span // wanted).bit_length(), _PASSES * _DIGIT_BITS - item_bits)
    return shift if shift >= 0 and user_span >> shift < _MAX_BUCKETS else -1


class PackedRows:
    """Takes batches of rows in, in order, while threads deal them; `finish` sorts them."""

    def __init__(self, layout: WordLayout, n_rows: int, *, timed: bool) -> None:
        self._layout, self._timed, self._n = layout, timed, 0
        self._records = fresh(n_rows, np.uint64)
        self._seen = np.zeros(layout.item_span + 1, np.bool_)
        self._rated = np.zeros(layout.rating_span + 1, np.bool_)
        self._dealing: list[Future[NDArray[np.int64]]] = []
        self._pool = ThreadPoolExecutor(n_threads())

    def add(
        self,
        users: NDArray[np.int32],
        items: NDArray[np.int32],
        ratings: NDArray[np.float32],
        times: NDArray[np.int64] | None,
    ) -> None:
        """Take a batch in; one that waits too long in line is waited for."""
        start, self._n = self._n, self._n + len(users)
        if self._n > len(self._records):
            raise OutsideError
        times = _NO_TIMES if times is None else times
        self._dealing.append(self._pool.submit(self._deal, users, items, ratings, times, start))
        if len(self._dealing) > _WAITING:
            self._dealing[-_WAITING].result()

    def _deal(self, users: Any, items: Any, ratings: Any, times: Any, start: int) -> NDArray[np.int64]:
        starts = np.zeros(self._layout.n_buckets + 1, np.int64)
        if not count(users, self._layout, starts):
            raise OutsideError
        starts += start
        marks = self._seen, self._rated
        if not deal(users, items, ratings, times, self._layout, starts[:-1].copy(), *marks, self._records):
            raise OutsideError
        return starts

    def distinct(self) -> NDArray[np.float64]:
        """Return the ratings that occur, ascending."""
        return np.flatnonzero(self._rated) / 2 + self._layout.rating_low

    def close(self) -> None:
        """Shut the threads down without waiting for them."""
        self._pool.shutdown(cancel_futures=True)

    def finish(self) -> tuple[Any, ...]:
        """Return users' and items' ids, row starts, items, values and times (None without), sorted; close the gaps."""
        starts = np.array([dealt.result() for dealt in self._dealing])
        if self._n != len(self._records):
            raise OutsideError
        item_of = np.cumsum(self._seen, dtype=np.int32) - np.int32(1)
        out, activity, kept = self._sorted(starts, item_of)
        users = np.flatnonzero(activity > 0)  # of truths, which numpy finds several times as fast as of numbers
        indptr = np.zeros(len(users) + 1, np.int64)
        np.cumsum(activity[users], out=indptr[1:])
        if indptr[-1] < self._n:
            sizes = (starts[:, 1:] - starts[:, :-1]).sum(axis=0)
            places, ends = (np.concatenate(([0], np.cumsum(one))) for one in (sizes, kept))
            out = [closed_up(column, places, ends) for column in out]
        items = np.flatnonzero(self._seen)
        users += self._layout.user_low
        items += self._layout.item_low
        return users, items, indptr, out[0], out[1], out[2] if self._timed else None

    def _sorted(self, starts: NDArray[np.int64], item_of: NDArray[np.int32]) -> tuple[list[Any], Any, Any]:
        """Sort every bucket and write it out by columns; return also users' activity and how many rows each kept.

        No memory but the words' own is needed: once all are sorted, items and values fill the room of the records, and
        times that of the sorted words.
        """
        layout, n = self._layout, self._n
        sizes = (starts[:, 1:] - starts[:, :-1]).sum(axis=0)
        ends = np.cumsum(sizes)
        parts = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
        words = self._in_order(starts, parts)
        items, values = self._records.view(np.int32)[:n], self._records.view(np.float32)[n:]
        activity, kept = np.zeros(layout.n_buckets << layout.shift, np.int32), np.zeros(layout.n_buckets, np.int64)
        value_of = (np.arange(layout.rating_span + 1) / 2 + layout.rating_low).astype(np.float32)

        def write_out(b: int) -> None:
            columns = items[parts[b]], values[parts[b]]
            kept[b] = write(words[parts[b]], b, layout, item_of, value_of, *columns, self._timed, activity)

        in_threads(write_out, range(layout.n_buckets))
        return [items, values, words.view(np.int64) if self._timed else _NO_TIMES], activity, kept

    def _in_order(self, starts: NDArray[np.int64], parts: list[slice]) -> NDArray[np.uint64]:
        """Return all words by user and item, one bucket after the other."""
        layout, words, rooms = self._layout, fresh(self._n, np.uint64), threading.local()
        largest = max(part.stop - part.start for part in parts)

        def sort(b: int) -> None:
            if not hasattr(rooms, "words"):
                rooms.words = np.empty(largest, np.uint64)
                rooms.counts = np.empty((_PASSES, 1 << layout.digit_bits), np.int32)
            sort_bucket(self._records, starts, b, layout, rooms.words, rooms.counts, words[parts[b]])

        in_threads(sort, range(layout.n_buckets))
        return words


_NO_TIMES = np.empty(0, np.int64)
_NO_TIMES.flags.writeable = False  # as the columns of a table are, so that one kernel takes both


@njit(cache=True, nogil=True)
def count(users, layout, starts):  # type: ignore[no-untyped-def]
    """Count the rows of each bucket, and return where each bucket begins; False where a user is outside the limits."""
    user_span, shift, one = _u(layout.user_span), _u(layout.shift), _u(1)
    for r in range(len(users)):
        user = _u(users[r] - layout.user_low)
        if user > user_span:
            return False
        starts[(user >> shift) + one] += 1
    for b in range(1, len(starts)):
        starts[b] += starts[b - 1]
    return True


@njit(cache=True, nogil=True)
def deal(users, items, ratings, times, layout, place, seen, rated, records):  # type: ignore[no-untyped-def]
    """Write each row to the next place of its bucket; False where a row is outside the limits.

    Each loop does one thing to a few thousand rows, which stay in the cache: words are made several at a time, as
    nothing is looked up on the way, and a place is read without waiting for a mark that might lie in the same memory.
    """
    room = np.empty(_AT_ONCE, np.uint64)
    for start in range(0, len(users), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        words = room[: len(users[rows])]
        if not _pack(users[rows], items[rows], ratings[rows], times[rows], layout, words):
            return False
        _scatter(users[rows], words, layout, place, records)
        _mark(items[rows], words, layout, seen, rated)
    return True


@njit(cache=True, nogil=True)
def _pack(users, items, ratings, times, layout, words):  # type: ignore[no-untyped-def]
    """Make the rows' words; False where a row is outside the limits.

    What is below its limit wraps to a large unsigned number, so one comparison sees both ends.
    """
    mask, timed = _u((1 << layout.shift) - 1), len(times) > 0
    item_span, rating_span, time_span = _u(layout.item_span), _u(layout.rating_span), _u(layout.time_span)
    item_bits, rating_bits, time_bits = _u(layout.item_bits), _u(layout.rating_bits), _u(layout.time_bits)
    half_steps, outside = np.float64(layout.rating_low) * 2, False
    for r in range(len(users)):
        user, item = _u(users[r] - layout.user_low), _u(items[r] - layout.item_low)
        exact = ratings[r] * 2 - half_steps
        steps = np.int64(exact)
        rating, time = _u(steps), _u(times[r] - layout.time_low) if timed else _u(0)
        outside |= (item > item_span) | (rating > rating_span) | (steps != exact) | (time > time_span)
        words[r] = ((((((user & mask) << item_bits) | item) << rating_bits) | rating) << time_bits) | time
    return not outside


@njit(cache=True, nogil=True)
def _scatter(users, words, layout, place, records):  # type: ignore[no-untyped-def]
    """Write each word to the next place of its bucket; unsigned places spare asking whether they count from the end."""
    shift = _u(layout.shift)
    for r in range(len(users)):
        bucket = _u(users[r] - layout.user_low) >> shift
        p = place[bucket]
        place[bucket] = p + 1
        records[_u(p)] = words[r]


@njit(cache=True, nogil=True)
def _mark(items, words, layout, seen, rated):  # type: ignore[no-untyped-def]
    """Mark the items and the ratings that occur."""
    time_bits, rating_mask = _u(layout.time_bits), _u((1 << layout.rating_bits) - 1)
    for item in items:
        seen[_u(item - layout.item_low)] = True
    for word in words:
        rated[(word >> time_bits) & rating_mask] = True


@njit(cache=True, nogil=True)
def _u(number):  # type: ignore[no-untyped-def]
    return np.uint64(number)


@njit(cache=True, nogil=True)
def sort_bucket(records, starts, b, layout, room, counts, out):  # type: ignore[no-untyped-def]
    """Gather a bucket from all batches and sort it by user and item, the lowest digit of the key first."""
    low, width = layout.rating_bits + layout.time_bits, -(-(layout.shift + layout.item_bits) // _PASSES)
    mask, lowest, middle, highest = _u((1 << width) - 1), _u(low), _u(low + width), _u(low + 2 * width)
    counts[:] = 0
    for batch in range(len(starts)):
        for word in records[starts[batch, b] : starts[batch, b + 1]]:
            counts[0, (word >> lowest) & mask] += 1
            counts[1, (word >> middle) & mask] += 1
            counts[2, word >> highest] += 1
    _to_places(counts)
    for batch in range(len(starts)):
        _pass(records[starts[batch, b] : starts[batch, b + 1]], out, counts[0], lowest, mask)
    _pass(out, room, counts[1], middle, mask)
    _pass(room[: len(out)], out, counts[2], highest, mask)


@njit(cache=True, nogil=True)
def _to_places(counts):  # type: ignore[no-untyped-def]
    """Turn counts of digits into the places where each digit's records begin."""
    for p in range(len(counts)):
        place = 0
        for d in range(counts.shape[1]):
            here = counts[p, d]
            counts[p, d] = place
            place += here


@njit(cache=True, nogil=True)
def _pass(source, target, place, down, mask):  # type: ignore[no-untyped-def]
    """Put words in the order of one digit, keeping the order among equals."""
    for word in source:
        digit = (word >> down) & mask
        p = place[digit]
        place[digit] = p + 1
        target[_u(p)] = word


@njit(cache=True, nogil=True)
def write(words, b, layout, item_of, value_of, items, values, timed, activity):  # type: ignore[no-untyped-def]
    """Write sorted words by columns, of equal pairs the latest (the last among equal times); return how many are kept.

    Times are written over the words, never ahead of the one that is read.
    """
    low, time_bits, item_bits = _u(layout.rating_bits + layout.time_bits), _u(layout.time_bits), _u(layout.item_bits)
    item_mask, rating_mask = _u((1 << layout.item_bits) - 1), _u((1 << layout.rating_bits) - 1)
    time_mask, base = _u((1 << layout.time_bits) - 1), _u(b << layout.shift)
    last, n = _u(np.int64(-1)), 0
    for r in range(len(words)):
        word = words[r]
        key, time = word >> low, np.int64(word & time_mask) + layout.time_low
        if key == last and timed and time < np.int64(words[_u(n - 1)]):
            continue
        if key != last:
            last = key
            items[_u(n)] = item_of[key & item_mask]
            activity[base + (key >> item_bits)] += 1
            n += 1
        values[_u(n - 1)] = value_of[(word >> time_bits) & rating_mask]
        if timed:
            words[_u(n - 1)] = _u(time)
    return n
