"""JSON Lines of ratings: one object per line, whose keys name the user, the item, the rating and perhaps the time."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from recloak import Reader


def _matches(sample: Any) -> bool:
    return sample.head.lstrip().startswith(b'{"')


def _tables(sample: Any) -> Iterator[pl.DataFrame]:
    with sample.open() as stream:
        while lines := stream.readlines(1 << 24):
            yield pl.read_ndjson(b"".join(lines))


READER = Reader(
    name="jsonl",
    title="JSON Lines",
    text="one JSON object per line, with keys for user, item, rating and perhaps time",
    matches=_matches,
    tables=_tables,
)
