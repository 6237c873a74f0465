"""Inspect on a cluster: the summary and the exposure of `_ratings`, added up block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as sf

from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.exposure import Exposure, count_agreeing, draw_row, exposure_of
from recloak._ratings.options import ExposureOptions
from recloak._ratings.summary import Bar, Spread, Summary, TimeSpan, histogram, top_shares_of
from recloak._spark.array_cells import array, batch, rows_of, schema
from recloak._spark.source_paths import SparkSource
from recloak._spark.user_blocks import Blocks, added_up, ratings_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COLUMNS = ("block", "n_users", "indptr", "items", "values")


def summarise(source: SparkSource, blocks: Blocks) -> Summary:
    """Count what is in the ratings."""
    activity, n_users = _activity(blocks)
    return Summary(
        n_users=blocks.n_users,
        n_items=blocks.n_items,
        n_ratings=blocks.n_ratings,
        density=blocks.n_ratings / (blocks.n_users * blocks.n_items),
        scale=blocks.scale,
        mean_rating=blocks.mean,
        histogram=_histogram(blocks),
        activity=Spread.of(activity, n_users),
        popularity=Spread.of(blocks.popularity),
        top_shares=top_shares_of(blocks.popularity),
        times=_time_span(source.frame) if source.has_times else None,
        n_rows=source.n_rows,
        n_repeated=source.n_rows - source.n_skipped - blocks.n_ratings,
        n_skipped=source.n_skipped,
        notes=source.notes,
    )


def _activity(blocks: Blocks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the numbers of ratings that occur, and how many users have each: at most as many as there are items."""
    n_items = blocks.n_items

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            rated = np.diff(array(row["indptr"], np.int64))
            yield batch({"counts": [np.bincount(rated, minlength=n_items + 1)]}, {"counts": pa.binary()})

    counts = added_up(blocks.frame.select("indptr").mapInArrow(count, "counts binary"), "counts")
    return np.flatnonzero(counts), counts[counts > 0]


def _histogram(blocks: Blocks) -> tuple[Bar, ...]:
    scale = blocks.scale

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            bars = histogram(array(row["values"], np.float32), scale)
            yield batch({"counts": [np.array([bar.n for bar in bars])]}, {"counts": pa.binary()})

    counts = added_up(blocks.frame.select("values").mapInArrow(count, "counts binary"), "counts")
    empty = histogram(np.array([scale.low], np.float32), scale)
    return tuple(replace(bar, n=int(n), share=int(n) / blocks.n_ratings) for bar, n in zip(empty, counts, strict=True))


def _time_span(frame: DataFrame) -> TimeSpan:
    """Give the span of all rows, repeated pairs among them."""
    year = sf.year(sf.timestamp_seconds("time")).alias("year")
    found = frame.groupBy(year).agg(sf.count("*").alias("n"), sf.min("time").alias("a"), sf.max("time").alias("z"))
    years = sorted(found.collect(), key=lambda row: row.year)
    first, last = min(row.a for row in years), max(row.z for row in years)
    return TimeSpan(first, last, tuple((row.year, row.n) for row in years))


class _Targets(NamedTuple):
    """What is known of the targets, whoever they are."""

    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    n_rated: NDArray[np.int64]


def expose(blocks: Blocks, options: ExposureOptions | None = None, *, rng: Rng = None) -> Exposure:
    """Estimate from a sample of targets the share of users who are unique given a few known items."""
    options, chance = options or ExposureOptions(), randomness(rng)
    with task("looking for the targets", 2) as advance:
        targets = _draw(blocks, options, chance)
        advance(1)
        counts = _agreeing(blocks, targets, options)
        advance(1)
    return exposure_of(counts, targets.n_rated, options, chance.seed)


_KNOWN = {
    "block": pa.int32(),
    "lengths": pa.binary(),
    "items": pa.binary(),
    "values": pa.binary(),
    "rated": pa.binary(),
}


def _draw(blocks: Blocks, options: ExposureOptions, chance: Randomness) -> _Targets:
    """Draw targets among all users and what is known of them; only that comes to the driver."""
    users_of, most = _chosen(blocks, options.targets, chance), options.known[-1]
    item_ids, scale = blocks.item_ids, blocks.scale

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            ratings, block = ratings_in(row, item_ids, scale), row["block"].as_py()
            stream, users = chance.stream("exposure", block), users_of[block]
            known = [draw_row(ratings.row(user), most, stream) for user in users]
            where = np.concatenate([np.empty(0, np.int64), *known])
            lengths = np.array([len(one) for one in known], np.int64)
            found = [block, lengths, ratings.items[where], ratings.values[where], ratings.activity[users]]
            yield batch({name: [value] for name, value in zip(_KNOWN, found, strict=True)}, _KNOWN)

    rows = blocks.frame.select(*_COLUMNS).mapInArrow(draw, schema(_KNOWN)).toArrow().sort_by("block")
    kinds = {"lengths": np.int64, "items": np.int32, "values": np.float32, "rated": np.int64}
    lengths, items, values, rated = (
        np.concatenate([array(cell, kind) for cell in rows[name]]) for name, kind in kinds.items()
    )
    return _Targets(np.concatenate(([0], np.cumsum(lengths))), items, values, rated)


def _chosen(blocks: Blocks, n_targets: int, chance: Randomness) -> dict[int, NDArray[np.int64]]:
    """Choose users among all by number, and give those of each block."""
    sizes = dict(sorted((row.block, row.n_users) for row in blocks.frame.select("block", "n_users").collect()))
    chosen = chance.stream("exposure").choice(blocks.n_users, min(n_targets, blocks.n_users), replace=False)
    users, first = {}, 0
    for block, n_users in sizes.items():
        users[block] = chosen[(chosen >= first) & (chosen < first + n_users)] - first
        first += n_users
    return users


def _agreeing(blocks: Blocks, targets: _Targets, options: ExposureOptions) -> NDArray[np.int64]:
    """Count over all blocks the rows that agree with what is known: (n_targets, n_levels, 2)."""
    item_ids, scale, popularity = blocks.item_ids, blocks.scale, blocks.popularity

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            ratings = ratings_in(row, item_ids, scale)
            counts = count_agreeing(ratings, *targets[:3], options.known, popularity)
            yield batch({"counts": [counts]}, {"counts": pa.binary()})

    counts = added_up(blocks.frame.select(*_COLUMNS).mapInArrow(count, "counts binary"), "counts")
    return counts.reshape(-1, len(options.known), 2)
