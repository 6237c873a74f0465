"""One part of a released table, read and judged where it lies: hash, form, order, grid, and a mark of every row.

A mark is 128 bits: two sums over the cells of a row of a mixed word of item and label, under keys drawn anew for every
verification, so that nobody can prepare two rows that look alike. An item is its number, or a keyed hash of its text,
so that marks made in different places can be compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from recloak._releases.verifier.claims import digest_of
from recloak._releases.verifier.scan import Allowed
from recloak._releases.verifier.table_blocks import Unreadable, WrongTableError, blocks

DISORDER = "rows are not in ascending order of {name} and item, or a row stands twice"
OUTSIDE = "a {name} is not in 1 to {most}"
OFF_GRID = "a rating lies off the published grid or scale"


class Part(NamedTuple):
    """A file of a table, and what is to be held against it."""

    table: str
    number: int
    path: Path
    sha256: str
    columns: tuple[str, ...]
    most: int  # the largest name there may be


@dataclass(slots=True)
class Seen:
    """What was seen in a part."""

    problem: str | None = None
    n_rows: int = 0
    first: int = 0
    last: int = 0
    kind: str = ""  # of the items' ids
    items: set[str] = field(default_factory=set)
    names: list[NDArray[np.int64]] = field(default_factory=list)
    counts: list[NDArray[np.int64]] = field(default_factory=list)
    marks: list[NDArray[np.uint64]] = field(default_factory=list)


def look_at_cells(part: Part, labels: Allowed, keys: tuple[int, int], secret: bytes) -> Seen:
    """Read a part that holds cells."""
    seen, marker = Seen(), _Marker(np.array(keys, np.uint64))
    for names, ids, given in _read(part, seen):
        coded = _codes(ids, secret)
        seen.kind, seen.items = str(_plain_type(ids)), seen.items | _distinct(ids)
        if coded is None:
            seen.problem = "a dictionary of items names an item twice"
        elif seen.problem is None:
            seen.problem = marker.take(names.to_numpy(), ids, *coded, given.to_numpy(), labels, part)
        seen.n_rows += len(names)
    seen.names, seen.counts, seen.marks = marker.finish()
    if len(seen.names[0]):
        seen.first, seen.last = int(seen.names[0][0]), int(seen.names[-1][-1])
    return seen


def look_at_members(part: Part) -> Seen:
    """Read a part that says who is in which group: its users must follow each other; count them by group."""
    seen, users = Seen(), 0
    for names, groups in _read(part, seen):
        numbers, inside = names.to_numpy(), groups.to_numpy()
        first = users + 1 if users else int(numbers[0])
        seen.first = seen.first or first
        users = first + len(numbers) - 1
        if not np.array_equal(numbers, np.arange(first, users + 1)):
            seen.problem = "members must name the users from 1 on in order, each once"
        elif inside.min() < 1 or inside.max() > part.most:
            seen.problem = f"a member's group is not in 1 to {part.most}"
        distinct, counts = np.unique(inside, return_counts=True)
        seen.names.append(distinct.astype(np.int64))
        seen.counts.append(counts.astype(np.int64))
        seen.n_rows += len(numbers)
    seen.last = users
    return seen


def _read(part: Part, seen: Seen) -> Iterator[list[Any]]:
    """Give a part's blocks, if it is the file that the manifest names."""
    try:
        if digest_of(part.path) != part.sha256:
            seen.problem = f"{part.table}: the SHA-256 of part {part.number} is not the one in the manifest"
            return
        yield from (block for block in blocks(part.path, part.columns) if len(block[0]))
    except WrongTableError as error:
        seen.problem = str(error)
    except Unreadable as error:
        seen.problem = f"a table cannot be read: {error}"


def _plain_type(ids: pa.Array) -> pa.DataType:
    return ids.type.value_type if pa.types.is_dictionary(ids.type) else ids.type


def _distinct(ids: pa.Array) -> set[str]:
    return set(map(str, ids.unique().to_pylist()))


def _codes(ids: pa.Array, secret: bytes) -> tuple[NDArray[np.uint64], NDArray[np.int64]] | None:
    """Give each item a word of 64 bits that stands for it everywhere, and its rank among those of the block.

    Nothing where the block's own dictionary names an item twice, for then neither means anything.
    """
    if pa.types.is_integer(ids.type):
        numbers = ids.to_numpy().astype(np.int64)
        return numbers.view(np.uint64), numbers
    texts = ids if pa.types.is_dictionary(ids.type) else ids.dictionary_encode()
    words = texts.dictionary.to_pylist()
    if len(set(words)) < len(words):
        return None
    codes = np.array([_text_code(word, secret) for word in words], np.uint64)
    ranks = np.empty(len(words), np.int64)
    ranks[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    used = texts.indices.to_numpy()
    return codes[used], ranks[used]


def _text_code(word: str, secret: bytes) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), key=secret, digest_size=8).digest()
    return int.from_bytes(digest, "little")


class _Marker:
    """Marks the rows of a part block by block; a row may go on in the next block."""

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        self.keys = keys
        self.names: list[NDArray[np.int64]] = []
        self.counts: list[NDArray[np.int64]] = []
        self.marks: list[NDArray[np.uint64]] = []
        self.last_id: Any = None

    def take(
        self, names: NDArray[np.int32], ids: pa.Array, codes: NDArray[np.uint64], ranks: NDArray[np.int64],
        labels: NDArray[np.float32], allowed: Allowed, part: Part,
    ) -> str | None:  # fmt: skip
        """Take a block in; give what is wrong with it."""
        name = part.columns[0]
        if names.min() < 1 or names.max() > part.most:
            return OUTSIDE.format(name=name, most=part.most)
        if not _ascend(names, ranks) or not self._goes_on(int(names[0]), ids):
            return DISORDER.format(name=name)
        if not _all_allowed(labels, *allowed):
            return OFF_GRID
        self._add(*_mark(names, codes, labels.view(np.uint32), self.keys))
        self.last_id = ids[-1].as_py()
        return None

    def _goes_on(self, name: int, ids: pa.Array) -> bool:
        """Tell whether a block begins after the last one's end."""
        if not self.names:
            return True
        before = int(self.names[-1][-1])
        return name > before or (name == before and ids[0].as_py() > self.last_id)

    def _add(self, names: NDArray[np.int64], counts: NDArray[np.int64], marks: NDArray[np.uint64]) -> None:
        if self.names and self.names[-1][-1] == names[0]:
            self.counts[-1][-1] += counts[0]
            self.marks[-1][-1] += marks[0]
            names, counts, marks = names[1:], counts[1:], marks[1:]
        if len(names):
            self.names.append(names)
            self.counts.append(counts)
            self.marks.append(marks)

    def finish(self) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]], list[NDArray[np.uint64]]]:
        """Give names, numbers of cells and marks."""
        if not self.names:
            return [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty((0, 2), np.uint64)]
        return self.names, self.counts, self.marks


@njit(cache=True, nogil=True)
def _ascend(names, ranks):  # type: ignore[no-untyped-def]
    """Tell whether rows ascend strictly by name and rank."""
    for r in range(1, len(names)):
        if names[r] < names[r - 1] or (names[r] == names[r - 1] and ranks[r] <= ranks[r - 1]):
            return False
    return True


@njit(cache=True, nogil=True)
def _all_allowed(labels, low, high, per_step, values):  # type: ignore[no-untyped-def]
    for label in labels:
        if not (low <= label <= high):
            return False
        if per_step > 0:
            code = int((label - low) * per_step + np.float32(0.5))
            if code >= len(values) or values[code] != label:
                return False
    return True


@njit(cache=True, nogil=True)
def _mix(word):  # type: ignore[no-untyped-def]
    """Mix 64 bits so that every bit in changes about half of those out (splitmix64's finish)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True)
def _mark(names, codes, bits, keys):  # type: ignore[no-untyped-def]
    """Add up the mixed words of each row's cells; give the rows' names, counts and marks."""
    n = 1
    for r in range(1, len(names)):
        n += names[r] != names[r - 1]
    found, counts, marks = np.empty(n, np.int64), np.zeros(n, np.int64), np.zeros((n, 2), np.uint64)
    row = -1
    for r in range(len(names)):
        if r == 0 or names[r] != names[r - 1]:
            row += 1
            found[row] = names[r]
        word = _mix(_mix(codes[r] ^ keys[0]) + np.uint64(bits[r]))
        counts[row] += 1
        marks[row, 0] += word
        marks[row, 1] += _mix(word ^ keys[1])
    return found, counts, marks
