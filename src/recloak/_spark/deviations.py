"""Target deviation on a cluster: how far held-out ratings lie from the released row of their own user.

Everything is a join: the probe with who-is-who on the user, then with the release on group (or user) and item. The
figures are those of `_evaluation.deviation.target_deviation`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as sf

from recloak._core.errors import SourceError
from recloak._evaluation.model import Accuracy
from recloak._ratings.options import ReadOptions
from recloak._spark.array_cells import address
from recloak._spark.source import Source, open_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def target_deviation(
    spark: SparkSession, folder: str | Path, private: str | Path, probe: str, reading: ReadOptions | None = None
) -> Accuracy:
    """Predict each held-out rating by the label in its user's released row; a missing label is told apart."""
    folder, held_out = Path(folder), open_source(spark, probe, reading)
    mapping = Path(private) / "mapping.parquet"
    if not mapping.exists():
        raise SourceError("there is no mapping.parquet: not the private folder of a release", file=private)
    known = spark.read.parquet(address(mapping)).withColumnRenamed("user_id", "source_user")
    asked = _asked(held_out).join(known, sf.col("user_id") == sf.col("source_user"))
    return _accuracy(asked.join(_labels(spark, folder), on=_keys(folder), how="left"))


def _asked(source: Source) -> DataFrame:
    return source.frame.select(
        sf.col("user").alias("user_id"), sf.col("item").alias("item"), sf.col("rating").alias("truth")
    )


def _keys(folder: Path) -> list[str]:
    return ["user", "item"] if (folder / "ratings.parquet").exists() else ["group", "item"]


def _labels(spark: SparkSession, folder: Path) -> DataFrame:
    table = next((folder / name for name in ("ratings.parquet", "profiles.parquet") if (folder / name).exists()), None)
    if table is None:
        raise SourceError("there are neither Parquet profiles nor ratings in the folder", file=folder)
    return spark.read.parquet(address(table))


def _accuracy(rows: DataFrame) -> Accuracy:
    error = sf.col("rating").cast("double") - sf.col("truth").cast("double")
    found = rows.agg(
        sf.count("*").alias("n"),
        sf.count("rating").alias("n_covered"),
        sf.avg(error * error).alias("square"),
        sf.avg(sf.abs(error)).alias("mae"),
    ).collect()[0]
    if not found.n:
        raise SourceError("no rating of the probe belongs to a user of the release")
    rmse = float(np.sqrt(found.square)) if found.n_covered else None
    return Accuracy(rmse, found.mae, found.n_covered / found.n, found.n)
