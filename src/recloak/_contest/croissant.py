"""The Croissant description of a contest's data (MLCommons Croissant 1.0), so that tools can find and load it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recloak._contest.model import QUESTIONS, RELEASE
from recloak._core.files import sha256_of

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_FORMATS = {".csv": "text/csv", ".parquet": "application/x-parquet"}
_TYPES = {"rating": "sc:Float", "group": "sc:Integer", "user": "sc:Integer", "question": "sc:Integer"}


def croissant(folder: Path, tables: dict[str, tuple[str, ...]], *, item_is_text: bool) -> dict[str, Any]:
    """Describe the files of a contest; ``tables`` has the columns of each file by its path."""
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": "anonymised-ratings-contest",
        "description": "Anonymised ratings to train on, and questions whose answers were held out.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": "TERMS.md",
        "url": "TASK.md",
        "version": "1.0.0",
        "distribution": [_file(folder, path) for path in tables],
        "recordSet": [_records(path, columns, item_is_text) for path, columns in tables.items()],
    }


def tables_of(folder: Path, release_columns: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the columns of the questions and of the release's tables by their paths in the folder."""
    found = {f"{RELEASE}/{file}": columns for file, columns in release_columns.items()}
    return {
        QUESTIONS: ("question", "group", "item"),
        **{path: c for path, c in found.items() if (folder / path).is_file()},
    }


def _file(folder: Path, path: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "encodingFormat": _FORMATS[Path(path).suffix],
        "sha256": sha256_of(folder / path),
    }


def _records(path: str, columns: tuple[str, ...], item_is_text: bool) -> dict[str, Any]:
    name = Path(path).stem
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "dataType": _TYPES.get(column, "sc:Text" if item_is_text else "sc:Integer"),
            "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
        }
        for column in columns
    ]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}
