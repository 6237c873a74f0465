"""A padded release as factors, as an attacker reads it: the factors themselves, and every cell in a byte.

Whoever has the factors need not fit a low-rank model to the table: they are that model, but for their rounding. So the
attackers that fit one take it from here. Those that look at labels get the cells, rounded to one of 255 values (finer
than the grid of a table of cells), item by item, so that nothing larger than a byte per cell is made.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._attacks.padded_release import MOST_VALUES, group_numbers, item_numbers
from recloak._core.errors import SourceError
from recloak._core.progress import task
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.model.factor_tables import FactorTables

MOST_CELLS = 4_000_000_000
_ITEMS = 256  # columns that are computed at once


def is_factors(folder: Path) -> bool:
    """Return whether a folder holds a release as factors."""
    return any((folder / f"groups.{kind}").exists() for kind in ("parquet", "csv"))


def read_factors(
    groups: pl.DataFrame, items: pl.DataFrame, manifest: dict[str, Any], ids: IdMap, ratings: Ratings
) -> FactorTables:
    """Return the factors with groups and items numbered as elsewhere; ``ids`` are the groups that have members."""
    rows, columns = group_numbers(groups["group"], ids), item_numbers(items["item"], ratings.item_ids)
    if len(rows) != len(ids) or len(columns) != ratings.n_items:
        raise SourceError("the factors are not those of every group and of every item of the source: another source?")
    sides = *_side(groups, rows), *_side(items, columns)
    scale = manifest["scale"]
    return FactorTables(float(manifest["mean"]), *sides, float(scale["low"]), float(scale["high"]))


def _side(table: pl.DataFrame, numbers: NDArray[np.int32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the biases and the factors of a table in the order of the numbers."""
    order = np.argsort(numbers)
    bias, factors = table["bias"].to_numpy(), table.select(pl.col(r"^f\d+$")).to_numpy()
    return bias[order].astype(np.float32), factors[order].astype(np.float32).reshape(len(order), -1)


def coded_cells(tables: FactorTables) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return every cell as a code, by items, then by groups, and the value of each code."""
    n_groups, n_items = tables.shape
    if n_groups * n_items > MOST_CELLS:
        raise SourceError(
            f"a release to be attacked must have at most {MOST_CELLS:,} cells, got {n_groups * n_items:,}; publish and "
            "audit a sample of the users instead"
        )
    values = np.linspace(tables.low, tables.high, MOST_VALUES, dtype=np.float32)
    step = (tables.high - tables.low) / (MOST_VALUES - 1) or 1.0
    codes = np.empty((n_items, n_groups), np.uint8)
    with task("reading the release", n_items) as advance:
        for first in range(0, n_items, _ITEMS):
            block = tables.block(slice(None), slice(first, first + _ITEMS))
            codes[first : first + _ITEMS] = np.rint((block - tables.low) / step).T
            advance(block.shape[1])
    return codes.ravel(), values
