"""Anything that holds ratings, as a `Ratings`: a path, several paths, a table, a sparse matrix, or ratings."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from recloak._core.errors import InputError
from recloak._ratings.options import ReadOptions

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import scipy.sparse

    from recloak._ratings.model import Ratings

    PathLike: TypeAlias = str | os.PathLike[str]
    Table: TypeAlias = pl.DataFrame | pl.LazyFrame | pd.DataFrame | pa.Table
    RatingsLike: TypeAlias = (
        "Source | Ratings | PathLike | Iterable[PathLike] | Table | scipy.sparse.sparray | scipy.sparse.spmatrix"
    )


@dataclass(frozen=True, slots=True)
class Source:
    """Files of ratings that are not read yet, and how to read them.

    Pass it wherever ratings are expected when columns must be named or the files must not be read here, as on Spark.
    """

    paths: tuple[str, ...]
    options: ReadOptions = field(default_factory=ReadOptions)

    @property
    def name(self) -> str:
        """The name of the first file without the folders that lead to it, and how many more there are."""
        first = Path(self.paths[0]).absolute().name
        return first if len(self.paths) == 1 else f"{first} and {len(self.paths) - 1} more"


def as_source(given: object) -> Source | None:
    """Return the files that were given, or None if something else was given."""
    if isinstance(given, Source):
        return given
    if isinstance(given, str | os.PathLike):
        return Source((os.fspath(given),))
    if isinstance(given, list | tuple) and given and all(isinstance(path, str | os.PathLike) for path in given):
        return Source(tuple(os.fspath(path) for path in given))
    return None


def as_ratings(given: RatingsLike, options: ReadOptions | None = None) -> Ratings:
    """Return the ratings that any kind of source holds; ``options`` name the columns of files and tables.

    Raises
    ------
    InputError
        If the source is of a kind that holds no ratings, or cannot be read.
    """
    import scipy.sparse  # noqa: PLC0415 (import recloak must stay quick)

    from recloak._ratings.model import Ratings  # noqa: PLC0415 (likewise)
    from recloak._ratings.readers import read  # noqa: PLC0415 (likewise)
    from recloak._ratings.table_input import ratings_from_matrix, ratings_from_table  # noqa: PLC0415 (likewise)

    if isinstance(given, Ratings):
        return given
    if (source := as_source(given)) is not None:
        return read(source.paths, options=options or source.options)
    options = options or ReadOptions()
    if scipy.sparse.issparse(given):
        return ratings_from_matrix(given, scale=options.bounds())
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "collect"):
        return ratings_from_table(given, **options.columns(), scale=options.bounds())
    raise InputError(
        "ratings must be a path, several paths, a polars, pandas or Arrow table, a scipy sparse matrix or Ratings, "
        f"got {type(given).__name__}"
    )
