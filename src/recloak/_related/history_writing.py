"""The history store as it is written: releases, the ledger of first holdings, and what is taken out of both.

One transaction per change, under a lock. A release is refused if somebody else has published in between; a crash leaves
the last complete release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from recloak._core.errors import InputError, RefusedError
from recloak._ratings.ids import IdMap
from recloak._related.history import History, require_kind
from recloak._related.history_database import ENTRIES, ERASED, LEDGER, PACKED_LISTS, REASONS, RELEASES, SEALS, STORE
from recloak._related.ledger import Batch, Ledger
from recloak._related.ledger_bytes import packed_holdings, packed_ids, unpacked_holdings, unpacked_ids
from recloak._related.model import EMPTY, ListRelease
from recloak._related.packed_lists import packed_lists
from recloak._related.release_time import moment


def append(
    history: History,
    release: ListRelease,
    item_ids: IdMap,
    settings: dict[str, Any],
    reasons: Iterable[tuple[int, int, str]] = (),
    entered: tuple[Ledger, tuple[Batch, ...], int] | None = None,
) -> None:
    """Add a release whole or not at all; raise RefusedError unless its number follows the last one's.

    ``entered`` is the ledger, those of its batches that the store does not have yet, and the number of seals that it
    was read with.
    """
    require_kind(history, item_ids)
    names = item_ids.ids.cast(pl.String).to_list()
    entries = list(_entry_rows(release, names))
    why: list[tuple[int | str, ...]] = [(release.number, names[j], names[i], reason) for j, i, reason in reasons]
    head = {"number": release.number, "time": release.time, "top": release.lists.top, "settings": json.dumps(settings)}
    with history._database.writing() as connection:
        _require_next(connection, history, release)
        if connection.execute(sa.select(STORE.c.value).where(STORE.c.key == "ids")).first() is None:
            kind = "text" if item_ids.is_text else "number"
            connection.execute(sa.insert(STORE), [{"key": "ids", "value": kind}])
        connection.execute(sa.insert(RELEASES), [head])
        for table, rows in ((ENTRIES, entries), (REASONS, why)):
            if rows:
                _insert(connection, table, rows)
        if entered is not None:
            _require_seals(connection, history, entered[2])
            _enter(connection, *entered[:2])
            packed = {"release": release.number, "lists": packed_lists(release.lists, entered[0])}
            connection.execute(sa.insert(PACKED_LISTS), [packed])


def _insert(connection: sa.Connection, table: sa.Table, rows: list[tuple[int | str, ...]]) -> None:
    """Insert rows in the order of a table's columns, by the driver itself: a third of the time for many rows."""
    columns = [column.name for column in table.columns]
    sign = "?" if connection.dialect.name == "sqlite" else "%s"
    values = ", ".join([sign] * len(columns))
    connection.exec_driver_sql(f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({values})", rows)  # noqa: S608


def _entry_rows(release: ListRelease, names: list[str]) -> Iterator[tuple[int | str, ...]]:
    owners, places = np.nonzero(release.lists.items != EMPTY)
    entries = release.lists.items[owners, places].tolist()
    for j, position, i in zip(owners.tolist(), places.tolist(), entries, strict=True):
        yield release.number, names[j], position + 1, names[i]


def _require_next(connection: sa.Connection, history: History, release: ListRelease) -> None:
    last = connection.execute(sa.select(RELEASES).order_by(RELEASES.c.number.desc()).limit(1)).first()
    number, time = (last.number, last.time) if last else (0, release.time)
    if release.number != number + 1:
        raise RefusedError(
            f"{history.name}: release {number} was published meanwhile, so release {release.number} was made from an "
            "old history; nothing was stored, run it again"
        )
    if release.time < time:
        raise InputError(f"a release must not be older than the last one of {moment(time)}, got {moment(release.time)}")


def _require_seals(connection: sa.Connection, history: History, n_seals: int) -> None:
    if connection.execute(sa.select(sa.func.count()).select_from(SEALS)).scalar_one() != n_seals:
        raise RefusedError(f"{history.name}: somebody was forgotten meanwhile; nothing was stored, run it again")


def _enter(connection: sa.Connection, ledger: Ledger, batches: tuple[Batch, ...]) -> None:
    """Write batches of a ledger; the ids that no earlier batch brought go with the first of them."""
    known = connection.execute(sa.select(STORE.c.key, STORE.c.value).where(STORE.c.key.in_(_COUNTS))).all()
    counts = {row.key: int(row.value) for row in known}
    kinds = {row.key for row in connection.execute(sa.select(STORE.c.key).where(STORE.c.key == "user ids"))}
    if not kinds:
        kind = "text" if ledger.user_ids.dtype == pl.String else "number"
        connection.execute(sa.insert(STORE), [{"key": "user ids", "value": kind}])
    users, items = ledger.user_ids[counts.get("users", 0) :], ledger.item_ids[counts.get("items", 0) :]
    for batch in batches:
        row = {"release": batch.release, "time": batch.time, "users": packed_ids(users), "items": packed_ids(items)}
        connection.execute(sa.insert(LEDGER), [{**row, "holdings": packed_holdings(batch.users, batch.items)}])
        users, items = users.clear(), items.clear()
    connection.execute(sa.delete(STORE).where(STORE.c.key.in_(_COUNTS)))
    sizes = zip(_COUNTS, (ledger.n_users, len(ledger.item_ids)), strict=True)
    connection.execute(sa.insert(STORE), [{"key": key, "value": str(size)} for key, size in sizes])


_COUNTS = ("users", "items")  # of the ledger, so that a publisher knows which ids are new


def ledger_of(history: History) -> Ledger | None:
    """Return the ledger of a history; None if it was kept without one, or nothing is published."""
    rows = history._database.rows(sa.select(LEDGER).order_by(LEDGER.c.release))
    if not rows:
        return None
    (kind,) = history._database.rows(sa.select(STORE.c.value).where(STORE.c.key == "user ids"))
    users = [unpacked_ids(row.users, is_text=kind.value == "text") for row in rows]
    items = [unpacked_ids(row.items, is_text=bool(history.is_text)) for row in rows]
    batches = tuple(Batch(row.release, row.time, *unpacked_holdings(row.holdings)) for row in rows)
    return Ledger(pl.concat(users), pl.concat(items), batches)


@dataclass(frozen=True, slots=True)
class Seal:
    """Releases that were proved for the last time before somebody was forgotten."""

    through: int  # the last of them
    forgotten: int  # users
    passed: bool
    max_breach: float


def seals_of(history: History) -> tuple[Seal, ...]:
    """Return the seals of a history, oldest first."""
    rows = history._database.rows(sa.select(SEALS).order_by(SEALS.c.number))
    return tuple(Seal(row.through, row.forgotten, bool(row.passed), row.max_breach) for row in rows)


def forget_user(history: History, ledger: Ledger, number: int, seal: Seal, mark: bytes | None) -> None:
    """Take the id and the holdings of one user out of the ledger; note the seal, and their mark if they have one."""
    with history._database.writing() as connection:
        begin = 0
        for row in connection.execute(sa.select(LEDGER).order_by(LEDGER.c.release)).all():
            users, items = unpacked_holdings(row.holdings)
            ids = unpacked_ids(row.users, is_text=ledger.user_ids.dtype == pl.String)
            is_here, keep = begin <= number < begin + len(ids), users != number
            if is_here:
                ids = ids.scatter(number - begin, None)
            if is_here or not keep.all():
                new = {"users": packed_ids(ids), "holdings": packed_holdings(users[keep], items[keep])}
                connection.execute(sa.update(LEDGER).where(LEDGER.c.release == row.release).values(**new))
            begin += len(ids)
        n_seals = connection.execute(sa.select(sa.func.count()).select_from(SEALS)).scalar_one()
        noted = {"through": seal.through, "forgotten": seal.forgotten, "max_breach": seal.max_breach}
        connection.execute(sa.insert(SEALS), [{"number": n_seals + 1, "passed": int(seal.passed), **noted}])
        if mark is not None:
            _mark(connection, mark)
    history._database.vacuum()


def _mark(connection: sa.Connection, mark: bytes) -> None:
    """Add a mark, and write all anew in their own order, which says nothing about who was forgotten when."""
    ERASED.create(connection, checkfirst=True)  # stores of older versions lack it
    marks = {bytes(row.mark) for row in connection.execute(sa.select(ERASED))} | {mark}
    connection.execute(sa.delete(ERASED))
    connection.execute(sa.insert(ERASED), [{"mark": one} for one in sorted(marks)])


def prune_releases(history: History, before: int) -> int:
    """Delete the lists of the releases before a number; return how many there were. Their holdings stay known."""
    with history._database.writing() as connection:
        count = sa.select(sa.func.count()).select_from(RELEASES).where(RELEASES.c.number < before)
        n_releases = int(connection.execute(count).scalar_one())
        for table in (ENTRIES, REASONS, *([PACKED_LISTS] if history._database.has(PACKED_LISTS) else [])):
            connection.execute(sa.delete(table).where(table.c.release < before))
        connection.execute(sa.delete(RELEASES).where(RELEASES.c.number < before))
    history._database.vacuum()
    return n_releases
