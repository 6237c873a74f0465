"""A padded release, read a piece at a time into a byte per cell, so that one of Netflix's size fits into memory."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.errors import SourceError
from recloak._core.progress import task
from recloak._core.threads import in_shares
from recloak._ratings.ids import IdMap

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
    n_items = len(item_ids)
    codes = np.full((n_items, len(groups)), _MISSING, np.uint8)
    whole_groups = max(_PIECE // n_items, 1) * n_items
    texts = ["item"] if item_ids.is_text else []  # a text is then read once, not once for each group
    with (
        pq.ParquetFile(table.path, read_dictionary=texts) as file,
        task("reading the release", file.metadata.num_rows) as advance,
    ):
        for batch in file.iter_batches(whole_groups, columns=["group", "item", "rating"]):
            piece = pl.DataFrame(pl.from_arrow(batch)).cast({"rating": pl.Float32})
            once = _is_table(piece, n_items)  # then each group is looked up once, and the items once for all
            of_group = group_numbers(piece["group"].gather_every(n_items) if once else piece["group"], groups)
            of_item = item_numbers(piece["item"].head(n_items) if once else piece["item"], item_ids)
            in_shares(
                _put_groups if once else _put_cells, len(of_item), codes, of_item, of_group,
                piece["rating"].to_numpy(), table.values,
            )  # fmt: skip
            advance(len(piece))
    if codes.max(initial=0) == _MISSING:
        raise SourceError("a cell of the padded release stands twice and another not at all", file=table.path)
    return codes.ravel()


def _values(path: Path) -> NDArray[np.float32]:
    """Return the different labels, ascending."""
    found = pl.scan_parquet(path).select(pl.col("rating").cast(pl.Float32).unique()).collect(engine="streaming")
    return found["rating"].sort().to_numpy()


def _is_table(piece: pl.DataFrame, n_items: int) -> bool:
    """Return whether a piece lists whole groups one after the other, the items of each in the same order."""
    lengths, items = piece["group"].rle().struct.field("len"), piece["item"].to_physical()
    return bool((lengths == n_items).all()) and items.slice(n_items).equals(items.head(len(items) - n_items))


def group_numbers(ids: pl.Series, groups: IdMap) -> NDArray[np.int32]:
    """Return the inside numbers of the groups of some rows."""
    numbers = groups.encode(ids)
    if (numbers < 0).any():
        raise SourceError("the profiles have a group that has no members")
    return numbers


def item_numbers(ids: pl.Series, item_ids: IdMap) -> NDArray[np.int32]:
    """Return the inside numbers of the items of some rows."""
    numbers = item_ids.encode(ids)
    if (numbers < 0).any():
        strange = ids[int(np.argmax(numbers < 0))]
        raise SourceError(f"the release has an item {strange!r} that the source has not: another source?")
    return numbers


@njit(cache=True, inline="always")
def _code(values, label):  # type: ignore[no-untyped-def]
    """Return the code of a label that is among the values."""
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        if values[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _put_cells(share, n_shares, codes, items, groups, labels, values):  # type: ignore[no-untyped-def]
    for c in range(share * len(labels) // n_shares, (share + 1) * len(labels) // n_shares):
        codes[items[c], groups[c]] = _code(values, labels[c])


@njit(cache=True, nogil=True)
def _put_groups(share, n_shares, codes, items, groups, labels, values):  # type: ignore[no-untyped-def]
    """Write whole groups; the groups go innermost, for in the codes those of an item stand together."""
    for i in range(share * len(items) // n_shares, (share + 1) * len(items) // n_shares):
        for g in range(len(groups)):
            codes[items[i], groups[g]] = _code(values, labels[g * len(items) + i])
