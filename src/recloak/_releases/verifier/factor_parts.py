"""A part of a table of factors, read and judged: numbers of the published precision, a row for each name, in order.

Members of a group have its row, so that two users share all their cells where their groups have the same numbers; the
mark of a row is a keyed hash of them. Factors could be turned and their signs changed without changing a cell, and so
say something; the order of the columns and their signs are therefore those that the table of items prescribes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recloak._releases.verifier.arrow_arrays import as_numpy
from recloak._releases.verifier.claims import Claims, Part
from recloak._releases.verifier.factor_claims import off_precision
from recloak._releases.verifier.item_numbers import ItemNumbers
from recloak._releases.verifier.scan import Rows
from recloak._releases.verifier.table_blocks import row_blocks

OFF_PRECISION = "a number of {table} is no multiple of the published precision"


class FactorRows(NamedTuple):
    """What a part of a table of factors holds."""

    rows: Rows  # of groups; of items none, for they are no rows of cells
    first: int
    last: int
    kind: str
    problems: list[str]


def look_at_groups(part: Part, claims: Claims, secret: bytes) -> FactorRows:
    """Read the factors of some groups: their names must follow each other."""
    names, marks, problems = [], [], []
    for own, numbers in _blocks(part, claims):
        problems += _precision_problems(part, claims, numbers)
        names.append(as_numpy(own).astype(np.int64))
        marks.append(_marks(numbers, secret))
    groups = np.concatenate(names) if names else np.empty(0, np.int64)
    first, last = (int(groups[0]), int(groups[-1])) if len(groups) else (0, 0)
    if not np.array_equal(groups, np.arange(first, first + len(groups))) or first < 1 or last > claims.n_groups:
        problems.append(f"groups must be 1 to {claims.n_groups} in order, each once")
        groups, marks = groups[:0], []
    found = np.concatenate(marks) if marks else np.empty((0, 2), np.uint64)
    rows = Rows(groups, np.full(len(groups), claims.n_items, np.int64), found)
    return FactorRows(rows, first, last, "", problems)


def look_at_items(part: Part, claims: Claims, items: ItemNumbers) -> FactorRows:
    """Read the factors of all items: ids ascend, and columns are in their one order and sign."""
    n_rows, kind, problems, last = 0, "", [], None
    sums, order = _ColumnSums(claims), True
    for ids, numbers in _blocks(part, claims):
        problems += _precision_problems(part, claims, numbers)
        ranks = items.encode(ids)[1]
        order = order and bool((ranks[1:] > ranks[:-1]).all()) and (last is None or ids[0].as_py() > last)
        last, kind, n_rows = ids[-1].as_py(), kind_of(ids), n_rows + len(ids)
        if not problems:
            sums.add(numbers)
    problems += [] if order else ["items are not in ascending order, or one stands twice"]
    problems += [] if problems or claims.content else sums.problems()
    return FactorRows(Rows.joined([]), 1, n_rows, kind, problems)


def _blocks(part: Part, claims: Claims) -> Iterator[tuple[pa.Array, NDArray[np.float32]]]:
    """Yield names or ids, and the numbers of their rows: (n, 1 + rank)."""
    columns = claims.stored(part)
    for block in row_blocks(claims.path(part), columns, canonical=not claims.content):
        names, *numbers = block
        yield names, np.column_stack([np.asarray(one, np.float32) for one in numbers])


def kind_of(ids: pa.Array) -> str:
    """Return the type of ids in words."""
    return str(ids.type.value_type if pa.types.is_dictionary(ids.type) else ids.type)


def _precision_problems(part: Part, claims: Claims, numbers: NDArray[np.float32]) -> list[str]:
    return [OFF_PRECISION.format(table=part.table)] if off_precision(numbers, claims.manifest["precision"]) else []


def _marks(numbers: NDArray[np.float32], secret: bytes) -> NDArray[np.uint64]:
    """Return two secret words for each row; rows with the same numbers have the same."""
    plain = np.ascontiguousarray(numbers + np.float32(0))  # zero has no sign
    digests = b"".join(hashlib.blake2b(row.tobytes(), key=secret, digest_size=16).digest() for row in plain)
    return np.frombuffer(digests, "<u8").reshape(-1, 2)


class _ColumnSums:
    """Adds up what decides the order and the signs of the factors, in whole numbers."""

    def __init__(self, claims: Claims) -> None:
        self.step, rank = claims.manifest["precision"], claims.manifest["rank"]
        self.sizes, self.sums, self.first_values = np.zeros((3, rank), np.int64)

    def add(self, numbers: NDArray[np.float32]) -> None:
        """Add some items."""
        codes = np.rint(numbers[:, 1:].astype(np.float64) / self.step).astype(np.int64)
        self.sizes += np.square(codes).sum(axis=0)
        self.sums += codes.sum(axis=0)
        first = codes[(codes != 0).argmax(axis=0), np.arange(codes.shape[1])]
        self.first_values = np.where(self.first_values == 0, first, self.first_values)

    def problems(self) -> list[str]:
        """Say whether factors stand in another order, or with another sign, than recloak writes."""
        leading = np.where(self.sums == 0, self.first_values, self.sums)
        if (self.sizes[1:] > self.sizes[:-1]).any() or (self.sizes == 0).any() or (leading < 0).any():
            return ["the factors are not in the order and with the signs that recloak gives them"]
        return []
