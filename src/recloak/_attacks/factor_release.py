"""A padded release as factors, as an attacker reads it: the factors themselves, and every cell in a byte.

Whoever has the factors need not fit a low-rank model to the table: they are that model, but for their rounding. So the
attackers that fit one take it from here. Those that look at labels get the cells, rounded to one of 255 values (finer
than the grid of a table of cells): of all items where there are not too many cells to hold, a byte each, else of the
items that they ask for.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._attacks.padded_release import MOST_VALUES, group_numbers, item_numbers
from recloak._core.compiling import njit
from recloak._core.errors import SourceError
from recloak._core.progress import task
from recloak._core.threads import in_shares
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.model.factor_tables import FactorTables
from recloak._releases.model.release_format import factor_names

MOST_HELD = 2_000_000_000  # cells; beyond, columns are computed when they are asked for
_BLOCK = 20_000_000  # cells that are computed at once


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
    order, rank = np.argsort(numbers), len(table.columns) - 2  # beside the name and the bias; there may be none
    factors = np.empty((len(table), rank), np.float32)
    for place, name in enumerate(factor_names(rank)):
        factors[:, place] = table[name].to_numpy()
    return table["bias"].to_numpy()[order].astype(np.float32), factors[order]


def values_of(tables: FactorTables) -> NDArray[np.float32]:
    """Return the values to which cells are rounded."""
    return np.linspace(tables.low, tables.high, MOST_VALUES, dtype=np.float32)


def held_cells(tables: FactorTables) -> NDArray[np.uint8]:
    """Return the codes of every cell, by items, then by groups; nothing where there are too many to hold."""
    n_groups, n_items = tables.shape
    return coded_columns(tables, np.arange(n_items if n_groups * n_items <= MOST_HELD else 0))


def coded_columns(tables: FactorTables, items: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Return the codes of the cells of some items, by items, then by groups."""
    n_groups = tables.shape[0]
    codes, step = np.empty((len(items), n_groups), np.uint8), max(_BLOCK // max(n_groups, 1), 1)
    groups, size = np.ascontiguousarray(tables.group_factors.T), np.float32(_size(tables))
    with task("computing cells", len(items)) as advance:
        for first in range(0, len(items), step):
            some = items[first : first + step]
            dots, shift = tables.item_factors[some] @ groups, tables.item_bias[some] + np.float32(tables.mean)
            ends = np.float32(tables.low), np.float32(tables.high)
            given = dots, shift, tables.group_bias, *ends, size, codes[first : first + step]
            in_shares(_put_codes, len(some), *given, little=2)
            advance(len(some))
    return codes.ravel()


@njit(cache=True, nogil=True)
def _put_codes(share, n_shares, dots, shift, bias, low, high, size, codes):  # type: ignore[no-untyped-def]
    for i in range(share, len(dots), n_shares):
        for g in range(len(bias)):
            cell = min(max(dots[i, g] + shift[i] + bias[g], low), high)
            codes[i, g] = np.uint8((cell - low) / size + np.float32(0.5))


def codes_of(tables: FactorTables, cells: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the code of each cell."""
    return np.rint((cells - tables.low) / _size(tables)).astype(np.uint8)


def _size(tables: FactorTables) -> float:
    """Return how far two codes lie apart."""
    return (tables.high - tables.low) / (MOST_VALUES - 1) or 1.0
