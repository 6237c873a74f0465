"""Posts and title lists from files and tables.

Posts: CSV, TSV, JSONL or Parquet with columns for the text and, where there are any, the user, the id and the time; or
a plain text file with a post per line. Titles: MovieLens ``movies.csv`` and ``movies.dat``, RecBole ``.item``, or any
CSV, TSV, JSONL or Parquet with an id and a title. Bytes that are not UTF-8 are read as Latin-1 in a title list
(as MovieLens-1M is) and replaced and counted in posts.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from recloak._core.errors import SourceError
from recloak._mentions.table_files import (
    decode,
    existing_file,
    file_bytes,
    match_column,
    read_any_encoding,
    table_suffix,
)
from recloak._mentions.text import fold_all
from recloak._mentions.titles import Title, parse
from recloak._ratings.column_roles import NAMES, fold
from recloak._ratings.table_input import as_polars

_TEXTS = "text post body content message comment review utterance selftext tweet sentence"
_USERS = (*NAMES["user"], "author", "authorid", "poster", "speaker", "sender", "screenname", "name")
_POSTS = ["postid", "id", "messageid", "commentid", "reviewid", "tweetid", "post"]
_TITLES = ["title", "movietitle", "name", "movie", "film", "itemtitle", "originaltitle"]
_YEARS = ["year", "releaseyear", "movieyear"]
_PEOPLE = ("authors", "author", "artist", "artists", "band", "director", "directors", "cast", "actors", "starring")
_SEVERAL = re.compile(r"\s*[,;|/&]\s*")
_REPLACED = "\ufffd"
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_Row = tuple[int | str, str | None, int | None]  # id, title, year


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Posts:
    """Posts to search; ``table`` has columns ``post``, ``user`` (may be empty), ``text`` and perhaps ``time``."""

    table: pl.DataFrame
    n_empty: int = 0  # without text, kept
    n_undecodable: int = 0  # with bytes that are not UTF-8, read with these replaced

    def __len__(self) -> int:
        return len(self.table)


@dataclass(frozen=True, eq=False, slots=True)
class TitleList:
    """A title list; a film listed twice (same name and year) is found under its first id."""

    titles: Sequence[Title]
    n_repeated: int = 0
    n_empty: int = 0  # without a title, left out
    columns: tuple[str, ...] = ()  # of the table that it was read from


def read_posts(given: Any, *, text: str | None = None, user: str | None = None) -> Posts:
    """Return the posts of a file, a table or a list of texts; columns are recognised by name or named here."""
    if not isinstance(given, str | os.PathLike):
        return posts_from_table(_post_table(given), text=text, user=user)
    file = existing_file(given)
    if table_suffix(file) not in _TABLES:
        lines = decode(file_bytes(file)).splitlines()
        return posts_from_table(pl.DataFrame({"text": lines}, schema={"text": pl.String}))
    try:
        return posts_from_table(read_any_encoding(file), text=text, user=user)
    except SourceError as error:
        raise SourceError(error.rule, file=file, value=error.value) from error


def _post_table(given: Any) -> pl.DataFrame:
    if isinstance(given, list | tuple) and all(isinstance(text, str) for text in given):
        return pl.DataFrame({"text": list(given)}, schema={"text": pl.String})
    return as_polars(given)


def posts_from_table(table: pl.DataFrame, *, text: str | None = None, user: str | None = None) -> Posts:
    """Return the posts of a table."""
    names = {
        "text": _column(table, text, _TEXTS.split(), "text"),
        "user": _column(table, user, _USERS, None),
        "post": _column(table, None, _POSTS, None),
        "time": _column(table, None, NAMES["time"], None),
    }
    if names["post"] == names["text"]:
        names["post"] = None
    columns = [table[name].alias(role) for role, name in names.items() if name is not None]
    frame = pl.DataFrame(columns).with_columns(pl.col("text").cast(pl.String).fill_null(""))
    if "post" not in frame.columns:
        frame = frame.with_row_index("post", offset=1)
    if "user" not in frame.columns:
        frame = frame.with_columns(user=pl.lit(None, pl.String))
    n_empty = int((frame["text"].str.strip_chars() == "").sum())
    return Posts(frame, n_empty, int(frame["text"].str.contains(_REPLACED, literal=True).sum()))


def read_titles(given: Any, *, title: str | None = None) -> TitleList:
    """Return the titles of a table, or of a file in any of the known layouts."""
    if not isinstance(given, str | os.PathLike):
        return titles_from_table(as_polars(given), title=title)
    file = existing_file(given)
    if table_suffix(file) == ".dat":
        return title_list(_dat_rows(file))
    return titles_from_table(read_any_encoding(file, latin=True), file=file, title=title)


def titles_from_table(frame: pl.DataFrame, *, file: Path | None = None, title: str | None = None) -> TitleList:
    """Return the titles of a table with an id and a title; errors name the file."""
    try:
        title = _column(frame, title, _TITLES, "title") or ""
    except SourceError as error:
        raise SourceError(error.rule, file=file) from error
    year = _column(frame, None, _YEARS, None)
    id_ = next((name for name in frame.columns if name != title and fold(name) in ("id", *NAMES["item"])), title)
    years = frame[year].cast(pl.String).to_list() if year else [None] * len(frame)
    rows = zip(frame[id_].to_list(), frame[title].cast(pl.String).to_list(), years, strict=True)
    listed = title_list([(i, t, _year(y)) for i, t, y in rows], people=_people(frame, title))
    return replace(listed, columns=tuple(frame.columns))


def _people(frame: pl.DataFrame, title: str) -> list[tuple[str, ...]] | None:
    """Return who made each title or plays in it, where the table has such columns."""
    names = [name for name in frame.columns if name != title and fold(name) in _PEOPLE]
    if not names:
        return None
    columns = [frame[name].cast(pl.String).fill_null("").to_list() for name in names]
    return [
        tuple(p for text in texts for p in _SEVERAL.split(text.strip()) if p) for texts in zip(*columns, strict=True)
    ]


def title_list(rows: Sequence[_Row], *, people: Sequence[tuple[str, ...]] | None = None) -> TitleList:
    """Return the title list of (id, title, year) rows; the year may be in brackets in the title instead."""
    seen: set[tuple[str, int | None]] = set()
    titles, n_repeated, n_empty = [], 0, 0
    for number, (id_, line, year) in enumerate(rows):
        if line is None or not fold_all(line):
            n_empty += 1
            continue
        title = parse(id_, line, year)
        film = (" ".join(fold_all(title.names[0])), title.year)
        if film in seen:
            n_repeated += 1
        else:
            seen.add(film)
            titles.append(title if people is None else replace(title, people=people[number]))
    if not titles:
        raise SourceError("there are no titles in the list")
    return TitleList(tuple(titles), n_repeated, n_empty)


def _dat_rows(file: Path) -> list[_Row]:
    """Split ``id::title::genres`` at its first and last ``::``; a title may contain colons."""
    rows: list[_Row] = []
    for number, line in enumerate(decode(file_bytes(file), latin=True).splitlines(), 1):
        if not line.strip():
            continue
        id_, separator, rest = line.partition("::")
        if not separator:
            raise SourceError("a line must read id::title::genres", file=file, line=number, value=line[:60])
        rows.append((id_, rest.rpartition("::")[0] or rest, None))
    if all(str(row[0]).isdigit() and str(int(row[0])) == row[0] for row in rows):
        rows = [(int(id_), title, year) for id_, title, year in rows]
    return rows


def _year(value: str | None) -> int | None:
    digits = (value or "").split(".")[0].strip()
    return int(digits) if digits.isdigit() and len(digits) == 4 else None


def _column(frame: pl.DataFrame, given: str | None, known: Sequence[str], needed: str | None) -> str | None:
    names = frame.columns
    if given is not None and given not in names:
        raise SourceError(f"there is no column {given!r}; the columns are {', '.join(names)}")
    match = given or match_column(names, known)
    if match is None and needed is not None:
        raise SourceError(
            f"no column for the {needed} was recognised among {', '.join(names)}; name it with {needed}=..."
        )
    return match
