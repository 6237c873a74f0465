"""Tables in pages of our own: any reader gives back what was put in, and the bytes are one and the same."""

from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._ratings.ids import IdMap
from recloak._releases.packed_table import packed_file
from recloak._releases.page_encodings import bits_for, differences, packed_codes, runs_of, varint
from recloak._releases.table_writing import ItemColumn, Labels, Names, Numbers, Reals
from recloak._releases.verifier.page_values import read_codes, read_differences, read_runs
from recloak._releases.verifier.parquet_structure import WrongTableError


@settings(max_examples=40)
@given(n=st.integers(0, 40), n_codes=st.integers(1, 70_000), seed=st.integers(0, 9))
def test_codes_are_packed_lowest_bit_first(n, n_codes, seed):
    codes = np.random.default_rng(seed).integers(n_codes, size=n)
    width, n_eights = bits_for(n_codes), -(-n // 8)
    encoded = packed_codes(codes, n_codes)
    head = bytes([width]) + varint(n_eights << 1 | 1)
    number = sum(int(code) << width * place for place, code in enumerate(codes))
    assert encoded == head + number.to_bytes(n_eights * width, "little")
    assert (read_codes(encoded, n, n_codes) == codes).all()


def test_runs_are_counts_and_numbers():
    assert runs_of(np.full(3, 100)) == bytes([2]) + b"".join(bytes([0xC8, 0x01, number]) for number in range(3))


@settings(max_examples=40)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=300))
def test_runs_are_read_as_they_were_written(counts):
    assert read_runs(runs_of(np.array(counts)), len(counts)).tolist() == counts


def naive_differences(values, bits):
    """Write differences as the format describes them, with whole numbers of any size."""
    half, whole = 1 << (bits - 1), 1 << bits
    steps = [(int(b) - int(a) + half) % whole - half for a, b in pairwise(values)]
    first = int(values[0])
    out = varint(128) + varint(4) + varint(len(values)) + varint(2 * first if first >= 0 else -2 * first - 1)
    for start in range(0, len(steps), 128):
        block = steps[start : start + 128]
        least = min(block)
        quarters = [[step - least for step in block[q : q + 32]] for q in (0, 32, 64, 96)]
        widths = [max((step.bit_length() for step in part), default=0) for part in quarters]
        out += varint(2 * least if least >= 0 else -2 * least - 1) + bytes(widths)
        for part, width in zip(quarters, widths, strict=True):
            number = sum(step << width * place for place, step in enumerate(part))
            out += number.to_bytes(4 * width, "little") if part else b""
    return out


@st.composite
def numbers(draw):
    dtype = draw(st.sampled_from([np.int32, np.int64]))
    low, high = draw(st.sampled_from([(0, 3), (-50, 1000), (np.iinfo(dtype).min, np.iinfo(dtype).max)]))
    values = draw(st.lists(st.integers(int(low), int(high)), min_size=1, max_size=300))
    return np.array(sorted(values) if draw(st.booleans()) else values, dtype)


@settings(max_examples=60)
@given(numbers())
def test_differences_are_those_of_the_format_and_are_read_as_they_were_written(values):
    bits = 8 * values.itemsize
    encoded = differences(values)
    assert encoded == naive_differences(values, bits)
    assert read_differences(encoded, len(values), bits).tolist() == values.tolist()


@settings(max_examples=60)
@given(numbers(), st.data())
def test_no_other_bytes_are_read_as_differences(values, data):
    bits, encoded = 8 * values.itemsize, bytearray(differences(values))
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] ^= data.draw(st.integers(1, 255))
    try:
        read = read_differences(bytes(encoded), len(values), bits)
    except WrongTableError:
        return
    assert differences(read.astype(values.dtype)) == encoded  # other numbers in their own one form


@pytest.mark.parametrize("ids", [[3, 5, 900], [1, 2**40, 2**41], [-(2**63), 2**63 - 1, 2**63 - 1], ["a", "bb", "ö"]])
def test_every_reader_gives_the_table_back(tmp_path, ids):
    ids = sorted(set(ids))
    n = len(ids)
    values, codes = np.array([1, 2.5, 4], np.float32), np.array([[0, 1, 2], [2, 2, 0], [1, 1, 1]], np.uint8)[:, :n]
    items, reals = ItemColumn(IdMap.of(ids)), np.linspace(-1, 1, 3 * n).astype(np.float32)
    with packed_file(tmp_path / "profiles.parquet") as sink:
        for start in (0, 2):
            part = codes[start : start + 2]
            columns = {
                "group": Names(np.arange(start + 1, start + 1 + len(part), dtype=np.int32), np.full(len(part), n)),
                "item": items.repeated(*part.shape),
                "rating": Labels(values, part.reshape(-1)),
                "number": Numbers(part.reshape(-1).astype(np.int64)),
                "real": Reals(reals[start * n : start * n + part.size]),
            }
            sink.write({name: column.chunk() for name, column in columns.items()})
    wanted = {
        "group": np.repeat([1, 2, 3], n).tolist(),
        "item": ids * 3,
        "rating": values[codes].reshape(-1).tolist(),
        "number": codes.reshape(-1).tolist(),
        "real": reals.tolist(),
    }
    assert pl.read_parquet(tmp_path / "profiles.parquet").to_dict(as_series=False) == wanted
    file = pq.ParquetFile(tmp_path / "profiles.parquet")
    assert file.read().to_pydict() == wanted
    assert file.metadata.num_row_groups == 2
    assert not any(field.nullable for field in file.schema_arrow)
