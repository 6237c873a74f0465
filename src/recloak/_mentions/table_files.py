"""Tables from files: CSV, TSV, JSONL or Parquet, by the ending of the name."""

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from recloak._core.errors import SourceError
from recloak._ratings.column_roles import fold
from recloak._ratings.opened_files import SourceFile
from recloak._ratings.source_files import STDIN
from recloak._ratings.table_input import FAILURES

_MOST_BYTES = 1 << 32


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file or pipe (``-``: the standard input); raise SourceError if there is none."""
    file = Path("/dev/stdin" if os.fspath(path) == STDIN else path)
    if not file.exists() or file.is_dir():
        raise SourceError("there is no such file", file=file)
    return file


def file_bytes(file: Path) -> bytes:
    """Return the bytes of a file, unpacked; raise SourceError if they are too many to be a table."""
    with SourceFile(file) as opened, opened.stream() as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise SourceError("holds more than 4 GB, too much for a table in memory", file=file)
    return data


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
    with _telling(file, suffix[1:]):
        return _parsed(file, suffix, lambda data: data)


def read_any_encoding(file: Path, *, latin: bool = False) -> pl.DataFrame:
    """Return the table of a file that need not be UTF-8; see `decode`."""
    with _telling(file, "a table"):
        return _parsed(file, table_suffix(file), lambda data: decode(data, latin=latin).encode())


def _parsed(file: Path, suffix: str, cleaned: Callable[[bytes], bytes]) -> pl.DataFrame:
    if suffix == ".parquet":
        with SourceFile(file) as opened:
            return pl.read_parquet(opened.seekable(), glob=False)
    text = io.BytesIO(cleaned(file_bytes(file)))
    if suffix in (".jsonl", ".ndjson"):
        return pl.read_ndjson(text, infer_schema_length=None)
    separator, quote = "\t" if suffix in (".tsv", ".inter", ".item") else ",", None if suffix == ".item" else '"'
    return _without_types(pl.read_csv(text, separator=separator, quote_char=quote, infer_schema_length=None))


@contextmanager
def _telling(file: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except FAILURES as error:
        raise SourceError(
            f"it cannot be read as {kind}: {next(iter(str(error).splitlines()), '')}", file=file
        ) from error


def _without_types(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop the types that RecBole appends to a column's name (``user_id:token``)."""
    return frame.rename({name: name.split(":")[0] for name in frame.columns})


def match_column(names: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the column with the first of the known names, compared by letters and digits."""
    folded = {fold(name): name for name in reversed(names)}
    return next((folded[name] for name in known if name in folded), None)
