"""Related-item lists for others: with outside ids, as a table or a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from recloak._core.errors import OptionError
from recloak._core.files import written_file
from recloak._core.results import Tabular, counted, plural
from recloak._ratings.ids import IdMap
from recloak._related.model import HOLE, Lists

_ENDINGS = (".csv", ".parquet")


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class RelatedLists(Tabular):
    """Related-item lists with outside ids.

    A position that is missing from a published list was left empty on purpose. Show it as a gap: closing it would move
    entries up.
    """

    table: pl.DataFrame
    n_items: int  # items that have a list, even an empty one
    top: int  # positions of a list

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        releases = [plural(self.n_releases, "release")] if "release" in self.table.columns else []
        entries = f"{len(self):,} {'entry' if len(self) == 1 else 'entries'}"
        return counted(self, *releases, plural(self.n_items, "item"), entries)

    @property
    def n_releases(self) -> int:
        """Number of releases that the lists come from."""
        return self.table["release"].n_unique() if "release" in self.table.columns else 1

    def to_polars(self) -> pl.DataFrame:
        """Return ``item``, ``position`` (from 1), ``related``, and where known ``release`` and ``score``."""
        return self.table

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV or Parquet, by the file's ending.

        Raises
        ------
        OptionError
            If the ending is another one.
        """
        out = Path(path)
        if out.suffix not in _ENDINGS:
            raise OptionError(f"a table's file must end in .csv or .parquet, got {str(out)!r}")
        with written_file(out) as partial:
            if out.suffix == ".csv":
                self.table.write_csv(partial)
            else:
                self.table.write_parquet(partial)


def named_lists(lists: Lists, item_ids: IdMap) -> RelatedLists:
    """Return lists with the ids that the ratings use."""
    owners, places = np.nonzero(lists.items != HOLE)
    columns = {
        "item": item_ids.decode(owners),
        "position": places + 1,
        "related": item_ids.decode(lists.items[owners, places]),
    }
    table = pl.DataFrame(columns)
    if lists.scores is not None:
        table = table.with_columns(pl.Series("score", lists.scores[owners, places]))
    return RelatedLists(table, lists.n_items, lists.top)
