"""Readers: one file per known layout, chosen by looking at the source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from recloak._core.errors import SourceError
from recloak._core.progress import Advance, task
from recloak._ratings.model import Ratings, Scale
from recloak._ratings.options import READERS, ReadOptions
from recloak._ratings.readers import csv, movielens, netflix, parquet, recbole
from recloak._ratings.readers.delimited import read_delimited
from recloak._ratings.readers.dialect import Dialect
from recloak._ratings.readers.parquet import begins_as_parquet
from recloak._ratings.readers.source_files import Sample, files_of, sample_of
from recloak._ratings.readers.typed_parquet import read_quickly
from recloak._ratings.row_buffer import RowBuffer

__all__ = ["READERS", "ReadOptions", "detect", "read"]

_DELIMITED = {"csv": csv.dialect, "tsv": csv.dialect, "movielens": movielens.dialect, "recbole": recbole.dialect}


def read(source: str | Path | Iterable[str | Path], *, options: ReadOptions | None = None) -> Ratings:
    """Read a file, a folder, or several of them as one source of ratings.

    The layout is recognised by looking at the files; what was taken for granted stands in ``intake.notes``.
    """
    options = options or ReadOptions()
    files = files_of(source)
    rows = RowBuffer()
    with task("reading", sum(file.stat().st_size for file in files if file.is_file()) / 1e6) as advance:
        quick = read_quickly(files, options, advance) if _may_be_quick(files, options) else None
        if quick is not None:
            return _scaled(quick, options)
        _read_files(files, rows, options, advance)
    return _scaled(rows.finish(None, file=files[0] if len(files) == 1 else None), options)


def _may_be_quick(files: list[Path], options: ReadOptions) -> bool:
    """Tell whether all files are Parquet that is not compressed once more."""
    return options.reader in (None, "parquet") and all(begins_as_parquet(file) for file in files)


def detect(path: str | Path) -> str:
    """Give the name of the reader for a file."""
    return _reader(sample_of(Path(path)))


def _reader(sample: Sample) -> str:
    if parquet.matches(sample):
        return "parquet"
    if netflix.matches(sample):
        return "netflix"
    if recbole.matches(sample):
        return "recbole"
    return "movielens" if movielens.matches(sample) else "csv"


def _read_files(files: list[Path], rows: RowBuffer, options: ReadOptions, advance: Advance) -> None:
    reader = options.reader or detect(files[0])
    if reader == "netflix":
        netflix.read_netflix(files, rows, options, advance)
        return
    first: Dialect | None = None
    for file in files:
        sample = sample_of(file)
        here = options.reader or _reader(sample)
        if here == "parquet":
            parquet.read_parquet(sample, rows, options, advance)
        elif here == "netflix":
            raise SourceError(f"is in the Netflix layout, but {files[0]} is not; read them apart", file=file)
        else:
            dialect = _DELIMITED[here](sample, options)
            first = first or dialect
            dialect = _like_first(dialect, first)
            if dialect.note:
                rows.note(dialect.note)
            read_delimited(file, dialect, rows, scale=options.bounds(), skip_bad=options.skip_bad, advance=advance)


def _like_first(dialect: Dialect, first: Dialect) -> Dialect:
    """Take a part without a header to have the columns of the first file."""
    if first.has_header and not dialect.has_header and dialect.n_fields == first.n_fields:
        return Dialect(
            dialect.separator, dialect.quoting, dialect.n_head, dialect.n_fields, first.roles, has_header=False
        )
    return dialect


def _scaled(ratings: Ratings, options: ReadOptions) -> Ratings:
    bounds = options.bounds()
    return ratings if bounds is None else replace(ratings, scale=Scale(bounds.low, bounds.high, ratings.scale.step))
