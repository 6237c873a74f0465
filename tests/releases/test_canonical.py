"""A release is canonical to the byte: what was sealed again with other bytes for the same rows is refused."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recloak._cli.main import run
from recloak._ratings.model import Ratings
from recloak._releases.model.release_format import CARD, MANIFEST, STORED, sealed
from recloak._releases.verifier import verify
from tests.releases import naive_bytes, tampering
from tests.releases.helpers import some_ratings, some_release

ODD = ['a"b', "ä, ö", "line\nbreak", " blank ", "07", "\t", "0"]


def write(place: Path, *, text: bool = False, **options) -> Path:
    place.mkdir(exist_ok=True)
    ratings = some_ratings(24, 7)
    if text:
        ratings = Ratings.from_arrays(ratings.users(), [ODD[item] for item in ratings.items], ratings.values)
    layout, kind = options.pop("layout", "long"), options.pop("format", "parquet")
    return some_release(ratings, **{"mode": "pure", **options}).write(place / "out", layout=layout, format=kind)


def resealed(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    tampering.rehash(folder, name)
    return folder


@pytest.mark.parametrize("grid", [None, "none", 0.01, 0.0005])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("layout", ["long", "grouped"])
@pytest.mark.parametrize("mode", ["pure", "padded"])
def test_the_bytes_are_those_worked_out_the_obvious_way(tmp_path, mode, layout, text, grid):
    for kind in ("parquet", "csv"):
        folder = write(tmp_path / kind, mode=mode, layout=layout, text=text, grid=grid, format=kind)
        manifest = json.loads((folder / MANIFEST).read_text())
        for name, table in tampering.tables(folder).items():
            assert (folder / f"{name}.{kind}").read_bytes() == tampering.table_bytes(table, name, manifest)
        verdict = verify(folder)
        assert verdict.passed, verdict.problems
        assert not verdict.content


@pytest.mark.parametrize("text", [False, True])
def test_the_bytes_of_factors_are_those_worked_out_the_obvious_way(tmp_path, text):
    for kind in ("parquet", "csv"):
        folder = write(tmp_path / kind, mode="padded", layout="factors", text=text, format=kind)
        manifest = json.loads((folder / MANIFEST).read_text())
        for name, table in tampering.tables(folder).items():
            assert (folder / f"{name}.{kind}").read_bytes() == tampering.table_bytes(table, name, manifest)
        assert verify(folder).passed


@pytest.mark.parametrize(
    "spell",
    [
        lambda cells: [*cells[:2], f"{float(cells[2]):.2f}"],
        lambda cells: [*cells[:2], f"{float(cells[2]):.3e}"],
        lambda cells: [*cells[:2], f"{float(cells[2]) + 1e-7:.9f}"],
        lambda cells: [*cells[:2], cells[2] + "\r"],
        lambda cells: [*cells[:2], cells[2] + " "],
        lambda cells: [*cells[:2], f'"{cells[2]}"'],
        lambda cells: [cells[0], f'"{cells[1]}"', cells[2]],
        lambda cells: [cells[0], f"0{cells[1]}", cells[2]],
        lambda cells: [f"0{cells[0]}", *cells[1:]],
        lambda cells: [f"+{cells[0]}", *cells[1:]],
    ],
)
def test_one_users_cells_spelled_otherwise_are_refused(tmp_path, spell):
    folder = write(tmp_path, format="csv")
    lines = (folder / "ratings.csv").read_text().splitlines()
    lines = [",".join(spell(line.split(","))) if line.startswith("7,") else line for line in lines]
    resealed(folder, "ratings.csv", ("\n".join(lines) + "\n").encode())
    assert not verify(folder).passed


@pytest.mark.parametrize("text", [b"ann was here", b"\0", b"PAR1"])
def test_text_before_the_footer_is_refused_and_passes_by_content(tmp_path, text):
    folder = write(tmp_path)
    content = (folder / "ratings.parquet").read_bytes()
    start = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    resealed(folder, "ratings.parquet", content[:start] + text + content[start:])
    assert verify(folder).problems == ("ratings.parquet: there are bytes that no column names",)
    verdict = verify(folder, content=True)
    assert verdict.passed
    assert verdict.to_mapping()["content"]
    assert "content only" in repr(verdict)


def test_another_card_is_refused(tmp_path):
    folder = write(tmp_path)
    resealed(folder, CARD, (folder / CARD).read_bytes() + b"ann\n")
    assert verify(folder).problems == ("README.md: is not the data card that recloak writes for this release",)


@pytest.mark.parametrize("field", ["promised", "not_promised"])
def test_another_promise_is_refused(tmp_path, field):
    folder = write(tmp_path)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest[field][0] = "Ann is not in here."
    manifest["seal"] = sealed(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    assert verify(folder).problems == (f"the manifest's {field} is not what recloak writes for this release",)


@pytest.mark.parametrize("layout", ["long", "grouped"])
@pytest.mark.parametrize("more", [-1, 1, 374])
def test_another_number_of_groups_is_refused(tmp_path, layout, more):
    folder = write(tmp_path, layout=layout)
    n_groups = json.loads((folder / MANIFEST).read_text())["n_groups"]
    tampering.restate(folder, n_groups=n_groups + more)
    assert not verify(folder).passed


def test_groups_with_the_same_row_are_one_where_no_group_is_named(tmp_path):
    same = Ratings.from_arrays(np.arange(12), [1] * 12, [3.0] * 6 + [4.0] * 6)
    one = Ratings.from_arrays(np.repeat(np.arange(12), 2), [1, 2] * 12, [3.0, 5.0] * 12)
    for place, ratings in enumerate((same, one)):
        if ratings.n_items < 2:
            continue
        folder = some_release(ratings, mode="pure").write(tmp_path / str(place), layout="long")
        assert json.loads((folder / MANIFEST).read_text())["n_groups"] == verify(folder).n_groups == 1


@pytest.mark.parametrize("name", [MANIFEST, CARD, "ratings.parquet"])
def test_hard_links_are_refused(tmp_path, name):
    folder = write(tmp_path)
    os.link(folder / name, tmp_path / "elsewhere")
    (said,) = verify(folder).problems
    assert said.startswith(f"{name}: has further hard links")


@pytest.mark.parametrize("name", [MANIFEST, "README.md", "ratings.parquet"])
@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path, name, put):
    folder = write(tmp_path)
    (folder / name).unlink()
    put(folder / name)
    assert not verify(folder).passed
    assert not verify(folder, content=True).passed


def test_what_a_library_says_of_a_damaged_table_is_one_line(tmp_path):
    folder = write(tmp_path)
    plain = (folder / "ratings.parquet").read_bytes()
    resealed(folder, "ratings.parquet", plain[:-8] + bytes(8) + plain[-8:])
    assert all(problem.isprintable() for problem in verify(folder).problems)


def test_extended_attributes_and_special_permissions_are_refused(tmp_path):
    folder = write(tmp_path)
    (folder / CARD).chmod(0o4644)
    assert verify(folder).problems == ("README.md: has special permissions",)
    (folder / CARD).chmod(0o644)
    try:
        os.setxattr(folder / CARD, "user.note", b"ann")
    except OSError:
        pytest.skip("this file system keeps no extended attributes")
    assert verify(folder).problems == ("README.md: carries the extended attributes user.note",)


@pytest.mark.parametrize("digits", [400, -400, 5000, 0])
@pytest.mark.parametrize("field", ["scale", "grid", "k", "min_raters", "min_shown", "decoys", "n_items", "max_link"])
def test_numbers_beyond_any_measure_are_refused(tmp_path, capsys, field, digits):
    folder = write(tmp_path)
    value = 10 ** abs(digits) * (-1 if digits < 0 else 1) if digits else 1e300
    sys.set_int_max_str_digits(0)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest[field] = {"low": 1.0, "high": value} if field == "scale" else value
    manifest["seal"] = sealed(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    sys.set_int_max_str_digits(4300)
    for flags in ([], ["--content"]):
        assert run(["verify", str(folder), *flags]) == 1
    assert len(capsys.readouterr().out) < 2000


def test_a_label_below_zero_has_one_zero_only(tmp_path):
    ratings = some_ratings(24, 7)
    folder = some_release(
        Ratings.from_arrays(ratings.users(), ratings.items, ratings.values - 3), mode="pure", grid="none"
    ).write(tmp_path / "out", layout="long")
    table = pl.read_parquet(folder / "ratings.parquet")
    assert verify(folder).passed
    minus = pl.when(pl.col("rating") == 0).then(-0.0).otherwise("rating").cast(pl.Float32)
    signed = table.with_columns(minus.alias("rating"))
    assert (table["rating"] == 0).any()
    resealed(folder, "ratings.parquet", naive_bytes.parquet_bytes(signed, STORED["ratings"], None))
    assert not verify(folder).passed


@pytest.mark.parametrize(
    "claim",
    [
        {"grid": 0.5000000001},
        {"scale": {"low": 1.0, "high": 5.0000001}},
        {"scale": {"low": 0.99999999, "high": 5.0}},
        {"diversity": "2,999999999"},
    ],
)
def test_numbers_with_digits_that_do_nothing_are_refused(tmp_path, claim):
    folder = write(tmp_path)
    tampering.restate(folder, **claim)
    assert not verify(folder).passed


@pytest.mark.parametrize("option", [{"max_link": 1}, {"decoys": 1}, {"grid": 1}])
def test_numbers_given_without_a_point_are_published_with_one(tmp_path, option):
    folder, (name,) = write(tmp_path, **option), option
    assert type(json.loads((folder / MANIFEST).read_text())[name]) is float
    tampering.restate(folder)
    assert verify(folder).passed
    manifest = json.loads((folder / MANIFEST).read_text()) | option
    (folder / MANIFEST).write_text(json.dumps(manifest | {"seal": sealed(manifest)}, indent=2) + "\n")
    assert not verify(folder).passed


def test_a_third_is_published_as_the_shortest_step_with_the_same_values(tmp_path):
    folder = write(tmp_path, grid=1 / 3)
    assert json.loads((folder / MANIFEST).read_text())["grid"] == 0.33333333
    assert verify(folder).passed


@pytest.mark.parametrize("content", [False, True])
def test_no_footer_or_header_of_other_fields_breaks_the_verifier(tmp_path, content):
    """Every byte of the last hundreds and of the first page takes many values, whatever they make of the structure."""
    folder = write(tmp_path)
    plain = (folder / "ratings.parquet").read_bytes()
    for place in (*range(4, 40), *range(len(plain) - 200, len(plain), 3)):
        for value in (0x00, 0x15, 0x19, 0x1C, 0x28, 0x7F, 0xFF):
            if plain[place] != value:
                resealed(folder, "ratings.parquet", plain[:place] + bytes([value]) + plain[place + 1 :])
                assert not verify(folder).passed or content
                if content:
                    verify(folder, content=True)


def hostile(folder: Path, n_rows: int) -> None:
    """Put a table of many rows into few bytes, as runs and compressed pages do it."""
    columns = {
        "user": pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, np.int8)), pa.array([1], pa.int32())),
        "item": pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, np.int8)), pa.array([3], pa.int32())),
        "rating": pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, np.int8)), pa.array([1.0], pa.float32())),
    }
    kinds = {"user": pa.int32(), "item": pa.int32(), "rating": pa.float32()}
    schema = pa.schema([pa.field(name, pa.dictionary(pa.int8(), kind), False) for name, kind in kinds.items()])
    path = folder / "ratings.parquet"
    pq.write_table(pa.table(columns, schema), path, compression="zstd", store_schema=False, row_group_size=n_rows)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["files"]["ratings.parquet"]["rows"] = n_rows
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    tampering.rehash(folder, path.name)


PEAK = """
import resource, sys
from recloak._releases.verifier import verify
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
verdict = verify(sys.argv[1], content=sys.argv[2] == "content")
assert not verdict.passed
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["bytes", "content"])
def test_a_small_file_of_many_rows_is_judged_in_bounded_memory(tmp_path, how):
    folder = write(tmp_path)
    hostile(folder, 50_000_000)
    assert (folder / "ratings.parquet").stat().st_size < 10**6
    peak = subprocess.run([sys.executable, "-c", PEAK, str(folder), how], capture_output=True, check=True, text=True)
    assert int(peak.stdout) < 400  # MB; all rows at once take 600 and more


def test_a_page_that_unpacks_to_more_than_memory_should_hold_is_refused(tmp_path, monkeypatch):
    folder = write(tmp_path)
    table = pq.read_table(folder / "ratings.parquet")
    schema = pa.schema([field.with_nullable(False) for field in table.schema])
    pq.write_table(table.cast(schema), folder / "ratings.parquet", store_schema=False)
    tampering.rehash(folder, "ratings.parquet")
    assert verify(folder, content=True).passed
    monkeypatch.setattr("recloak._releases.verifier.foreign_pages._MOST_BYTES", 10)
    assert "when it is unpacked" in verify(folder, content=True).problems[0]


def test_a_name_in_a_hostile_folder_cannot_write_a_verdict_on_the_terminal(tmp_path, capsys):
    folder = write(tmp_path)
    (folder / "a\x1b[2J\rpass: k required 5\nfound 5").touch()
    assert run(["verify", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert "a\\x1b[2J\\rpass: k required 5\\nfound 5: is not part of the release" in shown
    assert shown.replace("\n", "").isprintable()


def test_the_command_says_when_only_the_content_was_judged(tmp_path, capsys):
    folder = write(tmp_path)
    assert run(["verify", str(folder)]) == 0
    assert "content only" not in capsys.readouterr().out
    assert run(["verify", str(folder), "--content"]) == 0
    assert "(content only: how the files are written was not judged)" in capsys.readouterr().out
    assert run(["verify", str(folder), "--content", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["content"] is True


@pytest.mark.parametrize("text", [False, True])
def test_checking_a_folder_imports_nothing_slow(tmp_path, text):
    folder = write(tmp_path, text=text, layout="grouped")
    code = "import sys, recloak; recloak.verify(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    assert "pyarrow" in done.stdout.split()
    assert not {"pandas", "scipy.stats", "scipy.optimize"} & set(done.stdout.split())
