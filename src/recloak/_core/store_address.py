"""Where a store lies and how it is opened: an SQLite file, or a PostgreSQL database by its address."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from recloak._core.errors import InputError, MissingExtraError

_TIMEOUT = "10"  # seconds that a server may take to answer, unless the address or the environment says otherwise
_PATIENCE = 60.0  # seconds that a command waits for an SQLite file that another process has locked


def store_address(where: str | os.PathLike[str], *, noun: str, missing: str | None) -> tuple[str, sa.URL]:
    """Return a store's name without its password, and its URL.

    ``noun`` is what the store is called in errors. A file that must be there already is told missing by ``missing``.
    """
    if "://" in str(where):
        url = _url(str(where), noun)
        if url.get_backend_name() != "postgresql":
            raise InputError(f"a {noun} must be a file or a postgresql:// address, got {url.render_as_string()!r}")
        return url.render_as_string(), _with_timeout(url.set(drivername="postgresql+psycopg"))
    path = Path(where)
    if missing is not None and not path.is_file():
        raise InputError(f"{path}: there is no {missing}")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.absolute().parent} to write into")
    return str(path), sa.URL.create("sqlite", database=str(path))


def _url(text: str, noun: str) -> sa.URL:
    """Parse an address; the error does not repeat it, since it may hold a password."""
    try:
        return sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(f"a {noun}'s address must read postgresql://user@host:port/database") from None


def _with_timeout(url: sa.URL) -> sa.URL:
    """Limit the wait for a connection: by default a host that is gone takes minutes to fail."""
    if "connect_timeout" in url.query or "PGCONNECT_TIMEOUT" in os.environ:
        return url
    return url.update_query_dict({"connect_timeout": _TIMEOUT})


def store_engine(url: sa.URL, name: str) -> sa.Engine:
    """Return an engine whose SQLite transactions are begun by us: with the write lock if they are marked as writing."""
    try:
        waits = {"timeout": _PATIENCE} if url.get_backend_name() == "sqlite" else {}
        engine = sa.create_engine(url, connect_args=waits)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{name}: PostgreSQL needs the extra: pip install 'recloak[postgres]'") from error
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _without_own_transactions)
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _without_own_transactions(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # sqlite3's own


def _begin_sqlite(connection: sa.Connection) -> None:
    """Take the write lock at the start of a writing transaction, not halfway."""
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def locked(engine: sa.Engine, postgres_lock: str) -> Iterator[sa.Connection]:
    """Open a transaction that excludes all other writers; a server does so by the statement that is given."""
    with engine.connect() as plain:
        connection = plain.execution_options(writing=True)
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(sa.text(postgres_lock))
            yield connection


@contextmanager
def explained(name: str, what: str, hints: dict[str, str] | None = None) -> Iterator[None]:
    """Turn an error of the database into one sentence; ``hints`` go with the reasons that a driver gives."""
    try:
        yield
    except (sa.exc.DatabaseError, sa.exc.InterfaceError) as error:
        if type(error.orig).__name__ == "ConnectionTimeout":  # psycopg's, and psycopg is an extra
            raise InputError(f"{name}: the server did not answer in time; ?connect_timeout=60 waits longer") from error
        reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no answer"
        raise InputError(f"{name}: not a {what} that can be used ({reason}){(hints or {}).get(reason, '')}") from error
