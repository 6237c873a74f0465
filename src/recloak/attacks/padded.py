"""A padded release, read a piece at a time into a byte per cell, so that one of Netflix's size fits into memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numba import njit
from numpy.typing import NDArray

from recloak.errors import SourceError
from recloak.progress import task
from recloak.ratings import IdMap

_PIECE = 1 << 22
_MISSING = 255
MOST_VALUES = _MISSING


@dataclass(frozen=True, eq=False, slots=True)
class PaddedTable:
    """A file of profiles that has a label for every cell, and the few different labels there are, ascending."""

    path: Path
    values: NDArray[np.float32]


def padded_table(path: Path, n_groups: int, n_items: int) -> PaddedTable | None:
    """Look whether a table of profiles can be read so: Parquet, a label for every cell, few different ones."""
    if not path.is_file() or pq.read_metadata(path).num_rows != n_groups * n_items:
        return None
    values = _values(path)
    return PaddedTable(path, values) if len(values) <= MOST_VALUES else None


def read_padded(table: PaddedTable, groups: IdMap, item_ids: IdMap) -> NDArray[np.uint8]:
    """Read the labels by items, then by groups, as codes of the table's values."""
    codes = np.full((len(item_ids), len(groups)), _MISSING, np.uint8)
    with pq.ParquetFile(table.path) as file, task("reading the release", file.metadata.num_rows) as advance:
        for batch in file.iter_batches(_PIECE, columns=["group", "item", "rating"]):
            piece = pl.DataFrame(pl.from_arrow(batch)).cast({"rating": pl.Float32})
            of_group, of_item = group_numbers(piece["group"], groups), item_numbers(piece["item"], item_ids)
            _put(codes, of_item, of_group, np.searchsorted(table.values, piece["rating"].to_numpy()))
            advance(len(piece))
    if codes.max(initial=0) == _MISSING:
        raise SourceError("a cell of the padded release stands twice and another not at all", file=table.path)
    return codes.ravel()


def _values(path: Path) -> NDArray[np.float32]:
    """Give the different labels, ascending."""
    found = pl.scan_parquet(path).select(pl.col("rating").cast(pl.Float32).unique()).collect(engine="streaming")
    return found["rating"].sort().to_numpy()


def group_numbers(ids: pl.Series, groups: IdMap) -> NDArray[np.int32]:
    """Give the groups of some rows; the rows of a group mostly stand together, so each run is looked up once."""
    runs = ids.rle().struct
    numbers = groups.encode(runs.field("value"))
    if (numbers < 0).any():
        raise SourceError("the profiles have a group that has no members")
    return np.repeat(numbers, runs.field("len").to_numpy())


def item_numbers(ids: pl.Series, item_ids: IdMap) -> NDArray[np.int32]:
    """Give the items of some rows; where every group lists them in one order, that order is looked up once."""
    n = len(item_ids)
    same = len(ids) > n and ids.slice(n).equals(ids.slice(0, len(ids) - n))
    numbers = item_ids.encode(ids.slice(0, n) if same else ids)
    if (numbers < 0).any():
        strange = ids[int(np.argmax(numbers < 0))]
        raise SourceError(f"the release has an item {strange!r} that the source has not: another source?")
    return np.resize(numbers, len(ids)) if same else numbers


@njit(cache=True)
def _put(table, rows, columns, values):  # type: ignore[no-untyped-def]
    for r in range(len(rows)):
        table[rows[r], columns[r]] = values[r]
