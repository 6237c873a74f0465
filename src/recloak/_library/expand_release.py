"""Write a release, or a part of it, as one long table, some rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recloak._core.errors import OptionError
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import as_path
from recloak._library.load_release import LoadedRelease, load

if TYPE_CHECKING:
    from recloak._library.sources import PathLike

_ROW_BYTES = {".parquet": 5.0, ".csv": 18.0}  # measured on releases of several sizes
_MOST_BYTES = "2GB"


@suggests_keywords
def expand(
    release: PathLike | LoadedRelease,
    out: PathLike,
    *,
    groups: Sequence[int] | None = None,
    users: Sequence[int] | None = None,
    items: Sequence[Any] | None = None,
    size_limit: str | None = None,
) -> int:
    """Write the ratings of a release as a long table: ``group`` (or ``user``), ``item``, ``rating``.

    Parameters
    ----------
    release
        The public folder of a release in any layout, or what `load` made of it.
    out
        The file to write, ``.parquet`` or ``.csv``; it appears when it is whole.
    groups, users, items
        Only these; a row per user where users are named, or where the layout is long.
    size_limit
        Refuse a table above this size, such as ``"500MB"``, before any work; by default 2 GB, ``"none"`` for no limit.

    Returns
    -------
    int
        The number of rows written.

    Raises
    ------
    InputError
        If the release cannot be read, a name is not in it, or the table is too large.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=30, items=20, ratings=200, seed=1)
    >>> folder = recloak.publish(ratings, "in-factors", k=3, layout="factors", seed=1).folder
    >>> recloak.expand(folder, "cells.parquet", groups=[1, 2, 3])
    60
    """
    from recloak._core.files import require_file_place, written_file
    from recloak._core.progress import task

    path = as_path("out", out)
    if path.suffix not in _ROW_BYTES:
        raise OptionError(f"out must end in {' or '.join(_ROW_BYTES)}, got {str(path)!r}")
    require_file_place(path)
    opened = release if isinstance(release, LoadedRelease) else load(release)
    n_cells = opened.n_cells(groups=groups, users=users, items=items)
    _announce(n_cells, path, size_limit)
    n_rows = 0
    with written_file(path) as aside, task("writing", max(n_cells, 1)) as advance, _sink(aside, path.suffix) as write:
        for table in opened.tables(groups=groups, users=users, items=items):
            write(table)
            n_rows += len(table)
            advance(len(table))
    return n_rows


def _announce(n_cells: int, path: Path, size_limit: str | None) -> None:
    """Say how large the table will be; raise OptionError above the limit."""
    from recloak._core.logger import log
    from recloak._releases.release_size import in_units, parse_size

    n_bytes, limit = n_cells * _ROW_BYTES[path.suffix], parse_size(size_limit or _MOST_BYTES)
    size = f"{n_cells:,} rows, about {in_units(n_bytes)}"
    if n_bytes > limit:
        allowed = in_units(1.2 * n_bytes).replace(" ", "")
        raise OptionError(
            f"a table of {size} is above the limit of {in_units(limit)}: name some groups=... or items=..., or allow "
            f"it with size_limit='{allowed}'"
        )
    log.info("will write at most %s", size)


def _sink(path: Path, suffix: str) -> Any:
    from recloak._library.long_tables import csv_sink, parquet_sink

    return (parquet_sink if suffix == ".parquet" else csv_sink)(path)
