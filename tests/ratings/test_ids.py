"""Ids come back exactly as they were; inside numbers follow their order."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import InputError
from recloak._ratings.ids import IdMap

IDS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30), st.lists(st.text(), min_size=1, max_size=30)
)


@given(ids=IDS)
def test_encoding_and_decoding_give_the_ids_back(ids):
    known = IdMap.of(ids)
    assert known.decode(known.encode(ids)).to_list() == ids
    assert known.ids.to_list() == sorted(set(ids), key=lambda one: one.encode() if isinstance(one, str) else one)


def test_leading_zeros_survive():
    known = IdMap.of(["0054890", "54890"])
    assert known.ids.to_list() == ["0054890", "54890"]
    assert known.number("54890") == 1


def test_an_unknown_id_is_minus_one_and_asking_for_it_alone_is_refused():
    known = IdMap.of([3, 5])
    assert known.encode([5, 4, 3, 99]).tolist() == [1, -1, 0, -1]
    assert known.encode(["3"]).tolist() == [-1]
    assert IdMap.of(["a"]).encode(["b", "a"]).tolist() == [-1, 0]
    with pytest.raises(InputError, match="there is no id 4 in the ratings"):
        known.number(4)


def test_an_empty_map_knows_nothing():
    assert IdMap.of([]).encode([1]).tolist() == [-1]


def test_categories_are_texts_and_too_large_numbers_too():
    assert IdMap.of(pl.Series(["b", "a"], dtype=pl.Categorical)).ids.to_list() == ["a", "b"]
    assert IdMap.of(pl.Series([2**64 - 1], dtype=pl.UInt64)).ids.to_list() == [str(2**64 - 1)]
    assert IdMap.of(np.array([1, 2], np.uint64)).ids.dtype == pl.Int64


def test_ids_must_be_whole_numbers_or_texts():
    with pytest.raises(InputError, match="ids must be whole numbers or texts, got Float64"):
        IdMap.of(pl.Series([0.5]))
    with pytest.raises(InputError, match="an id must not be empty"):
        IdMap.of(pl.Series([1, None]))


def test_maps_are_equal_when_their_ids_are():
    assert IdMap.of([2, 1]) == IdMap.of([1, 2, 2])
    assert IdMap.of([1]) != IdMap.of(["1"])
    assert IdMap.of([1, 2]).take(np.array([False, True])) == IdMap.of([2])
