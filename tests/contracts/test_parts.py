"""Releases whose tables lie in folders of parts: read like any other, and refused when a part was changed."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recloak._releases.model.release_format import MANIFEST, part_name, sealed
from recloak._releases.verifier import verify
from tests.contracts.test_engines import obvious_ratings, some_ratings, write_source
from tests.engines import Here, profiles_by_user


def cut(folder: Path, n_parts: int = 2) -> Path:
    """Cut every table of a release into parts, at the end of a user's or group's row, and seal it again."""
    manifest = json.loads((folder / MANIFEST).read_text())
    for path in sorted(folder.glob("*.parquet")):
        table = pq.read_table(path)
        path.unlink()
        path.mkdir()
        names = table[0].to_numpy()
        wanted = names[np.linspace(0, len(names) - 1, n_parts + 1).astype(int)[1:-1]]
        bounds = [0, *np.searchsorted(names, wanted).tolist(), len(names)]
        for part in range(n_parts):
            put(folder, manifest, path.name, part, table[bounds[part] : bounds[part + 1]])
        del manifest["files"][path.name]
    seal(folder, manifest)
    return folder


def put(folder: Path, manifest: dict[str, Any], file: str, part: int, rows: pa.Table) -> None:
    name = part_name(file, part)
    pq.write_table(
        rows.cast(pa.schema([f.with_nullable(False) for f in rows.schema])), folder / name, store_schema=False
    )
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


TAMPERS = [
    remove_the_last_part,
    leave_a_stray_file,
    flip_a_byte,
    link_a_table,
    swap_parts_and_seal,
    repeat_a_row_and_seal,
]


@pytest.mark.parametrize("layout", ["long", "grouped"])
def test_a_release_in_parts_is_the_release(engine, tmp_path, layout):
    source = write_source(tmp_path / "lake", some_ratings())
    folder = Here().publish(source, tmp_path / "release", layout, k=3, mode="pure", diversity="1,2")
    whole, rows = verify(folder), profiles_by_user(folder)
    cut(folder)
    verdict = engine.verify(folder)
    assert verdict == whole
    assert profiles_by_user(folder).equals(rows)


@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.__name__)
def test_a_release_with_a_changed_part_is_refused(engine, tmp_path, tamper):
    source = write_source(tmp_path / "lake", obvious_ratings())
    folder = cut(Here().publish(source, tmp_path / "release", "long", k=6, mode="pure", grid=0.5))
    assert engine.verify(folder).passed
    tamper(folder)
    assert not engine.verify(folder).passed
