"""Tables of many blocks: written, read and judged as if they were one."""

import shutil
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recloak._ratings.model import Ratings
from recloak._releases.verifier import verify
from tests.releases.helpers import some_ratings, some_release
from tests.releases.tampering import rehash, tables

KINDS = list(product(("pure", "padded"), ("long", "grouped"), ("parquet", "csv")))


def texts(ratings):
    """Give the same ratings of items with names; the names are not in the order of the numbers."""
    return Ratings.from_arrays(ratings.users(), [f"item {9 - item}" for item in ratings.items], ratings.values)


@pytest.fixture(scope="module", params=["numbers", "texts"])
def lawful(tmp_path_factory, request):
    ratings = some_ratings() if request.param == "numbers" else texts(some_ratings())
    return some_release(ratings, mode="pure").write(tmp_path_factory.mktemp("lawful") / "out", layout="long")


def cut(folder, place, size, change=lambda table: table):
    """Copy a long release with row groups of another size and perhaps another table, and make its manifest fit."""
    copy = shutil.copytree(folder, place / "copy")
    table = change(pq.read_table(copy / "ratings.parquet"))
    schema = pa.schema([field.with_nullable(False) for field in table.schema])
    pq.write_table(table.cast(schema), copy / "ratings.parquet", row_group_size=size, store_schema=False)
    rehash(copy, "ratings.parquet")
    return copy


@pytest.mark.parametrize(("mode", "layout", "file_format"), KINDS)
def test_a_release_written_in_many_blocks_is_the_same_release(tmp_path, monkeypatch, mode, layout, file_format):
    release = some_release(texts(some_ratings(30, 6)), mode=mode)
    whole = release.write(tmp_path / "whole", layout=layout, format=file_format)
    verdict = verify(whole)
    for module in ("release", "release_folders", "verifier.canonical_parquet"):
        monkeypatch.setattr(f"recloak._releases.{module}.BLOCK_CELLS", 5)
    monkeypatch.setattr("recloak._releases.verifier.table_blocks._CSV_BLOCK", 100)
    parts = release.write(tmp_path / "parts", layout=layout, format=file_format)
    assert verify(parts) == verdict
    assert all(one.equals(other) for one, other in zip(tables(whole).values(), tables(parts).values(), strict=True))
    if file_format == "parquet":
        counts = release.profiles.counts[release.group_order if layout == "grouped" else slice(None)]
        name = "profiles.parquet" if layout == "grouped" else "ratings.parquet"
        with pq.ParquetFile(parts / name) as file:
            rows = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
        assert len(rows) > 1
        assert max(rows) <= max(5, counts.max())


@pytest.mark.parametrize("size", [1, 5])
def test_a_row_that_lies_in_several_blocks_is_one_row(lawful, tmp_path, size):
    assert verify(cut(lawful, tmp_path, size), content=True) == verify(lawful, content=True)


def test_a_label_that_was_changed_in_the_last_block_is_found(lawful, tmp_path):
    def change(table):
        ratings = table["rating"].to_numpy().copy()
        ratings[-1] = 3.0 if ratings[-1] != 3 else 3.5
        return table.set_column(2, "rating", pa.array(ratings))

    assert verify(cut(lawful, tmp_path, 5, change), content=True).k_found == 1


@pytest.mark.parametrize(
    "order",
    [
        lambda rows: np.concatenate((rows[5:10], rows[:5], rows[10:])),  # a block too early
        lambda rows: np.concatenate((rows[:5], rows[4:5], rows[6:])),  # the last row of a block begins the next one
    ],
)
def test_the_order_of_rows_goes_on_from_block_to_block(lawful, tmp_path, order):
    copy = cut(lawful, tmp_path, 5, lambda table: table.take(pa.array(order(np.arange(len(table))))))
    assert "not in ascending order of user and item" in verify(copy, content=True).problems[0]


def test_users_out_of_order_are_found_within_a_block(lawful, tmp_path):
    def later_first(table):
        users = table["user"].to_numpy()
        return table.take(pa.array(np.concatenate((np.flatnonzero(users != 1), np.flatnonzero(users == 1)))))

    said = verify(cut(lawful, tmp_path, 10**6, later_first), content=True)
    assert "not in ascending order of user and item" in said.problems[0]
