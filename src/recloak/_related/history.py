"""The history store: every published release in order, and nothing else that is public.

SQLite by default (a file, write-ahead log), PostgreSQL by URL. Append-only: one transaction per release, taken under a
lock, and refused when somebody else has published in between; a crash leaves the last complete release. The store
belongs to the operator: beside the published lists it keeps why an entry was changed, which `export` never shows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from recloak._core.errors import InputError, MissingExtraError, RefusedError
from recloak._core.extras import install_hint
from recloak._ratings.ids import IdMap
from recloak._related.model import HOLE, ListRelease, Lists

FORMAT = 1
_PATIENCE = "10"  # seconds that a server may take to answer, unless the address or the environment says otherwise
_MAKING = 7_261_503  # an advisory lock's number, the same for all who make tables
REASONS = ("suppressed", "permuted", "replaced")

_tables = sa.MetaData()
_meta = sa.Table(
    "recloak_store",
    _tables,
    sa.Column("key", sa.String(40), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
_releases = sa.Table(
    "recloak_releases",
    _tables,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("time", sa.BigInteger, nullable=False),
    sa.Column("top", sa.Integer, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
)
_entries = sa.Table(
    "recloak_entries",
    _tables,
    sa.Column("release", sa.Integer, sa.ForeignKey("recloak_releases.number"), primary_key=True),
    sa.Column("item", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("related", sa.Text, nullable=False),
)
_reasons = sa.Table(
    "recloak_reasons",
    _tables,
    sa.Column("release", sa.Integer, sa.ForeignKey("recloak_releases.number"), primary_key=True),
    sa.Column("item", sa.Text, primary_key=True),
    sa.Column("related", sa.Text, primary_key=True),
    sa.Column("reason", sa.String(12), nullable=False),
)


@dataclass(frozen=True, eq=False, slots=True)
class Store:
    """An open history."""

    name: str
    engine: sa.Engine
    is_text: bool | None  # whether item ids are texts; None: nothing published yet

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """What is known of a release apart from its lists."""

    number: int
    time: int
    top: int
    settings: dict[str, Any]


def open_store(where: str | Path, *, create: bool = False) -> Store:
    """Open a history by file name or ``postgresql://`` URL; make an empty one where there is none, if asked to."""
    name, url = _address(where, create=create)
    engine = _engine(url, name)
    try:
        with _explained(name):
            if create:
                _make(engine, name)
            return Store(name, engine, _checked(engine, name, create=create))
    except BaseException:
        engine.dispose()
        raise


@contextmanager
def opened(where: str | Path, *, create: bool = False) -> Iterator[Store]:
    """Open a history for a while."""
    store = open_store(where, create=create)
    try:
        yield store
    finally:
        store.close()


def _address(where: str | Path, *, create: bool) -> tuple[str, sa.URL]:
    """Give a store's name without its password, and its URL."""
    if "://" in str(where):
        url = _url(str(where))
        if url.get_backend_name() != "postgresql":
            raise InputError(f"a store must be a file or a postgresql:// address, got {url.render_as_string()!r}")
        return url.render_as_string(), _with_patience(url.set(drivername="postgresql+psycopg"))
    path = Path(where)
    if not create and not path.is_file():
        raise InputError(f"{path}: there is no history store")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.absolute().parent} to write into")
    return str(path), sa.URL.create("sqlite", database=str(path))


def _url(text: str) -> sa.URL:
    """Read an address; a text that is none is not repeated, for it may hold a password."""
    try:
        return sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError("a store's address must read postgresql://user@host:port/database") from None


def _with_patience(url: sa.URL) -> sa.URL:
    """Say how long a connection is waited for: a host that is gone would be waited for for minutes."""
    if "connect_timeout" in url.query or "PGCONNECT_TIMEOUT" in os.environ:
        return url
    return url.update_query_dict({"connect_timeout": _PATIENCE})


def _engine(url: sa.URL, name: str) -> sa.Engine:
    try:
        engine = sa.create_engine(url)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{name}: PostgreSQL needs the extra: {install_hint('postgres')}") from error
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """Leave transactions to us; readers never wait for a writer."""
    connection.isolation_level = None
    connection.execute("PRAGMA busy_timeout = 60000")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: sa.Connection) -> None:
    """Take the write lock at the start of a writing transaction, not halfway."""
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Say what the database cannot do in one sentence."""
    try:
        yield
    except (sa.exc.DatabaseError, sa.exc.InterfaceError) as error:
        if type(error.orig).__name__ == "ConnectionTimeout":  # psycopg's, and psycopg is an extra
            raise InputError(f"{name}: the server did not answer in time; ?connect_timeout=60 waits longer") from error
        raise InputError(f"{name}: not a history store that can be used ({_first_line(error.orig)})") from error


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().splitlines()[0] if error is not None and str(error).strip() else "no answer"


def _make(engine: sa.Engine, name: str) -> None:
    """Make the tables where there are none; of makers at once one makes them, and a database of others' is refused."""
    with engine.connect() as plain:
        connection = plain.execution_options(writing=True)
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_MAKING})"))
            found = sa.inspect(connection).get_table_names()
            if engine.dialect.name == "sqlite" and found and _meta.name not in found:
                raise InputError(f"{name}: a database of something else, not a history store")
            _tables.create_all(connection)


def _checked(engine: sa.Engine, name: str, *, create: bool) -> bool | None:
    """Hold the format version, and give whether ids are texts."""
    with _writing(engine) if create else engine.begin() as connection:
        found = {row.key: row.value for row in connection.execute(sa.select(_meta))}
        if not found and create:
            connection.execute(sa.insert(_meta), [{"key": "format", "value": str(FORMAT)}])
            return None
    if found.get("format") != str(FORMAT):
        raise InputError(f"{name}: a store of format {found.get('format')}, this version reads format {FORMAT}")
    return None if "ids" not in found else found["ids"] == "text"


@contextmanager
def _writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Give a transaction that nobody else's can interleave with."""
    with engine.connect() as plain:
        connection = plain.execution_options(writing=True)
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(sa.text("LOCK TABLE recloak_releases IN EXCLUSIVE MODE"))
            yield connection


def releases(store: Store) -> list[ReleaseRecord]:
    """List what has been published, oldest first."""
    wanted = sa.select(_releases).order_by(_releases.c.number)
    with _explained(store.name), store.engine.begin() as connection:
        rows = connection.execute(wanted).all()
    return [ReleaseRecord(row.number, row.time, row.top, json.loads(row.settings)) for row in rows]


def newest(store: Store) -> ReleaseRecord | None:
    """Give the latest release, if there is one."""
    wanted = sa.select(_releases).order_by(_releases.c.number.desc()).limit(1)
    with _explained(store.name), store.engine.begin() as connection:
        row = connection.execute(wanted).first()
    return None if row is None else ReleaseRecord(row.number, row.time, row.top, json.loads(row.settings))


def lists_of(store: Store, item: int | str, numbers: Iterable[int]) -> dict[int, list[tuple[int, str]]]:
    """Give one item's list in each of some releases as (position, related id in letters), releases without left out."""
    wanted = sa.select(_entries.c.release, _entries.c.position, _entries.c.related).where(
        _entries.c.release.in_(list(numbers)), _entries.c.item == str(item)
    )
    found: dict[int, list[tuple[int, str]]] = {}
    with _explained(store.name), store.engine.begin() as connection:
        for row in connection.execute(wanted.order_by(_entries.c.release, _entries.c.position)):
            found.setdefault(row.release, []).append((row.position, row.related))
    return found


def published(store: Store, item_ids: IdMap, *, last: int | None = None) -> tuple[ListRelease, ...]:
    """Give the published releases, or the last few, with items numbered as in the ratings.

    What is no longer in the ratings has no holders and cannot tell on anyone; it is left out.
    """
    _require_kind(store, item_ids)
    known = releases(store)
    chosen = known if last is None else known[max(len(known) - last, 0) :]
    return tuple(ListRelease(one.number, one.time, _lists(store, one, item_ids)) for one in chosen)


def _lists(store: Store, one: ReleaseRecord, item_ids: IdMap) -> Lists:
    table = table_of(store, one.number)
    owners, entries = item_ids.encode(table["item"]), item_ids.encode(table["related"])
    known = (owners >= 0) & (entries >= 0)
    items = np.full((len(item_ids), one.top), HOLE, np.int32)
    items[owners[known], table["position"].to_numpy()[known] - 1] = entries[known]
    return Lists(items)


def table_of(store: Store, *numbers: int) -> pl.DataFrame:
    """Give releases (without numbers: all) as a table: ``release``, ``item``, ``position`` (from 1), ``related``."""
    wanted = sa.select(_entries).order_by(_entries.c.release, _entries.c.item, _entries.c.position)
    if numbers:
        wanted = wanted.where(_entries.c.release.in_(numbers))
    with _explained(store.name), store.engine.begin() as connection:
        rows = connection.execute(wanted).all()
    schema = {"release": pl.Int64, "item": pl.String, "position": pl.Int64, "related": pl.String}
    table = pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
    if store.is_text is False:
        table = table.with_columns(pl.col("item", "related").cast(pl.Int64)).sort("release", "item", "position")
    return table


def reasons_of(store: Store, number: int) -> pl.DataFrame:
    """Give why entries of a release differ from the true lists: ``item``, ``related``, ``reason``."""
    wanted = sa.select(_reasons.c.item, _reasons.c.related, _reasons.c.reason).where(_reasons.c.release == number)
    with _explained(store.name), store.engine.begin() as connection:
        rows = connection.execute(wanted.order_by(_reasons.c.item, _reasons.c.related)).all()
    schema = {"item": pl.String, "related": pl.String, "reason": pl.String}
    table = pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
    return table.with_columns(pl.col("item", "related").cast(pl.Int64)) if store.is_text is False else table


def append(
    store: Store,
    release: ListRelease,
    item_ids: IdMap,
    settings: dict[str, Any],
    reasons: Iterable[tuple[int, int, str]] = (),
) -> None:
    """Add a release whole or not at all; refuse it when its number is taken or a number is missing before it."""
    _require_kind(store, item_ids)
    entries = list(_entry_rows(release, item_ids))
    names = item_ids.ids.cast(pl.String).to_list()
    why = [{"release": release.number, "item": names[j], "related": names[i], "reason": r} for j, i, r in reasons]
    head = {"number": release.number, "time": release.time, "top": release.lists.top, "settings": json.dumps(settings)}
    with _explained(store.name), _writing(store.engine) as connection:
        _require_next(connection, store, release)
        _note_kind(connection, item_ids)
        connection.execute(sa.insert(_releases), [head])
        for table, rows in ((_entries, entries), (_reasons, why)):
            if rows:
                connection.execute(sa.insert(table), rows)


def _entry_rows(release: ListRelease, item_ids: IdMap) -> Iterator[dict[str, Any]]:
    names = item_ids.ids.cast(pl.String).to_list()
    for j, position in zip(*(axis.tolist() for axis in np.nonzero(release.lists.items != HOLE)), strict=True):
        related = names[int(release.lists.items[j, position])]
        yield {"release": release.number, "item": names[j], "position": position + 1, "related": related}


def _require_next(connection: sa.Connection, store: Store, release: ListRelease) -> None:
    newest = connection.execute(
        sa.select(_releases.c.number, _releases.c.time).order_by(_releases.c.number.desc())
    ).first()
    number, time = (newest.number, newest.time) if newest else (0, release.time)
    if release.number != number + 1:
        raise RefusedError(
            f"{store.name}: release {number} was published meanwhile, so release {release.number} was made from an old "
            "history; nothing was stored, run it again"
        )
    if release.time < time:
        raise InputError(f"a release must not be older than the last one (time {time}), got time {release.time}")


def _note_kind(connection: sa.Connection, item_ids: IdMap) -> None:
    kind = "text" if item_ids.is_text else "number"
    if connection.execute(sa.select(_meta.c.value).where(_meta.c.key == "ids")).first() is None:
        connection.execute(sa.insert(_meta), [{"key": "ids", "value": kind}])


def _require_kind(store: Store, item_ids: IdMap) -> None:
    if store.is_text is not None and store.is_text != item_ids.is_text:
        kinds = {True: "texts", False: "whole numbers"}
        raise InputError(
            f"{store.name}: its item ids are {kinds[store.is_text]}, those of the ratings {kinds[item_ids.is_text]}"
        )
