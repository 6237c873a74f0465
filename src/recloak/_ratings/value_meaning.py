"""Deciding what the values of a source mean, and how rows that repeat a pair are put together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._ratings.sorting import MOST_COUNT
from recloak._ratings.value_kinds import COUNTS, OVERRIDE, PRESENCE, RATINGS, ValueKind

if TYPE_CHECKING:
    from recloak._ratings.model import Scale

_LONG_TAIL = 10  # the greatest count is at least so many times the middle one
_ENOUGH = 20  # rows from which values tell what they are; fewer are ratings
_REPEATING = 0.01  # share of rows that repeat a pair from which a log is one of events, not of holdings


@dataclass(frozen=True, slots=True)
class Meaning:
    """The kind of a source's values, how repeated pairs are treated, and the note that tells it."""

    kind: ValueKind
    adds_up: bool  # events of one pair are added up; else the latest row wins
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """What each value of a source must be, and the rule in words."""

    low: float
    high: float
    whole: bool
    rule: str

    @classmethod
    def of_scale(cls, scale: Scale) -> Bounds:
        """Return the bounds of ratings on a given scale."""
        return cls(scale.low, scale.high, False, f"a rating must lie between {scale.low:g} and {scale.high:g}")

    @classmethod
    def of_counts(cls, column: str | None) -> Bounds:
        """Return the bounds of counts; ``column`` is the name that says that it holds counts."""
        why = "the column {!r} is one of counts; leave returned goods out, or say what it holds with values=..."
        told = "" if column is None else f" ({why.format(column)})"
        return cls(0, float(MOST_COUNT), True, f"a count must be a whole number from 0 to {MOST_COUNT:,}{told}")

    def broken(self, values: NDArray[np.float32]) -> Iterator[tuple[int, float]]:
        """Yield the row and the value of each that is outside."""
        outside = (values < np.float32(self.low)) | (values > np.float32(self.high))
        if self.whole:
            outside |= (values != np.floor(values)) & np.isfinite(values)
        for row in np.flatnonzero(outside).tolist():
            yield row, float(f"{values[row]:.7g}")


def meaning_of(values: list[NDArray[np.float32]] | None, said: str | None, *, column: str | None = None) -> Meaning:
    """Decide what values mean before repeated pairs are put together; ``None`` is a source without a value column.

    ``column`` is the name of the column where that name alone says that it holds counts.
    """
    if said == RATINGS.name:
        return Meaning(RATINGS, adds_up=False)
    if said == PRESENCE.name:
        return Meaning(PRESENCE, adds_up=False)
    if said == COUNTS.name:
        _require_counts(values, Bounds.of_counts(None))
        return Meaning(COUNTS, adds_up=True)
    if values is None:
        return Meaning(PRESENCE, adds_up=True, note="no column holds a value")
    if column is not None:
        _require_counts(values, Bounds.of_counts(column))
    return meaning_seen(Looks.of(values), column=column)


class Looks(NamedTuple):
    """What values look like: enough to tell ratings from counts."""

    n: int
    low: float
    high: float
    is_whole: bool
    middle: float  # about the median; looked at only where all are whole

    @classmethod
    def of(cls, values: list[NDArray[np.float32]]) -> Looks:
        """Look at values, in parts."""
        low, high = min(float(part.min()) for part in values), max(float(part.max()) for part in values)
        is_whole = _all_whole(values)
        return cls(sum(map(len, values)), low, high, is_whole, _middle(values) if is_whole else 0.0)


def meaning_seen(looks: Looks, *, column: str | None = None) -> Meaning:
    """Decide what values mean by their looks, where nobody says it."""
    low, high = looks.low, looks.high
    if looks.n < _ENOUGH and column is None:
        return Meaning(RATINGS, adds_up=False)
    if low == high:
        return Meaning(PRESENCE, adds_up=True, note=f"the value is {low:g} in every row")
    if low >= 0 and high <= MOST_COUNT and looks.is_whole:
        told = f"the values are whole numbers from {low:g} to {high:,.0f}"
        if column is not None:
            return Meaning(COUNTS, adds_up=True, note=f"{told} in the column {column!r}: read as counts ({OVERRIDE})")
        if high >= _LONG_TAIL * max(looks.middle, 1.0):
            return Meaning(COUNTS, adds_up=True, note=f"{told} with a long tail: read as counts ({OVERRIDE})")
    return Meaning(RATINGS, adds_up=False)


def after_adding(meaning: Meaning, n_rows: int, n_cells: int) -> Meaning:
    """Decide between holdings and events for a source without values: events are rows that repeat a pair."""
    if meaning.kind is not PRESENCE or not meaning.adds_up:
        return meaning
    repeated = n_rows - n_cells
    if repeated <= _REPEATING * n_rows:
        return Meaning(PRESENCE, adds_up=False, note=f"{meaning.note}: read as presence, who used what ({OVERRIDE})")
    told = f"{meaning.note} and {repeated:,} of {n_rows:,} rows repeat a pair"
    return Meaning(COUNTS, adds_up=True, note=f"{told}: read as counts, events added up ({OVERRIDE})")


def _all_whole(values: list[NDArray[np.float32]]) -> bool:
    return all(bool((part == np.floor(part)).all()) for part in values)


def _middle(values: list[NDArray[np.float32]]) -> float:
    """Return about the median: of every n-th value where they are many."""
    step = max(sum(map(len, values)) // 1_000_000, 1)
    return float(np.median(np.concatenate([part[::step] for part in values])))


def _require_counts(values: list[NDArray[np.float32]] | None, bounds: Bounds) -> None:
    for part in values or ():
        for _, value in bounds.broken(part):
            raise SourceError(bounds.rule, value=value)
