"""A reader: one value that says how a layout of ratings is recognised and read, on one machine and on Spark.

Every module of `recloak._ratings.readers` holds one as ``READER``, under the module's own name. Other packages add
theirs by an entry point of the group ``recloak.readers``. Nothing heavy is imported here, and names are listed without
loading the readers, so that ``--help`` stays quick.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recloak._core.errors import InputError, RecloakError, SourceError
from recloak._core.logger import log

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from recloak._core.progress import Advance
    from recloak._ratings.dialect import Dialect
    from recloak._ratings.model import Ratings
    from recloak._ratings.opened_files import Sample, SourceFile
    from recloak._ratings.options import ReadOptions
    from recloak._ratings.row_buffer import RowBuffer

GROUP = "recloak.readers"
OTHERWISE = "csv"  # reads what no other reader recognises


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    r"""How one layout of ratings is recognised and read.

    A reader has a name, words about itself, a function that recognises a file, and one way to read: ``dialect`` for
    lines of fields between separators, or ``tables`` for anything else.

    Parameters
    ----------
    name
        What ``reader=`` and ``--reader`` call it.
    title
        The layout's name in sentences, such as ``JSON Lines``.
    text
        One sentence on what such files look like, for the documentation.
    matches
        Takes a `Sample` (``path``, ``head``: the first 64 kB, unpacked; ``lines()``) and returns whether the file is in
        this layout. A file that no reader recognises is read as CSV.
    dialect
        The separator between fields, or a function from a sample and the options to a `Dialect`. Header, columns, bad
        rows and their line numbers are then handled as for CSV.
    tables
        Takes a sample and yields tables (polars, pandas or Arrow) with columns for user, item, rating and perhaps time;
        they are recognised by name as those of any table. ``sample.open()`` opens the file's bytes, unpacked.
    files
        Reads all files of a source at once into a row buffer, yielding the megabytes it has read.
    quick
        A quicker way for some sources: returns their ratings, or None where it cannot.
    spark
        Spark's own data source for such files. Without one, tasks read them by the same code as one machine does.

    Examples
    --------
    >>> import recloak
    >>> carets = recloak.Reader(
    ...     name="carets",
    ...     title="carets",
    ...     text="fields between carets",
    ...     matches=lambda sample: sample.head.count(b"^") > 2,
    ...     dialect="^",
    ... )
    >>> carets.name
    'carets'
    """

    name: str
    title: str
    text: str
    matches: Callable[[Sample], bool]
    dialect: str | Callable[[Sample, ReadOptions], Dialect] | None = None
    tables: Callable[[Sample], Iterable[Any]] | None = None
    files: Callable[[Sequence[SourceFile], RowBuffer, ReadOptions], Iterator[float]] | None = None
    quick: Callable[[Sequence[SourceFile], ReadOptions, Advance], Ratings | None] | None = None
    spark: str | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise InputError(f"a reader's name must be letters, digits and underscores, got {self.name!r}")
        if sum(way is not None for way in (self.dialect, self.tables, self.files)) != 1:
            raise InputError(f"the reader {self.name!r} must have one way to read: a dialect or tables")


class ReaderNames(Collection[str]):
    """The names of all readers, those of other packages last; these are looked for only when they are needed."""

    def __iter__(self) -> Iterator[str]:
        yield from _own_names()
        yield from (entry.name for entry in _entry_points(tuple(sys.path)) if entry.name not in _own_names())

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return any(name == known for known in self)


@cache
def _own_names() -> tuple[str, ...]:
    """List the modules of the package of readers without importing them."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).with_name("readers"))])))


@cache
def _entry_points(_: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """List what installed packages offer, once for each search path."""
    from importlib.metadata import entry_points  # noqa: PLC0415 (takes a fifth of the time of a command's help)

    return tuple(sorted(entry_points(group=GROUP), key=lambda entry: entry.name))


@cache
def own_readers() -> tuple[Reader, ...]:
    """Return the readers of this package."""
    return tuple(importlib.import_module(f"recloak._ratings.readers.{name}").READER for name in _own_names())


def other_readers() -> list[Reader]:
    """Return the readers of other packages; one that cannot be used is an error, for it may be the one needed."""
    _require_names()
    return [_loaded(entry) for entry in _entry_points(tuple(sys.path))]


def _require_names() -> None:
    """Raise InputError if two readers have one name."""
    entries = _entry_points(tuple(sys.path))
    for place, entry in enumerate(entries):
        if entry.name in (*_own_names(), *(other.name for other in entries[:place])):
            raise InputError(f"the reader {entry.name!r} of {_package(entry)} has a name that is taken; uninstall one")


@cache
def _warn_once(sentence: str) -> None:
    log.warning(sentence)


def reader_named(name: str) -> Reader:
    """Return the reader of a name."""
    for reader in own_readers():
        if reader.name == name:
            return reader
    for entry in _entry_points(tuple(sys.path)):
        if entry.name == name:
            return _loaded(entry)
    raise InputError(f"there is no reader {name!r} here; the readers are {', '.join(ReaderNames())}")


@cache
def _loaded(entry: EntryPoint) -> Reader:
    try:
        reader = entry.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"the reader {entry.name!r} of {_package(entry)} cannot be loaded ({reason})") from error
    if not isinstance(reader, Reader) or reader.name != entry.name:
        raise InputError(f"{entry.value} of {_package(entry)} must be a recloak.Reader named {entry.name!r}")
    return reader


def _package(entry: EntryPoint) -> str:
    return "an unknown package" if entry.dist is None else f"the package {entry.dist.name}"


def recognised(sample: Sample) -> Reader:
    """Return the reader that recognises a file; what nobody does is taken for delimited text."""
    for reader in own_readers():
        if reader.matches(sample):
            return reader
    _require_names()
    try:
        found = [reader for reader in other_readers() if _matches(reader, sample)]
    except InputError as error:
        if ".csv" not in sample.path.suffixes:
            raise
        _warn_once(f"{error}; files named .csv are read as CSV")
        found = []
    if len(found) > 1:
        names = " and ".join(reader.name for reader in found)
        raise SourceError(f"the readers {names} both recognise it; name one with reader=...", file=sample.path)
    return found[0] if found else reader_named(OTHERWISE)


def _matches(reader: Reader, sample: Sample) -> bool:
    """Ask the reader of another package, whose mistakes are told in one sentence."""
    try:
        return bool(reader.matches(sample))
    except RecloakError:
        raise
    except Exception as error:
        raise failed(reader, sample, error) from error


def failed(reader: Reader, sample: Sample, error: Exception) -> SourceError:
    """Return the sentence for a mistake inside a reader."""
    return SourceError(f"the reader {reader.name!r} failed ({type(error).__name__}: {error})", file=sample.path)
