"""Lines cut into splits and read by the tasks' own code give what the local engine gives; no cluster is needed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core.errors import SourceError
from recloak._ratings.opened_files import SourceFile
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import first_of, read

pytest.importorskip("pyspark")
from recloak._spark import source_tasks

FIELDS = st.sampled_from(["1", "22", "07", "a b", '"x,y"', '"two ""quotes"""', '"over\nlines"', "", '"open'])
RATINGS = st.sampled_from(["1", "2.5", "-3", "x", "", "nan"])
ROWS = st.lists(st.tuples(FIELDS, FIELDS, RATINGS), min_size=1, max_size=9)


def split_batches(path: Path, n_lines: int) -> list[pa.RecordBatch]:
    """Cut a file into splits of some lines, two splits to a batch, as Spark hands them to a task."""
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    starts = [n // n_lines * n_lines for n in range(len(lines))]  # any numbers that ascend
    columns = {"file": ["file"] * len(lines), "start": pa.array(starts, pa.int64()), "is_long": [True] * len(lines)}
    table = pa.table(columns | {"line": lines})
    return table.to_batches(max_chunksize=2 * n_lines)


def by_lines(path: Path, n_lines: int, **reading: Any) -> tuple[list[dict[str, Any]], pl.DataFrame]:
    """Look over and read the splits of a file."""
    options = ReadOptions(**reading)
    task = source_tasks._ByLines(options, first_of(SourceFile(path).sample(), options), {"file": 0}, (str(path),))
    reports = [source_tasks._report(piece) for piece in task.pieces(iter(split_batches(path, n_lines)))]
    give = source_tasks._tables(task, source_tasks._kinds(reports))
    tables = [pl.DataFrame(pl.from_arrow(batch)) for batch in give(iter(split_batches(path, n_lines)))]
    return reports, pl.concat(tables) if tables else pl.DataFrame()


def kept(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Keep the last of each pair, sorted."""
    return sorted({row[:2]: row for row in rows}.values(), key=str)


@settings(max_examples=80)
@given(rows=ROWS, n_lines=st.integers(1, 6))
def test_splits_of_csv_give_the_local_rows_and_problems_or_are_left_to_whole_files(tmp_path_factory, rows, n_lines):
    path = tmp_path_factory.mktemp("csv") / "r.csv"
    path.write_text("user,item,rating\n0,0,1\n" + "".join(f"{','.join(row)}\n" for row in rows))
    reports, found = by_lines(path, n_lines)
    if any(report["is_unlike"] for report in reports):
        assert '"' in path.read_text()
        return
    here = read(path, options=ReadOptions(skip_bad=True))
    assert sum(report["n_bad"] for report in reports) == here.intake.n_skipped
    assert kept(found.select("user", "item", "rating").rows()) == kept(here.to_polars().rows())
    assert found["place"].is_sorted()
    judge = partial(source_tasks._judge, reports, [str(path)], skip_bad=False)
    expected, told = told_by(lambda: read(path)), told_by(judge)
    assert (told is None) == (expected is None)
    if told is not None and expected is not None:
        assert told.rule.startswith(expected.rule)
        assert (told.file, told.line, told.value) == (expected.file, expected.line, expected.value)


def told_by(work: Callable[[], object]) -> SourceError | None:
    try:
        work()
    except SourceError as error:
        return error
    return None


@pytest.mark.parametrize("n_lines", [1, 2, 3, 50])
@pytest.mark.parametrize("text", ["% note\n1 2 3\n1  3 4\n4 5 x\n", "1::2::3\n1::3::4\n\n4::5::x\n"])
def test_splits_between_blanks_and_colons_count_lines_as_the_local_engine(tmp_path, text, n_lines):
    path = tmp_path / "r.txt"
    path.write_text(text)
    with pytest.raises(SourceError) as expected:
        read(path)
    reports, found = by_lines(path, n_lines)
    assert found.height == 2
    with pytest.raises(SourceError) as caught:
        source_tasks._judge(reports, [str(path)], skip_bad=False)
    assert str(caught.value) == str(expected.value)


def test_a_file_unlike_the_first_is_left_to_whole_files(tmp_path):
    (tmp_path / "a.csv").write_text("user,item,rating\n1,2,3\n")
    (tmp_path / "b.csv").write_text("item,user,rating\n1,2,3\n")
    options = ReadOptions()
    first = first_of(SourceFile(tmp_path / "a.csv").sample(), options)
    task = source_tasks._ByLines(options, first, {"file": 1}, ("a", "b"))
    reports = [source_tasks._report(piece) for piece in task.pieces(iter(split_batches(tmp_path / "b.csv", 9)))]
    assert [report["is_unlike"] for report in reports] == [True]


def test_splits_with_times_keep_them_and_an_end_without_rows_adds_none(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("user,item,rating,time\n1,2,3,4\n1,3,4,2005-01-01\n\n\n")
    for n_lines in (1, 2, 9):
        _, found = by_lines(path, n_lines)
        assert sorted(found.drop("place").rows()) == read(path).to_polars().rows()
