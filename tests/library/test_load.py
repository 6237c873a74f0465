"""A release is read in whatever layout it was written: cells, blocks, rows and tables are those of its files."""

import json

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._cli.main import run
from tests.releases.helpers import some_ratings, some_release

KINDS = [
    ("pure", "long", "parquet"), ("pure", "grouped", "csv"), ("pure", "grouped", "parquet"), ("padded", "long", "csv"),
    ("padded", "grouped", "parquet"), ("padded", "factors", "parquet"), ("padded", "factors", "csv"),
]  # fmt: skip


def text_ratings():
    ratings = some_ratings()
    return recloak.Ratings.from_arrays(ratings.users(), [f"i{item:02d}" for item in ratings.items], ratings.values)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(("mode", "layout", "file_format"), KINDS)
def test_every_cell_is_that_of_the_release(tmp_path, mode, layout, file_format, text):
    ratings = text_ratings() if text else some_ratings()
    made = some_release(ratings, mode=mode).named(layout, file_format)
    release = recloak.load(made.write(tmp_path / "out", layout=layout, format=file_format))
    wanted = {(user, item): rating for user, item, rating in made.to_polars().iter_rows()}
    block = release.block(users=range(1, 13), items=release.items)
    assert block.shape == (12, 6)
    for (user, place), found in np.ndenumerate(block):
        expected = wanted.get((user + 1, release.items[place]))
        assert np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-6)
        single = release.cell(user=user + 1, item=release.items[place])
        assert single is None if expected is None else single == pytest.approx(expected, abs=1e-6)
    pairs = release.cells(users=[3, 1, 3], items=[release.items[0], release.items[5], release.items[2]])
    assert np.array_equal(pairs, block[[2, 0, 2], [0, 5, 2]], equal_nan=True)
    assert release.block(users=[4], items=[release.items[3], release.items[0]]) == pytest.approx(
        block[[3]][:, [3, 0]], nan_ok=True
    )
    long = release.to_polars(users=list(range(1, 13)))
    assert len(long) == len(wanted)
    assert all(wanted[user, item] == pytest.approx(rating, abs=1e-6) for user, item, rating in long.iter_rows())
    row = release.row(user=7)
    assert row["item"].to_list() == sorted(item for user, item in wanted if user == 7)


@pytest.mark.parametrize(("mode", "layout", "file_format"), KINDS)
def test_an_expanded_release_holds_every_row_once(tmp_path, mode, layout, file_format):
    folder = some_release(some_ratings(), mode=mode).write(tmp_path / "out", layout=layout, format=file_format)
    release = recloak.load(folder)
    name = "user" if layout == "long" else "group"
    for out in (tmp_path / "cells.parquet", tmp_path / "cells.csv"):
        n_rows = recloak.expand(folder, out)
        table = pl.read_parquet(out) if out.suffix == ".parquet" else pl.read_csv(out)
        assert table.columns == [name, "item", "rating"]
        assert len(table) == n_rows == len(release.to_polars())
        assert np.allclose(table["rating"], release.to_polars()["rating"], atol=1e-6)


def test_chosen_groups_and_items_are_written_and_their_size_is_said_beforehand(tmp_path, capsys):
    folder = some_release(some_ratings()).write(tmp_path / "out", layout="factors")
    items = recloak.load(folder).items[1:3]
    line = ["expand", str(folder), "-o", str(tmp_path / "cells.csv"), "--groups", "2,4", "--json"]
    assert run([*line, "--items", ",".join(map(str, items))]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out) == {"file": str(tmp_path / "cells.csv"), "rows": 4}
    assert "will write at most 4 rows, about 72 B" in told.err
    table = pl.read_csv(tmp_path / "cells.csv")
    assert (table["group"].to_list(), table["item"].to_list()) == ([2, 2, 4, 4], [*items, *items])


def test_a_table_above_the_limit_is_refused_before_anything_is_written(tmp_path):
    folder = some_release(some_ratings()).write(tmp_path / "out", layout="factors")
    with pytest.raises(recloak.InputError, match="is above the limit of 100 B: name some groups"):
        recloak.expand(folder, tmp_path / "cells.csv", size_limit="100B")
    assert not (tmp_path / "cells.csv").exists()


def test_a_table_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    release = recloak.load(some_release(some_ratings()).write(tmp_path / "out", layout="factors"))
    monkeypatch.setattr("recloak._library.load_release.MOST_CELLS", 10)
    with pytest.raises(recloak.InputError, match=r"24 cells does not fit .* recloak\.expand"):
        release.to_polars()
    assert len(release.to_polars(groups=[1])) == 6


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        ({"group": 5, "item": 3}, "a group must be a whole number from 1 to 4"),
        ({"group": 0, "item": 3}, "a group must be a whole number from 1 to 4"),
        ({"user": 13, "item": 3}, "a user must be a whole number from 1 to 12"),
        ({"group": 1, "item": 4}, "there is no item 4"),
        ({"group": 1, "user": 1, "item": 3}, "one of them"),
        ({"item": 3}, "one of them"),
    ],
)
def test_what_is_not_there_is_refused_in_one_sentence(tmp_path, ask, sentence):
    release = recloak.load(some_release(some_ratings()).write(tmp_path / "out", layout="factors"))
    with pytest.raises(recloak.InputError, match=sentence):
        release.cell(**ask)


def test_a_folder_that_is_no_release_or_was_changed_is_refused(tmp_path):
    folder = some_release(some_ratings()).write(tmp_path / "out", layout="factors")
    with pytest.raises(recloak.InputError, match=r"there is no manifest\.json"):
        recloak.load(tmp_path)
    content = (folder / "groups.parquet").read_bytes()
    (folder / "groups.parquet").write_bytes(content[:-20] + b"x" * 20)
    with pytest.raises(recloak.InputError, match="SHA-256"):
        recloak.load(folder)
    (folder / "groups.parquet").unlink()
    with pytest.raises(recloak.InputError, match="is missing"):
        recloak.load(folder)


def test_the_group_of_a_user_is_that_of_the_members(tmp_path):
    folder = some_release(some_ratings()).write(tmp_path / "out")
    release, members = recloak.load(folder), pl.read_parquet(folder / "members.parquet")
    assert [release.group_of(user) for user in members["user"]] == members["group"].to_list()
    long = recloak.load(some_release(some_ratings()).write(tmp_path / "long", layout="long"))
    with pytest.raises(recloak.InputError, match="names no groups"):
        long.group_of(1)
