"""A source that the workers read and check, and that the driver holds: for releases that are made in one place.

Purchases and plays, drawn rows, statistics and the layout factors are published by the local engine's own code, so the
release has the same bytes as one made without Spark. The driver needs the memory of a local run.
"""

from __future__ import annotations

import polars as pl

from recloak._ratings.model import Ratings
from recloak._ratings.options import ReadOptions
from recloak._ratings.table_input import ratings_from_rows
from recloak._ratings.value_kinds import RATINGS
from recloak._ratings.value_meaning import meaning_seen
from recloak._spark.source_paths import SparkSource


def holds_ratings(source: SparkSource, reading: ReadOptions) -> bool:
    """Return whether a source holds ratings: as it was said, else as the local engine sees it from the values."""
    if reading.kind is not None:
        return reading.kind == RATINGS.name
    if source.column is None or source.looks is None:
        return False
    column = None if source.column == "rating" else source.column
    return meaning_seen(source.looks, column=column).kind is RATINGS


def ratings_in_driver(source: SparkSource, reading: ReadOptions) -> Ratings:
    """Bring the rows of a source to the driver, in the order of the files, and put them together there."""
    rows = pl.DataFrame(pl.from_arrow(source.frame.toArrow())).sort("place").drop("place")
    return ratings_from_rows(rows, column=source.column, scale=reading.bounds(), kind=reading.kind)
