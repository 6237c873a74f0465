"""Reading a release folder as an outsider, both layouts, both formats."""

import json

import numpy as np
import polars as pl
import pytest

from recloak._attacks import padded_release, public_view
from recloak._attacks.public_columns import support
from recloak._attacks.public_view import see_release
from recloak._core.errors import SourceError
from recloak._ratings.model import Ratings

RATINGS = Ratings.from_arrays(list("abcd"), ["x", "x", "y", "z"], [1.0, 3.0, 4.0, 5.0])
MEMBERS = pl.DataFrame({"user": [11, 12, 13, 14], "group": [7, 7, 9, 9]})
PROFILES = pl.DataFrame({"group": [9, 7, 9], "item": ["z", "x", "y"], "rating": [5.0, 2.0, 4.0]})
MAPPING = pl.DataFrame({"user_id": ["d", "a", "c", "b"], "user": [14, 11, 13, 12], "group": [9, 7, 9, 7]})


@pytest.fixture(params=["grouped", "long"])
def layout(request):
    return request.param


@pytest.fixture(params=["parquet", "csv"])
def release(request, layout, tmp_path):
    folder, private = tmp_path / "out", tmp_path / "private"
    folder.mkdir()
    private.mkdir()
    long = MEMBERS.join(PROFILES, on="group").select("user", "item", "rating").sample(fraction=1, shuffle=True, seed=1)
    tables = {"members": MEMBERS, "profiles": PROFILES} if layout == "grouped" else {"ratings": long}
    for name, table in tables.items():
        path = folder / f"{name}.{request.param}"
        table.write_csv(path) if request.param == "csv" else table.write_parquet(path)
    (folder / "manifest.json").write_text(json.dumps({"k": 2}))
    MAPPING.write_parquet(private / "mapping.parquet")
    return folder, private


def test_both_layouts_show_the_same_profiles(release):
    seen = see_release(release[0], release[1], RATINGS).public
    assert sorted(seen.weights) == [2, 2]
    assert seen.owner[0] == seen.owner[1] != seen.owner[2] == seen.owner[3]
    cells = {
        (str(RATINGS.item_ids.ids[item]), int(seen.profiles[place])): float(seen.labels[place])
        for item in range(seen.n_items)
        for place in range(seen.indptr[item], seen.indptr[item + 1])
    }
    first, second = int(seen.owner[0]), int(seen.owner[2])
    assert cells == {("x", first): 2.0, ("y", second): 4.0, ("z", second): 5.0}


def test_another_source_is_noticed(release):
    stranger = Ratings.from_arrays(["a", "nobody"], ["x", "y"], [1.0, 2.0])
    with pytest.raises(SourceError, match="another source"):
        see_release(release[0], release[1], stranger)


def test_a_folder_without_a_manifest_is_no_release(tmp_path):
    with pytest.raises(SourceError, match=r"no manifest\.json"):
        see_release(tmp_path, tmp_path, RATINGS)


def test_a_private_folder_without_a_mapping_is_none(release):
    folder, private = release
    (private / "mapping.parquet").unlink()
    with pytest.raises(SourceError, match="private folder"):
        see_release(folder, private, RATINGS)


def test_support_counts_users_not_profiles(release):
    assert support(see_release(release[0], release[1], RATINGS).public).tolist() == [2, 2, 2]


def test_a_release_that_does_not_fit_into_memory_is_refused_in_a_sentence(release, monkeypatch):
    if not list(release[0].glob("*.parquet")):
        pytest.skip("only Parquet tells its rows without being read")
    monkeypatch.setattr(public_view, "MOST_CELLS", 1)
    with pytest.raises(SourceError, match="must fit into memory: at most 1 rows"):
        see_release(release[0], release[1], RATINGS)


PADDED = pl.DataFrame(
    {"group": [7] * 3 + [9] * 3, "item": ["x", "y", "z"] * 2, "rating": [2.0, 2.5, 3.0, 1.0, 4.0, 5.0]},
    schema_overrides={"rating": pl.Float32},
)


def see_padded(tmp_path, profiles):
    folder, private = tmp_path / "out", tmp_path / "private"
    for place in (folder, private):
        place.mkdir(exist_ok=True)
    MEMBERS.write_parquet(folder / "members.parquet")
    profiles.write_parquet(folder / "profiles.parquet")
    (folder / "manifest.json").write_text(json.dumps({"k": 2}))
    MAPPING.write_parquet(private / "mapping.parquet")
    return see_release(folder, private, RATINGS).public


@pytest.mark.parametrize("order", ["as written", "shuffled"])
def test_a_padded_release_takes_a_byte_a_cell_in_whatever_order_it_stands(tmp_path, order, monkeypatch):
    monkeypatch.setattr(padded_release, "_PIECE", 4)
    shown = PADDED if order == "as written" else PADDED.sample(fraction=1, shuffle=True, seed=1)
    seen = see_padded(tmp_path, shown)
    assert seen.is_complete
    assert (seen.codes.dtype, len(seen.codes), len(seen.holders)) == (np.uint8, 6, 2)
    assert seen.labels.reshape(3, 2).T.tolist() == [[2.0, 2.5, 3.0], [1.0, 4.0, 5.0]]
    assert seen.profiles.tolist() == [0, 1] * 3
    assert support(seen).tolist() == [4, 4, 4]


def test_a_padded_release_with_too_many_values_is_read_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(padded_release, "MOST_VALUES", 5)
    seen = see_padded(tmp_path, PADDED)
    assert seen.is_complete
    assert seen.labels.reshape(3, 2).T.tolist() == [[2.0, 2.5, 3.0], [1.0, 4.0, 5.0]]


def test_a_padded_release_is_not_bound_by_the_memory_of_a_sparse_one(tmp_path, monkeypatch):
    monkeypatch.setattr(public_view, "MOST_CELLS", 4)
    assert see_padded(tmp_path, PADDED).is_complete


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [("item", "x", "stands twice"), ("item", "w", "another source"), ("group", 8, "no members")],
)
def test_a_padded_release_that_cannot_be_right_is_refused(tmp_path, column, value, sentence):
    wrong = PADDED.with_columns(
        pl.when(pl.int_range(pl.len()) == 1).then(pl.lit(value)).otherwise(column).alias(column)
    )
    with pytest.raises(SourceError, match=sentence):
        see_padded(tmp_path, wrong)
