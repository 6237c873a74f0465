"""Reading a source of ratings; every module of this package is the reader of one layout."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from recloak._core.errors import SourceError
from recloak._core.progress import Advance, task
from recloak._ratings.databases import is_database, read_database
from recloak._ratings.delimited import read_delimited
from recloak._ratings.dialect import Dialect, dialect_of
from recloak._ratings.model import Ratings, Scale
from recloak._ratings.opened_files import Sample, SourceFile
from recloak._ratings.options import ReadOptions
from recloak._ratings.reader import Reader, own_readers, reader_named, recognised
from recloak._ratings.row_buffer import RowBuffer
from recloak._ratings.source_files import files_of
from recloak._ratings.table_input import read_tables


def read(source: str | Path | Iterable[str | Path], *, options: ReadOptions | None = None) -> Ratings:
    """Read a file, a folder, or several of them as one source of ratings.

    The layout is recognised by looking at the files; what was taken for granted stands in ``intake.notes``.
    """
    options = options or ReadOptions()
    if (url := _database_in(source)) is not None:
        return _read_database(url, options)
    if options.table is not None or options.query is not None:
        raise SourceError("table=... and query=... are for the URL of a database, such as sqlite:///ratings.db")
    files = [SourceFile(path, no_limit=options.no_limit) for path in files_of(source)]
    rows = RowBuffer(options.bounds(), skip_bad=options.skip_bad, kind=options.kind)
    with ExitStack() as opened, task("reading", sum(file.megabytes for file in files)) as advance:
        for file in files:
            opened.callback(file.close)
        quick = _read_quickly(files, options, advance)
        if quick is not None:
            return _scaled(quick, options)
        for megabytes in read_files(files, rows, options, first_of(files[0].sample(), options)):
            advance(megabytes)
    return _scaled(rows.finish(None, file=files[0].path if len(files) == 1 else None), options)


def _database_in(source: object) -> str | None:
    """Return the URL of the database that a source is; several sources must be files."""
    given = [source] if isinstance(source, (str, Path)) else list(source) if isinstance(source, Iterable) else []
    urls = [str(one) for one in given if is_database(one)]
    if urls and len(given) > 1:
        raise SourceError("a database is read by itself, not beside other sources; join them in a query")
    return urls[0] if urls else None


def _read_database(url: str, options: ReadOptions) -> Ratings:
    if options.reader is not None:
        raise SourceError("reader=... is for files, not for a database")
    rows = RowBuffer(options.bounds(), skip_bad=options.skip_bad, kind=options.kind)
    with task("reading", None) as advance:
        for step in read_database(url, rows, options):
            advance(step)
    return _scaled(rows.finish(None), options)


def detect(path: str | Path) -> str:
    """Return the name of the reader for a file."""
    with SourceFile(Path(path)) as file:
        return recognised(file.sample()).name


def _read_quickly(files: Sequence[SourceFile], options: ReadOptions, advance: Advance) -> Ratings | None:
    if not all(file.is_regular for file in files):
        return None
    for reader in own_readers():
        if reader.quick is not None and options.reader in (None, reader.name):
            ratings = reader.quick(files, options, advance)
            if ratings is not None:
                return ratings
    return None


@dataclass(frozen=True, slots=True)
class FirstFile:
    """What the first file of a source decides for the others."""

    path: Path
    reader: str
    dialect: Dialect | None  # of delimited text


def first_of(sample: Sample, options: ReadOptions) -> FirstFile:
    """Look at the first file of a source."""
    reader = reader_of(sample, options)
    return FirstFile(sample.path, reader.name, None if reader.dialect is None else dialect_by(reader, sample, options))


def reader_of(sample: Sample, options: ReadOptions) -> Reader:
    """Return the reader that was named, else the one that recognises a file."""
    return recognised(sample) if options.reader is None else reader_named(options.reader)


def dialect_by(reader: Reader, sample: Sample, options: ReadOptions) -> Dialect:
    """Recognise how a file of delimited text is written."""
    if callable(reader.dialect):
        return reader.dialect(sample, options)
    assert reader.dialect is not None
    return dialect_of(sample, reader.dialect, options)


def read_files(files: Sequence[SourceFile], rows: RowBuffer, options: ReadOptions, first: FirstFile) -> Iterator[float]:
    """Add the rows of files to a buffer, yielding the megabytes read; each file is closed before the next is opened."""
    together = reader_named(first.reader).files
    if together is not None:
        yield from together(files, rows, options)
        return
    known = first.dialect
    for file in files:
        sample = file.sample()
        reader = reader_of(sample, options)
        if reader.files is not None:
            rule = f"is in the {reader.title} layout, but {first.path} is not; read them apart"
            raise SourceError(rule, file=file.path)
        if reader.tables is not None:
            yield from read_tables(reader, file, rows, options)
        else:
            dialect = dialect_by(reader, sample, options)
            known = known or dialect
            dialect = dialect.like(known)
            if dialect.note:
                rows.note(dialect.note)
            with file.stream() as stream:
                yield from read_delimited(stream, file.path, dialect, rows, longest=file.longest_line)
        file.close()


def _scaled(ratings: Ratings, options: ReadOptions) -> Ratings:
    bounds = options.bounds()
    return ratings if bounds is None else replace(ratings, scale=Scale(bounds.low, bounds.high, ratings.scale.step))
