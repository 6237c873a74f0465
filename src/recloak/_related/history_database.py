"""The database of a history store: SQLite by default (a file, write-ahead log), PostgreSQL by URL."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from recloak._core.errors import InputError
from recloak._core.store_address import explained, locked, store_address, store_engine

FORMAT = 2  # 1 had no ledger
_LOCK = 7_261_503  # number of the advisory lock for making tables
_LOCK_RELEASES = "LOCK TABLE recloak_releases IN EXCLUSIVE MODE"
_SWAPPED = {"file is not a database": "; the store is named first, then the ratings"}
_explained = partial(explained, what="history store", hints=_SWAPPED)

TABLES = sa.MetaData()
STORE = sa.Table(
    "recloak_store",
    TABLES,
    sa.Column("key", sa.String(40), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
RELEASES = sa.Table(
    "recloak_releases",
    TABLES,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("time", sa.BigInteger, nullable=False),
    sa.Column("top", sa.Integer, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
)
ENTRIES = sa.Table(
    "recloak_entries",
    TABLES,
    sa.Column("release", sa.Integer, sa.ForeignKey("recloak_releases.number"), primary_key=True),
    sa.Column("item", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("related", sa.Text, nullable=False),
)
REASONS = sa.Table(
    "recloak_reasons",
    TABLES,
    sa.Column("release", sa.Integer, sa.ForeignKey("recloak_releases.number"), primary_key=True),
    sa.Column("item", sa.Text, primary_key=True),
    sa.Column("related", sa.Text, primary_key=True),
    sa.Column("reason", sa.String(12), nullable=False),
)
PACKED_LISTS = sa.Table(
    "recloak_packed_lists",  # the entries of a release once more, as a publisher reads them (`packed_lists`)
    TABLES,
    sa.Column("release", sa.Integer, sa.ForeignKey("recloak_releases.number"), primary_key=True),
    sa.Column("lists", sa.LargeBinary, nullable=False),
)
LEDGER = sa.Table(
    "recloak_ledger",  # private: who held what when
    TABLES,
    sa.Column("release", sa.Integer, primary_key=True, autoincrement=False),  # the first to see these holdings
    sa.Column("time", sa.BigInteger, nullable=False),
    sa.Column("users", sa.LargeBinary, nullable=False),  # ids of the users that it was the first to see
    sa.Column("items", sa.LargeBinary, nullable=False),
    sa.Column("holdings", sa.LargeBinary, nullable=False),
)
SEALS = sa.Table(
    "recloak_seals",  # releases that were proved for the last time before somebody was forgotten
    TABLES,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("through", sa.Integer, nullable=False),  # the last release that is sealed
    sa.Column("forgotten", sa.Integer, nullable=False),
    sa.Column("passed", sa.Integer, nullable=False),
    sa.Column("max_breach", sa.Float, nullable=False),
)
ERASED = sa.Table(
    "recloak_erased",  # marks of people who were forgotten and stay out (`erased_people`)
    TABLES,
    sa.Column("mark", sa.LargeBinary(16), primary_key=True),
)


@dataclass(frozen=True, eq=False, slots=True)
class HistoryDatabase:
    """An open database that holds a history, and its name without a password."""

    name: str
    engine: sa.Engine

    def rows(self, query: sa.Select[Any] | sa.CompoundSelect[Any]) -> Sequence[sa.Row[Any]]:
        """Return all rows of a query."""
        with _explained(self.name), self.engine.begin() as connection:
            return connection.execute(query).all()

    def has(self, table: sa.Table) -> bool:
        """Return whether a table is there; stores of older versions lack some until something is published."""
        return bool(sa.inspect(self.engine).has_table(table.name))

    def limit_wait(self, seconds: float) -> None:
        """From now on, give up after so many seconds if another process has locked the store."""
        sqlite = self.engine.dialect.name == "sqlite"

        def with_limit(_dialect: Any, _record: Any, _positional: Any, named: dict[str, Any]) -> None:
            waits = {"timeout": seconds} if sqlite else {"options": _lock_timeout(named.get("options"), seconds)}
            named.update(waits)

        sa.event.listen(self.engine, "do_connect", with_limit)
        self.engine.dispose()  # the next connection is a new one, with the limit

    def vacuum(self) -> None:
        """Rewrite the store without the bytes of what was deleted."""
        with _explained(self.name), self.engine.connect() as plain:
            connection = plain.execution_options(isolation_level="AUTOCOMMIT")
            if self.engine.dialect.name == "postgresql":
                for table in TABLES.sorted_tables:
                    if self.has(table):
                        connection.execute(sa.text(f"VACUUM FULL {table.name}"))
                return
            raw = plain.connection.driver_connection
            assert raw is not None
            raw.execute("VACUUM")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a transaction that excludes all other writers."""
        with _explained(self.name), locked(self.engine, _LOCK_RELEASES) as connection:
            yield connection


def open_database(where: str | os.PathLike[str], *, create: bool) -> HistoryDatabase:
    """Open a database by file name or ``postgresql://`` URL; with ``create`` make missing tables."""
    name, url = _address(where, create=create)
    engine = _engine(url, name)
    try:
        with _explained(name):
            if create:
                _make_tables(engine, name)
            _check_format(engine, name, create=create)
    except BaseException:
        engine.dispose()
        raise
    return HistoryDatabase(name, engine)


def _address(where: str | os.PathLike[str], *, create: bool) -> tuple[str, sa.URL]:
    """Return a store's name without its password, and its URL; make a new file that only its owner can read."""
    name, url = store_address(where, noun="store", missing=None if create else "history store")
    if url.get_backend_name() == "sqlite" and not Path(where).exists():
        os.close(os.open(where, os.O_CREAT | os.O_WRONLY, 0o600))  # it will hold who rated what
    return name, url


def _lock_timeout(options: str | None, seconds: float) -> str:
    return f"{options or ''} -c lock_timeout={round(1000 * seconds)}".strip()


def _engine(url: sa.URL, name: str) -> sa.Engine:
    engine = store_engine(url, name)
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """Use a write-ahead log, so that readers never wait for a writer."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what is forgotten leaves no bytes behind


def _make_tables(engine: sa.Engine, name: str) -> None:
    """Make missing tables, under a lock; refuse an SQLite file that holds other tables."""
    with locked(engine, f"SELECT pg_advisory_xact_lock({_LOCK})") as connection:
        found = sa.inspect(connection).get_table_names()
        if engine.dialect.name == "sqlite" and found and STORE.name not in found:
            raise InputError(f"{name}: a database of something else, not a history store")
        TABLES.create_all(connection)


def _check_format(engine: sa.Engine, name: str, *, create: bool) -> None:
    """Refuse a store of another format; write the format of a new one, and bring one of format 1 up to date.

    Format 1 had no ledger: the next publisher makes one from the times of the ratings.
    """
    with engine.begin() as connection:
        found = {row.key: row.value for row in connection.execute(sa.select(STORE))}
    if found.get("format") == "1" or (not found and create):
        with locked(engine, _LOCK_RELEASES) as connection:
            TABLES.create_all(connection)
            connection.execute(sa.delete(STORE).where(STORE.c.key == "format"))
            connection.execute(sa.insert(STORE), [{"key": "format", "value": str(FORMAT)}])
        _make_private(engine)
    elif found.get("format") != str(FORMAT):
        raise InputError(f"{name}: a store of format {found.get('format')}, this version reads format {FORMAT}")


def _make_private(engine: sa.Engine) -> None:
    """Make an SQLite file readable by its owner only, if we may."""
    if engine.dialect.name == "sqlite" and engine.url.database:
        with suppress(PermissionError):
            Path(engine.url.database).chmod(0o600)
