"""Purchases and plays, drawn rows and statistics on Spark: the workers read, and the bytes are those of one machine."""

from pathlib import Path

import polars as pl
import pytest

import recloak
from recloak._library.evaluate_release import hold_out
from recloak._ratings.model import Ratings
from tests.releases.test_events import two_tastes

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_cluster")]


def written(folder: Path, source: Ratings, name: str = "log") -> Path:
    """Write a source as a log: presence without a column of values, a count as so many rows."""
    table = source.to_polars()
    if "count" in table.columns:
        table = table.select(pl.exclude("count").repeat_by("count").explode())
    file = folder / f"{name}.csv"
    table.write_csv(file)
    return file


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.mark.parametrize("counts", [False, True], ids=["presence", "counts"])
@pytest.mark.parametrize("mode", ["pure", "padded", "sampled"])
def test_a_release_of_events_has_the_bytes_of_the_local_one(tmp_path, mode, counts):
    log = written(tmp_path, two_tastes(60, 30, counts=counts))
    recloak.publish(log, tmp_path / "here", mode=mode, k=4, seed=1)
    recloak.publish(log, tmp_path / "there", mode=mode, k=4, seed=1, engine="spark")
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")
    assert recloak.verify(tmp_path / "there").passed
    assert recloak.verify(tmp_path / "there", engine="spark").passed


def test_what_a_source_holds_is_seen_as_by_the_local_engine(spark_cluster, tmp_path):
    from recloak._spark.driver_ratings import holds_ratings, ratings_in_driver
    from recloak._spark.source import open_source

    events = written(tmp_path, two_tastes(60, 30, counts=True), "events")
    plays = tmp_path / "plays.csv"
    two_tastes(60, 30, counts=True).to_polars().rename({"count": "plays"}).write_csv(plays)
    stars = tmp_path / "stars.csv"
    recloak.synth(users=30, items=20, ratings=200, seed=1).to_polars().write_csv(stars)
    typed = tmp_path / "typed.parquet"
    two_tastes(60, 30).to_polars().write_parquet(typed)
    for file in (events, plays, stars, typed):
        reading = recloak.Source(file).options
        opened = open_source(spark_cluster, str(file), any_values=True)
        local = recloak.read(file)
        assert holds_ratings(opened, reading) == (local.kind.name == "ratings")
        found = ratings_in_driver(opened, reading)
        assert found.kind is local.kind
        assert found.to_polars().equals(local.to_polars())


def test_drawn_ratings_and_statistics_are_made_on_spark_too(tmp_path):
    file = tmp_path / "stars.csv"
    recloak.synth(users=60, items=30, ratings=900, seed=1).to_polars().write_csv(file)
    for name, engine in (("here", "local"), ("there", "spark")):
        recloak.publish(file, tmp_path / name, mode="sampled", k=4, seed=1, engine=engine)
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")
    recloak.publish(file, tmp_path / "counted", k=4, seed=1, statistics=1.0, engine="spark")
    assert (tmp_path / "counted" / "statistics_items.parquet").exists()
    assert recloak.verify(tmp_path / "counted").passed
    assert recloak.verify(tmp_path / "counted", engine="spark").passed


def test_a_drawn_group_of_too_few_fails_on_spark_as_locally(tmp_path):
    log = written(tmp_path, two_tastes(60, 30))
    recloak.publish(log, tmp_path / "out", mode="sampled", k=4, seed=1)
    for engine in ("local", "spark"):
        found = recloak.verify(tmp_path / "out", k=5, engine=engine)
        assert not found.passed
        assert found.k_found == 4


def test_factors_are_made_by_the_driver_with_the_bytes_of_one_machine(tmp_path):
    stars, rest = tmp_path / "stars.csv", tmp_path / "rest.csv"
    ratings = recloak.synth(users=60, items=30, ratings=900, seed=1)
    kept, probe = hold_out(ratings, 0.1, rng=1)
    kept.to_polars().write_csv(stars)
    probe.write_csv(rest)
    for name, engine in (("here", "local"), ("there", "spark")):
        recloak.publish(stars, tmp_path / name, k=4, layout="factors", seed=1, engine=engine)
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")
    assert recloak.verify(tmp_path / "there", engine="spark") == recloak.verify(tmp_path / "there")
    found = recloak.evaluate(stars, tmp_path / "there", probe=rest, engine="spark").target_deviation
    local = recloak.evaluate(stars, tmp_path / "there", probe=rest, seed=1).target_deviation
    assert (found.n, found.coverage) == (local.n, local.coverage)
    assert found.rmse == pytest.approx(local.rmse, abs=1e-6)


def test_the_way_out_of_a_table_that_is_too_large_is_one_that_spark_takes(tmp_path):
    stars = tmp_path / "stars.csv"
    recloak.synth(users=60, items=30, ratings=900, seed=1).to_polars().write_csv(stars)
    with pytest.raises(recloak.InputError, match="above the limit") as refused:
        recloak.publish(stars, tmp_path / "out", k=4, seed=1, engine="spark", size_limit="100B")
    assert "engine='local'" not in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mode", ["pure", "padded", "sampled"])
def test_held_out_uses_are_looked_for_in_the_own_row_as_locally(tmp_path, mode):
    rest, probe = hold_out(two_tastes(60, 30), 0.1, rng=1)
    log, held_out = written(tmp_path, rest), tmp_path / "probe.csv"
    probe.drop("rating").write_csv(held_out)
    recloak.publish(log, tmp_path / "out", mode=mode, k=4, seed=1)
    found = recloak.evaluate(log, tmp_path / "out", probe=held_out, engine="spark")
    assert isinstance(found, recloak.UseEvaluation)
    assert found.target_deviation == recloak.evaluate(log, tmp_path / "out", probe=held_out, seed=1).target_deviation
    assert set(found.to_json()) == {"values", "not_applicable", "held_out"}
