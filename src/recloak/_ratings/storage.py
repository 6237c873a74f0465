"""Columns that grow while rows stream in.

A column is a list of segments, each a mapping of its own, so that the memory of a segment goes back to the system the
moment it is dropped; the allocator would keep millions of small arrays' worth of it.
"""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import DTypeLike, NDArray

SEGMENT_ROWS = 1 << 20


class Column:
    """Values of one kind in the order they came."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._segments: list[NDArray[np.generic]] = []
        self._room = 0  # free places of the last segment

    def add(self, values: NDArray[np.generic]) -> None:
        """Copy values to the end."""
        while len(values):
            if not self._room:
                self._segments.append(_mapped(SEGMENT_ROWS, self._dtype))
                self._room = SEGMENT_ROWS
            start = SEGMENT_ROWS - self._room
            n = min(self._room, len(values))
            self._segments[-1][start : start + n] = values[:n]
            self._room -= n
            values = values[n:]

    def __len__(self) -> int:
        return SEGMENT_ROWS * len(self._segments) - self._room

    def parts(self) -> list[NDArray[np.generic]]:
        """Give the segments, without the last one's free places."""
        return [segment[: len(self) - SEGMENT_ROWS * k] for k, segment in enumerate(self._segments)]

    def taken(self) -> list[NDArray[np.generic]]:
        """Give the segments away."""
        parts = self.parts()
        self._segments, self._room = [], 0
        return parts


def _mapped(n: int, dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    block = mmap.mmap(-1, n * dtype.itemsize)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        block.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(block, dtype)
