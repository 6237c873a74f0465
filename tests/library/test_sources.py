"""Anything that holds ratings goes in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse

import recloak

TABLE = pl.DataFrame({"user": [1, 1, 2, 3], "item": [1, 2, 2, 1], "rating": [5.0, 3.0, 4.0, 1.0]})
MATRIX = scipy.sparse.coo_array((TABLE["rating"], (TABLE["user"], TABLE["item"])), shape=(4, 3))


@pytest.fixture
def path(tmp_path):
    TABLE.write_csv(tmp_path / "ratings.csv")
    return tmp_path / "ratings.csv"


KINDS: dict[str, Callable[[Path], Any]] = {
    "str": str,
    "Path": lambda path: path,
    "list of paths": lambda path: [path],
    "Source": recloak.Source,
    "polars": lambda _: TABLE,
    "LazyFrame": lambda _: TABLE.lazy(),
    "pandas": lambda _: TABLE.to_pandas(),
    "Arrow": lambda _: TABLE.to_arrow(),
    "csr_array": lambda _: MATRIX.tocsr(),
    "csc_array": lambda _: MATRIX.tocsc(),
    "coo_array": lambda _: MATRIX,
    "csr_matrix": lambda _: scipy.sparse.csr_matrix(MATRIX),
    "csc_matrix": lambda _: scipy.sparse.csc_matrix(MATRIX),
    "coo_matrix": lambda _: scipy.sparse.coo_matrix(MATRIX),
    "Ratings": lambda _: recloak.Ratings.from_table(TABLE),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source_holds_the_same_ratings(kind, path):
    ratings = recloak.read(KINDS[kind](path))
    assert ratings.to_polars().sort("user", "item").select(pl.all().cast(pl.Float64)).equals(TABLE.cast(pl.Float64))


@pytest.mark.parametrize("kind", KINDS)
def test_every_function_takes_every_kind_of_source(kind, path):
    found = recloak.inspect(KINDS[kind](path), seed=1)
    assert (found.summary.n_users, found.summary.n_ratings) == (3, 4)


def test_columns_are_named_by_keyword_in_files_and_tables(tmp_path):
    named = TABLE.rename({"user": "who", "item": "what", "rating": "stars"})
    named.write_csv(tmp_path / "named.csv")
    columns: dict[str, Any] = {"user": "who", "item": "what", "rating": "stars"}
    source = recloak.Source(tmp_path / "named.csv", **columns, scale=(1, 5))
    for ratings in (
        recloak.read(named, **columns),
        recloak.read(tmp_path / "named.csv", **columns),
        recloak.read(source),
    ):
        assert len(ratings) == 4
    assert recloak.read(source).scale == recloak.Scale(1.0, 5.0)
    assert recloak.publish(source, k=3, seed=1).facts.n_users == 3


def test_columns_without_a_header_are_named_by_number(tmp_path):
    (tmp_path / "bare.csv").write_text("5,1,7\n4,2,7\n")
    ratings = recloak.read(tmp_path / "bare.csv", rating=1, user=2, item=3)
    assert ratings.values.tolist() == [5, 4]


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        (3, {}, "got int"),
        ([], {}, "the list of paths is empty"),
        (TABLE, {"skip_bad": True}, "skip_bad=... is not for a table"),
        (MATRIX, {"user": "who"}, "user=... is not for a matrix"),
        (recloak.Ratings.from_table(TABLE), {"scale": "1,5"}, "scale=... is not for ratings that are read already"),
        (TABLE, {"scale": (5, 1)}, "LOW below HIGH"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(given, options, sentence):
    with pytest.raises(recloak.InputError, match=r"^[^\n]*$") as told:
        recloak.read(given, **options)
    assert sentence in str(told.value)


def test_seed_and_rng_are_two_names_for_one_thing():
    made = [
        recloak.synth(users=9, items=9, ratings=30, **chance).values
        for chance in ({"seed": 4}, {"rng": 4}, {"rng": np.random.default_rng(1)}, {"rng": np.random.default_rng(1)})
    ]
    assert np.array_equal(made[0], made[1])
    assert np.array_equal(made[2], made[3])
    with pytest.raises(recloak.OptionError, match="pass one of them"):
        recloak.synth(users=9, items=9, ratings=30, seed=1, rng=1)


def test_what_is_in_memory_cannot_be_read_by_spark(tmp_path):
    with pytest.raises(recloak.OptionError, match="engine='spark' reads files"):
        recloak.publish(TABLE, tmp_path / "out", engine="spark")
    with pytest.raises(recloak.OptionError, match="need out"):
        recloak.publish("ratings.csv", engine="spark")
