"""Ways to tamper with a release, from a flipped byte to a rewritten table with hashes and seal made right again."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from recloak._releases.model.release_format import MANIFEST, sealed

Tamper = Callable[[Path, Random], None]


def flip_a_byte(folder: Path, chance: Random) -> None:
    path = chance.choice(sorted(folder.iterdir()))
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def truncate(folder: Path, chance: Random) -> None:
    path = chance.choice(sorted(folder.iterdir()))
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def append(folder: Path, chance: Random) -> None:
    path = chance.choice(sorted(folder.iterdir()))
    path.write_bytes(path.read_bytes() + chance.choice([b"\n", b" ", b"1,2,3\n", b"\0"]))


def remove(folder: Path, chance: Random) -> None:
    chance.choice(sorted(folder.iterdir())).unlink()


def swap(folder: Path, chance: Random) -> None:
    one, other = chance.sample(sorted(folder.iterdir()), 2)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def stray(folder: Path, chance: Random) -> None:
    name = chance.choice(["mapping.parquet", ".hidden", "ratings.csv", "seed", "sub"])
    path = folder / name
    if name == "sub":
        path.mkdir()
    else:
        path.write_text("x")


def link(folder: Path, chance: Random) -> None:
    path = chance.choice(sorted(folder.iterdir()))
    away = folder.parent / f"away-{folder.name}"
    away.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(away)


def edit_manifest(folder: Path, chance: Random) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    field = chance.choice(sorted(manifest))
    action = chance.choice(["drop", "other", "rename"])
    value = manifest.pop(field)
    if action == "other":
        manifest[field] = _another(value, chance)
    elif action == "rename":
        manifest[f"{field}_"] = value
    _dump(folder, manifest)


def _another(value: Any, chance: Random) -> Any:
    if isinstance(value, bool) or value is None:
        return chance.choice([1, "yes", 0.25]) if value is None else not value
    if isinstance(value, int):
        return value + chance.choice([-1, 1, 1000])
    if isinstance(value, float):
        return value / 2
    if isinstance(value, str):
        return value + "x"
    return chance.choice([None, [], {}])


RAW: list[Tamper] = [flip_a_byte, truncate, append, remove, swap, stray, link, edit_manifest]


def tables(folder: Path) -> dict[str, pl.DataFrame]:
    """Read the tables of a release."""
    return {
        path.stem: pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
        for path in sorted(folder.iterdir())
        if path.suffix in (".parquet", ".csv")
    }


def reseal(folder: Path, changed: dict[str, pl.DataFrame], *, recount: bool) -> None:
    """Write changed tables as recloak would, and make hashes, sizes, seal and, where asked, all counts right again."""
    manifest = json.loads((folder / MANIFEST).read_text())
    for name, table in changed.items():
        path = folder / f"{name}.{manifest['file_format']}"
        if path.suffix == ".parquet":
            columns = table.to_arrow()
            schema = pa.schema([field.with_nullable(False) for field in columns.schema])
            pq.write_table(columns.cast(schema), path, store_schema=False)
        else:
            table.write_csv(path, quote_style="non_numeric")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest["files"][path.name] = {"rows": len(table), "bytes": path.stat().st_size, "sha256": digest}
    if recount:
        manifest.update(_counts(tables(folder)))
    manifest["seal"] = sealed(manifest)
    _dump(folder, manifest)


def rehash(folder: Path, file: str) -> None:
    """Make the manifest's entry of a file, and the seal, right again."""
    manifest = json.loads((folder / MANIFEST).read_text())
    digest = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    manifest["files"][file] |= {"bytes": (folder / file).stat().st_size, "sha256": digest}
    manifest["seal"] = sealed(manifest)
    _dump(folder, manifest)


def _counts(found: dict[str, pl.DataFrame]) -> dict[str, int]:
    cells = found["ratings"] if "ratings" in found else found["profiles"]
    members = found.get("members", pl.DataFrame({"user": cells[:, 0].unique()}))
    joined = cells if "ratings" in found else members.join(cells, on="group")
    counts = {"n_users": len(members), "n_items": cells["item"].n_unique(), "n_ratings": len(joined)}
    return counts | ({"n_groups": cells["group"].n_unique()} if "members" in found else {})


def _dump(folder: Path, manifest: dict[str, Any]) -> None:
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")


def change_rows(folder: Path, chance: Random) -> None:
    """Change a table in one of many ways and make everything else fit again, as somebody who knows the format would."""
    found = tables(folder)
    name = chance.choice(sorted(found))
    reseal(folder, {name: chance.choice(CHANGES)(found[name], chance)}, recount=chance.random() < 0.7)


def _row(table: pl.DataFrame, chance: Random) -> int:
    return chance.randrange(len(table))


def _set(table: pl.DataFrame, row: int, column: str, value: Any) -> pl.DataFrame:
    values = table[column].to_numpy().copy()
    values[row] = value
    return table.with_columns(pl.Series(column, values, dtype=table.schema[column]))


def _relabel(table: pl.DataFrame, chance: Random) -> pl.DataFrame:
    if "rating" not in table.columns:
        return _move(table, chance)
    return _set(
        table, _row(table, chance), "rating", np.float32(chance.choice([1, 1.5, 2, 3, 4.5, 5, 4.03, 9, np.nan]))
    )


def _move(table: pl.DataFrame, chance: Random) -> pl.DataFrame:
    column = table.columns[chance.choice([0, 1])]
    return _set(table, _row(table, chance), column, table[column][_row(table, chance)])


def _stretch(table: pl.DataFrame, chance: Random) -> pl.DataFrame:
    column = table.columns[chance.choice([0, 1])]
    return _set(table, _row(table, chance), column, chance.choice([0, -1, 10**6]))


def _drop(table: pl.DataFrame, chance: Random) -> pl.DataFrame:
    row = _row(table, chance)
    return pl.concat([table[:row], table[row + 1 :]])


def _drop_all_of_one(table: pl.DataFrame, chance: Random) -> pl.DataFrame:
    return table.filter(pl.col(table.columns[0]) != table[_row(table, chance), 0])


def _repeat(table: pl.DataFrame, chance: Random) -> pl.DataFrame:
    row = _row(table, chance)
    return pl.concat([table[: row + 1], table[row:]])


def _copy_one(table: pl.DataFrame, chance: Random) -> pl.DataFrame:
    first, last = table.columns[0], int(table[:, 0].to_numpy().max())
    copied = table.filter(pl.col(first) == table[_row(table, chance), 0])
    return pl.concat([table, copied.with_columns(pl.lit(last + 1, dtype=table.schema[first]).alias(first))])


def _shuffle(table: pl.DataFrame, chance: Random) -> pl.DataFrame:
    return table.sample(fraction=1, shuffle=True, seed=chance.randrange(1000))


CHANGES = [_relabel, _move, _stretch, _drop, _drop_all_of_one, _repeat, _copy_one, _shuffle]


def is_lawful(folder: Path) -> bool:
    """Judge a release the obvious way: every table in order and in range, every row shared by at least k."""
    manifest, found = json.loads((folder / MANIFEST).read_text()), tables(folder)
    cells = found["ratings"] if "ratings" in found else found["profiles"]
    members = found.get("members", pl.DataFrame({"user": cells[:, 0].unique().sort()}))
    name, pairs = cells.columns[0], list(zip(cells[:, 0], cells["item"], strict=True))
    steps = (cells["rating"] - manifest["scale"]["low"]).to_numpy() / manifest["grid"]
    rows: dict[int, list[tuple[int, float]]] = {}
    for key, item, rating in cells.iter_rows():
        rows.setdefault(key, []).append((item, rating))
    shared: dict[str, int] = {}
    for user in members.iter_rows():
        row = str(rows.get(user[-1]))
        shared[row] = shared.get(row, 0) + 1
    n_names = manifest["n_users" if name == "user" else "n_groups"]
    return bool(
        pairs == sorted(set(pairs))
        and np.abs(steps - np.round(steps)).max() < 1e-4
        and cells["rating"].is_between(manifest["scale"]["low"], manifest["scale"]["high"]).all()
        and members["user"].to_list() == list(range(1, manifest["n_users"] + 1))
        and sorted(rows) == list(range(1, n_names + 1))
        and set(members[:, -1]) == set(rows)
        and _counts(found).items() <= manifest.items()
        and (manifest["mode"] == "pure" or {len(row) for row in rows.values()} == {manifest["n_items"]})
        and len({str(row) for row in rows.values()}) <= manifest["n_groups"]
        and min(shared.values()) >= manifest["k"]
    )
