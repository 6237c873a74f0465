"""What the fields of a manifest may hold: a value that recloak never writes is refused before a table is opened."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from recloak._core.errors import OptionError
from recloak._releases.model.manifest import RowExposure
from recloak._releases.model.modes import MODES, modes_with
from recloak._releases.model.release_format import CARD, FORMAT, VERSION, Diversity, part_name, sealed, table_names
from recloak._releases.verifier.event_claims import event_rules
from recloak._releases.verifier.factor_claims import factor_rules
from recloak._releases.verifier.statistics_claims import are_statistics, statistics_files

_MOST_VALUES = 1_000_000
_LARGEST = 1e15  # of a scale's ends and a grid's step
_LONGEST_SHOWN = 80
_MOST_COUNT = 2**31

# field -> what its value must be, as a type and a rule in words
_FIELDS: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "version": (int,),
    "layout": (str,),
    "file_format": (str,),
    "k": (int,),
    "mode": (str,),
    "values": (str,),
    "paper": (bool,),
    "grid": (float, int, type(None)),
    "labels": (str,),
    "min_raters": (int, type(None)),
    "diversity": (str, type(None)),
    "max_link": (float, int, type(None)),
    "min_shown": (int, type(None)),
    "decoys": (float, int, type(None)),
    "exposure": (dict, type(None)),
    "mean": (float, type(None)),
    "precision": (float, type(None)),
    "rank": (int, type(None)),
    "boost": (float,),
    "holders": (int,),
    "statistics": (dict,),
    "popular_alone": (float,),
    "surest": (float,),
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
_LATER = (
    "values",
    "max_link",
    "labels",
    "min_shown",
    "decoys",
    "exposure",
    "mean",
    "precision",
    "rank",
    "boost",
    "holders",
    "statistics",
    "popular_alone",
    "surest",
)  # fields that the first releases do not have; they promise nothing of the kind


def form_problems(manifest: dict[str, Any]) -> Iterator[str]:
    """Say what is wrong with the form of a manifest: its fields, their values, and the files it names."""
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
        yield f"the manifest's {wrong[0]} is of the wrong type: {_shown(manifest[wrong[0]])}"
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
        "layout": manifest["layout"] in MODES[manifest["mode"]].layouts,
        "file_format": manifest["file_format"] in ("parquet", "csv"),
        **event_rules(manifest),
        "k": 2 <= manifest["k"] < _MOST_COUNT,
        "paper": not manifest["paper"] or (manifest["grid"] is None and manifest["min_raters"] == 1),
        "grid": manifest["grid"] is None or _is_step(manifest["grid"], manifest["scale"]),
        "labels": manifest.get("labels", "raters") in MODES[manifest["mode"]].leaks,
        "min_raters": _are_raters(manifest["min_raters"], manifest.get("labels")),
        "diversity": _is_diversity(manifest["diversity"], manifest["n_groups"]),
        "max_link": manifest.get("max_link") is None
        or (manifest["mode"] in modes_with("max_link") and 0 < manifest["max_link"] <= 1),
        "min_shown": _is_at_least(manifest, "min_shown", 2),
        "decoys": _is_at_least(manifest, "decoys", 0),
        "boost": ("boost" in manifest) == MODES[manifest["mode"]].is_drawn and 0 <= manifest.get("boost", 0) <= 1,
        "holders": manifest["k"] <= manifest["holders"] < _MOST_COUNT
        if "holders" in manifest
        else "boost" not in manifest,
        "statistics": are_statistics(manifest),
        "exposure": manifest.get("exposure") is None or _is_exposure(manifest["exposure"]),
        "n_users": 2 <= manifest["n_users"] < _MOST_COUNT,
        "n_items": 1 <= manifest["n_items"] < _MOST_COUNT,
        "n_ratings": 1 <= manifest["n_ratings"] < 2**63,
        "n_groups": 1 <= manifest["n_groups"] <= manifest["n_users"],
        "scale": _is_scale(manifest["scale"]),
        "promised": _are_sentences(manifest["promised"]),
        "not_promised": _are_sentences(manifest["not_promised"]),
    }
    for name, holds in factor_rules(manifest).items():
        rules[name] = rules.get(name, True) and holds
    yield from (
        f"the manifest's {name} cannot be {_shown(manifest.get(name))}" for name, holds in rules.items() if not holds
    )
    if rules["layout"] and rules["file_format"]:
        yield from _file_entry_problems(manifest)


def _is_at_least(manifest: dict[str, Any], field: str, least: float) -> bool:
    """Return whether a field is not set, or large enough and taken by the mode."""
    value = manifest.get(field)
    return value is None or (manifest["mode"] in modes_with(field) and least <= value < _MOST_COUNT)


def _is_exposure(said: dict[str, Any]) -> bool:
    """Return whether a measured exposure is two shares in hundredths: more digits could say anything."""
    return list(said) == list(RowExposure._fields) and all(
        type(share) is float and 0 <= share <= 1 and share == round(share, 2) for share in said.values()
    )


def _are_raters(fewest: int | None, labels: str | None) -> bool:
    """Return whether there is a minimum of raters, or labels hold none's rating."""
    return labels == "model" if fewest is None else 1 <= fewest < _MOST_COUNT and labels != "model"


def _file_entry_problems(manifest: dict[str, Any]) -> Iterator[str]:
    parts = parts_of(manifest)
    tables = {name for names in parts.values() for name in names}
    if set(manifest["files"]) != tables | {CARD}:
        yield f"the manifest must name the files {sorted(tables | {CARD})}, got {sorted(manifest['files'])}"
        return
    for name, entry in manifest["files"].items():
        wanted = {"bytes": int, "sha256": str} | ({"rows": int} if name in tables else {})
        if not isinstance(entry, dict) or {field: type(value) for field, value in entry.items()} != wanted:
            yield f"the manifest's entry of {name} has the wrong form"


def parts_of(manifest: dict[str, Any]) -> dict[str, list[str]]:
    """Return the files of each table: one of its name or, where that is a folder, its parts from 0 on."""
    files, parts = manifest["files"], {}
    tables = table_names(manifest["layout"], manifest["file_format"]) | statistics_files(manifest)
    for table, file in tables.items():
        numbered = itertools.takewhile(files.__contains__, (part_name(file, part) for part in itertools.count()))
        parts[table] = [file] if file in files else list(numbered) or [file]
    return parts


def _is_diversity(text: str | None, n_groups: int) -> bool:
    try:
        return text is None or (str(Diversity.parse(text)) == text and Diversity.parse(text).l <= n_groups)
    except OptionError:
        return False


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that arithmetic can take; JSON knows whole numbers of any length."""
    return type(value) in (int, float) and abs(value) <= _LARGEST


def _is_plain(value: float) -> bool:
    """Return whether a number has six decimals at most, or is one that a rating of 32 bits can be."""
    return value in (round(value, 6), float(np.float32(value)))


def _is_scale(scale: dict[str, Any]) -> bool:
    numbers = list(scale) == ["low", "high"] and all(_is_number(end) and _is_plain(end) for end in scale.values())
    return numbers and bool(scale["low"] <= scale["high"])


def _is_step(step: float, scale: dict[str, Any]) -> bool:
    return _is_scale(scale) and _is_number(step) and step > 0 and (scale["high"] - scale["low"]) < _MOST_VALUES * step


def _shown(value: Any) -> str:
    """Return a value for a message, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _are_sentences(texts: list[Any]) -> bool:
    return bool(texts) and all(isinstance(text, str) and text for text in texts)
