"""What a release will be is told before any work, and a table that nobody can have meant is refused."""

import logging
from itertools import product

import numpy as np
import pytest

import recloak
from recloak._ratings.model import Scale
from recloak._releases.options import PublishOptions, WriteOptions
from recloak._releases.release_size import SourceSize, announce, in_units, parse_size, plan_size

BOOKS = SourceSize(105_000, 340_000, 1_150_000, Scale(1, 10))
NETFLIX = SourceSize(480_189, 17_770, 100_480_507, Scale(1, 5))


def test_a_padded_release_of_the_netflix_size_is_foreseen_within_a_tenth():
    size = plan_size(NETFLIX, PublishOptions(k=5), WriteOptions())
    assert size.rows == pytest.approx(1_706_577_490, rel=0.001)
    assert size.bytes == pytest.approx(1_290e6, rel=0.1)
    announce(NETFLIX, PublishOptions(k=5), WriteOptions())


@pytest.mark.parametrize(
    ("counts", "options", "sentence"),
    [
        (BOOKS, {"layout": "grouped"}, "above the limit of 1.38 GB: take layout='factors' (11.1 MB) or allow it with"),
        (NETFLIX, {"layout": "long"}, "above the limit of 2 GB: take layout='grouped' (1.28 GB) or allow it with"),
        (NETFLIX, {"format": "csv", "layout": "grouped"}, "above the limit of 2 GB"),
        (NETFLIX, {"size_limit": "1KB"}, "above the limit of 1 KB: take mode='pure'"),
    ],
)
def test_a_padded_table_above_the_limit_is_refused_with_the_way_out(counts, options, sentence):
    with pytest.raises(recloak.InputError) as told:
        announce(counts, PublishOptions(k=5), WriteOptions(**options))
    assert sentence in str(told.value)
    allowed = str(told.value).split("size_limit='")[1].rstrip("'")
    announce(counts, PublishOptions(k=5), WriteOptions(**{**options, "size_limit": allowed}))


@pytest.mark.parametrize(
    ("counts", "options"), [(BOOKS, {}), (NETFLIX, {"format": "csv"}), (NETFLIX, {"size_limit": "1GB"})]
)
def test_where_a_table_is_above_the_limit_and_no_layout_was_asked_for_it_is_factors(counts, options, caplog):
    with caplog.at_level(logging.INFO, logger="recloak"):
        size = announce(counts, PublishOptions(k=5), WriteOptions(**options))
    assert size.layout == "factors"
    assert "above the limit of" in caplog.messages[0]
    assert "so the layout is factors" in caplog.messages[0]
    assert caplog.messages[1].startswith("will write a padded release in the layout factors: about ")


@pytest.mark.parametrize("options", [{"labels": "raters"}, {"paper": True}, {"grid": 0.5}])
def test_a_table_above_the_limit_that_cannot_be_factors_is_refused(options):
    with pytest.raises(recloak.InputError, match=r"above the limit of 1\.38 GB: take mode='pure'"):
        announce(BOOKS, PublishOptions(k=5, **options), WriteOptions())


def test_a_pure_release_is_never_refused_for_its_size():
    assert announce(BOOKS, PublishOptions(k=5, mode="pure"), WriteOptions(layout="long")).at_most


@pytest.mark.parametrize(("mode", "layout"), [*product(["padded", "pure"], ["grouped", "long"]), ("padded", "factors")])
def test_rows_are_as_foreseen(tmp_path, caplog, mode, layout):
    ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    with caplog.at_level(logging.INFO, logger="recloak"):
        release = recloak.publish(ratings, tmp_path / "out", k=5, mode=mode, layout=layout, seed=1)
    facts = release.facts
    rows = facts.n_ratings if layout == "long" else int(release.profiles.counts.sum())
    rows = facts.n_groups + facts.n_items if layout == "factors" else rows
    foreseen = int(caplog.messages[0].split(" rows")[0].split()[-1].replace(",", ""))
    assert rows <= foreseen if mode == "pure" else rows == foreseen
    assert caplog.messages[0].startswith(f"will write a {mode} release in the layout {layout}: ")


def test_a_refused_release_costs_no_work(tmp_path):
    ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)

    def padder(_):
        raise AssertionError("work was done")

    with pytest.raises(recloak.InputError, match="above the limit of 10 B"):
        recloak.publish(ratings, tmp_path / "out", padder=padder, size_limit="10B")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("text", "size"), [("10B", 10), ("1.5kb", 1500), ("2 GB", 2e9), ("3M", 3e6), ("none", np.inf)])
def test_sizes_are_read_as_they_are_written(text, size):
    assert parse_size(text) == size
    assert text == "none" or parse_size(in_units(size)) == size


@pytest.mark.parametrize("text", ["", "large", "-", "2PB", "GB"])
def test_a_size_that_is_none_is_refused(text):
    with pytest.raises(recloak.InputError, match="size_limit must be"):
        parse_size(text)


@pytest.mark.parametrize("layout", [None, "grouped"])
def test_on_spark_factors_are_a_way_out_that_must_be_asked_for(layout):
    way_out = r"take layout='factors' \(11\.1 MB; the driver makes it, in the memory of a local run\)"
    with pytest.raises(recloak.InputError, match=way_out):
        announce(BOOKS, PublishOptions(k=5), WriteOptions(layout=layout), spark=True)
    assert announce(BOOKS, PublishOptions(k=5), WriteOptions(layout="factors"), spark=True).layout == "factors"
    with pytest.raises(recloak.InputError, match="above the limit of 2 GB: take layout='grouped'"):
        announce(NETFLIX, PublishOptions(k=5), WriteOptions(layout="long"), spark=True)
