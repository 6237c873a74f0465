"""Inspect on a cluster: the summary and the exposure of `_ratings`, added up block by block."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.exposure import Exposure, count_agreeing, draw_row, exposure_of
from recloak._ratings.options import ExposureOptions
from recloak._ratings.summary import Bar, Spread, Summary, TimeSpan, histogram, top_shares_of
from recloak._spark.array_cells import Row, array, joined, map_rows
from recloak._spark.source_paths import SparkSource
from recloak._spark.user_blocks import Blocks, counted, ratings_in

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
    """Return the numbers of ratings that occur, and how many users have each: at most as many as there are items."""
    n_items = blocks.n_items

    def count(row: Row) -> NDArray[np.int64]:
        return np.bincount(np.diff(array(row["indptr"], np.int64)), minlength=n_items + 1)

    counts = counted(blocks.frame.select("indptr"), count)
    return np.flatnonzero(counts), counts[counts > 0]


def _histogram(blocks: Blocks) -> tuple[Bar, ...]:
    scale = blocks.scale

    def count(row: Row) -> NDArray[np.int64]:
        return np.array([bar.n for bar in histogram(array(row["values"], np.float32), scale)])

    counts = counted(blocks.frame.select("values"), count)
    empty = histogram(np.array([scale.low], np.float32), scale)
    return tuple(replace(bar, n=int(n), share=int(n) / blocks.n_ratings) for bar, n in zip(empty, counts, strict=True))


def _time_span(frame: DataFrame) -> TimeSpan:
    """Return the span of all rows, repeated pairs included."""
    year = sf.year(sf.timestamp_seconds("time")).alias("year")
    found = frame.groupBy(year).agg(sf.count("*").alias("n"), sf.min("time").alias("a"), sf.max("time").alias("z"))
    years = sorted(found.collect(), key=lambda row: row.year)
    first, last = min(row.a for row in years), max(row.z for row in years)
    return TimeSpan(first, last, tuple((row.year, row.n) for row in years))


class _Targets(NamedTuple):
    """What is known of the targets, without their ids."""

    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    n_rated: NDArray[np.int64]


def expose(blocks: Blocks, options: ExposureOptions | None = None, *, rng: Rng = None) -> Exposure:
    """Estimate from a sample of targets the share of users who are unique given a few known items."""
    options, rng = options or ExposureOptions(), randomness(rng)
    with task("looking for the targets", 2) as advance:
        targets = _draw(blocks, options, rng)
        advance(1)
        counts = _agreeing(blocks, targets, options)
        advance(1)
    return exposure_of(counts, targets.n_rated, options, rng.seed)


def _draw(blocks: Blocks, options: ExposureOptions, rng: Randomness) -> _Targets:
    """Draw targets among all users and what is known of them; only that comes to the driver."""
    users_of, most = _chosen(blocks, options.targets, rng), options.known[-1]
    item_ids, scale = blocks.item_ids, blocks.scale
    kinds = {"lengths": np.int64, "items": np.int32, "values": np.float32, "rated": np.int64}

    def draw(row: Row) -> dict[str, Any]:
        ratings, block = ratings_in(row, item_ids, scale), row["block"].as_py()
        stream, users = rng.stream("exposure", block), users_of[block]
        known = [draw_row(ratings.row(user), most, stream) for user in users]
        where = np.concatenate([np.empty(0, np.int64), *known])
        lengths, n_rated = np.array([len(one) for one in known], np.int64), ratings.activity[users]
        items, values = ratings.items[where], ratings.values[where]
        return {"block": block, "lengths": lengths, "items": items, "values": values, "rated": n_rated}

    drawn = map_rows(blocks.frame.select(*_COLUMNS), draw, {"block": pa.int32(), **dict.fromkeys(kinds, pa.binary())})
    rows = drawn.toArrow().sort_by("block")
    lengths, items, values, rated = (joined(rows, name, kind) for name, kind in kinds.items())
    return _Targets(np.concatenate(([0], np.cumsum(lengths))), items, values, rated)


def _chosen(blocks: Blocks, n_targets: int, rng: Randomness) -> dict[int, NDArray[np.int64]]:
    """Choose users among all by number, and return those of each block."""
    sizes = dict(sorted((row.block, row.n_users) for row in blocks.frame.select("block", "n_users").collect()))
    chosen = rng.stream("exposure").choice(blocks.n_users, min(n_targets, blocks.n_users), replace=False)
    users, first = {}, 0
    for block, n_users in sizes.items():
        users[block] = chosen[(chosen >= first) & (chosen < first + n_users)] - first
        first += n_users
    return users


def _agreeing(blocks: Blocks, targets: _Targets, options: ExposureOptions) -> NDArray[np.int64]:
    """Count over all blocks the rows that agree with what is known: (n_targets, n_levels, 2)."""
    item_ids, scale, popularity = blocks.item_ids, blocks.scale, blocks.popularity

    def count(row: Row) -> NDArray[np.int64]:
        return count_agreeing(ratings_in(row, item_ids, scale), *targets[:3], options.known, popularity)

    return counted(blocks.frame.select(*_COLUMNS), count).reshape(-1, len(options.known), 2)
