"""What public values share: a repr of one line that names nobody, and a table for polars, pandas and Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Tabular:
    """Base of values that are also a table: a value says how in `to_polars`, and the other kinds follow."""

    __slots__ = ()

    def to_polars(self) -> pl.DataFrame:
        """Return the value as a polars table."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """Return the value as a pandas table; pandas must be installed."""
        return self.to_polars().to_pandas()

    def to_arrow(self) -> pa.Table:
        """Return the value as an Arrow table."""
        return self.to_polars().to_arrow()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_polars().__arrow_c_stream__(requested_schema)  # so that it goes in wherever a table does


def brief(value: object, *facts: str) -> str:
    """Return the repr of a value: its class and a few counts, never an id, a rating or who is who."""
    return f"<{type(value).__name__}: {', '.join(facts)}>"


def quantity(n: int, noun: str) -> str:
    """Return a number with its noun: 1 release, 12 releases."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
