"""Spark reads every layout as the local engine does: the same rows, the same problems, the same lines."""

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

from recloak._core.errors import SourceError
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import read
from tests.plugins import install, zipped
from tests.ratings.readers.test_layouts import LAYOUTS, ROWS

pytestmark = pytest.mark.spark
SMALL_SPLITS = "spark.sql.files.maxPartitionBytes"


def opened(spark: Any, source: Any, **reading: Any) -> Any:
    from recloak._spark.source import open_source

    sources = [str(one) for one in source] if isinstance(source, list) else str(source)
    return open_source(spark, sources, ReadOptions(**reading))


def rows_of(source: Any) -> list[tuple[Any, ...]]:
    """Give the rows of a Spark source in the order of their places."""
    kept = [name for name in ("user", "item", "rating", "time") if name in source.frame.columns]
    return [tuple(row) for row in source.frame.orderBy("place").select(*kept).collect()]


def error_of(work: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        work()
    return caught.value


@pytest.fixture
def spark(spark_cluster):
    """Give a session that cuts text into splits of 64 bytes."""
    before = spark_cluster.conf.get(SMALL_SPLITS)
    spark_cluster.conf.set(SMALL_SPLITS, "64")
    yield spark_cluster
    spark_cluster.conf.set(SMALL_SPLITS, before)


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_the_local_rows(spark, tmp_path, name):
    path = tmp_path / name
    path.write_text(LAYOUTS[name][1])
    found = opened(spark, path)
    assert sorted(rows_of(found)) == ROWS
    assert found.notes == read(path).intake.notes


@pytest.mark.parametrize("name", ["ratings.csv", "blanks.txt", "combined_data_1.txt"])
def test_at_an_address_layouts_give_the_local_rows(spark_cluster, tmp_path, name):
    folder = tmp_path / "a b+c%[1]"
    folder.mkdir()
    (folder / name).write_text(LAYOUTS[name][1])
    assert sorted(rows_of(opened(spark_cluster, f"file://{tmp_path}/a b+c%*"))) == ROWS


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_packed_files_are_read_whatever_their_name(spark_cluster, tmp_path, pack):
    path = tmp_path / "ratings.dat"
    path.write_bytes(pack(LAYOUTS["ratings.dat"][1].encode()))
    assert sorted(rows_of(opened(spark_cluster, path))) == ROWS


BAD = {
    "too few fields": "user,item,rating\n1,2,3\n\n1,2\n4,5,6\n",
    "a text for a rating": "user,item,rating\n1,2,3\n" + "1,3,4\n" * 40 + "1,2,good\n4,5,6\n",
    "between blanks": "1 2 3\n" + "1  3 4\n" * 40 + "4 5 x\n",
    "a quoted field over lines": 'user,item,rating\n"a\nb",2,3\n' + 'c,"two\nlines",3\n' * 20 + "5,6,bad\n",
    "a quote never closed": 'user,item,rating\n1,2,3\n1,"abc,3\n2,x,4\n' + "2,y,4\n" * 30,
    "a time": "user,item,rating,time\n1,2,3,4\n1,2,3,03/04/2005\n",
    "netflix": "10:\n1,5,1970-04-11\n" + "2,4,1970-10-28\n" * 9 + "x,4,1970-10-28\n",
    "netflix without an item": "10:\n1,5,1970-04-11\n:\n2,4,1970-10-28\n",
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_row_has_the_local_rule_line_and_value(spark, tmp_path, what):
    path = tmp_path / "source.txt"
    path.write_text(BAD[what])
    expected = error_of(lambda: read(path))
    found = error_of(lambda: opened(spark, path))
    assert found.rule.partition(" (")[0] == expected.rule.partition(" (")[0]
    assert (found.file, found.line, found.value) == (expected.file, expected.line, expected.value)
    here = read(path, options=ReadOptions(skip_bad=True))
    there = opened(spark, path, skip_bad=True)
    assert (there.n_rows, there.n_skipped) == (here.intake.n_rows, here.intake.n_skipped)
    assert {row[:2] for row in rows_of(there)} == {row[:2] for row in here.to_polars().rows()}


def test_parts_with_and_without_a_header_and_in_another_order_are_one_source(spark, tmp_path):
    (tmp_path / "a.csv").write_text("movie,user,rating,time\n10,1,5,8640000\n")
    (tmp_path / "b.csv").write_text("10,2,4,25920000\n")
    (tmp_path / "c.csv").write_text("user,movie,rating,time\n1,20,3,17280000\n")
    assert sorted(rows_of(opened(spark, tmp_path))) == sorted(read(tmp_path).to_polars().rows()) == ROWS


def test_rows_keep_the_order_in_which_files_were_given(spark_cluster, tmp_path):
    (tmp_path / "a.csv").write_text("user,item,rating\n7,1,1\n")
    (tmp_path / "b.csv").write_text("user,item,rating\n7,1,2\n7,1,3\n")
    for kind in ("csv", "parquet"):
        files = [tmp_path / f"b.{kind}", tmp_path / f"a.{kind}"]
        if kind == "parquet":
            for file in files:
                pl.read_csv(file.with_suffix(".csv")).write_parquet(file)
        assert rows_of(opened(spark_cluster, files)) == [(7, 1, 2.0), (7, 1, 3.0), (7, 1, 1.0)]


def test_ids_are_texts_where_one_is_and_latin_1_is_told(spark, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"user,item,rating\n7,1,1\n07,2,1\n" + "zoë,2,1\n".encode("latin-1"))
    (tmp_path / "b.csv").write_text("user,item,rating\n8,1,1\n")
    found, here = opened(spark, tmp_path), read(tmp_path)
    assert sorted(rows_of(found)) == sorted(here.to_polars().rows())
    assert found.notes == here.intake.notes


def test_an_empty_file_among_others_is_refused_as_by_the_local_engine(spark_cluster, tmp_path):
    (tmp_path / "a.csv").write_text("user,item,rating\n7,1,1\n")
    (tmp_path / "b.csv").write_text("")
    expected, found = error_of(lambda: read(tmp_path)), error_of(lambda: opened(spark_cluster, tmp_path))
    assert str(found) == str(expected)


def test_files_with_and_without_times_are_not_mixed(spark_cluster, tmp_path):
    (tmp_path / "a.csv").write_text("user,item,rating,time\n1,1,3,4\n")
    (tmp_path / "b.csv").write_text("user,item,rating\n2,1,3\n")
    assert str(error_of(lambda: opened(spark_cluster, tmp_path))) == str(error_of(lambda: read(tmp_path)))


def test_a_bad_row_of_parquet_is_named_by_its_number(spark_cluster, tmp_path):
    path: Path = tmp_path / "a b.parquet"
    pl.DataFrame({"user": [1, 2], "item": [1, 2], "rating": [1.0, None]}).write_parquet(path)
    assert str(error_of(lambda: opened(spark_cluster, path))) == str(error_of(lambda: read(path)))


def test_a_reader_of_another_package_reads_on_spark_too(spark_cluster, tmp_path, monkeypatch):
    site = install("recloak_example_reader", tmp_path / "site")
    monkeypatch.syspath_prepend(str(site))
    spark_cluster.sparkContext.addPyFile(str(zipped(site)))
    (tmp_path / "lake").mkdir()
    for number, user in enumerate("ab"):
        text = f'[{{"user": "{user}", "item": 1, "stars": {number + 1}}}]\n'
        (tmp_path / "lake" / f"{number}.json").write_text(text)
    found = opened(spark_cluster, tmp_path / "lake", reader="json_list")
    assert rows_of(found) == [("a", 1, 1.0), ("b", 1, 2.0)]
    (tmp_path / "lake" / "2.json").write_text('[{"user": "c", "item": 1, "stars": null}]\n')
    assert str(error_of(lambda: opened(spark_cluster, tmp_path / "lake"))) == str(
        error_of(lambda: read(tmp_path / "lake"))
    )
