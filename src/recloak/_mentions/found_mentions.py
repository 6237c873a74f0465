"""Find the titles that posts name, with a confidence and a reason for each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import polars as pl

from recloak._core.errors import SourceError
from recloak._core.files import written_file
from recloak._core.progress import task
from recloak._core.results import Tabular, counted, plural
from recloak._mentions.domains import domain_named, guess_domain
from recloak._mentions.post_files import Posts, TitleList
from recloak._mentions.table_files import match_column, read_table
from recloak._mentions.text import Lexicon, words_of
from recloak._mentions.title_finder import FoundTitle, find_titles
from recloak._mentions.title_matching import TitleIndex, index_titles
from recloak._ratings.column_roles import NAMES
from recloak._ratings.model import Ratings
from recloak._ratings.table_input import as_polars

_ENOUGH_POSTS = 200  # fewer posts show too little of how their writers use words
_EVERYDAY_SHARE = 0.004  # a word in small letters in this share of the posts is everyday
_PROGRESS_STEP = 500  # posts
_MILLISECONDS = 1e11  # a time above this counts milliseconds, below it seconds
_FIRST_YEAR = 1985  # no post is older
_TYPES = {
    "start": pl.Int32,
    "end": pl.Int32,
    "text": pl.String,
    "confidence": pl.Float64,
    "tier": pl.String,
    "reason": pl.String,
    "held": pl.Boolean,
    "opinion": pl.Float64,
}


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class FoundMentions(Tabular):
    """The titles that posts name, and counts of posts, titles and finds."""

    table: pl.DataFrame
    counts: dict[str, int]
    posts_per_second: int
    domain: str = "films"

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        found = (f"{self.counts[tier]:,} {tier}" for tier in ("sure", "possible"))
        return counted(self, plural(self.counts["posts"], "post"), *found)

    def to_polars(self) -> pl.DataFrame:
        """Return a row per find; see `recloak.mentions.find`."""
        return self.table

    def to_json(self) -> dict[str, Any]:
        """Return the counts, ready for JSON."""
        return {**self.counts, "domain": self.domain, "posts_per_second": self.posts_per_second}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table as Parquet, or as CSV or JSONL by the name's ending."""
        with written_file(Path(path)) as partial:
            suffix = Path(path).suffix
            if suffix == ".csv":
                self.table.write_csv(partial)
            elif suffix in (".jsonl", ".ndjson"):
                self.table.write_ndjson(partial)
            else:
                self.table.write_parquet(partial)


def find_mentions(
    posts: Posts,
    titles: TitleList,
    *,
    popularity: dict[int | str, float] | None = None,
    domain: str | None = None,
    aliases: Sequence[tuple[str, int | str]] = (),
) -> FoundMentions:
    """Return the titles of a list that posts name; `recloak.mentions.find` describes the table."""
    started = perf_counter()
    texts, years = posts.table["text"], _years(posts.table)
    with task("reading the titles"):
        pack = guess_domain(titles.columns, texts) if domain is None else domain_named(domain)
        lexicon = Lexicon(everyday_words_in(texts))
        index = index_titles(titles.titles, lexicon=lexicon, popularity=popularity, domain=pack, aliases=aliases)
    finds: list[tuple[int, FoundTitle]] = []  # with the position of the post
    with task("posts", len(posts)) as advance:
        for number, (text, year) in enumerate(zip(texts, years, strict=True)):
            finds += ((number, one) for one in find_titles(text, index, posted=year))
            if number % _PROGRESS_STEP == _PROGRESS_STEP - 1:
                advance(_PROGRESS_STEP)
    table = _table(posts, index, finds)
    speed = round(len(posts) / max(perf_counter() - started, 1e-9))
    return FoundMentions(table, _counts(posts, titles, table), speed, pack.name)


def _years(table: pl.DataFrame) -> list[int | None]:
    """Return the year in which each post was written, None where it is not known."""
    if "time" not in table.columns:
        return [None] * len(table)
    time = table["time"]
    if time.dtype.is_temporal():
        return time.dt.year().to_list()
    if time.dtype.is_numeric():
        seconds = time.cast(pl.Float64)
        seconds = pl.select(pl.when(seconds > _MILLISECONDS).then(seconds / 1000).otherwise(seconds)).to_series()
        years = (seconds * 1_000_000).cast(pl.Int64, strict=False).cast(pl.Datetime("us")).dt.year()
        return [year if year is not None and year >= _FIRST_YEAR else None for year in years]
    written = time.cast(pl.String).str.extract(r"\b((?:19|20)\d\d)\b").cast(pl.Int32, strict=False)
    return written.to_list()


def everyday_words_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that posts use often in small letters and seldom with a capital."""
    small: Counter[str] = Counter()
    capitalised: Counter[str] = Counter()
    n_posts = 0
    for text in texts:
        n_posts += 1
        words = words_of(text)
        if not words.cased or words.shouted:
            continue
        for n, word in enumerate(words.plain):
            if not words.begins[n]:
                (capitalised if words.capital(n) else small)[word] += 1
    if n_posts < _ENOUGH_POSTS:
        return frozenset()
    least = max(_EVERYDAY_SHARE * n_posts, 5)
    return frozenset(word for word, count in small.items() if count >= least and capitalised[word] < 0.2 * count)


def popularity_of(ratings: Ratings) -> dict[int | str, float]:
    """Return the number of ratings by item id."""
    return dict(zip(ratings.item_ids.ids.to_list(), ratings.popularity.astype(float).tolist(), strict=True))


def read_popularity(given: Any) -> dict[int | str, float]:
    """Return popularity by item id from a mapping, or from a table or file of items with a column of numbers."""
    if isinstance(given, Mapping):
        return dict(given)
    path = Path(given) if isinstance(given, str | os.PathLike) else None
    frame = as_polars(given) if path is None else read_table(path)
    item = match_column(frame.columns, (*NAMES["item"], "id"))
    numbers = [name for name in frame.columns if name != item and frame[name].dtype.is_numeric()]
    if item is None or not numbers:
        raise SourceError("popularity needs a column for the item and one of numbers", file=path)
    return dict(zip(frame[item].to_list(), frame[numbers[0]].cast(pl.Float64).fill_null(0.0).to_list(), strict=True))


def read_aliases(given: Any) -> list[tuple[str, int | str]]:
    """Return (alias, item id) pairs of a table or file with columns ``alias`` and ``item``, or of a mapping."""
    if isinstance(given, Mapping):
        return [(str(alias), item) for alias, item in given.items()]
    path = Path(given) if isinstance(given, str | os.PathLike) else None
    frame = as_polars(given) if path is None else read_table(path)
    alias = match_column(frame.columns, ("alias", "aliases", "nickname", "abbreviation", "short", "name"))
    item = match_column(frame.columns, (*NAMES["item"], "id"))
    if alias is None or item is None or alias == item:
        raise SourceError("aliases need a column 'alias' and one for the item", file=path)
    named = frame.drop_nulls([alias, item])
    return list(zip(named[alias].cast(pl.String).to_list(), named[item].to_list(), strict=True))


def _table(posts: Posts, index: TitleIndex, finds: list[tuple[int, FoundTitle]]) -> pl.DataFrame:
    about = posts.table.drop("text")[[place for place, _ in finds]]
    chosen = [index.titles[one.title] for _, one in finds]
    ids = [title.id for title in chosen]
    id_type = pl.Int64 if all(isinstance(id_, int) for id_ in ids) else pl.String
    columns = [
        pl.Series("item", ids, dtype=id_type, strict=False),
        pl.Series("title", [str(title) for title in chosen], dtype=pl.String),
        *(pl.Series(name, [getattr(one, name) for _, one in finds], dtype=type_) for name, type_ in _TYPES.items()),
    ]
    time = [about["time"]] if "time" in about.columns else []
    return about.select("post", "user").hstack([*columns, *time])


def _counts(posts: Posts, titles: TitleList, table: pl.DataFrame) -> dict[str, int]:
    tiers: dict[Any, int] = dict(table["tier"].value_counts().iter_rows())
    return {
        "posts": len(posts),
        "posts_empty": posts.n_empty,
        "posts_undecodable": posts.n_undecodable,
        "posts_with_finds": table["post"].n_unique(),
        "titles": len(titles.titles),
        "titles_repeated": titles.n_repeated,
        "titles_empty": titles.n_empty,
        "sure": tiers.get("sure", 0),
        "possible": tiers.get("possible", 0),
        "not_held": int((~table["held"]).sum()),
    }
