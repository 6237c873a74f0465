"""Compiled hash tables from ids, whole numbers or texts, to codes 0, 1, 2, ... in order of arrival."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

_FIRST_SLOTS = 1 << 12
_FREE = -1


class NumberTable:
    """Codes of whole numbers."""

    def __init__(self) -> None:
        self._slots = np.full(_FIRST_SLOTS, _FREE, np.int32)
        self._ids = np.empty(_FIRST_SLOTS // 2, np.int64)
        self._n = 0

    def add(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Give the codes of numbers, new ones where they were not seen before."""
        codes = np.empty(len(ids), np.int32)
        done = 0
        while True:
            done, self._n = _code_numbers(ids, done, codes, self._slots, self._ids, self._n)
            if done == len(ids):
                return codes
            self._ids = np.concatenate([self._ids, np.empty_like(self._ids)])
            self._slots = np.full(2 * len(self._slots), _FREE, np.int32)
            _refill_numbers(self._slots, self._ids, self._n)

    def ids(self) -> NDArray[np.int64]:
        """Give the numbers by code."""
        return self._ids[: self._n]


class TextTable:
    """Codes of texts, kept as bytes."""

    def __init__(self) -> None:
        self._slots = np.full(_FIRST_SLOTS, _FREE, np.int32)
        self._hashes = np.empty(_FIRST_SLOTS // 2, np.uint64)
        self._ends = np.zeros(_FIRST_SLOTS // 2 + 1, np.int64)
        self._bytes = np.empty(1 << 16, np.uint8)
        self._n = 0
        self.n_latin = 0

    def add(self, buffer: NDArray[np.uint8], starts: NDArray[np.int32], ends: NDArray[np.int32]) -> NDArray[np.int32]:
        """Give the codes of slices of a buffer, new ones where they were not seen before."""
        codes = np.empty(len(starts), np.int32)
        done = 0
        while True:
            done, self._n = _code_texts(
                buffer, starts, ends, done, codes, self._slots, self._hashes, self._ends, self._bytes, self._n
            )
            if done == len(starts):
                return codes
            self._grow(int(ends[done] - starts[done]))

    def add_series(self, texts: pl.Series) -> NDArray[np.int32]:
        """Give the codes of distinct texts of a polars column."""
        ends = texts.str.len_bytes().cast(pl.Int64).cum_sum().to_numpy()
        if len(ends) and ends[-1] >= 1 << 31:
            half = len(texts) // 2
            return np.concatenate([self.add_series(texts[:half]), self.add_series(texts[half:])])
        starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
        buffer = np.frombuffer(bytearray("".join(texts).encode()), np.uint8)
        return self.add(buffer, starts.astype(np.int32), ends.astype(np.int32))

    def ids(self) -> pl.Series:
        """Give the texts by code; bytes that are no UTF-8 are read as Latin-1, and their ids counted in ``n_latin``."""
        raw = self._bytes[: self._ends[self._n]].tobytes()
        cuts = self._ends[: self._n + 1].tolist()
        try:
            texts = [raw[a:b].decode() for a, b in pairwise(cuts)]
        except UnicodeDecodeError:
            texts = [self._text(raw[a:b]) for a, b in pairwise(cuts)]
        return pl.Series(texts, dtype=pl.String)

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.n_latin += 1
            return raw.decode("latin-1")

    def _grow(self, room: int) -> None:
        """Make room for at least one more text of ``room`` bytes."""
        self._hashes = np.concatenate([self._hashes, np.empty_like(self._hashes)])
        self._ends = np.concatenate([self._ends, np.empty_like(self._ends)])
        self._bytes = np.concatenate([self._bytes, np.empty(len(self._bytes) + room, np.uint8)])
        self._slots = np.full(2 * len(self._slots), _FREE, np.int32)
        _refill_texts(self._slots, self._hashes, self._n)


@njit(cache=True, nogil=True)
def _mix(x):  # type: ignore[no-untyped-def]
    """Spread a number over 64 bits (the finaliser of splitmix64)."""
    x = np.uint64(x)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def _code_numbers(ids, done, codes, slots, known, n):  # type: ignore[no-untyped-def]
    """Code numbers from row ``done`` on, until the end or until the table is full; give how far, and how many ids."""
    mask = np.uint64(len(slots) - 1)
    for r in range(done, len(ids)):
        s = _mix(ids[r]) & mask
        while slots[s] >= 0 and known[slots[s]] != ids[r]:
            s = (s + np.uint64(1)) & mask
        if slots[s] < 0:
            if n == len(known):
                return r, n
            known[n] = ids[r]
            slots[s] = n
            n += 1
        codes[r] = slots[s]
    return len(ids), n


@njit(cache=True, nogil=True)
def _refill_numbers(slots, known, n):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(slots) - 1)
    for code in range(n):
        s = _mix(known[code]) & mask
        while slots[s] >= 0:
            s = (s + np.uint64(1)) & mask
        slots[s] = code


@njit(cache=True, nogil=True)
def _hash_text(buffer, start, end):  # type: ignore[no-untyped-def]
    h = np.uint64(end - start) * np.uint64(0x9E3779B97F4A7C15)
    word, filled = np.uint64(0), 0
    for p in range(start, end):
        word = (word << np.uint64(8)) | np.uint64(buffer[p])
        filled += 1
        if filled == 8:
            h = _mix(h ^ word)
            word, filled = np.uint64(0), 0
    return _mix(h ^ word)


@njit(cache=True, nogil=True)
def _same(buffer, start, end, known, a, b):  # type: ignore[no-untyped-def]
    if end - start != b - a:
        return False
    for p in range(end - start):  # noqa: SIM110 (numba compiles this loop, not any())
        if buffer[start + p] != known[a + p]:
            return False
    return True


@njit(cache=True, nogil=True)
def _code_texts(buffer, starts, ends, done, codes, slots, hashes, known_ends, known, n):  # type: ignore[no-untyped-def]
    """Code texts from row ``done`` on, until the end or until the table is full; give how far, and how many ids."""
    mask = np.uint64(len(slots) - 1)
    for r in range(done, len(starts)):
        start, end = starts[r], ends[r]
        h = _hash_text(buffer, start, end)
        s = h & mask
        while slots[s] >= 0:
            code = slots[s]
            if hashes[code] == h and _same(buffer, start, end, known, known_ends[code], known_ends[code + 1]):
                break
            s = (s + np.uint64(1)) & mask
        if slots[s] < 0:
            a = known_ends[n]
            if n == len(hashes) or a + end - start > len(known):
                return r, n
            for p in range(end - start):
                known[a + p] = buffer[start + p]
            known_ends[n + 1] = a + end - start
            hashes[n] = h
            slots[s] = n
            n += 1
        codes[r] = slots[s]
    return len(starts), n


@njit(cache=True, nogil=True)
def _refill_texts(slots, hashes, n):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(slots) - 1)
    for code in range(n):
        s = hashes[code] & mask
        while slots[s] >= 0:
            s = (s + np.uint64(1)) & mask
        slots[s] = code
