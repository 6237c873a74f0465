"""Related-item lists with the ids of the outside: read from another recommender, and written for others."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import InputError, OptionError, SourceError
from recloak._core.files import written_file
from recloak._core.results import Tabular, counted, plural
from recloak._ratings.ids import UNKNOWN, IdMap
from recloak._related.model import EMPTY, Lists

COLUMNS = ("item", "related", "score")


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class RelatedLists(Tabular):
    """Related-item lists with outside ids; published ones have no gaps."""

    table: pl.DataFrame
    n_items: int  # items that have a list, even an empty one
    top: int  # positions of a list

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        releases = [plural(self.n_releases, "release")] if "release" in self.table.columns else []
        return counted(self, *releases, plural(self.n_items, "item"), plural(len(self), "entry", "entries"))

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
        if out.suffix not in (".csv", ".parquet"):
            raise OptionError(f"a table's file must end in .csv or .parquet, got {str(out)!r}")
        with written_file(out) as partial:
            if out.suffix == ".csv":
                self.table.write_csv(partial)
            else:
                self.table.write_parquet(partial)


def named_lists(lists: Lists, item_ids: IdMap) -> RelatedLists:
    """Return lists with the ids that the ratings use."""
    owners, places = np.nonzero(lists.items != EMPTY)
    related = item_ids.decode(lists.items[owners, places])
    table = pl.DataFrame({"item": item_ids.decode(owners), "position": places + 1, "related": related})
    if lists.scores is not None:
        table = table.with_columns(pl.Series("score", lists.scores[owners, places]))
    return RelatedLists(table, lists.n_items, lists.top)


def read_lists(path: str, item_ids: IdMap) -> Lists:
    """Read another recommender's lists from a CSV or Parquet file."""
    try:
        table = pl.read_parquet(path) if path.endswith(".parquet") else pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read as lists ({reason})") from error
    return lists_from_table(table, item_ids, file=path)


def lists_from_table(table: pl.DataFrame, item_ids: IdMap, *, file: str | None = None) -> Lists:
    """Return another recommender's lists (``item``, ``related``, ``score``): best score first, ties by item number."""
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise SourceError(f"lists need the columns item, related and score, and {missing[0]} is missing", file=file)
    if table.select(pl.any_horizontal(pl.col(*COLUMNS).is_null()).any()).item():
        raise SourceError("every row of lists needs an item, a related item and a score", file=file)
    owners, entries = (_numbers(table[name], item_ids) for name in ("item", "related"))
    scores = table["score"].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    pairs = pl.DataFrame({"owner": owners, "entry": entries})
    is_repeated = pairs.select(~pl.struct("owner", "entry").is_first_distinct()).to_series().to_numpy()
    for wrong, column, rule in (
        (owners == UNKNOWN, "item", "an item of the lists must be in the ratings"),
        (entries == UNKNOWN, "related", "an item of the lists must be in the ratings"),
        (owners == entries, "item", "an item must not stand in its own list"),
        (~np.isfinite(scores), "score", "a score must be a finite number"),
        (is_repeated, "related", "an entry must not stand twice in a list"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise SourceError(rule, file=file, line=row + 2, value=table[column][row])
    return _ranked(owners, entries, scores, len(item_ids))


def _numbers(column: pl.Series, item_ids: IdMap) -> NDArray[np.int32]:
    """Return the inside numbers of ids, which may be written as texts or whole numbers; `UNKNOWN` for other ids."""
    if item_ids.is_text:
        column = column.cast(pl.String)
    elif column.dtype == pl.String:
        column = column.cast(pl.Int64, strict=False)
    numbers = np.full(len(column), UNKNOWN, np.int32)
    numbers[column.is_not_null().to_numpy()] = item_ids.encode(column.drop_nulls())
    return numbers


def _ranked(owners: NDArray[np.int32], entries: NDArray[np.int32], scores: NDArray[np.float64], n_items: int) -> Lists:
    order = np.lexsort((entries, -scores, owners))
    counts = np.bincount(owners, minlength=n_items)
    first = np.concatenate(([0], np.cumsum(counts)))
    places = np.arange(len(order)) - np.repeat(first[:-1], counts)
    shape = (n_items, int(counts.max()) if len(counts) else 0)
    items, kept = np.full(shape, EMPTY, np.int32), np.zeros(shape)
    items[owners[order], places], kept[owners[order], places] = entries[order], scores[order]
    return Lists(items, kept)
