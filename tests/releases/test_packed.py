"""Full tables in pages of our own: any reader gives back what was put in, and the bytes are one and the same."""

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._ratings.ids import IdMap
from recloak._releases.packed_table import packed_file
from recloak._releases.parquet_pages import bits_for, packed_codes, runs_of, varint
from recloak._releases.table_writing import ItemColumn


@settings(max_examples=40)
@given(n=st.integers(0, 40), n_codes=st.integers(1, 256), seed=st.integers(0, 9))
def test_codes_are_packed_lowest_bit_first(n, n_codes, seed):
    codes = np.random.default_rng(seed).integers(n_codes, size=n).astype(np.uint8)
    width, n_eights = bits_for(n_codes), -(-n // 8)
    encoded = packed_codes(codes, n_codes)
    head = bytes([width]) + varint(n_eights << 1 | 1)
    number = sum(int(code) << width * place for place, code in enumerate(codes))
    assert encoded == head + number.to_bytes(n_eights * width, "little")


def test_runs_are_counts_and_numbers():
    assert runs_of(3, 100) == bytes([2]) + b"".join(bytes([0xC8, 0x01, number]) for number in range(3))


@pytest.mark.parametrize("ids", [[3, 5, 900], [1, 2**40, 2**41], ["a", "bb", "ö"]])
def test_every_reader_gives_the_table_back(tmp_path, ids):
    values, codes = np.array([1, 2.5, 4], np.float32), np.array([[0, 1, 2], [2, 2, 0], [1, 1, 1]], np.uint8)
    items = ItemColumn(IdMap.of(ids))
    with packed_file(tmp_path / "profiles.parquet", "group", items, values) as sink:
        sink.write(np.array([1, 2], np.int32), codes[:2])
        sink.write(np.array([3], np.int32), codes[2:])
    wanted = {"group": np.repeat([1, 2, 3], 3).tolist(), "item": ids * 3, "rating": values[codes].reshape(-1).tolist()}
    assert pl.read_parquet(tmp_path / "profiles.parquet").to_dict(as_series=False) == wanted
    file = pq.ParquetFile(tmp_path / "profiles.parquet")
    assert file.read().to_pydict() == wanted
    assert file.metadata.num_row_groups == 2
    assert not any(field.nullable for field in file.schema_arrow)
