"""What the manifest claims, and whether the folder's files are those it names."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recloak._core.errors import OptionError
from recloak._releases.model.modes import MODES, modes_with
from recloak._releases.model.release_format import (
    CARD,
    FORMAT,
    MANIFEST,
    TABLES,
    VERSION,
    Diversity,
    part_name,
    sealed,
    table_names,
)

_MOST_MANIFEST_BYTES = 1_000_000
_MOST_VALUES = 1_000_000

# field -> what its value must be, as a type and a rule in words
_FIELDS: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "version": (int,),
    "layout": (str,),
    "file_format": (str,),
    "k": (int,),
    "mode": (str,),
    "paper": (bool,),
    "grid": (float, int, type(None)),
    "min_raters": (int,),
    "diversity": (str, type(None)),
    "max_link": (float, int, type(None)),
    "n_users": (int,),
    "n_items": (int,),
    "n_ratings": (int,),
    "n_groups": (int,),
    "scale": (dict,),
    "promised": (list,),
    "not_promised": (list,),
    "files": (dict,),
    "seal": (str,),
}
_LATER = ("max_link",)  # fields that the first releases do not have; they promise nothing of the kind


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a manifest whose form is right."""

    folder: Path
    layout: str
    file_format: str
    k: int
    mode: str
    grid: float | None
    diversity: Diversity | None
    max_link: float | None
    n_users: int
    n_items: int
    n_ratings: int
    n_groups: int
    low: float
    high: float
    rows: dict[str, int]  # by table
    digests: dict[str, str]  # by file of a table, in the order of the parts


def read_claims(folder: Path, *, hashed: bool = True) -> tuple[Claims | None, list[str]]:
    """Read the manifest and hold it against the folder; claims are None where its form is wrong.

    Without ``hashed`` the tables' SHA-256 are left to the caller, who may have many hands.
    """
    try:
        manifest = _load(folder / MANIFEST)
    except FileNotFoundError:
        return None, [f"there is no {MANIFEST}"]
    except (OSError, ValueError, RecursionError) as error:
        return None, [f"{MANIFEST} cannot be read: {error}"]
    problems = list(_form_problems(manifest))
    if problems:
        return None, problems
    return _claims(folder, manifest), list(_folder_problems(folder, manifest, hashed=hashed))


def _load(path: Path) -> dict[str, Any]:
    """Read a manifest and require the one way to write it, so that no byte can be changed unseen."""
    if path.is_symlink() or path.stat().st_size > _MOST_MANIFEST_BYTES:
        raise ValueError("it must be a file of its own, of at most a megabyte")
    text = path.read_bytes().decode("utf-8")
    manifest = json.loads(text)
    if not isinstance(manifest, dict):
        raise ValueError("it must hold one JSON object")
    if json.dumps(manifest, indent=2, allow_nan=False) + "\n" != text:
        raise ValueError("it is not written as recloak writes it")
    return manifest


def _form_problems(manifest: dict[str, Any]) -> Iterator[str]:
    version = manifest.get("version")
    if manifest.get("format") == FORMAT and type(version) is int and version != VERSION:
        yield f"the release is of format version {version}, and this recloak reads version {VERSION}"
        return
    if list(manifest) != [name for name in _FIELDS if name in manifest or name not in _LATER]:
        missing, unknown = [f for f in _FIELDS if f not in manifest], [f for f in manifest if f not in _FIELDS]
        yield f"the manifest's fields are not those of the format (missing: {missing}, unknown: {unknown})"
        return
    wrong = [name for name in manifest if type(manifest[name]) not in _FIELDS[name]]
    if wrong:
        yield f"the manifest's {wrong[0]} is of the wrong type: {manifest[wrong[0]]!r}"
        return
    if manifest["mode"] not in MODES:
        yield f"the release is of mode {manifest['mode']!r}, and this recloak knows {', '.join(MODES)}"
        return
    if manifest["seal"] != sealed(manifest):
        yield "the manifest was changed after it was sealed"
    yield from _value_problems(manifest)


def _value_problems(manifest: dict[str, Any]) -> Iterator[str]:
    rules = {
        "format": manifest["format"] == FORMAT,
        "version": manifest["version"] == VERSION,
        "layout": manifest["layout"] in TABLES,
        "file_format": manifest["file_format"] in ("parquet", "csv"),
        "k": manifest["k"] >= 2,
        "paper": not manifest["paper"] or (manifest["grid"] is None and manifest["min_raters"] == 1),
        "grid": manifest["grid"] is None or _is_step(manifest["grid"], manifest["scale"]),
        "min_raters": manifest["min_raters"] >= 1,
        "diversity": _is_diversity(manifest["diversity"]),
        "max_link": manifest.get("max_link") is None
        or (manifest["mode"] in modes_with("max_link") and 0 < manifest["max_link"] <= 1),
        "n_users": 2 <= manifest["n_users"] < 2**31,
        "n_items": 1 <= manifest["n_items"] < 2**31,
        "n_ratings": manifest["n_ratings"] >= 1,
        "n_groups": 1 <= manifest["n_groups"] <= manifest["n_users"],
        "scale": _is_scale(manifest["scale"]),
        "promised": _are_sentences(manifest["promised"]),
        "not_promised": _are_sentences(manifest["not_promised"]),
    }
    yield from (f"the manifest's {name} cannot be {manifest[name]!r}" for name, holds in rules.items() if not holds)
    if rules["layout"] and rules["file_format"]:
        yield from _file_entry_problems(manifest)


def _file_entry_problems(manifest: dict[str, Any]) -> Iterator[str]:
    parts = _parts(manifest)
    tables = {name for names in parts.values() for name in names}
    if set(manifest["files"]) != tables | {CARD}:
        yield f"the manifest must name the files {sorted(tables | {CARD})}, got {sorted(manifest['files'])}"
        return
    for name, entry in manifest["files"].items():
        wanted = {"bytes": int, "sha256": str} | ({"rows": int} if name in tables else {})
        if not isinstance(entry, dict) or {field: type(value) for field, value in entry.items()} != wanted:
            yield f"the manifest's entry of {name} has the wrong form"


def _parts(manifest: dict[str, Any]) -> dict[str, list[str]]:
    """Give the files of each table: one of its name or, where that is a folder, its parts from 0 on."""
    files, parts = manifest["files"], {}
    for table, file in table_names(manifest["layout"], manifest["file_format"]).items():
        numbered = itertools.takewhile(files.__contains__, (part_name(file, part) for part in itertools.count()))
        parts[table] = [file] if file in files else list(numbered) or [file]
    return parts


def _is_diversity(text: str | None) -> bool:
    try:
        return text is None or str(Diversity.parse(text)) == text
    except OptionError:
        return False


def _is_scale(scale: dict[str, Any]) -> bool:
    numbers = list(scale) == ["low", "high"] and all(type(end) in (int, float) for end in scale.values())
    return numbers and all(math.isfinite(end) for end in scale.values()) and scale["low"] <= scale["high"]


def _is_step(step: float, scale: dict[str, Any]) -> bool:
    return (
        _is_scale(scale) and math.isfinite(step) and step > 0 and (scale["high"] - scale["low"]) / step < _MOST_VALUES
    )


def _are_sentences(texts: list[Any]) -> bool:
    return bool(texts) and all(isinstance(text, str) and text for text in texts)


def _folder_problems(folder: Path, manifest: dict[str, Any], *, hashed: bool) -> Iterator[str]:
    """Hold every file against its size and hash, and refuse files that the manifest does not name."""
    expected = set(manifest["files"]) | {MANIFEST}
    present = _present(folder, {name.partition("/")[0] for name in expected if "/" in name})
    yield from (f"{name}: is not part of the release" for name in sorted(set(present) - expected))
    yield from (f"{name}: is missing" for name in sorted(expected - set(present)))
    for name, entry in manifest["files"].items():
        if name not in present:
            continue
        if present[name].is_symlink() or not present[name].is_file():
            yield f"{name}: must be a file of its own"
        elif present[name].stat().st_size != entry["bytes"]:
            yield f"{name}: has {present[name].stat().st_size} bytes, the manifest says {entry['bytes']}"
        elif (hashed or name == CARD) and digest_of(present[name]) != entry["sha256"]:
            yield f"{name}: its SHA-256 is not the one in the manifest"


def _present(folder: Path, tables: set[str]) -> dict[str, Path]:
    """Give what lies in the folder, and in the folders of those tables that lie in parts."""
    found: dict[str, Path] = {}
    for entry in folder.iterdir():
        if entry.name in tables and entry.is_dir() and not entry.is_symlink():
            found |= {f"{entry.name}/{part.name}": part for part in entry.iterdir()}
        else:
            found[entry.name] = entry
    return found


def digest_of(path: Path) -> str:
    """Give the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _claims(folder: Path, manifest: dict[str, Any]) -> Claims:
    files, diversity = manifest["files"], manifest["diversity"]
    parts = _parts(manifest)
    return Claims(
        folder,
        manifest["layout"],
        manifest["file_format"],
        manifest["k"],
        manifest["mode"],
        manifest["grid"],
        None if diversity is None else Diversity.parse(diversity),
        manifest.get("max_link"),
        manifest["n_users"],
        manifest["n_items"],
        manifest["n_ratings"],
        manifest["n_groups"],
        float(manifest["scale"]["low"]),
        float(manifest["scale"]["high"]),
        {table: sum(files[name]["rows"] for name in names) for table, names in parts.items()},
        {name: files[name]["sha256"] for names in parts.values() for name in names},
    )
