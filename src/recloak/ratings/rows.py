"""Collecting rows from any source, chunk by chunk, into a `Ratings`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recloak.errors import SourceError
from recloak.ratings.assemble import Chunk, assemble_chunks
from recloak.ratings.model import Intake, Ratings, Scale
from recloak.ratings.numbering import Numbering


class Rows:
    """Rows in file order: ids go into the two numberings, ratings and times are kept."""

    def __init__(self) -> None:
        self.users = Numbering()
        self.items = Numbering()
        self.n_skipped = 0
        self.notes: list[str] = []
        self._values: list[NDArray[np.float32]] = []
        self._times: list[NDArray[np.int64] | None] = []

    @property
    def n_rows(self) -> int:
        """Number of rows taken in so far."""
        return sum(map(len, self._values))

    def add(self, values: NDArray[np.float32], times: NDArray[np.int64] | None) -> None:
        """Take in the ratings and times of a chunk whose ids the numberings have taken."""
        self._values.append(values)
        self._times.append(times)

    def note(self, sentence: str) -> None:
        """Remember something a reader took for granted, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def finish(self, scale: Scale | None, *, file: Path | None = None) -> Ratings:
        """Assemble the ratings; the rows are given away."""
        n_rows = self.n_rows
        if not n_rows:
            raise SourceError("there are no ratings" + (", every row was bad" if self.n_skipped else ""), file=file)
        (user_ids, user_of), (item_ids, item_of) = self.users.finish(), self.items.finish()
        for role, numbering in (("user", self.users), ("item", self.items)):
            if numbering.n_latin:
                self.note(f"{numbering.n_latin} {role} ids are no UTF-8 and were read as Latin-1")
        columns = zip(self.users.chunks, self.items.chunks, self._values, self._times, strict=True)
        chunks = [Chunk(*parts) for parts in columns]
        for kept in (self.users.chunks, self.items.chunks, self._values, self._times):
            kept.clear()
        indptr, items, values, times = assemble_chunks(chunks, user_of, item_of)
        intake = Intake(n_rows + self.n_skipped, n_rows - len(items), self.n_skipped, tuple(self.notes))
        return Ratings(indptr, items, values, user_ids, item_ids, scale or Scale.seen_in(values), times, intake)
