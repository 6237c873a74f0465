"""The store: releases come back as they went in, whole or not at all, on SQLite and on PostgreSQL."""

import contextlib
import os
import pwd
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recloak.errors import InputError, RefusedError
from recloak.ratings import IdMap
from recloak.related.changes import changed
from recloak.related.history import append, open_store, opened, published, reasons_of, releases, table_of
from recloak.related.model import Lists, Release

IDS = IdMap.of([10, 20, 30])
FIRST = Release(1, 100, Lists(np.array([[1, 2], [0, -1], [-1, 0]], np.int32)))
SECOND = Release(2, 200, Lists(np.array([[2, 1], [0, -1], [-1, 1]], np.int32)))
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


@pytest.fixture(scope="session")
def postgres():
    """Start a PostgreSQL server of our own on a socket in a temporary folder, as a user that is not root."""
    if not BINARIES:
        pytest.skip("PostgreSQL's server is not installed")
    user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    home = Path(tempfile.mkdtemp(prefix="rc-pg-"))
    as_user: dict[str, Any] = {"user": user} if os.getuid() == 0 else {}
    if as_user:
        shutil.chown(home, user)
    run = lambda *command: subprocess.run(command, check=True, capture_output=True, cwd=home, **as_user)  # noqa: E731
    try:
        run(BINARIES[-1] / "initdb", "-D", home / "data", "-A", "trust", "-N")
    except (subprocess.CalledProcessError, OSError, LookupError) as error:
        shutil.rmtree(home, ignore_errors=True)
        pytest.skip(f"PostgreSQL cannot be started here: {error}")
    settings = f"-c listen_addresses='' -c unix_socket_directories={home} -c fsync=off"
    run(BINARIES[-1] / "pg_ctl", "-D", home / "data", "-l", home / "log", "-o", settings, "-w", "start")
    yield f"postgresql://{user}@/postgres?host={home}"
    run(BINARIES[-1] / "pg_ctl", "-D", home / "data", "-m", "immediate", "stop")
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """Give the address of an empty store."""
    if request.param == "sqlite":
        return str(tmp_path / "history.db")
    url = request.getfixturevalue("postgres")
    import sqlalchemy as sa

    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
    return url


def filled(address):
    with opened(address, create=True) as store:
        append(store, FIRST, IDS, {"bound": {}})
    with opened(address) as store:
        append(store, SECOND, IDS, {"bound": {}}, [(2, 0, "suppressed"), (2, 1, "replaced")])


def test_releases_come_back_as_they_went_in(address):
    filled(address)
    with opened(address) as store:
        back = published(store, IDS)
        assert [one.number for one in back] == [1, 2]
        assert [one.time for one in releases(store)] == [100, 200]
        assert all(
            np.array_equal(one.lists.items, two.lists.items) for one, two in zip(back, (FIRST, SECOND), strict=True)
        )
        assert table_of(store, 1).rows() == [(1, 10, 1, 20), (1, 10, 2, 30), (1, 20, 1, 10), (1, 30, 2, 10)]


def test_items_are_numbered_as_in_the_ratings_and_strangers_left_out(address):
    filled(address)
    with opened(address) as store:
        (_, last) = published(store, IdMap.of([5, 20, 30]))
    assert last.lists.items.tolist() == [[-1, -1], [-1, -1], [-1, 1]]


def test_changes_carry_their_reasons(address):
    filled(address)
    with opened(address) as store:
        rows = {
            (row["item"], row["related"]): (row["change"], row["reason"]) for row in changed(store, 1, 2)["changes"]
        }
        assert reasons_of(store, 2).height == 2
    assert rows == {
        (10, 20): ("sank", None),
        (10, 30): ("rose", None),
        (30, 10): ("vanished", "suppressed"),
        (30, 20): ("appeared", "replaced"),
    }


def test_a_number_that_is_taken_or_leaves_a_gap_is_refused(address):
    filled(address)
    for number in (2, 4):
        with opened(address) as store, pytest.raises(RefusedError, match="published meanwhile"):
            append(store, Release(number, 300, FIRST.lists), IDS, {})
    with opened(address) as store, pytest.raises(InputError, match="must not be older"):
        append(store, Release(3, 1, FIRST.lists), IDS, {})
    with opened(address) as store:
        assert len(releases(store)) == 2


def test_of_publishers_at_once_one_wins_and_the_others_are_told(address):
    with opened(address, create=True) as store:
        append(store, FIRST, IDS, {})
    outcomes = []

    def publish():
        with opened(address) as store:
            try:
                append(store, SECOND, IDS, {})
                outcomes.append("won")
            except RefusedError:
                outcomes.append("told")

    threads = [threading.Thread(target=publish) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["told", "told", "told", "won"]
    with opened(address) as store:
        assert table_of(store, 2).height == SECOND.lists.n_entries


def test_of_makers_at_once_one_makes_the_store_and_all_can_use_it(address):
    outcomes, together = [], threading.Barrier(6)

    def make():
        together.wait()
        with opened(address, create=True) as store:
            outcomes.append(releases(store))

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [[]] * 6


def test_a_database_of_something_else_is_left_as_it_is(tmp_path):
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE tokens (number INTEGER)")
    with pytest.raises(InputError, match="a database of something else"):
        open_store(path, create=True)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("tokens",)]


@pytest.mark.parametrize("address", ["postgresql://ann:secret@host:port/db", "postgresql://[::1/db", "://"])
def test_an_address_that_is_none_is_told_without_its_password(address):
    with pytest.raises(InputError, match="a store's address must read") as told:
        open_store(address)
    assert "secret" not in str(told.value)


def test_a_crash_in_the_middle_leaves_the_last_complete_release(tmp_path):
    path = tmp_path / "history.db"
    filled(str(path))
    code = (
        "import os, sqlalchemy as sa\n"
        "from tests.related.test_history import *\n"
        "import recloak.related.history as history\n"
        "history._note_kind = lambda *_: None\n"
        f"store = open_store({str(path)!r})\n"
        "sa.event.listen(store.engine, 'after_cursor_execute', lambda c, cur, s, *_: 'recloak_entries' in s and "
        "s.startswith('INSERT') and os.kill(os.getpid(), 9))\n"
        "append(store, Release(3, 300, FIRST.lists), IDS, {})\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[2])
    assert killed.returncode == -9
    with opened(path) as store:
        assert [one.number for one in releases(store)] == [1, 2]
        assert table_of(store).filter(table_of(store)["release"] == 3).is_empty()


def test_a_store_of_another_format_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "history.db"
    filled(str(path))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE recloak_store SET value = '7' WHERE key = 'format'")
    with pytest.raises(InputError, match="a store of format 7, this version reads format 1"):
        open_store(path)


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be one" * 30, b""])
def test_what_is_no_store_is_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a history store"):
        open_store(path)


def test_a_missing_store_and_ids_of_another_kind_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no history store"):
        open_store(tmp_path / "none.db")
    filled(str(tmp_path / "history.db"))
    with opened(tmp_path / "history.db") as store, pytest.raises(InputError, match="ids are whole numbers"):
        published(store, IdMap.of(["a", "b"]))
