"""Lists of users from files: a user per line, or a table with a column for the user."""

from pathlib import Path

import polars as pl

from recloak._core.errors import SourceError
from recloak._mentions.table_files import decode, existing_file, file_bytes, match_column, read_table, table_suffix
from recloak._ratings.column_roles import NAMES

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


def read_users(path: str | Path) -> list[str]:
    """Return the users of a file, each once, in its order; raise SourceError if there are none."""
    file = existing_file(path)
    users = _column(file) if table_suffix(file) in _TABLES else decode(file_bytes(file)).splitlines()
    named = list(dict.fromkeys(user.strip() for user in users if user.strip()))
    if not named:
        raise SourceError("there are no users in the file", file=file)
    return named


def _column(file: Path) -> list[str]:
    frame = read_table(file)
    name = match_column(frame.columns, NAMES["user"])
    if name is None:
        raise SourceError(f"no column for the user was recognised among {', '.join(frame.columns)}", file=file)
    return frame[name].cast(pl.String).drop_nulls().to_list()
