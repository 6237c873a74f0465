"""Ratings in one JSON list, whose objects name the user, the item, the rating and perhaps the time."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from recloak import Reader


def _matches(sample: Any) -> bool:
    return sample.head.lstrip().startswith(b"[")


def _tables(sample: Any) -> Iterator[pl.DataFrame]:
    with sample.open() as stream:
        yield pl.read_json(stream.read())


READER = Reader(
    name="json_list",
    title="JSON list",
    text="a list of JSON objects with keys for user, item, rating and perhaps time",
    matches=_matches,
    tables=_tables,
)
