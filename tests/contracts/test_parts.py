"""Releases whose tables lie in folders of parts: read like any other, and refused when a part was changed."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from recloak._releases.model.release_format import MANIFEST, STORED, part_name, sealed
from recloak._releases.verifier import verify
from tests.contracts.test_engines import obvious_ratings, some_ratings, write_source
from tests.engines import Here, profiles_by_user
from tests.releases import naive_bytes


def cut(folder: Path, n_parts: int = 2, shift: int = 0) -> Path:
    """Cut every table of a release into parts, at the end of a user's or group's row, and seal it again."""
    manifest = json.loads((folder / MANIFEST).read_text())
    for path in sorted(folder.glob("*.parquet")):
        table = pq.read_table(path)
        path.unlink()
        path.mkdir()
        names = table[0].to_numpy()
        distinct = np.unique(names)
        firsts = [distinct[max(part * len(distinct) // n_parts + shift, 0)] for part in range(n_parts)]
        bounds = [0, *np.searchsorted(names, firsts).tolist()[1:], len(names)]
        for part in range(n_parts):
            put(folder, manifest, path.name, part, table[bounds[part] : bounds[part + 1]])
        del manifest["files"][path.name]
    seal(folder, manifest)
    return folder


def put(folder: Path, manifest: dict[str, Any], file: str, part: int, rows: pa.Table) -> None:
    name = part_name(file, part)
    frame, stored = pl.DataFrame(pl.from_arrow(rows)), STORED[file.partition(".")[0]]
    (folder / name).write_bytes(naive_bytes.parquet_bytes(frame, stored, naive_bytes.grid_of(manifest)))
    entry = {"rows": len(rows), "bytes": (folder / name).stat().st_size}
    manifest["files"][name] = {**entry, "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()}


def seal(folder: Path, manifest: dict[str, Any]) -> None:
    manifest["files"] = dict(sorted(manifest["files"].items()))
    manifest["seal"] = sealed(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")


def remove_the_last_part(folder: Path) -> None:
    sorted(folder.glob("*.parquet/*"))[-1].unlink()


def leave_a_stray_file(folder: Path) -> None:
    (sorted(folder.glob("*.parquet"))[0] / "part-00009.parquet").write_bytes(b"PAR1")


def flip_a_byte(folder: Path) -> None:
    path = sorted(folder.glob("*.parquet/*"))[0]
    path.write_bytes(path.read_bytes()[:-9] + b"x" + path.read_bytes()[-8:])


def link_a_table(folder: Path) -> None:
    table = sorted(folder.glob("*.parquet"))[0]
    table.rename(folder.parent / f"away-{folder.name}")
    table.symlink_to(folder.parent / f"away-{folder.name}")


def swap_parts_and_seal(folder: Path) -> None:
    """Exchange the first two parts of a table of cells and make the manifest right again."""
    manifest = json.loads((folder / MANIFEST).read_text())
    file = "ratings.parquet" if (folder / "ratings.parquet").exists() else "profiles.parquet"
    parts = [pq.read_table(folder / part_name(file, part)) for part in (1, 0)]
    for part, rows in enumerate(parts):
        put(folder, manifest, file, part, rows)
    seal(folder, manifest)


def repeat_a_row_and_seal(folder: Path) -> None:
    """Let the last row of the first part stand in the second part again, and make all counts right again."""
    manifest = json.loads((folder / MANIFEST).read_text())
    file = "ratings.parquet" if (folder / "ratings.parquet").exists() else "profiles.parquet"
    first, second = (pq.read_table(folder / part_name(file, part)) for part in (0, 1))
    put(folder, manifest, file, 1, pa.concat_tables([first[-1:], second]))
    seal(folder, manifest)


def change_a_label_and_seal(folder: Path) -> None:
    _rewrite(folder, "ratings.parquet", 1, lambda rows: _with(rows, "rating", [3.0, *rows["rating"].to_pylist()[1:]]))


def move_a_label_off_the_grid_and_seal(folder: Path) -> None:
    _rewrite(folder, "ratings.parquet", 1, lambda rows: _with(rows, "rating", [4.3, *rows["rating"].to_pylist()[1:]]))


def exchange_two_rows_and_seal(folder: Path) -> None:
    _rewrite(folder, "ratings.parquet", 1, lambda rows: rows.take([1, 0, *range(2, len(rows))]))


def leave_the_last_user_out_and_seal(folder: Path) -> None:
    last = pq.read_table(folder / part_name("ratings.parquet", 1))["user"][-1]
    _rewrite(folder, "ratings.parquet", 1, lambda rows: rows.filter(pc.not_equal(rows["user"], last)))


def name_an_item_more_and_seal(folder: Path) -> None:
    _rewrite(folder, "ratings.parquet", 1, lambda rows: _with(rows, "item", [*rows["item"].to_pylist()[:-1], 99]))


def use_two_types_of_items_and_seal(folder: Path) -> None:
    _rewrite(folder, "ratings.parquet", 1, lambda rows: rows.set_column(1, "item", rows["item"].cast(pa.int64())))


def count_rows_in_another_part_and_seal(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    for part, more in ((0, -1), (1, 1)):
        manifest["files"][part_name("ratings.parquet", part)]["rows"] += more
    seal(folder, manifest)


def _with(rows: pa.Table, column: str, values: list[Any]) -> pa.Table:
    place = rows.schema.get_field_index(column)
    return rows.set_column(place, column, pa.array(values, rows.schema.field(column).type))


def _rewrite(folder: Path, file: str, part: int, change: Callable[[pa.Table], pa.Table]) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    put(folder, manifest, file, part, change(pq.read_table(folder / part_name(file, part))))
    seal(folder, manifest)


TAMPERS = {
    remove_the_last_part: "is missing",
    leave_a_stray_file: "is not part of the release",
    flip_a_byte: "its SHA-256 is not the one in the manifest",
    link_a_table: "is not part of the release",
    swap_parts_and_seal: "the parts of ratings do not follow each other",
    repeat_a_row_and_seal: "the parts of ratings do not follow each other",
    change_a_label_and_seal: "a row is shared by only 1 users",
    move_a_label_off_the_grid_and_seal: "the dictionary of labels is not the published grid",
    exchange_two_rows_and_seal: "not in ascending order of user and item",
    leave_the_last_user_out_and_seal: "user 12 has no ratings",
    name_an_item_more_and_seal: "there are 9 items, the manifest says 8",
    use_two_types_of_items_and_seal: "the items of ratings are of several types",
    count_rows_in_another_part_and_seal: "ratings.parquet/part-00001 holds at most",
}


@pytest.mark.parametrize("layout", ["long", "grouped"])
def test_a_release_in_parts_is_the_release(engine, tmp_path, layout):
    source = write_source(tmp_path / "lake", some_ratings())
    folder = Here().publish(source, tmp_path / "release", layout, k=3, mode="pure", diversity="1,2")
    whole, rows = verify(folder), profiles_by_user(folder)
    cut(folder)
    verdict = engine.verify(folder)
    assert verdict == whole
    assert profiles_by_user(folder).equals(rows)


@pytest.mark.parametrize("shift", [-2, 1])
def test_a_part_that_ends_elsewhere_is_refused(engine, tmp_path, shift):
    source = write_source(tmp_path / "lake", some_ratings())
    folder = cut(Here().publish(source, tmp_path / "release", "long", k=3, mode="pure"), 3, shift)
    assert engine.verify(folder).problems == ("the parts of ratings do not hold equally many rows",)


@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.__name__)
def test_a_release_with_a_changed_part_is_refused(engine, tmp_path, tamper):
    folder = _in_parts(tmp_path, "long")
    if tamper is remove_the_last_part:  # once is enough
        assert engine.verify(folder).passed
    tamper(folder)
    verdict = engine.verify(folder)
    assert any(TAMPERS[tamper] in problem for problem in verdict.problems), verdict.problems
    assert verdict == verify(folder), "the engines disagree"


def _in_parts(place: Path, layout: str) -> Path:
    source = write_source(place / "lake", obvious_ratings())
    return cut(Here().publish(source, place / "release", layout, k=6, mode="pure", grid=0.5))


def move_everybody_to_one_group(folder: Path) -> None:
    for part in (0, 1):
        _rewrite(folder, "members.parquet", part, lambda rows: _with(rows, "group", [1] * len(rows)))


def name_a_member_twice(folder: Path) -> None:
    """Let the last user of the first part open the second one, in place of a user there."""
    last = pq.read_table(folder / part_name("members.parquet", 0))[-1:]
    _rewrite(folder, "members.parquet", 1, lambda rows: pa.concat_tables([last, rows[1:]]))


def name_a_group_that_is_not_there(folder: Path) -> None:
    _rewrite(folder, "members.parquet", 1, lambda rows: _with(rows, "group", [3] * len(rows)))


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (move_everybody_to_one_group, "group 2 has no members"),
        (name_a_member_twice, "members must name the users 1 to 12 in order, each once"),
        (name_a_group_that_is_not_there, "a member's group is not in 1 to 2"),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_members_in_parts_are_counted_once(engine, tmp_path, tamper, problem):
    folder = _in_parts(tmp_path, "grouped")
    tamper(folder)
    verdict = engine.verify(folder)
    assert problem in verdict.problems
    assert verdict == verify(folder), "the engines disagree"
