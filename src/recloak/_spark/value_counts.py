"""What the values of a source look like, counted in pieces by tasks and put together on the driver.

The driver decides by it, as the local engine does, whether a source holds ratings, counts or only who used what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._ratings.value_meaning import Looks

_MOST = 1000  # whole numbers above it are counted together: no middle of ratings lies there


class ValueCounts:
    """The ends of some values, whether all are whole, and how often each small whole number occurs."""

    def __init__(self) -> None:
        self.low, self.high, self.is_whole = np.inf, -np.inf, True
        self.counts: Counter[int] = Counter()

    def add(self, values: NDArray[np.float32]) -> None:
        """Count further values."""
        if not len(values):
            return
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        self.is_whole &= bool((values == np.floor(values)).all())
        found, times = np.unique(np.clip(values, -1, _MOST).astype(np.int64), return_counts=True)
        self.counts.update(dict(zip(found.tolist(), times.tolist(), strict=True)))

    def to_json(self) -> dict[str, Any]:
        """Return plain values; without any value there are no ends."""
        ends = {"low": self.low, "high": self.high} if self.counts else {"low": None, "high": None}
        return {**ends, "is_whole": self.is_whole, "counts": list(self.counts.items())}

    @classmethod
    def looks_of(cls, pieces: Sequence[dict[str, Any]]) -> Looks:
        """Return the looks of all pieces together."""
        counts: Counter[int] = Counter()
        for piece in pieces:
            counts.update(dict(map(tuple, piece["counts"])))
        values, times = np.array(sorted(counts.items()), np.int64).reshape(-1, 2).T
        middle = values[np.searchsorted(np.cumsum(times), times.sum() / 2)] if len(values) else 0
        return Looks(
            int(times.sum()), min(piece["low"] for piece in pieces), max(piece["high"] for piece in pieces),
            all(piece["is_whole"] for piece in pieces), float(middle),
        )  # fmt: skip
