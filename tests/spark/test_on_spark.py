"""The other commands on Spark give what the local engine gives; a worker lost on the way breaks nothing."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from recloak._attacks.public_view import see_release
from recloak._core.errors import RecloakError
from recloak._core.randomness import Randomness
from recloak._evaluation.deviation import target_deviation
from recloak._evaluation.holdout import hold_out, probe_from
from recloak._ratings.exposure import expose
from recloak._ratings.model import Ratings
from recloak._ratings.options import ExposureOptions
from recloak._ratings.readers import read
from recloak._ratings.summary import summarise
from recloak._related.options import SimilarityOptions
from recloak._related.similarity import nearest
from recloak._releases.options import PadOptions
from recloak._releases.pad import pad
from recloak._releases.verifier import verify
from tests.contracts.test_engines import some_ratings, write_source
from tests.engines import Here, Spark

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    return write_source(tmp_path_factory.mktemp("source") / "lake", some_ratings())


@pytest.fixture
def blocks(spark_cluster, source, tmp_path):
    from recloak._spark.user_blocks import opened_blocks

    with opened_blocks(spark_cluster, str(source), block_ratings=100, beside=tmp_path / "work") as found:
        yield found


def test_the_summary_is_the_local_one(spark_cluster, source, blocks):
    from recloak._spark.inspection import summarise as summarise_on_spark
    from recloak._spark.source import open_source

    found = summarise_on_spark(open_source(spark_cluster, str(source)), blocks).to_json()
    assert found == summarise(read(source)).to_json()


def test_everybody_as_a_target_gives_the_local_exposure_of_whole_rows(source, blocks):
    from recloak._spark.inspection import expose as expose_on_spark

    options = ExposureOptions(targets=1000, known=(99,))  # all that is known of everybody: nothing is left to chance
    found, expected = expose_on_spark(blocks, options, rng=3).to_json(), expose(read(source), options, rng=8).to_json()
    assert found["n_targets"] == expected["n_targets"]
    assert [level["unique"] for level in found["levels"]] == [level["unique"] for level in expected["levels"]]
    assert [level["candidates"] for level in found["levels"]] == [level["candidates"] for level in expected["levels"]]


@pytest.mark.parametrize("predictor", ["svd", "bias", "mean"])
def test_padding_by_blocks_is_the_local_padding(source, blocks, monkeypatch, predictor):
    """Also where the pieces of the blocks are added up in several steps."""
    from recloak._spark import padding

    monkeypatch.setattr(padding, "FAN", 3)
    ratings, chance, options = read(source), Randomness(2), PadOptions(rank=2, iterations=3, tolerance=0.0)
    options = options.replace(predictor=predictor)
    found = padding.pad_blocks(blocks, options, chance.child("pad")).of(ratings)
    expected = pad(ratings, options, rng=chance)
    users, items = ratings.users(), ratings.items
    np.testing.assert_allclose(found.predict(users, items), expected.predict(users, items), atol=1e-4)


@pytest.mark.parametrize("similarity", ["cosine", "adjusted"])
def test_related_lists_are_the_local_ones(spark_cluster, source, blocks, similarity):
    from recloak._spark.similar_items import nearest as nearest_on_spark

    options = SimilarityOptions(similarity=similarity, min_support=2)
    found, expected = nearest_on_spark(spark_cluster, blocks, 3, options), nearest(read(source), 3, options)
    np.testing.assert_array_equal(found.items, expected.items)
    np.testing.assert_allclose(np.asarray(found.scores), np.asarray(expected.scores), rtol=1e-9)


@pytest.mark.parametrize("layout", ["long", "grouped"])
def test_the_target_deviation_is_the_local_one(spark_cluster, tmp_path, layout):
    from recloak._spark.deviations import target_deviation as on_spark

    rest, probe = hold_out(some_ratings(), 0.1, rng=1)
    source = write_source(tmp_path / "lake", rest)
    held_out = write_source(tmp_path / "probe", _as_ratings(rest, probe), n_files=1)
    folder = Here().publish(source, tmp_path / "release", layout, k=3, mode="pure")
    private = tmp_path / "release-private"
    ratings = read(source)
    expected = target_deviation(
        see_release(folder, private, ratings).public, probe_from(ratings, read(held_out))
    ).to_json()
    assert on_spark(spark_cluster, folder, private, str(held_out)).to_json() == pytest.approx(expected)


def _as_ratings(rest: Ratings, probe) -> Ratings:
    return Ratings.from_arrays(rest.user_ids.decode(probe.users), rest.item_ids.decode(probe.items), probe.values)


@pytest.mark.data
def test_the_target_deviation_on_movielens_is_within_a_hundredth_of_the_local_engines(spark_cluster, data, tmp_path):
    from recloak._releases.options import PublishOptions
    from recloak._releases.publishing import publish as publish_here
    from recloak._spark.session import SparkOptions
    from recloak._spark.spark_publishing import publish

    rest, probe = hold_out(read(data / "ml" / "ml-1m.inter"), 0.1, rng=1)
    source, options = write_source(tmp_path / "lake", rest), PublishOptions(k=5)
    publish_here(read(source), options=options, rng=0).write(tmp_path / "here")
    publish(
        spark_cluster, str(source), tmp_path / "there", options=options, cutting=SparkOptions(bin_users=2000), rng=0
    )
    here, there = (
        target_deviation(see_release(tmp_path / name, tmp_path / f"{name}-private", rest).public, probe).rmse
        for name in ("here", "there")
    )
    assert there == pytest.approx(here, rel=0.01)


def test_a_worker_that_dies_leaves_a_right_release_or_none(source, tmp_path, spark_cluster):
    """Kill one of two executors while groups are made; the other, and a new one, must do its tasks again."""
    killed: list[int] = []
    killer = threading.Thread(target=_kill_an_executor, args=(tmp_path, killed), daemon=True)
    killer.start()
    try:
        folder = Spark(spark_cluster, tmp_path).publish(source, tmp_path / "release", k=4, mode="pure")
    except RecloakError:
        assert not (tmp_path / "release").exists()
        assert not (tmp_path / "release-private").exists()
    else:
        assert verify(folder, k=4).passed
        assert verify(folder).n_users == read(source).n_users
    killer.join(timeout=5)
    assert killed, "no worker was killed, so nothing was tried"
    assert not list(tmp_path.glob(".*")), "something was left behind"


def _kill_an_executor(folder: Path, killed: list[int]) -> None:
    """Wait until the blocks are laid down, then kill one executor of this process's cluster."""
    import psutil

    for _ in range(3000):
        if any(folder.glob(".release-private.*/blocks/_SUCCESS")):
            break
        time.sleep(0.1)
    executors = [
        process.pid
        for process in psutil.Process().children(recursive=True)
        if process.name() == "java" and "CoarseGrainedExecutorBackend" in " ".join(process.cmdline())
    ]
    if executors:
        os.kill(executors[0], signal.SIGKILL)
        killed.append(executors[0])
