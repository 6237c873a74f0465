"""One person's own ratings, as the sites export them: MovieLens, Letterboxd, IMDb, Goodreads, or any table.

An export names its items by title; a public dump has ids of its own. `match_items` puts the two together by title and
year, or by id where the export has the dump's ids and no titles.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recloak._core.errors import SourceError
from recloak._mentions.table_files import existing_file, match_column, read_any_encoding
from recloak._mentions.text import fold_all
from recloak._mentions.titles import Title, parse
from recloak._ratings.column_roles import NAMES, fold
from recloak._ratings.table_input import as_polars

Item = int | str


@dataclass(frozen=True, slots=True)
class ExportLayout:
    """How a site writes an export: the columns that tell it, and those of title, year, rating, time and item."""

    name: str
    tells: frozenset[str]
    title: str | None
    rating: str | None
    top: float  # the best rating there is
    year: str | None = None
    time: str | None = None
    item: str | None = None


LAYOUTS = (
    ExportLayout("Letterboxd", frozenset({"letterboxduri", "name"}), "name", "rating", 5, "year", "date"),
    ExportLayout("IMDb", frozenset({"const", "yourrating"}), "title", "yourrating", 10, "year", "daterated"),
    ExportLayout("Goodreads", frozenset({"bookid", "myrating"}), "title", "myrating", 5, None, "dateread"),
    ExportLayout("MovieLens", frozenset({"movieid", "averagerating"}), "title", "rating", 5, None, None, "movieid"),
    ExportLayout("MovieLens", frozenset({"movieid", "rating"}), None, "rating", 5, None, "timestamp", "movieid"),
)


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class OwnRatings:
    """One person's ratings: ``table`` has columns ``title``, ``year``, ``item``, ``rating`` (0 to 1) and ``time``."""

    layout: str
    table: pl.DataFrame

    def __len__(self) -> int:
        return len(self.table)


def read_own_ratings(given: Any) -> OwnRatings:
    """Return the ratings of an export; raise SourceError if its layout is not recognised or it rates nothing."""
    path = existing_file(given) if isinstance(given, str | os.PathLike) else None
    frame = as_polars(given) if path is None else read_any_encoding(path)
    layout = _layout(frame.columns)
    if layout is None:
        raise SourceError(
            f"no export of MovieLens, Letterboxd, IMDb or Goodreads was recognised by its columns, "
            f"{', '.join(frame.columns)}; a table of title (or item), and rating where there are some, works too",
            file=path,
        )
    table = _normal(frame, layout)
    rated = table.filter(pl.col("rating") > 0)  # Goodreads writes 0 for books without a rating
    if rated.is_empty():
        raise SourceError("there are no ratings in the export", file=path)
    return OwnRatings(layout.name, rated)


def _layout(columns: Sequence[str]) -> ExportLayout | None:
    folded = {fold(name) for name in columns}
    known = next((one for one in LAYOUTS if one.tells <= folded), None)
    if known is not None:
        return known
    title, rating = match_column(columns, ("title", "name")), match_column(columns, NAMES["rating"])
    item = match_column(columns, (*NAMES["item"], "id"))
    if title is None and item is None:
        return None
    year, time = match_column(columns, ("year",)), match_column(columns, NAMES["time"])
    names = [None if name is None else fold(name) for name in (title, year, time, item)]
    rated = None if rating is None else fold(rating)
    return ExportLayout("table", frozenset(), names[0], rated, 0, names[1], names[2], names[3])


def _normal(frame: pl.DataFrame, layout: ExportLayout) -> pl.DataFrame:
    by_fold = {fold(name): name for name in reversed(frame.columns)}

    def column(name: str | None) -> pl.Series:
        found = by_fold.get(name or "")
        return pl.Series([None] * len(frame), dtype=pl.String) if found is None else frame[found].cast(pl.String)

    unrated = pl.Series([1.0] * len(frame), dtype=pl.Float64)  # a list of what one has, without ratings
    rating = unrated if layout.rating is None else column(layout.rating).cast(pl.Float64, strict=False).fill_null(0.0)
    top = layout.top or max(float(rating.max() or 1.0), 1.0)  # type: ignore[arg-type]
    year = column(layout.year).str.extract(r"(\d{4})").cast(pl.Int64, strict=False)
    return pl.DataFrame(
        {
            "title": column(layout.title),
            "year": year,
            "item": column(layout.item),
            "rating": rating / top,
            "time": _seconds(column(layout.time)),
        }
    )


def _seconds(time: pl.Series) -> pl.Series:
    """Return seconds since 1970, from numbers or dates such as 2021-05-01 or 2021/05/01."""
    numbers = time.cast(pl.Int64, strict=False)
    dates = time.str.replace_all("/", "-").str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
    return numbers.fill_null(dates.cast(pl.Datetime("ms")).dt.epoch("s"))


def match_items(own: OwnRatings, titles: Sequence[Title]) -> list[Item | None]:
    """Return the item of the dump that each own rating is of, None where there is none."""
    by_id = {str(title.id): title.id for title in titles}
    by_name: dict[tuple[str, int | None], Item] = {}
    for title in titles:
        for name in title.names:
            words = " ".join(fold_all(name))
            for year in (None,) if title.year is None else (title.year, None, title.year - 1, title.year + 1):
                by_name.setdefault((words, year), title.id)
    rows = own.table.select("title", "year", "item").iter_rows()
    return [_item(title, year, item, by_id, by_name) for title, year, item in rows]


def _item(
    title: str | None, year: int | None, item: str | None, by_id: dict[str, Item], by_name: dict[Any, Item]
) -> Item | None:
    if title is None:
        return by_id.get(item or "")
    parsed = parse(0, title, year)
    words = " ".join(fold_all(parsed.names[0]))
    return by_name.get((words, parsed.year))
