"""Collecting rows from any source, chunk by chunk, into a `Ratings`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._ratings.assemble import RowChunk, assemble_chunks
from recloak._ratings.model import Intake, Ratings, Scale
from recloak._ratings.numbering import Numbering
from recloak._ratings.storage import Column


class RowBuffer:
    """Rows in file order: ids go into the two numberings, ratings and times are kept."""

    def __init__(self) -> None:
        self.users = Numbering()
        self.items = Numbering()
        self.n_skipped = 0
        self.notes: list[str] = []
        self._values = Column(np.float32)
        self._times = Column(np.int64)

    def add(self, values: NDArray[np.float32], times: NDArray[np.int64] | None) -> None:
        """Take in the ratings and times of a chunk whose ids the numberings have taken."""
        if len(values) and len(self._values) and (times is None) != (not len(self._times)):
            raise SourceError("some files have times and others have none; time='none' leaves times out")
        self._values.add(values)
        if times is not None:
            self._times.add(times)

    def note(self, sentence: str) -> None:
        """Remember something a reader took for granted, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def finish(self, scale: Scale | None, *, file: Path | None = None) -> Ratings:
        """Assemble the ratings; the rows are given away."""
        n_rows = len(self._values)
        if not n_rows:
            raise SourceError("there are no ratings" + (", every row was bad" if self.n_skipped else ""), file=file)
        (user_ids, user_of), (item_ids, item_of) = self.users.finish(), self.items.finish()
        for role, numbering in (("user", self.users), ("item", self.items)):
            if numbering.n_latin:
                self.note(f"{numbering.n_latin} {role} ids are no UTF-8 and were read as Latin-1")
        chunks = self._taken()
        indptr, items, values, times = assemble_chunks(chunks, user_of, item_of)
        intake = Intake(n_rows + self.n_skipped, n_rows - len(items), self.n_skipped, tuple(self.notes))
        return Ratings(indptr, items, values, user_ids, item_ids, scale or Scale.seen_in(values), times, intake)

    def _taken(self) -> list[RowChunk]:
        """Give the rows away; the columns' segments are equally long."""
        timed = len(self._times) > 0
        columns: list[Any] = [column.taken() for column in (self.users.codes, self.items.codes, self._values)]
        times = self._times.taken() if timed else [None] * len(columns[0])
        return [RowChunk(*parts) for parts in zip(*columns, times, strict=True)]
