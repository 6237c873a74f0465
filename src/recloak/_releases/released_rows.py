"""The rows of a released folder, read when they are asked for: of a table of cells, or computed from factors.

Rows are numbered from 0 in the order of the published names of groups (of users, in the layout long).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import SourceError
from recloak._core.files import sha256_of
from recloak._ratings.ids import IdMap
from recloak._releases.model.factor_tables import FactorTables
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import factor_names
from recloak._releases.verifier.claims import Claims, read_claims

Floats = NDArray[np.float32]
Numbers = NDArray[np.integer]


class ReleasedRows(Protocol):
    """The rows of a release; nan stands for a cell that is not released."""

    def block(self, rows: Numbers, items: Numbers) -> Floats:
        """Return the cells of some rows and items: (len(rows), len(items))."""
        ...

    def cells(self, rows: Numbers, items: Numbers) -> Floats:
        """Return one cell for each (row, item) pair."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class ListedRows:
    """Rows of a table that lists its cells in order of row and item."""

    files: tuple[Path, ...]
    name: str  # of the column that names rows
    item_ids: IdMap
    starts: Callable[[], NDArray[np.int64]]  # (n_rows + 1,) where each row begins

    def block(self, rows: Numbers, items: Numbers) -> Floats:
        """Return the cells of some rows and items, reading only those rows."""
        place = np.full(len(self.item_ids), -1)
        place[items] = np.arange(len(items))
        found = np.full((len(rows), len(items)), np.nan, np.float32)
        for number, row in enumerate(rows):
            numbers, labels = self._row(int(row))
            wanted = place[numbers] >= 0
            found[number, place[numbers[wanted]]] = labels[wanted]
        return found[:, place[items]] if len(np.unique(items)) < len(items) else found

    def cells(self, rows: Numbers, items: Numbers) -> Floats:
        """Return one cell for each pair; each row is read once."""
        found = np.full(len(rows), np.nan, np.float32)
        for row in np.unique(rows):
            asked = np.flatnonzero(rows == row)
            found[asked] = self.block(np.array([row]), items[asked])[0]
        return found

    def _row(self, row: int) -> tuple[NDArray[np.int32], Floats]:
        first, stop = self.starts()[row : row + 2]
        table = scan(self.files).slice(int(first), int(stop - first)).select("item", "rating").collect()
        return self.item_ids.encode(table["item"]), table["rating"].cast(pl.Float32).to_numpy()


@dataclass(frozen=True, eq=False, slots=True)
class ComputedRows:
    """Rows that follow from factors."""

    tables: FactorTables

    def block(self, rows: Numbers, items: Numbers) -> Floats:
        """Return the cells of some rows and items."""
        return self.tables.block(rows, items)

    def cells(self, rows: Numbers, items: Numbers) -> Floats:
        """Return one cell for each pair."""
        return self.tables.cells(rows, items)


def claims_of(folder: Path) -> Claims:
    """Return what a released folder says of itself; raise SourceError if it is no release or lacks a file."""
    if not folder.is_dir():
        raise SourceError("there is no such folder", file=folder)
    claims, problems = read_claims(folder, content=True)
    if claims is None or problems:
        raise SourceError(f"is not a whole release: {problems[0]}", file=folder)
    return claims


def open_rows(claims: Claims) -> tuple[ReleasedRows, IdMap]:
    """Return the rows of a release, and its items."""
    if claims.has_factors:
        tables, items = read_factors(claims)
        return ComputedRows(tables), items
    files, complete = files_of(claims, claims.cell_parts[0].table), MODES[claims.mode].is_complete
    column = scan(files).select("item")
    ids = column.head(claims.n_items) if complete else column.unique()
    items = IdMap.of(ids.collect(engine="streaming")["item"])

    @lru_cache(maxsize=1)
    def starts() -> NDArray[np.int64]:
        if complete:
            return np.arange(claims.n_names + 1, dtype=np.int64) * claims.n_items
        counts = scan(files).group_by(claims.row_name).len().sort(claims.row_name).collect(engine="streaming")
        return np.concatenate(([0], np.cumsum(counts["len"].to_numpy().astype(np.int64))))

    return ListedRows(files, claims.row_name, items, starts), items


def read_factors(claims: Claims) -> tuple[FactorTables, IdMap]:
    """Read the tables of factors, whose SHA-256 must be right, and the items."""
    for part in claims.parts:
        if sha256_of(claims.path(part)) != part.sha256:
            raise SourceError("its SHA-256 is not the one in the manifest", file=claims.path(part))
    groups, items = (scan(files_of(claims, table)).collect() for table in ("groups", "items"))
    names = factor_names(claims.manifest["rank"])
    sides = *_side(groups, names), *_side(items, names)
    return FactorTables(claims.manifest["mean"], *sides, claims.low, claims.high), IdMap.of(items["item"])


def _side(table: pl.DataFrame, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the biases and the factors of a table."""
    factors = table.select(pl.col(name).cast(pl.Float32) for name in names).to_numpy()
    return table["bias"].cast(pl.Float32).to_numpy().copy(), factors.reshape(len(table), len(names)).copy()


def groups_of(claims: Claims) -> NDArray[np.int32] | None:
    """Return the group of each user, numbered from 0; None where the layout names no groups."""
    if claims.row_name == "user":
        return None
    return scan(files_of(claims, "members")).collect()["group"].to_numpy().astype(np.int32) - 1


def files_of(claims: Claims, table: str) -> tuple[Path, ...]:
    """Return the files of a table in order."""
    return tuple(claims.path(part) for part in claims.parts if part.table == table)


def scan(files: Sequence[Path]) -> pl.LazyFrame:
    """Return a table that lies in some files, to be read where it is needed."""
    if files[0].suffix == ".parquet":
        return pl.scan_parquet(list(files))
    return pl.scan_csv(list(files), infer_schema_length=None)
