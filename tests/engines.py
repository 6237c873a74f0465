"""Both engines behind one face, so that one body of tests can ask both for the same."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from recloak._core.errors import MissingExtraError
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import read
from recloak._releases.options import PadOptions, PublishOptions
from recloak._releases.publishing import publish as publish_here
from recloak._releases.verifier import verify as verify_here

PAD = PadOptions(rank=3, iterations=2)
SETTINGS = (
    "spark.sql.shuffle.partitions=2",
    "spark.default.parallelism=2",
    "spark.sql.adaptive.enabled=false",
    "spark.driver.host=127.0.0.1",
    "spark.driver.bindAddress=127.0.0.1",
)


class Here:
    """The local engine."""

    def publish(
        self,
        source: Path,
        folder: Path,
        layout: str | None = None,
        rng: int = 0,
        predictor: str = "svd",
        **options: Any,
    ) -> Path:
        padding = PAD.replace(predictor=predictor)
        release = publish_here(read(source), options=PublishOptions(**options), pad_options=padding, rng=rng)
        release.write(folder, layout=layout)
        return folder

    def verify(self, folder: Path, **demands: Any) -> Any:
        return verify_here(folder, **demands)

    def verify_against(self, folder: Path, source: Path, mapping: Path | None = None) -> Any:
        """Verify as the owner, who has the source and knows who is who."""
        return verify_here(folder, original=read(source), mapping=pl.read_parquet(mapping or mapping_of(folder)))

    def take_in(self, source: Path, **reading: Any) -> pl.DataFrame:
        return read(source, options=ReadOptions(**reading)).to_polars().select("user", "item", "rating")


class Spark:
    """The Spark engine, with blocks, bins and parts so small that there are several."""

    def __init__(self, session: Any, folder: Path) -> None:
        self.session, self.folder = session, folder

    def publish(
        self,
        source: Path,
        folder: Path,
        layout: str | None = None,
        rng: int = 0,
        predictor: str = "svd",
        **options: Any,
    ) -> Path:
        from recloak._spark.session import SparkOptions
        from recloak._spark.spark_publishing import publish

        cutting = SparkOptions(block_ratings=100, bin_users=30, part_cells=300)
        chosen = PublishOptions(**options)
        publish(
            self.session, str(source), folder, layout=layout, options=chosen, cutting=cutting, rng=rng,
            pad_options=PAD.replace(predictor=predictor),
        )  # fmt: skip
        return folder

    def verify(self, folder: Path, **demands: Any) -> Any:
        from recloak._spark.verification import verify

        return verify(self.session, folder, **demands)

    def verify_against(self, folder: Path, source: Path, mapping: Path | None = None) -> Any:
        from recloak._spark.user_blocks import opened_blocks

        with opened_blocks(self.session, str(source), block_ratings=100, beside=self.folder / "against") as blocks:
            return self.verify(folder, original=blocks, mapping=mapping or mapping_of(folder))

    def take_in(self, source: Path, **reading: Any) -> pl.DataFrame:
        from recloak._spark.user_blocks import opened_blocks

        beside = self.folder / "taken"
        with opened_blocks(
            self.session, str(source), ReadOptions(**reading), block_ratings=100, beside=beside
        ) as blocks:
            return pl.concat(_rows(blocks))


def _rows(blocks: Any) -> Iterator[pl.DataFrame]:
    for row in blocks.frame.select("ids", "indptr", "items", "values").toArrow().to_pylist():
        counts: Any = np.diff(np.frombuffer(row["indptr"], np.int64))
        users = pl.Series("user", row["ids"]).gather(np.repeat(np.arange(len(counts)), counts))
        items = blocks.item_ids.decode(np.frombuffer(row["items"], np.int32)).alias("item")
        yield pl.DataFrame([users, items, pl.Series("rating", np.frombuffer(row["values"], np.float32))])


def mapping_of(folder: Path) -> Path:
    """Give where who is who lies."""
    return folder.with_name(f"{folder.name}-private") / "mapping.parquet"


def profiles_by_user(folder: Path) -> pl.DataFrame:
    """Join a release with its private folder: the row of every source user."""
    mapping = pl.read_parquet(mapping_of(folder))
    if (folder / "ratings.parquet").exists():
        rows = pl.read_parquet(folder / "ratings.parquet").join(mapping, on="user")
    else:
        members = pl.read_parquet(folder / "members.parquet").join(mapping, on=["user", "group"])
        rows = members.join(pl.read_parquet(folder / "profiles.parquet"), on="group")
    return rows.select("user_id", "item", "rating").sort("user_id", "item")


def account_of(folder: Path) -> dict[str, Any]:
    """Read the private account of a release."""
    found: dict[str, Any] = json.loads((folder.with_name(f"{folder.name}-private") / "account.json").read_text())
    return found


@contextmanager
def cluster(master: str, *settings: str) -> Iterator[Any]:
    """Start Spark for tests, or skip with the reason; the workers import what the tests import."""
    import os
    import sys

    from recloak._spark.session import SparkOptions, require_spark, session

    try:
        require_spark()
    except MissingExtraError as error:
        pytest.skip(str(error))
    path = os.pathsep.join([str(Path(__file__).parents[1] / "src"), str(Path(__file__).parents[1])])
    paths = (f"spark.executorEnv.PYTHONPATH={path}", f"spark.pyspark.python={sys.executable}")
    with session(SparkOptions(master=master, conf=(*SETTINGS, *paths, *settings))) as spark:
        yield spark
