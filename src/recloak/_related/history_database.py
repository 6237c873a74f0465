"""The database of a history store: SQLite by default (a file, write-ahead log), PostgreSQL by URL."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from recloak._core.errors import InputError, MissingExtraError

FORMAT = 2  # 1 had no ledger
_TIMEOUT = "10"  # seconds that a server may take to answer, unless the address or the environment says otherwise
_PATIENCE = 60.0  # seconds that a command waits for an SQLite file that another process has locked
_LOCK = 7_261_503  # number of the advisory lock for making tables

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
        with _explained(self.name), _locked(self.engine) as connection:
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
    """Return a store's name without its password, and its URL."""
    if "://" in str(where):
        url = _url(str(where))
        if url.get_backend_name() != "postgresql":
            raise InputError(f"a store must be a file or a postgresql:// address, got {url.render_as_string()!r}")
        return url.render_as_string(), _with_timeout(url.set(drivername="postgresql+psycopg"))
    path = Path(where)
    if not create and not path.is_file():
        raise InputError(f"{path}: there is no history store")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.absolute().parent} to write into")
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # it will hold who rated what
    return str(path), sa.URL.create("sqlite", database=str(path))


def _url(text: str) -> sa.URL:
    """Parse an address; the error does not repeat it, since it may hold a password."""
    try:
        return sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError("a store's address must read postgresql://user@host:port/database") from None


def _lock_timeout(options: str | None, seconds: float) -> str:
    return f"{options or ''} -c lock_timeout={round(1000 * seconds)}".strip()


def _with_timeout(url: sa.URL) -> sa.URL:
    """Limit the wait for a connection: by default a host that is gone takes minutes to fail."""
    if "connect_timeout" in url.query or "PGCONNECT_TIMEOUT" in os.environ:
        return url
    return url.update_query_dict({"connect_timeout": _TIMEOUT})


def _engine(url: sa.URL, name: str) -> sa.Engine:
    try:
        waits = {"timeout": _PATIENCE} if url.get_backend_name() == "sqlite" else {}
        engine = sa.create_engine(url, connect_args=waits)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{name}: PostgreSQL needs the extra: pip install 'recloak[postgres]'") from error
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """Turn off sqlite3's own transactions, and use a write-ahead log so that readers never wait for a writer."""
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what is forgotten leaves no bytes behind


def _begin_sqlite(connection: sa.Connection) -> None:
    """Take the write lock at the start of a writing transaction, not halfway."""
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turn an error of the database into one sentence."""
    try:
        yield
    except (sa.exc.DatabaseError, sa.exc.InterfaceError) as error:
        if type(error.orig).__name__ == "ConnectionTimeout":  # psycopg's, and psycopg is an extra
            raise InputError(f"{name}: the server did not answer in time; ?connect_timeout=60 waits longer") from error
        reason = _first_line(error.orig)
        swapped = "; the store is named first, then the ratings" if reason == "file is not a database" else ""
        raise InputError(f"{name}: not a history store that can be used ({reason}){swapped}") from error


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().splitlines()[0] if error is not None and str(error).strip() else "no answer"


def _make_tables(engine: sa.Engine, name: str) -> None:
    """Make missing tables, under a lock; refuse an SQLite file that holds other tables."""
    with _locked(engine, f"SELECT pg_advisory_xact_lock({_LOCK})") as connection:
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
        with _locked(engine) as connection:
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


@contextmanager
def _locked(
    engine: sa.Engine, postgres_lock: str = "LOCK TABLE recloak_releases IN EXCLUSIVE MODE"
) -> Iterator[sa.Connection]:
    with engine.connect() as plain:
        connection = plain.execution_options(writing=True)
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(sa.text(postgres_lock))
            yield connection
