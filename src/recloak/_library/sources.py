"""Anything that holds ratings, as a `Ratings`: a path, several paths, a table, a sparse matrix, or ratings."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from recloak._core.errors import InputError, OptionError
from recloak._core.results import counted
from recloak._core.spelling import suggests_keywords
from recloak._ratings.options import ReadOptions

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import scipy.sparse

    from recloak._ratings.model import Ratings, Scale

    PathLike: TypeAlias = str | os.PathLike[str]
    Table: TypeAlias = pl.DataFrame | pl.LazyFrame | pd.DataFrame | pa.Table
    Matrix: TypeAlias = scipy.sparse.sparray | scipy.sparse.spmatrix
    RatingsLike: TypeAlias = "Source | ReadSource | Ratings | PathLike | Iterable[PathLike] | Table | Matrix"
    ScaleLike: TypeAlias = "Scale | tuple[float, float] | str"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Source:
    """Files of ratings that are not read yet, and how to read them.

    Pass it wherever ratings are expected when columns must be named but the files must not be read here, as on Spark.

    Parameters
    ----------
    paths
        A file, a folder, or several of them that are read as one source.
    reader, user, item, rating, time, values, table, query, scale, skip_bad, no_limit
        As in `read`.

    Examples
    --------
    >>> import recloak
    >>> recloak.Source("ratings.csv", user="viewer", item="film")
    <Source: ratings.csv>
    """

    paths: tuple[str, ...]
    options: ReadOptions

    def __init__(
        self,
        paths: PathLike | Iterable[PathLike],
        *,
        reader: str | None = None,
        user: str | int | None = None,
        item: str | int | None = None,
        rating: str | int | None = None,
        time: str | int | None = None,
        values: str | None = None,
        table: str | None = None,
        query: str | None = None,
        scale: ScaleLike | None = None,
        skip_bad: bool = False,
        no_limit: bool = False,
    ) -> None:
        given = (paths,) if isinstance(paths, str | os.PathLike) else tuple(paths)
        if not given:
            raise InputError("a source must be at least one path, got none")
        object.__setattr__(self, "paths", tuple(os.fspath(path) for path in given))
        options = read_options(reader, user, item, rating, time, values, table, query, scale, skip_bad, no_limit)
        object.__setattr__(self, "options", options)

    def __repr__(self) -> str:
        return counted(self, self.name)

    @property
    def name(self) -> str:
        """The name of the first file without the folders that lead to it, and how many more there are."""
        from recloak._ratings.databases import database_name, is_database

        if is_database(self.paths[0]):
            return database_name(self.paths[0])
        first = Path(self.paths[0]).absolute().name
        return first if len(self.paths) == 1 else f"{first} and {len(self.paths) - 1} more"


def read_options(
    reader: str | None, user: str | int | None, item: str | int | None, rating: str | int | None,
    time: str | int | None, values: str | None, table: str | None, query: str | None, scale: ScaleLike | None,
    skip_bad: bool, no_limit: bool,
) -> ReadOptions:  # fmt: skip
    """Return the options of reading; a column may be named by a number, a scale by its two ends."""
    columns = {"user": user, "item": item, "rating": rating, "time": time}
    named = {role: None if name is None else str(name) for role, name in columns.items()}
    asked = {"values": values, "table": table, "query": query, "scale": _ends(scale)}
    return ReadOptions(reader=reader, **named, **asked, skip_bad=skip_bad, no_limit=no_limit)


def _ends(scale: ScaleLike | None) -> str | None:
    if scale is None or isinstance(scale, str):
        return scale
    from recloak._ratings.model import Scale

    if isinstance(scale, Scale):
        scale = (scale.low, scale.high)
    ends = tuple(scale) if isinstance(scale, tuple | list) else ()
    if len(ends) != 2 or not all(isinstance(end, Real) for end in ends):
        raise OptionError(f"scale must be its two ends, such as (1, 5), got {scale!r}")
    if not float(ends[0]) < float(ends[1]):
        raise OptionError(f"scale must be (LOW, HIGH) with LOW below HIGH, got {scale!r}")
    return ",".join(repr(end if isinstance(end, int) else float(end)) for end in ends)


@suggests_keywords
def read(
    source: RatingsLike,
    *,
    reader: str | None = None,
    user: str | int | None = None,
    item: str | int | None = None,
    rating: str | int | None = None,
    time: str | int | None = None,
    values: str | None = None,
    table: str | None = None,
    query: str | None = None,
    scale: ScaleLike | None = None,
    skip_bad: bool = False,
    no_limit: bool = False,
) -> Ratings:
    """Read ratings from files, a table or a sparse matrix.

    Parameters
    ----------
    source
        A file, pipe or folder (``"-"``: the standard input), several of them, a polars, pandas or Arrow table,
        a scipy sparse matrix, the URL of a database (``postgresql://``, ``sqlite:///``, ``duckdb:///``), or a `Source`.
    reader
        The layout of the files (``csv``, ``movielens``, ...), where it is not recognised by itself.
    user, item, rating, time
        The columns: names, or numbers from 1 in files without a header; ``time="none"`` leaves times out.
    values
        What the source holds: ``ratings``, ``presence`` (who used what) or ``counts`` (how often). Where it is not said
        it is seen from the values, and ``intake.notes`` tells it: presence without a column of values or where they
        never vary, counts for whole numbers with a long tail or a log in which pairs repeat.
    table, query
        The table of a database, or the SQL whose rows are read; for a source that is the URL of a database.
    scale
        The ratings that can be right, as ``(low, high)``, `Scale` or ``"LOW,HIGH"``; others are bad rows.
    skip_bad
        Drop and count rows that cannot be right instead of stopping at the first; for files.
    no_limit
        Read files that unpack to more than 200 times their size, and lines of more than 1 MB.

    Returns
    -------
    Ratings
        What was taken for granted and left out stands in its ``intake``.

    Raises
    ------
    SourceError
        If a file or a row cannot be read; the message names file, line and value.
    OptionError
        If an option breaks its rule or is not for this kind of source.

    Examples
    --------
    >>> import polars as pl
    >>> import recloak
    >>> recloak.read(pl.DataFrame({"user": ["a", "b"], "item": ["x", "x"], "rating": [4, 5]}))
    <Ratings: 2 users, 1 item, 2 ratings>
    """
    options = read_options(reader, user, item, rating, time, values, table, query, scale, skip_bad, no_limit)
    return as_ratings(source, None if options == ReadOptions() else options)


def as_source(given: object) -> Source | None:
    """Return the files that were given, or None if something else was given."""
    if isinstance(given, Source):
        return given
    if isinstance(given, str | os.PathLike):
        return Source(given)
    if isinstance(given, list | tuple) and given and all(isinstance(path, str | os.PathLike) for path in given):
        return Source(given)
    return None


def as_ratings(given: RatingsLike, options: ReadOptions | None = None) -> Ratings:
    """Return the ratings that any kind of source holds; ``options`` name the columns of files and tables.

    Raises
    ------
    InputError
        If the source is of a kind that holds no ratings, or cannot be read.
    """
    if (source := as_source(given)) is not None:
        from recloak._ratings.readers import read as read_files

        return read_files(source.paths, options=options or source.options)
    return given.ratings if isinstance(given, ReadSource) else _from_memory(given, options or ReadOptions())


def explicit_ratings(given: RatingsLike, step: str) -> Ratings:
    """Return ratings for a step that takes no other kind of values; raise InputError for purchases or plays."""
    from recloak._ratings.value_kinds import RATINGS, require_kind

    ratings = as_ratings(given)
    require_kind(ratings, (RATINGS,), step)
    return ratings


def _from_memory(given: Any, options: ReadOptions) -> Ratings:
    import scipy.sparse

    from recloak._ratings.model import Ratings
    from recloak._ratings.table_input import ratings_from_matrix, ratings_from_table

    if isinstance(given, Ratings):
        _refuse_others(options, (), "ratings that are read already")
        return given
    if scipy.sparse.issparse(given):
        _refuse_others(options, ("scale", "values"), "a matrix")
        return ratings_from_matrix(given, scale=options.bounds(), kind=options.kind)
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "collect"):
        _refuse_others(options, ("user", "item", "rating", "time", "values", "scale"), "a table")
        return ratings_from_table(given, **options.columns(), scale=options.bounds(), kind=options.kind)
    if isinstance(given, list | tuple):
        other = next((type(one).__name__ for one in given if not _is_path(one)), None)
        raise InputError("the list of paths is empty" if other is None else f"a list must hold paths, got {other}")
    raise InputError(
        "ratings must be a path, several paths, a polars, pandas or Arrow table, a scipy sparse matrix or Ratings, "
        f"got {type(given).__name__}"
    )


def _is_path(given: object) -> bool:
    return isinstance(given, str | os.PathLike)


def _refuse_others(options: ReadOptions, allowed: tuple[str, ...], kind: str) -> None:
    """Raise for an option that would change nothing for this kind of source."""
    usual = ReadOptions().to_mapping()
    for name, value in options.to_mapping().items():
        if name not in allowed and value != usual[name]:
            raise OptionError(f"{name}=... is not for {kind}")


@dataclass(frozen=True, slots=True)
class ReadSource:
    """Ratings that were read already, and where from, so that several steps share one reading and name its source."""

    ratings: Ratings
    origin: Origin


@dataclass(frozen=True, slots=True)
class Origin:
    """Where ratings came from, for the account on a page: the files, or no more than that they were in memory."""

    name: str
    paths: tuple[str, ...] = ()


def origin_of(given: object) -> Origin:
    """Return where what was given comes from."""
    if isinstance(given, ReadSource):
        return given.origin
    source = as_source(given)
    if source is None:
        return Origin("ratings in memory")
    from recloak._ratings.databases import is_database

    # A database has no bytes of its own that a page could name by their hash.
    return Origin(source.name, () if is_database(source.paths[0]) else source.paths)
