"""How often one token may ask: a token bucket each, shared by all workers.

A bucket holds at most ``burst`` and fills by ``rate`` a second; a request takes its cost out of it or is told how long
to wait. The buckets lie in a file that every worker maps into memory, two numbers each, at the place of the token's
number; a lock on these 16 bytes keeps two workers from taking at once. The file is sparse: only tokens in use take
room.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

_CELL = struct.Struct("dd")  # when it was last touched (0: never), and what it held then
_PLACES = 1 << 20


class Buckets:
    """The buckets of all tokens; numbers beyond a million share places, which only makes their limit stricter."""

    def __init__(
        self, file: str | Path, rate: float, burst: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(self._file, _PLACES * _CELL.size)
        self._cells = mmap.mmap(self._file, _PLACES * _CELL.size)

    def take(self, number: int, cost: float = 1.0, *, paid: float = 0.0) -> float:
        """Take the cost of a request out of a token's bucket; give 0, or the seconds to wait before it would fit.

        ``paid`` is what the same request took before, and takes again when it comes back. Whatever a request costs in
        all, a full bucket meets it.
        """
        place = number % _PLACES * _CELL.size
        fcntl.lockf(self._file, fcntl.LOCK_EX, _CELL.size, place)
        try:
            return self._take(place, min(cost, self._burst - paid), paid)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, _CELL.size, place)

    def _take(self, place: int, cost: float, paid: float) -> float:
        now = self._clock()
        touched, held = _CELL.unpack_from(self._cells, place)
        full = self._burst if touched == 0 else min(self._burst, held + max(now - touched, 0.0) * self._rate)
        if full < cost:
            return (paid + cost - full) / self._rate
        _CELL.pack_into(self._cells, place, now, full - cost)
        return 0.0

    def close(self) -> None:
        """Let go of the file."""
        self._cells.close()
        os.close(self._file)
