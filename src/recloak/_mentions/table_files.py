"""Tables from files: CSV, TSV, JSONL or Parquet, by the ending of the name."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from recloak._core.errors import SourceError
from recloak._ratings.column_roles import fold


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file; raise SourceError if there is none."""
    file = Path(path)
    if not file.is_file():
        raise SourceError("there is no such file", file=file)
    return file


def table_suffix(file: Path) -> str:
    """Return the ending of a name, without that of a compression."""
    return next((part.lower() for part in reversed(file.suffixes) if part not in (".gz", ".zst")), "")


def decode(data: bytes, *, latin: bool = False) -> str:
    """Return UTF-8 bytes as text; other bytes are read as Latin-1 as a whole, or replaced one by one."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1") if latin else data.decode("utf-8", errors="replace")


def read_table(path: str | os.PathLike[str]) -> pl.DataFrame:
    """Return the table of a file, which must be UTF-8."""
    file = existing_file(path)
    suffix = table_suffix(file) or ".csv"
    try:
        if suffix == ".parquet":
            return pl.read_parquet(file)
        if suffix in (".jsonl", ".ndjson"):
            return pl.read_ndjson(file)
        separator = "\t" if suffix in (".tsv", ".inter") else ","
        return _without_types(pl.read_csv(file, separator=separator, infer_schema_length=None))
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise SourceError(f"it cannot be read as {suffix[1:]}: {str(error).splitlines()[0]}", file=file) from error


def read_any_encoding(file: Path, *, latin: bool = False) -> pl.DataFrame:
    """Return the table of a file that need not be UTF-8; see `decode`."""
    suffix = table_suffix(file)
    try:
        if suffix == ".parquet":
            return pl.read_parquet(file)
        if file.suffix in (".gz", ".zst"):
            return _without_types(pl.read_csv(file, encoding="utf8-lossy", infer_schema_length=None))
        text = io.BytesIO(decode(file.read_bytes(), latin=latin).encode())
        if suffix in (".jsonl", ".ndjson"):
            return pl.read_ndjson(text, infer_schema_length=None)
        separator, quote = "\t" if suffix in (".tsv", ".item") else ",", None if suffix == ".item" else '"'
        return _without_types(pl.read_csv(text, separator=separator, quote_char=quote, infer_schema_length=None))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SourceError(f"it cannot be read as a table: {str(error).splitlines()[0]}", file=file) from error


def _without_types(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop the types that RecBole appends to a column's name (``user_id:token``)."""
    return frame.rename({name: name.split(":")[0] for name in frame.columns})


def match_column(names: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the column with the first of the known names, compared by letters and digits."""
    folded = {fold(name): name for name in reversed(names)}
    return next((folded[name] for name in known if name in folded), None)
