"""Compiled hash tables from ids, whole numbers or texts, to codes 0, 1, 2, ... in order of arrival.

A place of a table holds the id's hash beside its code and, of a text, its length, so that one look at the memory
decides about most ids: the hashes of different numbers differ, and so do those of texts of one length up to eight
bytes. Longer texts are compared byte by byte. Hashes of texts are made before any place is looked at, so that the
processor has many looks under way at once.
"""

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from recloak._core.compiling import njit

_FIRST_PLACES = 1 << 12
_SHORT = 8  # bytes of a text that its hash tells from all others of its length
_LENGTH = np.uint64(32)  # bits below a text's length; there is its code + 1, and 0 is a free place
_CODE = np.uint64((1 << 32) - 1)


class NumberTable:
    """Codes of whole numbers."""

    def __init__(self) -> None:
        self._table = np.zeros((_FIRST_PLACES, 2), np.uint64)
        self._ids = np.empty(_FIRST_PLACES // 2, np.int64)
        self._n = 0

    def add(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the codes of numbers, new ones where they were not seen before."""
        codes = np.empty(len(ids), np.int32)
        done = 0
        while True:
            done, self._n = _code_numbers(ids, done, codes, self._table, self._ids, self._n)
            if done == len(ids):
                return codes
            self._ids = np.concatenate([self._ids, np.empty_like(self._ids)])
            self._table = _doubled(self._table)

    def ids(self) -> NDArray[np.int64]:
        """Return the numbers by code."""
        return self._ids[: self._n]


class TextTable:
    """Codes of texts, kept as bytes."""

    def __init__(self) -> None:
        self._table = np.zeros((_FIRST_PLACES, 2), np.uint64)
        self._ends = np.zeros(_FIRST_PLACES // 2 + 1, np.int64)
        self._bytes = np.empty(1 << 16, np.uint8)
        self._n = 0
        self.latin: list[str] = []

    def add(self, buffer: NDArray[np.uint8], starts: NDArray[np.int32], ends: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes of slices of a buffer, new ones where they were not seen before."""
        codes, hashes = np.empty(len(starts), np.int32), np.empty(len(starts), np.uint64)
        _hash_texts(buffer, starts, ends, hashes)
        done = 0
        while True:
            done, self._n = _code_texts(
                buffer, starts, ends, hashes, done, codes, self._table, self._ends, self._bytes, self._n
            )
            if done == len(starts):
                return codes
            self._grow(int(ends[done] - starts[done]))

    def add_series(self, texts: pl.Series) -> NDArray[np.int32]:
        """Return the codes of the texts of a polars column that has no gaps."""
        if len(texts) > 1 and texts.str.len_bytes().sum() >= 1 << 31:
            half = len(texts) // 2
            return np.concatenate([self.add_series(texts[:half]), self.add_series(texts[half:])])
        ends, buffer = _bytes_of(texts)
        return self.add(buffer, ends[:-1], ends[1:])

    def ids(self) -> pl.Series:
        """Return the texts by code; bytes that are no UTF-8 are read as Latin-1, and these ids kept in ``latin``."""
        parts = [pa.py_buffer(part) for part in (self._ends[: self._n + 1], self._bytes[: self._ends[self._n]])]
        raw = pa.LargeBinaryArray.from_buffers(pa.large_binary(), self._n, [None, *parts])
        try:
            return pl.Series(raw.cast(pa.large_string()), dtype=pl.String)
        except pa.ArrowInvalid:
            return pl.Series([self._text(one) for one in raw.to_pylist()], dtype=pl.String)

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.latin.append(raw.decode("latin-1"))
            return self.latin[-1]

    def _grow(self, room: int) -> None:
        """Make room for at least one more text of ``room`` bytes."""
        self._ends = np.concatenate([self._ends, np.empty(len(self._ends) - 1, np.int64)])
        self._bytes = np.concatenate([self._bytes, np.empty(len(self._bytes) + room, np.uint8)])
        self._table = _doubled(self._table)


def _doubled(table: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a table with the same ids and twice the places."""
    larger = np.zeros((2 * len(table), 2), np.uint64)
    _refill(table, larger)
    return larger


def _bytes_of(texts: pl.Series) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return where texts begin and end in one buffer, and the buffer."""
    array = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    _, ends, buffer = array.buffers()
    cuts = np.frombuffer(ends, np.int64, len(texts) + 1, 8 * array.offset)
    return cuts.astype(np.int32), np.frombuffer(buffer or b"", np.uint8).copy()  # kernels take what can be written


@njit(cache=True, nogil=True)
def _mix(x):  # type: ignore[no-untyped-def]
    """Spread a number over 64 bits (the finaliser of splitmix64)."""
    x = np.uint64(x)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def _refill(table, larger):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(larger) - 1)
    for place in range(len(table)):
        if table[place, 1]:
            s = table[place, 0] & mask
            while larger[s, 1]:
                s = (s + np.uint64(1)) & mask
            larger[s] = table[place]


@njit(cache=True, nogil=True)
def _code_numbers(ids, done, codes, table, known, n):  # type: ignore[no-untyped-def]
    """Code numbers from row ``done`` on, until the end or until the table is full; return how far, and how many ids."""
    mask = np.uint64(len(table) - 1)
    for r in range(done, len(ids)):
        h = _mix(ids[r])
        s = h & mask
        while table[s, 1] and table[s, 0] != h:
            s = (s + np.uint64(1)) & mask
        if not table[s, 1]:
            if n == len(known):
                return r, n
            known[n] = ids[r]
            n += 1
            table[s, 0], table[s, 1] = h, n
        codes[r] = np.int32(table[s, 1]) - 1
    return len(ids), n


@njit(cache=True, nogil=True)
def _hash_texts(buffer, starts, ends, hashes):  # type: ignore[no-untyped-def]
    """Hash slices of a buffer, eight bytes after the other; each step can be undone, so short texts never collide."""
    for r in range(len(starts)):
        h = np.uint64(ends[r] - starts[r]) * np.uint64(0x9E3779B97F4A7C15)
        word, filled = np.uint64(0), 0
        for p in range(np.uint64(starts[r]), np.uint64(ends[r])):
            word = (word << np.uint64(8)) | np.uint64(buffer[p])
            filled += 1
            if filled == _SHORT:
                h = _mix(h ^ word)
                word, filled = np.uint64(0), 0
        hashes[r] = _mix(h ^ word)


@njit(cache=True, nogil=True)
def _same(buffer, start, known, a, size):  # type: ignore[no-untyped-def]
    for p in range(size):  # noqa: SIM110 (numba compiles this loop, not any())
        if buffer[start + p] != known[a + p]:
            return False
    return True


@njit(cache=True, nogil=True)
def _code_texts(buffer, starts, ends, hashes, done, codes, table, known_ends, known, n):  # type: ignore[no-untyped-def]
    """Code texts from row ``done`` on, until the end or until the table is full; return how far, and how many ids."""
    mask = np.uint64(len(table) - 1)
    for r in range(done, len(starts)):
        h, size = hashes[r], np.int64(ends[r] - starts[r])
        s = h & mask
        while table[s, 1]:
            if table[s, 0] == h and table[s, 1] >> _LENGTH == np.uint64(size):
                code = np.int64(table[s, 1] & _CODE) - 1
                if size <= _SHORT or _same(buffer, starts[r], known, known_ends[code], size):
                    break
            s = (s + np.uint64(1)) & mask
        if not table[s, 1]:
            a = known_ends[n]
            if n == len(known_ends) - 1 or a + size > len(known):
                return r, n
            known[a : a + size] = buffer[starts[r] : ends[r]]
            known_ends[n + 1] = a + size
            n += 1
            table[s, 0], table[s, 1] = h, (np.uint64(size) << _LENGTH) | np.uint64(n)
        codes[r] = np.int64(table[s, 1] & _CODE) - 1
    return len(starts), n
