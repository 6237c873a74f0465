"""Numbering ids while rows stream in, so that the ids themselves never all live at once.

Each axis goes through up to three states. While all ids are whole numbers below 2**31 a row's code is the id itself.
When a larger or negative one comes, ids are hashed to codes in order of arrival. When a text comes, every id of the
axis is a text. Rows that came before a change of state get new codes. At the end `finish` sorts the ids and returns the
table from codes to places in that order.
"""

import mmap
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import DTypeLike, NDArray

from recloak._ratings.hashing import NumberTable, TextTable
from recloak._ratings.ids import IdMap
from recloak._ratings.sorting import mark

SEGMENT_ROWS = 1 << 20
_SMALL = 1 << 31
_SPARSE = 16  # a table from id to code may be this many times longer than there are rows
_ALWAYS = 1 << 22  # and this long in any case


class SegmentedColumn:
    """Values of one kind in the order they came, in segments.

    Each segment is a mapping of its own, so that its memory goes back to the system the moment it is dropped; the
    allocator would keep millions of small arrays' worth of it.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self._segments: list[NDArray[np.generic]] = []
        self._room = 0  # free places of the last segment

    def add(self, values: NDArray[np.generic]) -> None:
        """Copy values to the end."""
        while len(values):
            if not self._room:
                self._segments.append(_mapped(SEGMENT_ROWS, self.dtype))
                self._room = SEGMENT_ROWS
            start = SEGMENT_ROWS - self._room
            n = min(self._room, len(values))
            self._segments[-1][start : start + n] = values[:n]
            self._room -= n
            values = values[n:]

    def __len__(self) -> int:
        return SEGMENT_ROWS * len(self._segments) - self._room

    def parts(self) -> list[NDArray[np.generic]]:
        """Return the segments, without the last one's free places."""
        return [segment[: len(self) - SEGMENT_ROWS * k] for k, segment in enumerate(self._segments)]

    def taken(self) -> list[NDArray[np.generic]]:
        """Hand the segments over."""
        parts = self.parts()
        self._segments, self._room = [], 0
        return parts


def _mapped(n: int, dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    block = mmap.mmap(-1, n * dtype.itemsize)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        block.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(block, dtype)


class Numbering:
    """Gives codes to the ids of one axis, chunk by chunk, and keeps the codes given so far."""

    def __init__(self) -> None:
        self.codes = SegmentedColumn(np.int32)
        self._numbers: NumberTable | None = None
        self._texts: TextTable | None = None

    @property
    def is_text(self) -> bool:
        """Whether a text was among the ids so far."""
        return self._texts is not None

    @property
    def latin(self) -> list[str]:
        """The ids that were no UTF-8 and were read as Latin-1, once finished."""
        return [] if self._texts is None else self._texts.latin

    def add_numbers(self, ids: NDArray[np.integer]) -> None:
        """Take in a chunk of whole numbers."""
        if self._texts is not None:
            self.add_series(pl.Series(ids).cast(pl.String))
            return
        if self._numbers is None and len(ids) and not (ids.min() >= 0 and ids.max() < _SMALL):
            self._hash_numbers()
        self.codes.add(ids if self._numbers is None else self._numbers.add(ids.astype(np.int64, copy=False)))

    def add_texts(self, buffer: NDArray[np.uint8], starts: NDArray[np.int32], ends: NDArray[np.int32]) -> None:
        """Take in a chunk of texts that are slices of a buffer."""
        self.codes.add(self._text_table().add(buffer, starts, ends))

    def add_series(self, ids: pl.Series) -> None:
        """Take in a chunk of a polars column of whole numbers or texts."""
        if ids.dtype == pl.String:
            self.codes.add(self._text_table().add_series(ids))
        else:
            self.add_numbers(ids.to_numpy())

    def finish(self) -> tuple[IdMap, NDArray[np.int32]]:
        """Return the map of the ids and the table from codes to its numbers."""
        if self._texts is not None:
            ids, number_of = _ranked(self._texts.ids())
            return ids, number_of if len(ids) == len(number_of) else self._renumbered(number_of, len(ids))
        if self._numbers is None and self._is_sparse():
            self._hash_numbers()
        if self._numbers is not None:
            return _ranked(pl.Series(self._numbers.ids()))
        seen = self._seen()
        number_of = np.cumsum(seen, dtype=np.int32) - np.int32(1)
        return IdMap(pl.Series(np.flatnonzero(seen).astype(np.int64))), number_of

    def _renumbered(self, number_of: NDArray[np.int32], n: int) -> NDArray[np.int32]:
        """Make the code of an id that is spelled in two ways its number."""
        for codes in self._parts():
            codes[:] = number_of[codes]
        return np.arange(n, dtype=np.int32)

    def _seen(self) -> NDArray[np.bool_]:
        """Mark the ids that occur, where codes are ids."""
        seen = np.zeros(self._largest() + 1, np.bool_)
        for codes in self._parts():
            mark(codes, seen)
        return seen

    def _largest(self) -> int:
        return max((int(codes.max()) for codes in self._parts()), default=-1)

    def _is_sparse(self) -> bool:
        return self._largest() > max(_ALWAYS, _SPARSE * len(self.codes))

    def _hash_numbers(self) -> None:
        """Leave the state in which codes are ids."""
        self._numbers = NumberTable()
        for codes in self._parts():
            codes[:] = self._numbers.add(codes.astype(np.int64))

    def _parts(self) -> list[Any]:
        return self.codes.parts()

    def _text_table(self) -> TextTable:
        """Return the table of texts, turning the numbers so far into texts when it is first needed."""
        if self._texts is None:
            ids, number_of = self.finish()
            self._texts = TextTable()
            codes = self._texts.add_series(ids.ids.cast(pl.String))
            for part in self._parts():
                part[:] = codes[number_of[part]]
        return self._texts


def _ranked(ids: pl.Series) -> tuple[IdMap, NDArray[np.int32]]:
    """Sort ids (in order of their codes) and return the place of each; two codes of the same id share a place."""
    order = ids.arg_sort()
    ranked = ids.gather(order)
    if (ranked == ranked.shift()).any():
        known = IdMap.of(ids)
        return known, known.encode(ids)
    place = np.empty(len(ids), np.int32)
    place[order.to_numpy()] = np.arange(len(ids), dtype=np.int32)
    return IdMap(ranked), place
