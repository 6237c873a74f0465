"""One pass over the rows of a release: order, range and grid of every cell, and a fingerprint of every row.

A fingerprint is 128 bits: two sums over the cells of a mixed 64-bit word of item and label (the second mixed once more,
so that equal first sums do not make equal second ones), under keys drawn anew in every run, so that nobody can prepare
two rows that look alike to the verifier.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recloak._core.threads import in_shares

_LITTLE = 16  # so few rows are not worth a thread
FAULTS = (
    "rows are not in ascending order of {name} and item, or a row stands twice",
    "a {name} is not in 1 to {most}",
    "a rating lies off the published grid or scale",
)


@dataclass(frozen=True, eq=False, slots=True)
class RowMarks:
    """What was seen of each user or group, numbered from 0 on."""

    counts: NDArray[np.int64]  # (n,) cells
    marks: NDArray[np.uint64]  # (n, 2) fingerprints
    keys: NDArray[np.uint64] = field(default_factory=lambda: np.array([secrets.randbits(64) for _ in "12"], np.uint64))

    @classmethod
    def of(cls, n: int) -> RowMarks:
        """Start with nothing seen."""
        return cls(np.zeros(n, np.int64), np.zeros((n, 2), np.uint64))


class Allowed(NamedTuple):
    """The labels a release may show: between low and high and, where there is a step, one of the values."""

    low: np.float32
    high: np.float32
    per_step: np.float32  # 1 / step; 0: any value between
    values: NDArray[np.float32]


def allowed(low: float, high: float, step: float | None) -> Allowed:
    """Give the labels that a grid allows: low + c * step up to high, to six decimals."""
    n_values = 0 if step is None else int(np.floor((high - low) / step + 1e-6)) + 1
    values = np.round(low + (step or 0.0) * np.arange(n_values), 6).astype(np.float32)
    return Allowed(np.float32(low), np.float32(high), np.float32(0.0 if step is None else 1 / step), values)


class CellBlock(NamedTuple):
    """A block of rows of a table: whose, which item (by number, and by place among the ids), which label."""

    names: NDArray[np.int32]
    items: NDArray[np.int32]
    ranks: NDArray[np.integer]
    labels: NDArray[np.float32]


def scan(rows: RowMarks, cells: CellBlock, labels: Allowed) -> list[int]:
    """Take in a block of rows; give the numbers of the `FAULTS` found in it."""
    starts = _runs(cells.names)
    names = cells.names[starts[:-1]]
    if names.min() < 1 or names.max() > len(rows.counts):
        return [1]
    if (names[1:] < names[:-1]).any():
        return [0]
    faults = np.zeros(len(FAULTS), np.int64)
    in_shares(_scan, len(names), starts, cells, labels, rows.keys, rows.counts, rows.marks, faults, little=_LITTLE)
    return np.flatnonzero(faults).tolist()


@njit(cache=True, nogil=True)
def _runs(names):  # type: ignore[no-untyped-def]
    """Give where each run of one name begins, and the end of the last."""
    n = 1
    for r in range(1, len(names)):
        n += names[r] != names[r - 1]
    starts, run = np.zeros(n + 1, np.int64), 0
    for r in range(1, len(names)):
        if names[r] != names[r - 1]:
            run += 1
            starts[run] = r
    starts[n] = len(names)
    return starts


@njit(cache=True, nogil=True)
def _mix(word):  # type: ignore[no-untyped-def]
    """Mix 64 bits so that every bit in changes about half of those out (splitmix64's finish)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True)
def _disorder(ranks):  # type: ignore[no-untyped-def]
    """Count the items that do not stand above the one before."""
    n, before, after = 0, ranks[:-1], ranks[1:]
    for r in range(len(after)):
        n += after[r] <= before[r]
    return n


@njit(cache=True, nogil=True)
def _off_grid(labels, low, high, per_step, values):  # type: ignore[no-untyped-def]
    """Count the labels that are not allowed."""
    n, top = 0, np.int32(len(values) - 1)
    for r in range(len(labels)):
        label = labels[r]
        inside = low <= label <= high  # what is no number is not inside
        if inside and per_step > 0:
            code = np.int32((label - low) * per_step + np.float32(0.5))
            inside = values[min(code, top)] == label
        n += not inside
    return n


@njit(cache=True, nogil=True)
def _marks(items, bits, first_key, second_key):  # type: ignore[no-untyped-def]
    """Give the two sums over the cells of a row."""
    one, two = np.uint64(0), np.uint64(0)
    for r in range(len(items)):
        word = (np.uint64(items[r]) << np.uint64(32)) | np.uint64(bits[r])
        mixed = _mix(word ^ first_key)
        one += mixed
        two += (mixed ^ (mixed >> np.uint64(29)) ^ second_key) * np.uint64(0x9E3779B97F4A7C15)
    return one, two


@njit(cache=True, nogil=True)
def _scan(share, n_shares, starts, cells, allowed, keys, counts, marks, faults):  # type: ignore[no-untyped-def]
    """Look at every run of a share; no two runs have one name, so threads never write to the same row."""
    names, items, ranks, labels = cells
    low, high, per_step, values = allowed
    bits = labels.view(np.uint32)
    for run in range(share, len(starts) - 1, n_shares):
        first, stop = starts[run], starts[run + 1]
        if _disorder(ranks[first:stop]):
            faults[0] = 1
        if _off_grid(labels[first:stop], low, high, per_step, values):
            faults[2] = 1
        one, two = _marks(items[first:stop], bits[first:stop], keys[0], keys[1])
        row = names[first] - 1
        counts[row] += stop - first
        marks[row, 0] += one
        marks[row, 1] += two
