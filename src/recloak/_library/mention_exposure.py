"""The function behind `recloak.mentions.exposure`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from recloak._core.errors import InputError, SourceError
from recloak._core.options import whole_number
from recloak._core.spelling import suggests_keywords
from recloak._library.pages import drawn_by
from recloak._library.sources import as_ratings, origin_of
from recloak._mentions.found_mentions import find_mentions, popularity_of
from recloak._mentions.own_exports import match_items, read_own_ratings
from recloak._mentions.own_exposure import OwnExposure, measure_exposure
from recloak._mentions.post_files import read_posts, read_titles
from recloak._report.exposure_page import exposure_page
from recloak._report.provenance import hashes_by_name, versions

if TYPE_CHECKING:
    from recloak._library.mention_tools import TableLike
    from recloak._library.sources import RatingsLike

_TITLE_FILES = ("movies.csv", "movies.dat", "books.csv", "titles.csv", "items.csv", "games.csv", "u.item")
_RATING_FILES = ("ratings.csv", "ratings.csv.gz", "ratings.dat", "ratings.parquet", "u.data")


@suggests_keywords
def exposure(
    ratings: TableLike,
    posts: TableLike | Sequence[str],
    public: RatingsLike,
    *,
    titles: TableLike | None = None,
    domain: str | None = None,
    k: int = 10,
) -> OwnExposure:
    """Tell one person how findable their posts make them in a public dump of ratings, without the forum's help.

    Parameters
    ----------
    ratings
        Your own export: MovieLens, Letterboxd, IMDb or Goodreads, or a table of title (or item) and rating.
    posts
        What you posted: a text file with a post per line, a table, or a list of texts.
    public
        The public dump: a folder with ratings and titles, or ratings of any kind with ``titles``.
    titles
        The title list of the dump, where it is not in its folder.
    domain
        What the titles are (``films``, ``books``, ...); guessed where it is not given.
    k
        You want to stay beyond the first k of an attacker's list.

    Returns
    -------
    Exposure
        Your place before every attacker, the mentions that give most away, and what to leave out.

    Raises
    ------
    InputError
        If a file cannot be read, or nothing can be measured: no rating or mention is of an item of the dump.

    Examples
    --------
    >>> import recloak.mentions
    >>> recloak.mentions.exposure("mine.csv", ["I watched Heat"], "dump")  # doctest: +SKIP
    <Exposure: 1 mention, 41 records>
    """
    k = whole_number("k", k)
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}")
    source, listed = _dump(public, titles)
    own, dump, title_list = read_own_ratings(ratings), as_ratings(source), read_titles(listed)
    items = match_items(own, title_list.titles)
    known = set(dump.item_ids.ids.cast(pl.String).to_list())
    mine = own.table.with_columns(
        item=pl.Series([None if item is None else str(item) for item in items], dtype=pl.String)
    )
    mine = mine.filter(pl.col("item").is_in(list(known))).unique("item", keep="last", maintain_order=True)
    found = find_mentions(read_posts(posts), title_list, popularity=popularity_of(dump), domain=domain).table
    said = found.filter((pl.col("tier") == "sure") & pl.col("held")).drop("user")
    result = measure_exposure(dump, mine, said, k=k, n_own=len(own), layout=own.layout)
    return replace(result, draw=_drawn(ratings, posts, source))


def _dump(public: Any, titles: Any) -> tuple[Any, Any]:
    """Return the ratings and the title list of a dump; a folder is looked into for both."""
    if not isinstance(public, str | os.PathLike) or not Path(public).is_dir():
        if titles is None:
            raise InputError("a public dump that is no folder needs titles=...")
        return public, titles
    folder = Path(public)
    listed = titles if titles is not None else _first(folder, _TITLE_FILES, "*.item", "title list")
    return str(_first(folder, _RATING_FILES, "*.inter", "ratings")), listed


def _first(folder: Path, names: Sequence[str], pattern: str, what: str) -> Path:
    found = [folder / name for name in names if (folder / name).is_file()] or sorted(folder.glob(pattern))
    if not found:
        raise SourceError(f"there is no file of {what} in the folder ({', '.join(names)})", file=folder)
    return found[0]


def _drawn(*sources: Any) -> Any:
    origins = [origin_of(source) for source in sources]
    return partial(_draw, origins[-1].name, tuple(path for origin in origins for path in origin.paths))


def _draw(name: str, files: tuple[str, ...], result: Any, head: bool) -> str:
    provenance = (*hashes_by_name(files), ("Versions", versions()))
    return drawn_by(exposure_page, source=name, provenance=provenance)(result, head)
