"""Numbering ids chunk by chunk gives what sorting all of them would."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._ratings import numbering
from recloak._ratings.hashing import NumberTable, TextTable
from recloak._ratings.numbering import Numbering

SMALL = st.integers(0, 50)
ANY_NUMBER = st.one_of(SMALL, st.integers(-(2**63), 2**63 - 1), st.just(2**31), st.just(2**31 - 1))
TEXT = st.text(max_size=20).filter(bool)
CHUNKS = st.lists(
    st.one_of(
        st.lists(SMALL, min_size=1, max_size=6),
        st.lists(ANY_NUMBER, min_size=1, max_size=6),
        st.lists(TEXT, min_size=1),
    ),
    min_size=1,
    max_size=6,
)


@given(chunks=CHUNKS)
def test_every_id_comes_back_whatever_came_before_and_after_it(chunks):
    numbering = Numbering()
    for chunk in chunks:
        if isinstance(chunk[0], int):
            numbering.add_numbers(np.array(chunk, np.int64))
        else:
            numbering.add_series(pl.Series(chunk))
    ids, number_of = numbering.finish()
    given_ids = [one for chunk in chunks for one in chunk]
    has_text = any(isinstance(one, str) for one in given_ids)
    expected = [str(one) for one in given_ids] if has_text else given_ids
    assert ids.decode(number_of[np.concatenate(numbering.codes.parts())]).to_list() == expected
    assert ids.ids.to_list() == sorted(set(expected), key=lambda one: one.encode() if isinstance(one, str) else one)


def test_sparse_small_numbers_do_not_make_a_table_as_long_as_the_largest():
    numbering = Numbering()
    numbering.add_numbers(np.array([2**31 - 1, 0, 5]))
    ids, number_of = numbering.finish()
    assert ids.ids.to_list() == [0, 5, 2**31 - 1]
    assert number_of[numbering.codes.parts()[0]].tolist() == [2, 0, 1]
    assert len(number_of) == 3


@given(ids=st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_numbers_are_coded_in_order_of_arrival(ids):
    table = NumberTable()
    codes = table.add(np.array(ids, np.int64))
    order = {one: code for code, one in enumerate(dict.fromkeys(ids))}
    assert codes.tolist() == [order[one] for one in ids]
    assert table.ids().tolist() == list(order)


@given(texts=st.lists(st.text("ab\0é", max_size=20), max_size=40))
def test_texts_are_coded_in_order_of_arrival(texts):
    table = TextTable()
    codes = [code for half in (texts[::2], texts[1::2]) for code in table.add_series(pl.Series(half, dtype=pl.String))]
    arrived = texts[::2] + texts[1::2]
    order = {one: code for code, one in enumerate(dict.fromkeys(arrived))}
    assert codes == [order[one] for one in arrived]
    assert table.ids().to_list() == list(order)


def test_a_slice_of_a_column_is_coded_alone():
    column = pl.concat([pl.Series(["a", "b"]), pl.Series(["c" * 20, "a"])], rechunk=False)
    assert TextTable().add_series(column[1:]).tolist() == [0, 1, 2]


def test_tables_grow():
    numbers = np.arange(20_000, dtype=np.int64) * 7919
    assert NumberTable().add(numbers).tolist() == list(range(20_000))
    texts = pl.Series([f"item {number}" for number in numbers])
    table = TextTable()
    assert table.add_series(texts).tolist() == list(range(20_000))
    assert table.add_series(texts[::-1]).tolist() == list(range(20_000))[::-1]
    assert table.ids().equals(texts)


def test_a_text_longer_than_the_table_has_room_for():
    table = TextTable()
    long = "x" * 200_000
    assert table.add_series(pl.Series([long, "y", long])).tolist() == [0, 1, 0]
    assert table.ids().to_list() == [long, "y"]


@given(lengths=st.lists(st.integers(0, 9), max_size=9))
def test_a_column_holds_what_was_added_in_order(lengths):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "SEGMENT_ROWS", 4)
        column = numbering.SegmentedColumn(np.int32)
        values = np.arange(sum(lengths))
        for part in np.split(values, np.cumsum(lengths)):
            column.add(part)
        assert len(column) == len(values)
        assert [one for part in column.taken() for one in part] == values.tolist()
        assert len(column) == 0
