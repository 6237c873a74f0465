"""Lists as files for others: written aside and renamed, ids as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from recloak._core.errors import OptionError
from recloak._core.files import written_file
from recloak._ratings.ids import IdMap
from recloak._related.model import HOLE, Lists

_ENDINGS = (".csv", ".parquet")


def table_from(lists: Lists, item_ids: IdMap) -> pl.DataFrame:
    """Give lists as a table: ``item``, ``position`` (from 1), ``related`` and, where known, ``score``."""
    owners, places = np.nonzero(lists.items != HOLE)
    columns = {
        "item": item_ids.decode(owners),
        "position": places + 1,
        "related": item_ids.decode(lists.items[owners, places]),
    }
    table = pl.DataFrame(columns)
    return table if lists.scores is None else table.with_columns(pl.Series("score", lists.scores[owners, places]))


def write_lists(lists: Lists, item_ids: IdMap, out: Path) -> None:
    """Write lists as CSV or Parquet, by the file's ending."""
    write_table(table_from(lists, item_ids), out)


def write_table(table: pl.DataFrame, out: Path) -> None:
    """Write a table as CSV or Parquet, by the file's ending."""
    if out.suffix not in _ENDINGS:
        raise OptionError(f"a table's file must end in .csv or .parquet, got {str(out)!r}")
    with written_file(out) as aside:
        if out.suffix == ".csv":
            table.write_csv(aside)
        else:
            table.write_parquet(aside)
