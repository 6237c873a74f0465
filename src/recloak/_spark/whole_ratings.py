"""The ratings of all blocks in the driver: what the ledger of a history of related-item lists is compared with.

Spark has read, checked and numbered them, and compares the items; who is new since the last night, the bound and the
proof are questions to one ledger, which the driver holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings, assemble
from recloak._ratings.options import ReadOptions
from recloak._related.model import Lists
from recloak._related.options import SimilarityOptions
from recloak._spark.array_cells import array, rows_of
from recloak._spark.similar_items import nearest
from recloak._spark.user_blocks import Blocks, opened_blocks

_COLUMNS = ["ids", "indptr", "items", "values", "times"]


def whole_ratings(blocks: Blocks) -> Ratings:
    """Return the ratings of blocks that keep times, numbered as by the local engine."""
    ids, activity, parts = [], [], []
    for file in sorted(blocks.folder.glob("*.parquet")):
        for batch in pq.ParquetFile(file).iter_batches(batch_size=1, columns=_COLUMNS):
            for row in rows_of([batch]):
                ids.append(pl.Series(pl.from_arrow(row["ids"].values)))
                activity.append(np.diff(array(row["indptr"], np.int64)))
                kinds = {"items": np.int32, "values": np.float32, "times": np.int64}
                parts.append([array(row[name], kind) for name, kind in kinds.items()])
    everybody = pl.concat(ids)
    user_ids = IdMap.of(everybody)
    users = np.repeat(user_ids.encode(everybody), np.concatenate(activity)).astype(np.int32)
    items, values, times = (np.concatenate(column) for column in zip(*parts, strict=True))
    return assemble(users, items, values, times, user_ids=user_ids, item_ids=blocks.item_ids, scale=blocks.scale)


class RatingsOnSpark:
    """A source that Spark has read: its ratings in the driver, and its lists made by the workers."""

    def __init__(self, spark: SparkSession, blocks: Blocks, paths: tuple[str, ...], reading: ReadOptions) -> None:
        self.ratings = whole_ratings(blocks)
        self._spark, self._blocks, self._source = spark, blocks, (paths, reading)

    def nearest(self, until: int | None, top: int, options: SimilarityOptions) -> Lists:
        """Return for every item the most similar others, from the ratings up to a time."""
        if until is None:
            return nearest(self._spark, self._blocks, top, options)
        with opened_blocks(self._spark, *self._source, until=until) as known:
            return nearest(self._spark, known, top, options)


@contextmanager
def opened_ratings(spark: SparkSession, paths: tuple[str, ...], reading: ReadOptions) -> Iterator[RatingsOnSpark]:
    """Read a source with times on Spark; its blocks are kept until the end."""
    with opened_blocks(spark, paths, reading, timed=True) as blocks:
        yield RatingsOnSpark(spark, blocks, paths, reading)
