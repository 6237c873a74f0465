"""Target deviation on a cluster: how far held-out ratings lie from the released row of their own user.

Purchases and plays have no rating to predict; there, how many held-out uses stand in a row of the own group is counted.

Everything is a join: the probe with who-is-who on the user, then with the release on group (or user) and item, or with
the factors of the group and of the item, from which the cell follows. The figures are those of
`_evaluation.deviation.target_deviation`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from recloak._core.errors import SourceError
from recloak._evaluation.fidelity.training import LIKED as USED_FROM
from recloak._evaluation.model import Accuracy
from recloak._ratings.options import ReadOptions
from recloak._releases.model.release_format import MANIFEST, TABLES, factor_names
from recloak._spark.array_cells import address
from recloak._spark.source import open_source
from recloak._spark.source_paths import SparkSource


def target_deviation(
    spark: SparkSession, folder: str | Path, private: str | Path, probe: str, reading: ReadOptions | None = None
) -> Accuracy:
    """Predict each held-out rating by the label in its user's released row; a missing one counts as not covered."""
    folder, held_out = Path(folder), open_source(spark, probe, reading)
    truth = _known(spark, private, held_out, sf.col("rating").alias("truth"))
    if (folder / "groups.parquet").exists():
        return _accuracy(_by_factors(spark, folder, truth))
    table, name = _cells(folder)
    return _accuracy(truth.join(spark.read.parquet(address(table)), on=[name, "item"], how="left"))


def uses_in_own_rows(
    spark: SparkSession, folder: str | Path, private: str | Path, probe: str, manifest: Mapping[str, Any],
    reading: ReadOptions | None = None,
) -> Accuracy:  # fmt: skip
    """Count the held-out uses that stand in a row of the person's own group; a propensity must be high to count."""
    folder, held_out = Path(folder), open_source(spark, probe, reading, any_values=True)
    asked = _known(spark, private, held_out).dropDuplicates(["user_id", "item"])
    if (folder / "groups.parquet").exists():
        high_enough = sf.col("rating") >= sf.lit(USED_FROM * manifest["scale"]["high"])
        return _covered(_by_factors(spark, folder, asked).withColumn("rating", sf.when(high_enough, 1)))
    table, name = _cells(folder)
    cells = spark.read.parquet(address(table))
    if (folder / "members.parquet").exists() and name == "user":  # rows were drawn for groups, not for people
        members = spark.read.parquet(address(folder / "members.parquet"))
        cells, name = cells.join(members, on="user"), "group"
    high = manifest["scale"]["high"]
    used = cells.where(sf.col("rating") >= sf.lit(USED_FROM * high)) if manifest["scale"]["low"] == 0 else cells
    shown = used.select(name, "item", sf.lit(1).alias("rating")).dropDuplicates([name, "item"])
    return _covered(asked.join(shown, on=[name, "item"], how="left"))


def _covered(rows: DataFrame) -> Accuracy:
    """Return the share of the rows that have a label."""
    n, n_covered = rows.agg(sf.count("*"), sf.count("rating")).collect()[0]
    if not n:
        raise SourceError("no use of the probe belongs to a user of the release")
    return Accuracy(None, None, n_covered / n, n)


def _by_factors(spark: SparkSession, folder: Path, asked: DataFrame) -> DataFrame:
    """Add the rating that follows from the factors of the group and of the item; none where one of them is unknown."""
    manifest = json.loads((folder / MANIFEST).read_text())
    names = ("bias", *factor_names(manifest["rank"]))
    for table, key in (("groups", "group"), ("items", "item")):
        numbers = [sf.col(name).cast("double").alias(f"{table}_{name}") for name in names]
        asked = asked.join(spark.read.parquet(address(folder / f"{table}.parquet")).select(key, *numbers), key, "left")
    cell = sf.lit(manifest["mean"]) + sf.col("groups_bias") + sf.col("items_bias")
    for name in names[1:]:
        cell = cell + sf.col(f"groups_{name}") * sf.col(f"items_{name}")
    low, high = (sf.lit(float(manifest["scale"][end])) for end in ("low", "high"))
    inside = sf.when(cell < low, low).when(cell > high, high).otherwise(cell)  # null where there is no cell
    return asked.withColumn("rating", inside.cast("float"))


def _known(spark: SparkSession, private: str | Path, held_out: SparkSource, *more: Column) -> DataFrame:
    """Return what was held out with the released names of its people."""
    mapping = Path(private) / "mapping.parquet"
    if not mapping.exists():
        raise SourceError("there is no mapping.parquet: not the private folder of a release", file=private)
    known = spark.read.parquet(address(mapping)).withColumnRenamed("user_id", "source_user")
    columns = (sf.col("user").alias("user_id"), sf.col("item").alias("item"), *more)
    return held_out.frame.select(*columns).join(known, sf.col("user_id") == sf.col("source_user"))


def _cells(folder: Path) -> tuple[Path, str]:
    """Return the table that holds the labels, and the column that says whose they are."""
    for tables in TABLES.values():
        table, columns = next(iter(tables.items()))
        if (folder / f"{table}.parquet").exists():
            return folder / f"{table}.parquet", columns[0]
    raise SourceError("there are neither Parquet profiles nor ratings in the folder", file=folder)


def _accuracy(rows: DataFrame) -> Accuracy:
    error = sf.col("rating").cast("double") - sf.col("truth").cast("double")
    figures = sf.count("*"), sf.count("rating"), sf.avg(error * error), sf.avg(sf.abs(error))
    n, n_covered, square, mae = rows.agg(*figures).collect()[0]
    if not n:
        raise SourceError("no rating of the probe belongs to a user of the release")
    return Accuracy(float(np.sqrt(square)) if n_covered else None, mae, n_covered / n, n)
