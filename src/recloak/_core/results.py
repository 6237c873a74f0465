"""What the values of the library can do: become a table, become a page, and print as one line of counts.

A value's ``repr`` never shows what it holds: no id, no rating, nobody's group. Pages are drawn further out than values
are made, so the library's functions put the function that draws a result into its field ``draw``.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recloak._core.errors import InputError, MissingExtraError
from recloak._core.files import written_file

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def plural(n: int, one: str, many: str = "") -> str:
    """Return a count with its word: ``1 user``, ``1,682 items``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def counted(value: object, *counts: str) -> str:
    """Return the one line that a value prints as: ``<Ratings: 943 users, 1,682 items>``."""
    return f"<{type(value).__name__}: {', '.join(counts)}>"


def sizes_only(value: Any) -> str:
    """Return the one line of a value that holds arrays: the name and the size of each, never what is in it.

    Use it as a class's method: ``__repr__ = sizes_only``.
    """
    held = ((one.name, getattr(value, one.name)) for one in fields(value))
    return counted(value, *(f"{name} {_size(held)}" for name, held in held))


def _size(held: Any) -> str:
    shape = getattr(held, "shape", None)
    if isinstance(shape, tuple):
        return "x".join(map(str, shape)) or "1"
    return str(len(held)) if hasattr(held, "__len__") else type(held).__name__


def html_line(value: object) -> str:
    """Return the one line of a value for a notebook."""
    return f"<p><code>{html.escape(repr(value))}</code></p>"


class Tabular:
    """A value that becomes a table: `to_polars` makes it, the others convert it."""

    __slots__ = ()

    def to_polars(self) -> pl.DataFrame:
        """Return the value as a polars table."""
        raise NotImplementedError

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows: the one line of counts, for what a value holds may be private."""
        return html_line(self)

    def to_arrow(self) -> pa.Table:
        """Return the value as an Arrow table."""
        return self.to_polars().to_arrow()

    def to_pandas(self) -> pd.DataFrame:
        """Return the value as a pandas table; raise `MissingExtraError` where pandas is not installed."""
        try:
            import pandas  # noqa: F401, PLC0415 (optional)
        except ImportError:
            raise MissingExtraError("to_pandas needs pandas: install it with pip install pandas") from None
        return self.to_polars().to_pandas()


def table_of(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """Return rows of plain values as a table."""
    import polars as pl  # noqa: PLC0415 (the command line's help must stay quick)

    return pl.DataFrame(list(rows), infer_schema_length=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Tabular):
    """A value that a function of the library returns, with a page that shows it."""

    draw: Callable[[Any, bool], str] | None = field(default=None, repr=False, compare=False)  # bool: the head alone

    def to_json(self) -> dict[str, Any]:
        """Return the value as the command line prints it with ``--json``."""
        raise NotImplementedError

    def to_html(self) -> str:
        """Return the page of this result, one self-contained HTML text."""
        if self.draw is None:
            raise InputError(f"this {type(self).__name__} has no page: only results of recloak's functions have one")
        return self.draw(self, False)

    def write_page(self, path: str | Path) -> None:
        """Write the page of this result (``.html``), whole or not at all."""
        html = self.to_html()
        with written_file(path) as aside:
            aside.write_text(html, encoding="utf-8")

    def _repr_html_(self) -> str | None:
        """Return the head of the page for a notebook."""
        return html_line(self) if self.draw is None else self.draw(self, True)
