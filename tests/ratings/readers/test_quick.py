"""The quick way through Parquet gives what the general way gives, and leaves to it whatever is not plain."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._ratings import readers
from recloak._ratings.assemble import fresh
from recloak._ratings.opened_files import SourceFile
from recloak._ratings.options import ReadOptions
from recloak._ratings.packed_rows import ColumnLimits, OutsideError, PackedRows, WordLayout, layout_of
from recloak._ratings.readers import read
from recloak._ratings.readers.parquet import read_quickly

ONE_ROW: dict[str, list[Any]] = {"user": [1], "item": [2], "rating": [3.0], "time": [1_200_000_000]}


def quick(*files: Path, scale: str | None = None):
    return read_quickly([SourceFile(file) for file in files], ReadOptions(scale=scale), lambda _: None)


def general(files):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "_read_quickly", lambda *_: None)
        return read(files)


def plain_layout(*, n_rows: int) -> WordLayout:
    layout = layout_of(ColumnLimits((0, 9), (0, 9), (0, 9), (0, 9), n_rows))
    assert layout is not None
    return layout


def assert_same(one, other):
    for name in ("indptr", "items", "values"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    assert (one.times is None) == (other.times is None)
    assert one.times is None or one.times.tolist() == other.times.tolist()
    assert one.user_ids.ids.equals(other.user_ids.ids)
    assert one.item_ids.ids.equals(other.item_ids.ids)
    assert (one.scale, one.intake) == (other.scale, other.intake)


TIMES = {
    "seconds": pl.col("time") + 1_200_000_000,
    "before 1970": pl.col("time") - 100_000,
    "milliseconds": pl.col("time") * 10**3 + 1_200_000_000_700,
    "microseconds": pl.col("time") * 10**6 + 1_200_000_000_000_700,
    "nanoseconds": pl.col("time") * 10**9 + 1_200_000_000_000_000_700,
    "days": pl.from_epoch(pl.col("time") - 20, time_unit="d"),
    "moments": pl.from_epoch(pl.col("time") * 700 + 1_200_000_000_000, time_unit="ms"),
    "moments of nanoseconds": pl.from_epoch(pl.col("time") * 700_000_000 + 10**18, time_unit="ns"),
    "moments of a zone": pl.from_epoch(pl.col("time") * 700_000 + 10**15, time_unit="us").dt.replace_time_zone(
        "Asia/Tokyo"
    ),
}


@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 400),
    spread=st.sampled_from([3, 50, 70_000]),
    kind=st.sampled_from([pl.Int8, pl.Int64, pl.Float32, pl.Float64]),
    time=st.sampled_from([None, *TIMES]),
    parts=st.integers(1, 3),
)
def test_both_ways_give_the_same_ratings(tmp_path_factory, seed, n_rows, spread, kind, time, parts):
    rng = np.random.default_rng(seed)
    rows = pl.DataFrame(
        {
            "user": rng.integers(-5, spread, n_rows),
            "item": rng.integers(100, 100 + spread, n_rows),
            "rating": pl.Series(rng.integers(1, 11, n_rows) / (2 if kind.is_float() else 1)).cast(kind),
            "time": rng.integers(-10, 10, n_rows),
        }
    )
    rows = rows.drop("time") if time is None else rows.with_columns(time=TIMES[time])
    folder = tmp_path_factory.mktemp("parts")
    for part, piece in enumerate(rows.iter_slices(-(-n_rows // parts))):
        piece.write_parquet(folder / f"{part}.parquet", row_group_size=64)
    files = sorted(folder.iterdir())
    assert_same(quick(*files), general(files))


def test_many_buckets_and_batches_give_the_same_ratings(tmp_path):
    rng = np.random.default_rng(7)
    n = 300_000  # several buckets of 65,536 rows, some pairs repeated
    columns = {"user": rng.integers(0, 2_000, n), "item": rng.integers(0, 300, n), "rating": rng.integers(1, 6, n)}
    pl.DataFrame(columns | {"time": 10**9 + rng.integers(0, 9, n)}).write_parquet(
        tmp_path / "r.parquet", row_group_size=7_000
    )
    assert_same(quick(tmp_path / "r.parquet"), general(tmp_path / "r.parquet"))


@pytest.mark.parametrize("way", [quick, general])
def test_memory_in_small_pages_holds_the_same_ratings(tmp_path, monkeypatch, way):
    rng = np.random.default_rng(3)
    columns = {
        "user": rng.integers(0, 90, 9_000),
        "item": rng.integers(0, 300, 9_000),
        "rating": rng.integers(1, 6, 9_000),
    }
    pl.DataFrame(columns | {"time": 10**9 + rng.integers(0, 9, 9_000)}).write_parquet(tmp_path / "r.parquet")
    plain = way(tmp_path / "r.parquet")
    monkeypatch.setitem(fresh.__globals__, "_LARGE", 1)
    paged = way(tmp_path / "r.parquet")
    assert plain.intake.n_repeated > 0
    assert not paged.items.flags.owndata
    assert_same(plain, paged)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_number_of_threads_changes_nothing(tmp_path, monkeypatch, threads):
    rng = np.random.default_rng(1)
    columns = {"user": rng.integers(0, 90, 200_000), "item": rng.integers(0, 99, 200_000)}
    pl.DataFrame(columns).with_columns(rating=pl.col("item") % 5).write_parquet(
        tmp_path / "r.parquet", row_group_size=1_000
    )
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    assert_same(quick(tmp_path / "r.parquet"), general(tmp_path / "r.parquet"))


@pytest.mark.parametrize(
    "changed",
    [
        {"user": ["b", "a"]},
        {"user": [1.0, 2.0]},
        {"user": [1, None]},
        {"item": [2, 2**40]},
        {"rating": [3.0, 3.3]},
        {"rating": [3.0, np.nan]},
        {"rating": [3.0, 1e9]},
        {"time": [4, 1_600_000_000_000]},
        {"time": [-1_600_000_000_000, -1_600_000_000_000]},
        {"time": [4.0, 5.0]},
        {"time": ["2005-01-01", "2005-01-02"]},
        {"time": [4, None]},
        {"time": [0, 86_399]},
    ],
    ids=str,
)
def test_what_is_not_plain_is_left_to_the_general_way(tmp_path, changed):
    plain = {name: column * 2 for name, column in ONE_ROW.items()}
    pl.DataFrame(plain | changed).write_parquet(tmp_path / "r.parquet")
    assert quick(tmp_path / "r.parquet") is None


def test_bytes_of_parquet_are_not_taken_for_lines(tmp_path):
    """By chance a small file holds carriage returns and no line feed."""
    (tmp_path / "r.parquet").write_bytes(b"PAR1" + b"\r" * 9)
    assert SourceFile(tmp_path / "r.parquet").sample().head.startswith(b"PAR1")


def test_a_file_that_states_nothing_is_left_to_the_general_way(tmp_path):
    pl.DataFrame(ONE_ROW).write_parquet(tmp_path / "r.parquet", statistics=False)
    assert quick(tmp_path / "r.parquet") is None
    assert read(tmp_path / "r.parquet").n_ratings == 1


def test_users_and_items_spread_too_far_are_left_to_the_general_way():
    assert layout_of(ColumnLimits((0, 2**31 - 1), (0, 2**20), (1, 5), (0, 0), 1000)) is None
    assert layout_of(ColumnLimits((0, 100), (0, 100), (1, 5), (0, 2**60), 1000)) is None


def test_a_rating_outside_the_scale_given_is_left_to_the_general_way(tmp_path):
    pl.DataFrame(ONE_ROW).write_parquet(tmp_path / "r.parquet")
    assert quick(tmp_path / "r.parquet", scale="1,2") is None
    assert quick(tmp_path / "r.parquet", scale="1,5") is not None


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("wrong", [-1, 100])
def test_rows_outside_the_limits_stated_are_never_written(column, wrong):
    rows = PackedRows(plain_layout(n_rows=2), 2, timed=True)
    columns: list[Any] = [np.array([1, 1], kind) for kind in (np.int32, np.int32, np.float32, np.int64)]
    columns[column][1] = wrong
    rows.add(*columns)
    with pytest.raises(OutsideError):
        rows.finish()
    rows.close()


@pytest.mark.parametrize("n_given", [1, 3])
def test_another_number_of_rows_than_stated_is_refused(n_given):
    rows = PackedRows(plain_layout(n_rows=2), 2, timed=False)
    ones = np.ones(n_given, np.int32)
    with pytest.raises(OutsideError):
        rows.add(ones, ones, ones.astype(np.float32), None)
        rows.finish()
    rows.close()
