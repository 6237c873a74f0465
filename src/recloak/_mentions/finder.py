"""Find the items that posts name, and say of each how sure and why."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import polars as pl

from recloak._core.errors import SourceError
from recloak._core.files import written_file
from recloak._core.progress import task
from recloak._core.results import Tabular, counted, plural
from recloak._mentions.decide import Find, find_in
from recloak._mentions.lexicon import Lexicon
from recloak._mentions.mention_tables import read_frame
from recloak._mentions.post_files import Posts, TitleList
from recloak._mentions.text import words_of
from recloak._mentions.title_matching import TitleIndex, index_titles
from recloak._ratings.column_roles import NAMES, fold
from recloak._ratings.model import Ratings
from recloak._ratings.table_input import as_polars

_TALK_POSTS = 200  # fewer posts say little about how their writers use words
_TALK_SHARE = 0.004  # a word in small letters in this share of the posts is everyday among them
_EVERY = 500


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class FoundMentions(Tabular):
    """The titles that posts name, and counts of what was searched."""

    table: pl.DataFrame
    counts: dict[str, int]
    posts_per_second: int

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
        return {**self.counts, "posts_per_second": self.posts_per_second}

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
    posts: Posts, titles: TitleList, *, popularity: dict[int | str, float] | None = None
) -> FoundMentions:
    """Find the titles of a list in posts.

    The table has a row per find: ``post``, ``user``, ``item`` (the id of the title list), ``title``, ``start`` and
    ``end`` in the text, ``text`` as written, ``confidence``, ``tier`` (sure, or possible: a person should confirm it),
    ``reason`` in plain words, and the post's ``time`` where it has one.
    """
    started = perf_counter()
    with task("reading the titles"):
        index = index_titles(titles.titles, lexicon=Lexicon(talk_of(posts.table["text"])), popularity=popularity)
    places: list[int] = []
    finds: list[Find] = []
    with task("posts", len(posts)) as advance:
        for number, text in enumerate(posts.table["text"]):
            for one in find_in(text, index):
                places.append(number)
                finds.append(one)
            if number % _EVERY == _EVERY - 1:
                advance(_EVERY)
    table = _table(posts, index, places, finds)
    speed = round(len(posts) / max(perf_counter() - started, 1e-9))
    return FoundMentions(table, _counts(posts, titles, table), speed)


def talk_of(texts: Iterable[str]) -> frozenset[str]:
    """Give the words that the posts themselves use in small letters often and seldom with a capital."""
    small: Counter[str] = Counter()
    high: Counter[str] = Counter()
    n_posts = 0
    for text in texts:
        n_posts += 1
        words = words_of(text)
        if not words.cased or words.shouted:
            continue
        for n, word in enumerate(words.plain):
            if not words.begins[n]:
                (high if words.capital(n) else small)[word] += 1
    if n_posts < _TALK_POSTS:
        return frozenset()
    least = max(_TALK_SHARE * n_posts, 5)
    return frozenset(word for word, count in small.items() if count >= least and high[word] < 0.2 * count)


def popularity_of(ratings: Ratings) -> dict[int | str, float]:
    """Return the number of ratings by item id."""
    return dict(zip(ratings.item_ids.ids.to_list(), ratings.popularity.astype(float).tolist(), strict=True))


def read_popularity(given: Any) -> dict[int | str, float]:
    """Return popularity by item id from a mapping, or from a table or file of items with a column of numbers."""
    if isinstance(given, Mapping):
        return dict(given)
    path = given if isinstance(given, str | os.PathLike) else None
    frame = as_polars(given) if path is None else read_frame(Path(path))
    known = {fold(name): name for name in reversed(frame.columns)}
    item = next((known[name] for name in (*NAMES["item"], "id") if name in known), None)
    numbers = [name for name in frame.columns if name != item and frame[name].dtype.is_numeric()]
    if item is None or not numbers:
        raise SourceError(
            "popularity needs a column for the item and one of numbers", file=None if path is None else Path(path)
        )
    return dict(zip(frame[item].to_list(), frame[numbers[0]].cast(pl.Float64).fill_null(0.0).to_list(), strict=True))


def _table(posts: Posts, index: TitleIndex, places: list[int], finds: list[Find]) -> pl.DataFrame:
    about = posts.table.drop("text")[places]
    chosen = [index.titles[one.title] for one in finds]
    ids = [title.id for title in chosen]
    found = pl.DataFrame(
        {
            "item": pl.Series(
                ids, dtype=pl.Int64 if all(isinstance(id_, int) for id_ in ids) else pl.String, strict=False
            ),
            "title": pl.Series([str(title) for title in chosen], dtype=pl.String),
            "start": pl.Series([one.start for one in finds], dtype=pl.Int32),
            "end": pl.Series([one.end for one in finds], dtype=pl.Int32),
            "text": pl.Series([one.text for one in finds], dtype=pl.String),
            "confidence": pl.Series([one.confidence for one in finds], dtype=pl.Float64),
            "tier": pl.Series([one.tier for one in finds], dtype=pl.String),
            "reason": pl.Series([one.reason for one in finds], dtype=pl.String),
        }
    )
    time = [about["time"]] if "time" in about.columns else []
    return about.select("post", "user").hstack(found.get_columns()).hstack(time)


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
    }
