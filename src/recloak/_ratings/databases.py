"""Ratings from a database: a table or a query by URL, read-only and in pieces.

A `Database` is one value per kind of database, with one way to list its tables, to name the columns of a query, and to
read rows. A password never stands in a URL, which others may see: it comes from the environment or the database's own
file (``PGPASSWORD``, ``~/.pgpass``). Queries are the owner's own, and every session is read-only.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

import polars as pl

from recloak._core.errors import SourceError
from recloak._core.extras import require_extra
from recloak._ratings.opened_files import STORE_RULE
from recloak._ratings.table_input import add_columns

if TYPE_CHECKING:
    from recloak._ratings.options import ReadOptions
    from recloak._ratings.row_buffer import RowBuffer

_URL = re.compile(r"(postgresql|postgres|sqlite|duckdb)://", re.IGNORECASE)
_BATCH = 1 << 16
_STORE = "recloak_store"  # a table of every store of related lists
_SHOWN = 10  # tables that a message lists
_CONNECT_SECONDS = 10
_COPY_BYTES = 1 << 22
# PostgreSQL's numbers of its types; dates and moments are asked for in seconds, anything else comes as text.
_MOMENTS = (1082, 1114, 1184)
_WHOLE, _FRACTIONS = (20, 21, 23), (700, 701, 1700)
_POSTGRES_TYPES: dict[int, pl.DataType] = {
    **dict.fromkeys((*_WHOLE, *_MOMENTS), pl.Int64()),
    **dict.fromkeys(_FRACTIONS, pl.Float64()),
}


def is_database(source: object) -> bool:
    """Return whether a source is the URL of a database."""
    return isinstance(source, str) and _URL.match(source) is not None


class Session(Protocol):
    """An open database: every way in is read-only."""

    def tables(self) -> list[str]:
        """Return the names of the tables and views, those of a schema as ``schema.table``."""

    def names(self, query: str) -> list[str]:
        """Return the names of a query's columns without running it."""

    def frames(self, query: str) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query in pieces."""


@dataclass(frozen=True, slots=True)
class Database:
    """A kind of database: the schemes of its URLs, its name in sentences, and how it is opened."""

    schemes: tuple[str, ...]
    title: str
    open: Callable[[str], AbstractContextManager[Session]]


def read_database(url: str, rows: RowBuffer, options: ReadOptions) -> Iterator[float]:
    """Add the rows of a table or a query to a buffer, yielding after each piece; the URL never stands in a message."""
    database = _database_of(url)
    n_rows = 0
    with database.open(url) as session:
        query = options.query if options.query is not None else f"SELECT * FROM {_table(session, options.table)}"
        columns = options.find(session.names(query))
        rows.valued_by(columns.get("rating"))
        wanted = ", ".join(f"{_quoted(name)} AS {_quoted(role)}" for role, name in columns.items())
        inner = query.strip().rstrip(";")
        for frame in session.frames(f"SELECT {wanted} FROM ({inner}) AS {_quoted('source')}"):
            add_columns(rows, frame, first_row=n_rows)
            n_rows += frame.height
            yield 0.0


def database_name(url: str) -> str:
    """Return what pages call a database: its kind, and nothing of its address."""
    return f"a {_database_of(url).title} database"


def _database_of(url: str) -> Database:
    parts = urlsplit(url)
    if parts.password is not None:
        raise SourceError(
            "a password must not stand in the URL of a database, where others see it; "
            "set PGPASSWORD or write it to ~/.pgpass"
        )
    return next(one for one in DATABASES if parts.scheme.lower() in one.schemes)


def _table(session: Session, table: str | None) -> str:
    """Return the table to read, quoted: the one that was named, or the only one there is."""
    known = session.tables()
    if table is None and len(known) == 1:
        return _quoted_path(known[0])
    if table is None and _STORE in known:
        raise SourceError(f"the database {STORE_RULE}")
    listed = ", ".join(map(repr, known[:_SHOWN])) + (" ..." if len(known) > _SHOWN else "")
    if table is None:
        raise SourceError(f"name one with table=... or query=...: the database has {listed or 'no tables'}")
    if table not in known:
        raise SourceError(f"the database has no table {table!r}, only {listed or 'none'}")
    return _quoted_path(table)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quoted_path(name: str) -> str:
    return ".".join(_quoted(part) for part in name.split(".", 1))


@contextmanager
def _telling(title: str, *errors: type[BaseException]) -> Iterator[None]:
    """Return one sentence on what a database refuses; only its first line, because the rest may quote the query."""
    try:
        yield
    except errors as error:
        words = str(error).strip().splitlines() or [type(error).__name__]
        raise SourceError(f"{title} refused: {words[0]}") from None


def _file_of(url: str) -> Path:
    """Return the file that ``sqlite:///relative`` or ``sqlite:////absolute`` names."""
    parts = urlsplit(url)
    path = Path(unquote(parts.path.removeprefix("/")))
    if parts.netloc or not str(path).strip("."):
        raise SourceError(f"write {parts.scheme}:///FILE, or {parts.scheme}:////FOLDER/FILE for an absolute path")
    if not path.is_file():
        raise SourceError("there is no such file", file=path)
    return path


class _SqliteSession:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def tables(self) -> list[str]:
        found = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
        )
        return [name for (name,) in found]

    def names(self, query: str) -> list[str]:
        inner = query.strip().rstrip(";")
        found = self._connection.execute(f"SELECT * FROM ({inner}) LIMIT 0")
        return [column[0] for column in found.description]

    def frames(self, query: str) -> Iterator[pl.DataFrame]:
        found = self._connection.execute(query)
        names = [column[0] for column in found.description]
        while rows := found.fetchmany(_BATCH):
            yield pl.DataFrame(
                [_column(name, column) for name, column in zip(names, zip(*rows, strict=True), strict=True)]
            )


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return a column whose kinds of values may be mixed, as SQLite allows: then ids are texts."""
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        if all(value is None or isinstance(value, int | float) for value in values):
            return pl.Series(name, [None if value is None else float(value) for value in values])
        if any(isinstance(value, bytes) for value in values):
            raise SourceError(f"the column {name!r} must hold numbers or texts, but one is a BLOB") from None
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


@contextmanager
def _open_sqlite(url: str) -> Iterator[Session]:
    path = _file_of(url).absolute()
    with _telling("SQLite", sqlite3.Error), closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as opened:
        yield _SqliteSession(opened)


class _DuckSession:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tables(self) -> list[str]:
        found = self._connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
        ).fetchall()
        return [table if schema == "main" else f"{schema}.{table}" for schema, table in found]

    def names(self, query: str) -> list[str]:
        inner = query.strip().rstrip(";")
        found = self._connection.execute(f"SELECT * FROM ({inner}) AS q LIMIT 0")
        return [column[0] for column in found.description]

    def frames(self, query: str) -> Iterator[pl.DataFrame]:
        for batch in self._connection.sql(query).to_arrow_reader(_BATCH):
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame.with_columns(pl.col(pl.Decimal).cast(pl.Float64))


@contextmanager
def _open_duckdb(url: str) -> Iterator[Session]:
    path = _file_of(url)
    require_extra("duckdb", "duckdb", need="a DuckDB source")
    import duckdb  # noqa: PLC0415 (an extra)

    with (
        _telling("DuckDB", duckdb.Error),
        closing(duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})) as opened,
    ):
        yield _DuckSession(opened)


class _PostgresSession:
    """Rows come by COPY as CSV, which is several times as quick as a cursor, and whole rows at a time."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tables(self) -> list[str]:
        found = self._connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
        ).fetchall()
        return [table if schema == "public" else f"{schema}.{table}" for schema, table in found]

    def names(self, query: str) -> list[str]:
        return [column.name for column in self._described(query)]

    def frames(self, query: str) -> Iterator[pl.DataFrame]:
        described = self._described(query)
        chosen = ", ".join(_seconds_or_plain(column.name, column.type_code) for column in described)
        schema = {column.name: _POSTGRES_TYPES.get(column.type_code, pl.String()) for column in described}
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY (SELECT {chosen} FROM ({query}) AS q) TO STDOUT (FORMAT csv)") as copy,
        ):
            held, size = [], 0
            for row in copy:
                held.append(bytes(row))
                size += len(row)
                if size > _COPY_BYTES:
                    yield _from_csv(held, schema)
                    held, size = [], 0
            if held:
                yield _from_csv(held, schema)

    def _described(self, query: str) -> Sequence[Any]:
        inner = query.strip().rstrip(";")
        found: Sequence[Any] = self._connection.execute(f"SELECT * FROM ({inner}) AS q LIMIT 0").description
        return found


def _from_csv(rows: list[bytes], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    return pl.read_csv(
        b"".join(rows), has_header=False, new_columns=list(schema), schema_overrides=list(schema.values())
    )


def _seconds_or_plain(name: str, type_code: int) -> str:
    column = _quoted(name)
    return f"floor(extract(epoch FROM {column}))::bigint AS {column}" if type_code in _MOMENTS else column


@contextmanager
def _open_postgres(url: str) -> Iterator[Session]:
    require_extra("postgres", "psycopg", need="a PostgreSQL source")
    import psycopg  # noqa: PLC0415 (an extra)

    plain = re.sub(r"^postgres(ql)?", "postgresql", url, flags=re.IGNORECASE)
    with (
        _telling("PostgreSQL", psycopg.Error),
        psycopg.connect(
            plain, connect_timeout=_CONNECT_SECONDS, options="-c default_transaction_read_only=on"
        ) as opened,
    ):
        yield _PostgresSession(opened)


DATABASES = (
    Database(("sqlite",), "SQLite", _open_sqlite),
    Database(("duckdb",), "DuckDB", _open_duckdb),
    Database(("postgresql", "postgres"), "PostgreSQL", _open_postgres),
)
