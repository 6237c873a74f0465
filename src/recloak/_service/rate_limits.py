"""Rate limits: one bucket per token, shared by all workers.

A bucket holds at most ``burst`` units and fills by ``rate`` a second; a request takes its cost out of it or is told how
long to wait. The buckets are stored in a file that every worker maps into memory, two numbers each, at the position of
the token's number, and a worker locks these 16 bytes while it uses them. The file takes 16 MB of disk from the start.
"""

import fcntl
import mmap
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

from recloak._core.errors import InputError

_CELL = struct.Struct("dd")  # when it was last used (0: never), and its level then
_N_CELLS = 1 << 20


class RateLimiter:
    """The buckets of all tokens; numbers beyond a million share buckets, which only makes their limit stricter."""

    def __init__(
        self, file: str | Path, rate: float, burst: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        try:  # a disk that is full later would kill the process
            os.posix_fallocate(self._file, 0, _N_CELLS * _CELL.size)
        except OSError as error:
            os.close(self._file)
            raise InputError(f"{file}: 16 MB for the limits of tokens cannot be written: {error.strerror}") from error
        self._cells = mmap.mmap(self._file, _N_CELLS * _CELL.size)

    def take(self, number: int, cost: float = 1.0, *, paid: float = 0.0) -> float:
        """Take the cost of a request out of a token's bucket; return 0, or the seconds to wait if it holds too little.

        ``paid`` is what the same request took before, and will take again when it is repeated. No request costs more
        than a full bucket holds.
        """
        offset = number % _N_CELLS * _CELL.size
        fcntl.lockf(self._file, fcntl.LOCK_EX, _CELL.size, offset)
        try:
            return self._take(offset, min(cost, self._burst - paid), paid)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, _CELL.size, offset)

    def _take(self, offset: int, cost: float, paid: float) -> float:
        now = self._clock()
        touched, level = _CELL.unpack_from(self._cells, offset)
        full = self._burst if touched == 0 else min(self._burst, level + max(now - touched, 0.0) * self._rate)
        if full < cost:
            return (paid + cost - full) / self._rate
        _CELL.pack_into(self._cells, offset, now, full - cost)
        return 0.0

    def close(self) -> None:
        """Close the file."""
        self._cells.close()
        os.close(self._file)
