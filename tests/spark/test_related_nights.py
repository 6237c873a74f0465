"""Nights on Spark: the same store, the same lists and the same proof as on one machine, also in turns."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from recloak import related
from recloak._core.errors import InputError, OptionError, RecloakError

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_cluster")]
START, DAY = 1_000_000_000, 86_400
POLICY: dict[str, Any] = {"min_support": 2, "delta": 0.3, "top": 3, "horizon": "all"}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Ratings as they are on three nights, with text ids, repeated pairs and late ratings."""
    folder, rng, rows, files = tmp_path_factory.mktemp("nights"), np.random.default_rng(4), [], []
    for night in range(3):
        n = 600 if not night else 120
        late = np.where(rng.random(n) < 0.1, 3 * DAY, 0)
        rows.append(
            pl.DataFrame(
                {
                    "user": [f"u{number:03}" for number in rng.integers(0, 60 + 5 * night, n)],
                    "item": [f"i{number}" for number in rng.integers(0, 25 + night, n)],
                    "rating": rng.integers(1, 6, n),
                    "time": START + night * DAY + rng.integers(0, DAY, n) - late,
                }
            )
        )
        files.append(folder / f"night{night}.parquet")
        pl.concat(rows).write_parquet(files[-1])
    return files


def test_nights_in_turns_give_the_local_store_and_the_local_proof(sources, tmp_path):
    stores = tmp_path / "here.db", tmp_path / "there.db"
    for source, engine in zip(sources, ("spark", "local", "spark"), strict=True):
        here = related.publish(stores[0], source, **POLICY)
        there = related.publish(stores[1], source, **POLICY, engine=engine)
        assert here.verdict.to_json() == there.verdict.to_json()
        assert here.cost == there.cost
    assert not related.publish(stores[1], sources[-1], **POLICY, engine="spark").is_new  # a retry does nothing
    exported = [related.export(store).to_polars() for store in stores]
    assert exported[0].equals(exported[1])
    assert len(exported[0]) > 100
    verdicts = [related.verify(stores[1], sources[-1], engine=engine).to_json() for engine in ("local", "spark")]
    assert verdicts[0] == verdicts[1]
    assert verdicts[0]["verdict"] == "pass"


def test_a_night_as_of_a_time_and_without_the_forgotten_is_the_local_one(sources, tmp_path):
    gone = pl.read_parquet(sources[0])["user"][0]
    for store, engine in (("here.db", "local"), ("there.db", "spark")):
        related.publish(tmp_path / store, sources[-1], **POLICY, until=START + DAY)
        related.forget(tmp_path / store, gone)
        made = related.publish(tmp_path / store, sources[-1], **POLICY, until=START + 2 * DAY, engine=engine)
        assert made.kept_out == 1
    here, there = (related.export(tmp_path / store).to_polars() for store in ("here.db", "there.db"))
    assert here.equals(there)


def test_what_is_refused_here_is_refused_there(sources, tmp_path):
    related.publish(tmp_path / "lists.db", sources[0], **POLICY)
    with pytest.raises(OptionError, match="promises less"):
        related.publish(tmp_path / "lists.db", sources[1], **{**POLICY, "delta": 0.9}, engine="spark")
    whole = pl.read_parquet(sources[1])
    others = whole.with_columns(pl.col("user") + "x", pl.col("item") + "x")
    others.write_parquet(tmp_path / "others.parquet")
    with pytest.raises(RecloakError, match="not those of this history"):
        related.verify(tmp_path / "lists.db", tmp_path / "others.parquet", engine="spark")
    whole.drop("time").write_parquet(tmp_path / "timeless.parquet")
    with pytest.raises(InputError, match="carry no"):
        related.publish(tmp_path / "new.db", tmp_path / "timeless.parquet", engine="spark")
    assert not (tmp_path / "new.db").exists()
