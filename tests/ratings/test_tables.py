"""Ratings from tables in memory hold the same rules, and never change what the caller gave."""

import datetime
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import InputError, SourceError
from recloak._ratings.model import Ratings, Scale

ROWS = {"user": ["b", "a", "b"], "item_id": [7, 7, 9], "rating": [0.0, 4.5, 3.0], "timestamp": [10, 20, 30]}
EXPECTED = [("a", 7, 4.5, 20), ("b", 7, 0.0, 10), ("b", 9, 3.0, 30)]


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame(ROWS),
        pl.LazyFrame(ROWS),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).convert_dtypes(),
        pd.DataFrame({**ROWS, "user": pd.Categorical(ROWS["user"])}),
        pd.DataFrame({**ROWS, "item_id": [7.0, 7.0, 9.0]}),
        pd.DataFrame(ROWS, index=[5, 5, 5]),
        pa.table(ROWS),
        pl.DataFrame({**ROWS, "timestamp": [datetime.datetime(1970, 1, 1, 0, 0, s) for s in (10, 20, 30)]}),
        pl.DataFrame({**ROWS, "timestamp": [f"1970-01-01T00:00:{s}Z" for s in (10, 20, 30)]}),
        pl.DataFrame({**ROWS, "timestamp": [10.9, 20.1, 30.0]}),
    ],
    ids=str,
)
def test_every_kind_of_table_gives_the_same_ratings_and_stays_as_it_was(table):
    before = table.collect() if isinstance(table, pl.LazyFrame) else table
    before = before.copy() if isinstance(before, pd.DataFrame) else before
    ratings = Ratings.from_table(table)
    assert ratings.to_polars().rows() == EXPECTED
    after = table.collect() if isinstance(table, pl.LazyFrame) else table
    assert before.equals(after)


def test_stored_zeros_are_ratings():
    ratings = Ratings.from_table(pl.DataFrame(ROWS))
    assert ratings.n_ratings == ratings.matrix.nnz == 3
    assert ratings.scale == Scale(0, 4.5, 0.5)


ROW = st.tuples(st.integers(-3, 3), st.sampled_from("xyz"), st.sampled_from([1.0, 2.0, 5.0]), st.integers(0, 3))


@given(rows=st.lists(ROW, min_size=1, max_size=30), order=st.randoms())
def test_the_order_of_rows_changes_nothing_where_times_differ(rows, order):
    latest = {}
    for user, item, value, time in sorted(rows, key=lambda row: row[3]):
        latest[user, item, time] = value
    distinct = [(user, item, value, time) for (user, item, time), value in latest.items()]
    mixed = order.sample(distinct, len(distinct))
    assert make(distinct).to_polars().equals(make(mixed).to_polars())
    kept = {(user, item): value for user, item, value, _ in sorted(distinct, key=lambda row: row[3])}
    made = {(user, item): value for user, item, value, _ in make(mixed).to_polars().rows()}
    assert made == kept


def make(rows):
    return Ratings.from_table(pl.DataFrame(rows, ["user", "item", "rating", "time"], orient="row"))


def test_arrays_of_any_kind_are_taken_and_left_alone():
    users, items = np.array([2, 1], np.uint8), np.array(["x", "y"])
    values, times = np.array([1, 2], np.int16), np.array([5, 6])
    ratings = Ratings.from_arrays(users, items, values, times)
    assert ratings.to_polars().rows() == [(1, "y", 2.0, 6), (2, "x", 1.0, 5)]
    values[0] = 9
    times[0] = 9
    users[0] = 9
    assert ratings.to_polars().rows() == [(1, "y", 2.0, 6), (2, "x", 1.0, 5)]
    assert values.flags.writeable


def test_a_repeated_pair_without_times_keeps_the_last():
    ratings = Ratings.from_arrays([1, 1, 1], [2, 2, 2], [3, 5, 4])
    assert ratings.values.tolist() == [4]
    assert (ratings.intake.n_rows, ratings.intake.n_repeated) == (3, 2)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([1], [1, 2], [1]), "the columns must be equally long, got 1 of user, 2 of item, 1 of rating"),
        (([], [], []), "there are no ratings"),
        (([1, None], [1, 2], [1, 2]), "the user's id must not be empty (row 2)"),
        ((["a"], [""], [1]), "the item's id must not be empty (row 1)"),
        (([1], [1], [np.nan]), "a rating must be a finite number (row 1), got nan"),
        (([1], [1], [1e39]), "a rating must be a finite number (row 1), got inf"),
        (([1], [1], ["good"]), "ratings must be numbers, but their type is String"),
        (([1], [1], [True]), "ratings must be numbers, but their type is Boolean"),
        (([1.5], [1], [1]), "the user's ids must be whole numbers or texts, but their type is Float64"),
        (([1], [1], [1], [None]), "a time must be readable and not empty (row 1)"),
        (([1, "a"], [1, 2], [1, 2]), "the user column mixes kinds of values"),
        ((np.zeros((2, 2)), [1], [1]), "the user must be a column of one dimension, got 2"),
    ],
)
def test_columns_that_cannot_be_right_are_refused_in_one_sentence(columns, message):
    with pytest.raises(InputError) as caught:
        Ratings.from_arrays(*columns)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_rating_outside_the_scale_is_refused():
    with pytest.raises(SourceError, match=r"a rating must lie between 1 and 5 \(row 2\), got 6.0"):
        Ratings.from_arrays([1, 2], [1, 1], [5, 6], scale=Scale(1, 5))
    assert Ratings.from_arrays([1], [1], [4.9], scale=Scale(0.1, 4.9)).scale == Scale(0.1, 4.9)


def test_a_row_is_numbered_over_all_chunks(monkeypatch):
    monkeypatch.setattr(sys.modules["recloak._ratings.table_input"], "_CHUNK_ROWS", 2)
    with pytest.raises(SourceError, match=r"\(row 5\)"):
        Ratings.from_arrays([1, 2, 3, 4, 5], [1] * 5, [1, 1, 1, 1, np.inf])


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="a table must be of polars, pandas or Arrow, got dict"):
        Ratings.from_table({"user": [1]})


def test_milliseconds_and_nanoseconds_become_seconds():
    times = [978300760, 978300760_000, 978300760_000_000, 978300760_000_000_000]
    ratings = Ratings.from_arrays([1, 2, 3, 4], [1] * 4, [1] * 4, times)
    assert ratings.times is not None
    assert set(ratings.times.tolist()) == {978300760}


@pytest.mark.parametrize("kind", [pl.UInt64, pl.Int128, pl.UInt128])
def test_whole_numbers_wider_than_64_bits_are_ids_where_they_fit_and_texts_where_not(kind):
    rows = {"item": [1, 2], "rating": [3.0, 4.0]}
    small = Ratings.from_table(pl.DataFrame({"user": pl.Series([5, 7], dtype=kind), **rows}))
    assert small.user_ids.ids.to_list() == [5, 7]
    large = Ratings.from_table(pl.DataFrame({"user": pl.Series([2**63, 7], dtype=kind), **rows}))
    assert set(large.user_ids.ids.to_list()) == {str(2**63), "7"}


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2, 3, 4]], columns=["user", "item", "rating", "rating"]),
        pd.DataFrame({"user": [1, "a"], "item": [1, 2], "rating": [1, 2]}),
        pa.Table.from_arrays([pa.array([1])] * 4, names=["user", "item", "rating", "rating"]),
    ],
    ids=["names twice in pandas", "numbers and texts", "names twice in Arrow"],
)
def test_a_table_that_polars_cannot_take_is_one_sentence(table):
    with pytest.raises(InputError, match="the table cannot be taken: "):
        Ratings.from_table(table)
