"""Spark reads the files of a release whole, as every other reader does."""

import numpy as np
import polars as pl
import pytest

from recloak._ratings.ids import IdMap
from recloak._releases.packed_table import packed_file
from recloak._releases.table_writing import ItemColumn, Labels, Names

pytestmark = pytest.mark.spark


def test_every_row_group_is_read(tmp_path, spark_cluster):
    items, path = ItemColumn(IdMap.of([f"item {number}" for number in range(500)])), tmp_path / "profiles.parquet"
    with packed_file(path) as sink:
        for block in range(4):
            columns = {
                "group": Names(np.arange(2 * block + 1, 2 * block + 3, dtype=np.int32), np.full(2, 500)),
                "item": items.repeated(2, 500),
                "rating": Labels(np.array([1, 2, 3], np.float32), (np.arange(1000) + block) % 3),
            }
            sink.write({name: column.chunk() for name, column in columns.items()})
    read = pl.DataFrame(pl.from_arrow(spark_cluster.read.parquet(str(path)).toArrow()))
    assert read.sort("group", "item").equals(pl.read_parquet(path).sort("group", "item"))
