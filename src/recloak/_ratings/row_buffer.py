"""Collecting rows from any source, chunk by chunk, into a `Ratings`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._ratings.assemble import RowChunk, add_up_chunks, assemble_chunks
from recloak._ratings.column_roles import COUNT_NAMES, fold
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Intake, Ratings, Scale
from recloak._ratings.numbering import Numbering, SegmentedColumn
from recloak._ratings.times import FIRST_DAY, odd_times, on_first_day
from recloak._ratings.value_kinds import COUNTS, PRESENCE
from recloak._ratings.value_meaning import Bounds, Meaning, after_adding, meaning_of

_NUL = "must not hold a NUL"
_MARK = "must not begin with a byte order mark, as where files were joined; name the files one by one"
SKIPPING = "skip_bad=True drops such rows"


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that cannot be right."""

    line: int  # its line or row in what is being read, from 1
    rule: str
    value: object | None
    row: int | None  # its number among the rows found there, from 0; None where its line is no row


class RowBuffer:
    """Rows in file order: ids go into the two numberings, ratings and times are kept.

    ``scale`` bounds the ratings that can be right; rows that cannot be right are an error, or dropped if ``skip_bad``.
    ``kind`` is what the caller says the values are; None: it is seen from them.
    """

    def __init__(self, scale: Scale | None = None, *, skip_bad: bool = False, kind: str | None = "ratings") -> None:
        self.scale, self.skip_bad, self.kind = scale, skip_bad, kind
        self.count_column: str | None = None  # the column of the values, where its name says that it holds counts
        self._valued: bool | None = None
        self.n_skipped = 0
        self.notes: list[str] = []
        self._begin()

    def _begin(self) -> None:
        self.users, self.items = Numbering(), Numbering()
        self._values, self._times = SegmentedColumn(np.float32), SegmentedColumn(np.int64)

    def refuse(self, problems: Sequence[RowProblem], error_of: Callable[[RowProblem], SourceError]) -> None:
        """Raise the first problem, or count the rows that have one."""
        if problems and not self.skip_bad:
            error = error_of(min(problems, key=lambda problem: problem.line))
            raise error if error.file is None else error.hinting(SKIPPING)
        self.n_skipped += len({problem.line for problem in problems})

    @property
    def bounds(self) -> Bounds | None:
        """What the values must be, where that is known before all of them are: on a given scale, or counts."""
        if self.scale is not None:
            return Bounds.of_scale(self.scale)
        if self.kind == COUNTS.name or (self.kind is None and self.count_column is not None):
            return Bounds.of_counts(None if self.kind is not None else self.count_column)
        return None

    def valued_by(self, column: str | None) -> None:
        """Remember the column that a file's values are in, None for a file without values; all files must agree."""
        if self._valued is not None and self._valued != (column is not None):
            raise SourceError("some files have a column of values and others have none; read them apart")
        self._valued = column is not None
        if column is not None and fold(column) in COUNT_NAMES:
            self.count_column = column

    @property
    def value_column(self) -> str | None:
        """What the column of the values is called, ``rating`` where its name tells nothing; None without values."""
        return None if self._valued is False else self.count_column or "rating"

    def add(self, values: NDArray[np.float32], times: NDArray[np.int64] | None) -> None:
        """Add the ratings and times of a chunk whose ids were added to the numberings."""
        if len(values) and len(self._values) and (times is None) != (not len(self._times)):
            raise SourceError("some files have times and others have none; time='none' leaves times out")
        self._values.add(values)
        if times is not None:
            self._times.add(times)

    def note(self, sentence: str) -> None:
        """Remember something a reader took for granted, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def drain(self) -> pl.DataFrame:
        """Return the rows so far as a table, in file order, and begin anew."""
        columns = {"user": _decoded(self.users), "item": _decoded(self.items), "rating": _joined(self._values)}
        table = pl.DataFrame(columns | ({"time": _joined(self._times)} if len(self._times) else {}))
        self._begin()
        return table

    def finish(self, scale: Scale | None, *, file: Path | None = None) -> Ratings:
        """Assemble the ratings; the buffer is empty afterwards."""
        n_rows = len(self._values)
        if not n_rows:
            raise SourceError("there are no ratings" + (", every row was bad" if self.n_skipped else ""), file=file)
        (user_ids, user_of), (item_ids, item_of) = self.users.finish(), self.items.finish()
        for role, numbering in (("user", self.users), ("item", self.items)):
            _require_plain(role, user_ids if role == "user" else item_ids, file)
            if numbering.latin:
                self.note(f"{len(numbering.latin)} {role} ids are no UTF-8 and were read as Latin-1")
        chunks = self._taken()
        _require_seconds(chunks, file)
        if all(chunk.times is not None and on_first_day(chunk.times) for chunk in chunks):
            self.note(FIRST_DAY)
        meaning = self._meaning(chunks, file)
        put_together = add_up_chunks if meaning.adds_up else assemble_chunks
        indptr, items, values, *known = put_together(chunks, user_of, item_of)
        meaning = after_adding(meaning, n_rows, len(items))
        if meaning.note is not None:
            self.note(meaning.note)
        if meaning.kind is PRESENCE:
            values = np.ones(len(items), np.float32)
        intake = Intake(n_rows + self.n_skipped, n_rows - len(items), self.n_skipped, tuple(self.notes))
        first_times = known[1] if meaning.kind is COUNTS and len(known) > 1 else None
        scale = scale or Scale.seen_in(values)
        return Ratings(
            indptr, items, values, user_ids, item_ids, scale, known[0], intake, meaning.kind, first_times
        ).without_zeros()

    def _meaning(self, chunks: list[RowChunk], file: Path | None) -> Meaning:
        values = [chunk.values for chunk in chunks] if self._valued is not False else None
        try:
            return meaning_of(values, self.kind, column=self.count_column)
        except SourceError as error:
            raise SourceError(error.rule, file=file, value=error.value) from None

    def _taken(self) -> list[RowChunk]:
        """Hand the rows over; the columns' segments are equally long."""
        timed = len(self._times) > 0
        columns: list[Any] = [column.taken() for column in (self.users.codes, self.items.codes, self._values)]
        times = self._times.taken() if timed else [None] * len(columns[0])
        for values in columns[2]:
            np.add(values, np.float32(0), out=values)  # no zero keeps a minus
        return [RowChunk(*parts) for parts in zip(*columns, times, strict=True)]


def _require_plain(role: str, ids: IdMap, file: Path | None) -> None:
    """Raise SourceError if an id holds what no text file can: it would be lost, or be two people of one."""
    if ids.ids.dtype != pl.String:
        return
    texts = ids.ids.str
    for wrong, rule in ((texts.contains("\0", literal=True), _NUL), (texts.starts_with("\ufeff"), _MARK)):
        if wrong.any():
            raise SourceError(f"the {role}'s id {rule}", file=file, value=ids.ids.filter(wrong)[0][:60])


def _require_seconds(chunks: list[RowChunk], file: Path | None) -> None:
    """Raise SourceError if all times look like dates or days written as numbers."""
    if chunks[0].times is None:
        return
    rules = {odd_times(chunk.times) for chunk in chunks if chunk.times is not None}
    if len(rules) == 1 and (rule := rules.pop()) is not None:
        raise SourceError(rule, file=file, value=int(chunks[0].times[0]))


def _decoded(numbering: Numbering) -> pl.Series:
    ids, number_of = numbering.finish()
    return ids.ids.gather(number_of[_joined(numbering.codes)])


def _joined(column: SegmentedColumn) -> NDArray[Any]:
    return np.concatenate([np.empty(0, column.dtype), *column.taken()])
