"""What changed between two published releases, and why."""

from __future__ import annotations

from typing import Any

import polars as pl

from recloak._core.errors import OptionError
from recloak._related.history import Store, reasons_of, releases, table_of


def changed(store: Store, earlier: int, later: int) -> dict[str, Any]:
    """Give every entry that appeared, vanished, rose or sank between two releases, with the later one's reason."""
    numbers = [one.number for one in releases(store)]
    for wanted in (earlier, later):
        if wanted not in numbers:
            raise OptionError(f"{store.name}: there is no release {wanted}; there are {len(numbers)}")
    before, after = (table_of(store, number).drop("release") for number in (earlier, later))
    both = before.join(after, on=["item", "related"], how="full", coalesce=True, suffix="_after")
    moved = both.filter(~pl.col("position").eq_missing(pl.col("position_after"))).with_columns(
        _change().alias("change")
    )
    told = moved.join(reasons_of(store, later), on=["item", "related"], how="left").sort(
        "item", "position_after", "position"
    )
    columns = ["item", "related", "change", "position", "position_after", "reason"]
    return {"earlier": earlier, "later": later, "changes": told.select(columns).to_dicts()}


def _change() -> pl.Expr:
    """Name the change of an entry by its positions before and after."""
    before, after = pl.col("position"), pl.col("position_after")
    return (
        pl.when(before.is_null())
        .then(pl.lit("appeared"))
        .when(after.is_null())
        .then(pl.lit("vanished"))
        .when(after < before)
        .then(pl.lit("rose"))
        .otherwise(pl.lit("sank"))
    )
