"""Ways to tamper with a release, from a flipped byte to a rewritten table with hashes and seal made right again."""

import hashlib
import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from recloak._releases.model.card import data_card
from recloak._releases.model.manifest import facts_in, manifest_of, not_promised, promised
from recloak._releases.model.release_format import CARD, MANIFEST, STORED, sealed
from tests.releases import naive_bytes

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
    return {path.stem: _table(path) for path in sorted(folder.iterdir()) if path.suffix in (".parquet", ".csv")}


def _table(path: Path) -> pl.DataFrame:
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    kinds: dict[str, Any] = {"user": pl.Int32, "group": pl.Int32}
    names = pl.read_csv(path, n_rows=0).columns
    numbers = {name: pl.Float32 for name in names if name not in ("user", "group", "item")}
    return pl.read_csv(path, schema_overrides={name: kinds[name] for name in names if name in kinds} | numbers)


def reseal(folder: Path, changed: dict[str, pl.DataFrame], *, recount: bool) -> None:
    """Write changed tables as recloak would, and make hashes, sizes, seal and, where asked, all counts right again.

    Where it recounts, the data card is made to fit as well.
    """
    manifest = json.loads((folder / MANIFEST).read_text())
    for name, table in changed.items():
        path = folder / f"{name}.{manifest['file_format']}"
        path.write_bytes(table_bytes(table, name, manifest))
        manifest["files"][path.name]["rows"] = len(table)
    if recount:
        manifest.update(_counts(tables(folder)))
    _seal(folder, manifest, restated=recount)


def table_bytes(table: pl.DataFrame, name: str, manifest: dict[str, Any]) -> bytes:
    """Give the one way to write a table."""
    if manifest["file_format"] == "csv":
        return naive_bytes.csv_bytes(table)
    return naive_bytes.parquet_bytes(table, stored_in(name, manifest), naive_bytes.grid_of(manifest))


def stored_in(name: str, manifest: dict[str, Any]) -> dict[str, str]:
    """Give what the columns of a table store."""
    n_factors = manifest["rank"] if name in ("groups", "items") else 0
    return {**STORED[name], **{f"f{number + 1}": "decimals" for number in range(n_factors)}}


def restate(folder: Path, **changes: Any) -> None:
    """Change what the manifest says, and make the data card, the sentences and the seal fit."""
    _seal(folder, {**json.loads((folder / MANIFEST).read_text()), **changes}, restated=True)


def _seal(folder: Path, manifest: dict[str, Any], *, restated: bool) -> None:
    if restated:
        facts = facts_in(manifest)
        manifest |= {"promised": promised(facts), "not_promised": not_promised(facts)}
        (folder / CARD).write_text(data_card(facts, manifest["layout"], manifest["file_format"]))
    for name, entry in manifest["files"].items():
        content = (folder / name).read_bytes()
        entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
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
    if "groups" in found:
        n_users, n_items, n_groups = (len(found[name]) for name in ("members", "items", "groups"))
        return {"n_users": n_users, "n_items": n_items, "n_ratings": n_users * n_items, "n_groups": n_groups}
    cells = found["ratings"] if "ratings" in found else found["profiles"]
    members = found.get("members", pl.DataFrame({"user": cells[:, 0].unique()}))
    joined = cells if "ratings" in found else members.join(cells, on="group")
    rows: dict[int, list[Any]] = {}
    for name, *cell in cells.iter_rows():
        rows.setdefault(name, []).append(cell)
    named = (members if "ratings" in found else cells) if "members" in found else pl.DataFrame()
    n_groups = named["group"].n_unique() if len(named) else len({str(row) for row in rows.values()})
    counts = {"n_users": len(members), "n_items": cells["item"].n_unique(), "n_ratings": len(joined)}
    return {**counts, "n_groups": n_groups}


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
    if "bias" in table.columns:
        column = chance.choice([name for name in table.columns if name not in ("group", "item")])
        value = chance.choice([0.01, -0.37, 0.005, 2, 0.370001, 1e9, np.nan, -0.0, 5])
        return _set(table, _row(table, chance), column, np.float32(value))
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


def _turn(table: pl.DataFrame, chance: Random) -> pl.DataFrame:
    """Change the sign of a factor, or the order of two; every cell stays what it was if all tables are changed."""
    factors = [name for name in table.columns if name.startswith("f")]
    if not factors:
        return _shuffle(table, chance)
    one, other = chance.choice(factors), chance.choice(factors)
    if one == other:
        return table.with_columns(pl.Series(one, -table[one].to_numpy() + np.float32(0)))
    return table.with_columns(pl.col(one).alias(other), pl.col(other).alias(one))


CHANGES = [_relabel, _move, _stretch, _drop, _drop_all_of_one, _repeat, _copy_one, _shuffle, _turn]


def is_lawful(folder: Path) -> bool:
    """Judge a release the obvious way: every table in order and in range, every row shared by at least k.

    And every file the one that follows from what was read: tables written again by `naive_bytes`, card and manifest
    from what was counted.
    """
    manifest, found = json.loads((folder / MANIFEST).read_text()), tables(folder)
    return _is_possible(manifest) and _keeps_its_promise(manifest, found) and _is_canonical(folder, manifest, found)


def _is_possible(manifest: dict[str, Any]) -> bool:
    """Tell whether options could be those of a release."""
    kinds = {"k": int, "mode": str, "paper": bool}
    cap, few, told = manifest["max_link"], manifest["min_raters"], manifest["exposure"]
    decoys = manifest["decoys"]  # whether any were put in, and how many, cannot be seen from outside
    of_model = few is None and manifest["labels"] == "model" and manifest["mode"] in ("padded", "sampled")
    sampled, boost, holders = manifest["mode"] == "sampled", manifest.get("boost"), manifest.get("holders")
    of_raters = type(few) is int and few >= 1 and manifest["labels"] == "raters"
    return (
        all(type(manifest[name]) is kind for name, kind in kinds.items())
        and manifest["k"] >= 2
        and (of_model or of_raters)
        and (told is None or (list(told) == ["found", "member"] and all(_is_share(one) for one in told.values())))
        and manifest["min_shown"] is None
        and (("boost" in manifest) == ("holders" in manifest) == sampled)
        and (not sampled or (_is_part(boost) and type(holders) is int and holders >= manifest["k"]))
        and (decoys is None or (type(decoys) is float and decoys >= 0 and manifest["mode"] == "pure"))
        and (not manifest["paper"] or (manifest["grid"] is None and manifest["min_raters"] == 1))
        and (cap is None or (type(cap) is float and 0 < cap <= 1 and manifest["mode"] == "pure"))
        and manifest["diversity"] in (None, "1,2")
        and manifest["scale"]["low"] <= manifest["scale"]["high"]
    )


def _is_part(value: Any) -> bool:
    return type(value) is float and 0 <= value <= 1


def _is_share(value: Any) -> bool:
    return type(value) is float and 0 <= value <= 1 and round(value, 2) == value


def _is_canonical(folder: Path, manifest: dict[str, Any], found: dict[str, pl.DataFrame]) -> bool:
    kinds: dict[str, list[Any]] = {
        "user": [pl.Int32],
        "group": [pl.Int32],
        "item": [pl.Int32, pl.Int64, pl.String],
    }
    if any(
        kind not in kinds.get(name, [pl.Float32]) for table in found.values() for name, kind in table.schema.items()
    ):
        return False
    facts = replace(facts_in(manifest), **_counts(found))  # type: ignore[arg-type]
    kind = manifest["file_format"]
    wanted = {f"{name}.{kind}": table_bytes(table, name, manifest) for name, table in found.items()}
    wanted[CARD] = data_card(facts, manifest["layout"], kind).encode()
    rows = {f"{name}.{kind}": {"rows": len(table)} for name, table in found.items()}
    entries = {
        name: {**rows.get(name, {}), "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in wanted.items()
    }
    said = manifest_of(facts, manifest["layout"], kind, entries)
    wanted[MANIFEST] = (json.dumps(said, indent=2) + "\n").encode()
    return wanted == {path.name: path.read_bytes() for path in folder.iterdir()}


def _factors_keep_their_promise(manifest: dict[str, Any], found: dict[str, pl.DataFrame]) -> bool:
    groups, items, members = found["groups"], found["items"], found["members"]
    factors, step = items.columns[2:], manifest["precision"]
    numbers = [list(row[1:]) for table in (groups, items) for row in table.iter_rows()]
    codes = [[round(value / step) for value in items[name]] for name in factors]
    sizes = [sum(code * code for code in column) for column in codes]
    leading = [sum(column) or next((code for code in column if code), 0) for column in codes]
    rows = {row[0]: str(row[1:]) for row in groups.iter_rows()}
    shared: dict[str, int] = {}
    for group in members["group"]:
        shared[rows[group]] = shared.get(rows[group], 0) + 1
    return bool(
        manifest["labels"] == "model"
        and manifest["grid"] is None
        and all(np.float32(round(round(value / step) * step, 2)) == value for row in numbers for value in row)
        and not any(str(value) == "-0.0" for row in numbers for value in row)
        and max((abs(value) for row in numbers for value in row), default=0) <= 1e6 * step
        and abs(manifest["mean"] / step - round(manifest["mean"] / step)) < 1e-9
        and groups.columns == list(stored_in("groups", manifest))
        and items.columns == list(stored_in("items", manifest))
        and members.columns == ["user", "group"]
        and sizes == sorted(sizes, reverse=True)
        and all(sizes)
        and min(leading, default=0) >= 0
        and groups["group"].to_list() == list(range(1, manifest["n_groups"] + 1))
        and items["item"].to_list() == sorted(set(items["item"]))
        and members["user"].to_list() == list(range(1, manifest["n_users"] + 1))
        and set(members["group"]) == set(rows)
        and _counts(found).items() <= manifest.items()
        and min(shared.values()) >= manifest["k"]
    )


def _drawn_rows_keep_their_promise(manifest: dict[str, Any], found: dict[str, pl.DataFrame]) -> bool:
    cells, members = found["ratings"], found["members"]
    pairs = list(zip(cells["user"], cells["item"], strict=True))
    steps = (cells["rating"] - manifest["scale"]["low"]).to_numpy() / manifest["grid"]
    names, groups = list(range(1, manifest["n_users"] + 1)), members["group"].to_list()
    return bool(
        pairs == sorted(set(pairs))
        and np.abs(steps - np.round(steps)).max() < 1e-4
        and cells["rating"].is_between(manifest["scale"]["low"], manifest["scale"]["high"]).all()
        and members["user"].to_list() == names == sorted(set(cells["user"]))
        and sorted(set(groups)) == list(range(1, manifest["n_groups"] + 1))
        and _counts(found).items() <= manifest.items()
        and all(manifest[name] is None for name in ("mean", "precision", "rank"))
        and min(groups.count(group) for group in groups) >= manifest["k"]
    )


def _keeps_its_promise(manifest: dict[str, Any], found: dict[str, pl.DataFrame]) -> bool:
    if "groups" in found:
        return _factors_keep_their_promise(manifest, found)
    if manifest["layout"] == "drawn":
        return _drawn_rows_keep_their_promise(manifest, found)
    cells = found["ratings"] if "ratings" in found else found["profiles"]
    members = found.get("members", pl.DataFrame({"user": cells[:, 0].unique().sort()}))
    name, pairs = cells.columns[0], list(zip(cells[:, 0], cells["item"], strict=True))
    if any(manifest[name] is not None for name in ("mean", "precision", "rank")):
        return False
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
        and min(shared.values()) >= manifest["k"]
    )


# What somebody does who knows the format and seals again.


def smuggle_bytes(folder: Path, chance: Random) -> None:
    """Change, put in or take out a few bytes of a table or the card."""
    path = chance.choice([path for path in sorted(folder.iterdir()) if path.name != MANIFEST])
    content, note = path.read_bytes(), chance.choice([b"\0", b" ", b"\n", b"\r", b"0", b"ann", b"3.50"])
    place = chance.choice([chance.randrange(len(content)), len(content), max(len(content) - 8, 0)])
    taken = chance.choice([0, 0, 1, len(note)])
    path.write_bytes(content[:place] + note * chance.randrange(2) + content[place + taken :])
    rehash(folder, path.name)


def smuggle_before_the_footer(folder: Path, chance: Random) -> None:
    """Put text where no reader looks: before the footer, or among the pages with all places moved."""
    manifest = json.loads((folder / MANIFEST).read_text())
    if manifest["file_format"] != "parquet":
        return spell_otherwise(folder, chance)
    path = chance.choice(sorted(folder.glob("*.parquet")))
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:start] + chance.choice([b"ann", b"\0" * 16, content[4:40]]) + content[start:])
    return rehash(folder, path.name)


def write_with_arrow(folder: Path, chance: Random) -> None:
    """Write a table with another writer, in one of the many ways that it has."""
    manifest = json.loads((folder / MANIFEST).read_text())
    if manifest["file_format"] != "parquet":
        return spell_otherwise(folder, chance)
    path = chance.choice(sorted(folder.glob("*.parquet")))
    table = pq.read_table(path)
    if chance.random() < 0.3:
        table = table.replace_schema_metadata({"note": "ann"})
    schema = pa.schema([field.with_nullable(False) for field in table.schema], table.schema.metadata)
    pq.write_table(
        table.cast(schema), path,
        compression=chance.choice(["none", "zstd", "snappy", "gzip"]),
        use_dictionary=chance.choice([True, False, ["rating"]]),
        row_group_size=chance.choice([3, 10, 10**6]),
        data_page_size=chance.choice([16, 1 << 20]),
        write_statistics=chance.random() < 0.5,
        store_schema=chance.random() < 0.5,
        data_page_version=chance.choice(["1.0", "2.0"]),
    )  # fmt: skip
    return rehash(folder, path.name)


def mutate_pages(folder: Path, chance: Random) -> None:
    """Write a table as recloak would but for one thing: another cut, order, width or run."""
    manifest = json.loads((folder / MANIFEST).read_text())
    if manifest["file_format"] != "parquet":
        return spell_otherwise(folder, chance)
    name = chance.choice(sorted(tables(folder)))
    table, stored, grid = tables(folder)[name], stored_in(name, manifest), naive_bytes.grid_of(manifest)
    way = chance.choice(["cut", "grid", "stored", "width", "sign", "wide"])
    most = chance.choice([1, 7, 20]) if way == "cut" else naive_bytes.BLOCK_CELLS
    if way == "grid" and grid is not None:
        grid = chance.choice([grid[::-1], [*grid, 9.0], sorted({*grid, *grid, 2.75}), [*grid, grid[-1]]])
    if way == "stored":
        stored = {column: chance.choice(["reals", "names", "numbers", "labels", "decimals"]) for column in stored}
    if way == "sign" and "rating" in table.columns:
        table, grid = table.with_columns(-pl.col("rating") * 0), None
    if way == "sign" and "bias" in table.columns:
        table = table.with_columns(-pl.col("bias") * 0)
    if way == "wide":
        column = chance.choice([column for column in table.columns if table.schema[column] == pl.Int32])
        table = table.with_columns(pl.col(column).cast(pl.Int64))
    path = folder / f"{name}.parquet"
    try:
        path.write_bytes(naive_bytes.parquet_bytes(table, stored, grid, most))
    except (TypeError, ValueError, struct.error):  # no such page can be written
        return smuggle_bytes(folder, chance)
    if way == "width":
        content = path.read_bytes()
        place = chance.randrange(4, len(content) - 8)
        path.write_bytes(content[:place] + bytes([content[place] ^ (1 << chance.randrange(8))]) + content[place + 1 :])
    return rehash(folder, path.name)


def spell_otherwise(folder: Path, chance: Random) -> None:
    """Spell a few cells of a text table in another way that readers take for the same."""
    files = sorted(folder.glob("*.csv"))
    if not files:
        return mutate_pages(folder, chance)
    path = chance.choice(files)
    lines = path.read_text().split("\n")
    for _ in range(chance.choice([1, 5])):
        row = chance.randrange(1, len(lines) - 1)
        cells = lines[row].split(",")
        place = chance.randrange(len(cells))
        way = chance.choice(["{}0", "0{}", "+{}", " {}", "{} ", '"{}"', "{}e0", "{}.0", "{}\r", "{}0000001", "{}"])
        cells[place] = way.format(cells[place])
        lines[row] = ",".join(cells)
    path.write_text("\n".join(lines) + chance.choice(["", "", "\n", " "]))
    return rehash(folder, path.name)


def lie_in_the_manifest(folder: Path, chance: Random) -> None:
    """Change a field of the manifest and seal it; sometimes the card and the sentences are made to fit."""
    manifest = json.loads((folder / MANIFEST).read_text())
    field = chance.choice([name for name in manifest if name not in ("files", "seal")])
    value = _another(manifest[field], chance)
    if field in ("promised", "not_promised"):
        value = [*manifest[field][:-1], manifest[field][-1] + " ann"]
    if field == "scale":
        value = {**manifest["scale"], chance.choice(["low", "high"]): chance.choice([3, 0.5, 5.0, 10**400, -0.0])}
    manifest[field] = value
    if chance.random() < 0.5:
        try:
            return restate(folder, **{field: value})
        except Exception:
            pass
    manifest["seal"] = sealed(manifest)
    return _dump(folder, manifest)


def replace_the_card(folder: Path, chance: Random) -> None:
    """Say something else to people who read."""
    card = (folder / CARD).read_text()
    changed = chance.choice([card + "\nann", card.replace("of", "0f", 1), card.upper(), card.replace("\n", "\r\n"), ""])
    (folder / CARD).write_text(changed, newline="")
    rehash(folder, CARD)


RESEALED: list[Tamper] = [
    change_rows, smuggle_bytes, smuggle_before_the_footer, write_with_arrow, mutate_pages, spell_otherwise,
    lie_in_the_manifest, replace_the_card,
]  # fmt: skip
