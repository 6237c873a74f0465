"""One pass over a block of cells: order of items, range and grid of labels, and a mark of every row.

A mark is 128 bits, two sums over the cells of a row. Every item has two secret words (`item_numbers`); the first, mixed
with the label, makes the first summand, and that with the second word makes the second. The words are drawn anew in
every run, so that nobody can prepare two rows that look alike to the verifier; and since they depend on nothing but
the secret and the id, marks made in different places can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._releases.verifier.canonical_parquet import Codes

_LITTLE = 16  # so few rows are not worth a thread
DISORDER = "rows are not in ascending order of {name} and item, or a row stands twice"
OUTSIDE = "a {name} is not in 1 to {most}"
OFF_GRID = "a rating lies off the published grid or scale"


class Rows(NamedTuple):
    """What was seen of users or groups, in ascending order."""

    names: NDArray[np.int64]  # (n,)
    counts: NDArray[np.int64]  # (n,) cells or, of a group in a table of members, members
    marks: NDArray[np.uint64]  # (n, 2)

    @classmethod
    def joined(cls, blocks: Sequence[Rows]) -> Rows:
        """Put the rows of consecutive blocks together; a row may go on in the next block."""
        if not blocks:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 2), np.uint64))
        names, counts, marks = (np.concatenate(column) for column in zip(*blocks, strict=True))
        starts = np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1])))
        return cls(names[starts], np.add.reduceat(counts, starts), np.add.reduceat(marks, starts))


class Allowed(NamedTuple):
    """The labels a release may show: between low and high and, where there is a step, one of the values."""

    low: np.float32
    high: np.float32
    per_step: np.float32  # 1 / step; 0: any value between
    values: NDArray[np.float32]


def allowed(low: float, high: float, step: float | None) -> Allowed:
    """Return the labels that a grid allows: low + c * step up to high, to six decimals."""
    n_values = 0 if step is None else int(np.floor((high - low) / step + 1e-6)) + 1
    values = (np.round(low + (step or 0.0) * np.arange(n_values), 6) + 0.0).astype(np.float32)
    return Allowed(np.float32(low), np.float32(high), np.float32(0.0 if step is None else 1 / step), values)


def codes_of(labels: Codes | NDArray[np.float32], grid: Allowed) -> tuple[NDArray[np.uint32], list[str]]:
    """Return a number for each label, the same for the same label, and what is wrong with them."""
    if isinstance(labels, Codes):
        return labels.codes, []  # a place on the grid is always allowed
    codes = np.empty(len(labels), np.uint32)
    return codes, [OFF_GRID] if _number_labels(labels, *grid, codes) else []


class CellBlock(NamedTuple):
    """Some rows of a table: whose, how long, which items (by number, and by place among the ids), which labels."""

    names: NDArray[np.int32]
    counts: NDArray[np.int64]
    items: NDArray[np.int32]
    ranks: NDArray[np.integer]
    codes: NDArray[np.uint32]


def scan(cells: CellBlock, words: NDArray[np.uint64], most: int) -> tuple[Rows, list[str]]:
    """Return the rows of a block of cells, and what is wrong with it; names must be 1 to ``most``."""
    names = cells.names.astype(np.int64)
    starts = np.concatenate(([0], np.cumsum(cells.counts)))
    rows = Rows(names, cells.counts, np.empty((len(names), 2), np.uint64))
    if names.min() < 1 or names.max() > most:
        return rows, [OUTSIDE]
    if (names[1:] < names[:-1]).any():
        return rows, [DISORDER]
    faults = np.zeros(1, np.bool_)
    columns = cells.items, cells.ranks, cells.codes
    in_shares(_scan, len(names), starts, columns, words, rows.marks, faults, little=_LITTLE)
    return rows, [DISORDER] if faults[0] else []


@njit(cache=True, nogil=True, inline="always")
def _mix(word):  # type: ignore[no-untyped-def]
    """Mix 64 bits so that every bit in changes about half of those out (splitmix64's finish)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def _disorder(ranks):  # type: ignore[no-untyped-def]
    """Count the items that do not stand above the one before."""
    n, before, after = 0, ranks[:-1], ranks[1:]
    for r in range(len(after)):
        n += after[r] <= before[r]
    return n


@njit(cache=True, nogil=True)
def _number_labels(labels, low, high, per_step, values, codes):  # type: ignore[no-untyped-def]
    """Fill in the place of each label on the grid, or its bits where there is none; count those not allowed."""
    n, top, bits = 0, np.int32(len(values) - 1), labels.view(np.uint32)
    for r in range(len(labels)):
        label, code = labels[r], bits[r]
        inside = low <= label <= high  # what is no number is not inside
        if inside and per_step > 0:
            place = min(np.int32((label - low) * per_step + np.float32(0.5)), top)
            inside, code = values[place] == label, np.uint32(place)
        codes[r] = code
        n += not inside
    return n


@njit(cache=True, nogil=True, inline="always")
def _mark(items, bits, first_words, second_words):  # type: ignore[no-untyped-def]
    """Return the two sums over the cells of a row."""
    one, two = np.uint64(0), np.uint64(0)
    for r in range(len(items)):
        item = np.uint32(items[r])  # without a sign, for then the loop needs no wrapping and is vectorised
        mixed = _mix(first_words[item] ^ np.uint64(bits[r]))
        one += mixed
        two += (mixed ^ (mixed >> np.uint64(29)) ^ second_words[item]) * np.uint64(0x9E3779B97F4A7C15)
    return one, two


@njit(cache=True, nogil=True)
def _scan(share, n_shares, starts, columns, words, marks, faults):  # type: ignore[no-untyped-def]
    """Look at every run of a share; threads never write to the same row."""
    items, ranks, codes = columns
    for run in range(share, len(starts) - 1, n_shares):
        first, stop = starts[run], starts[run + 1]
        if _disorder(ranks[first:stop]):
            faults[0] = True
        marks[run, 0], marks[run, 1] = _mark(items[first:stop], codes[first:stop], words[0], words[1])
