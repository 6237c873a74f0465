"""The store: releases come back as they went in, whole or not at all, on SQLite and on PostgreSQL."""

import contextlib
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import sqlalchemy as sa

from recloak import related
from recloak._cli.main import run
from recloak._core.errors import InputError, RefusedError
from recloak._ratings.ids import IdMap
from recloak._related import history_database
from recloak._related.history import History, published, reasons_of, table_of
from recloak._related.history_writing import append
from recloak._related.model import ListRelease, Lists
from tests.related.postgres import server

IDS = IdMap.of([10, 20, 30])
FIRST = ListRelease(1, 100, Lists(np.array([[1, 2], [0, -1], [-1, 0]], np.int32)))
SECOND = ListRelease(2, 200, Lists(np.array([[2, 1], [0, -1], [-1, 1]], np.int32)))
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def postgres():
    """Return the address of a PostgreSQL server of our own."""
    with server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """Return the address of an empty store."""
    if request.param == "sqlite":
        return str(tmp_path / "history.db")
    return emptied(request.getfixturevalue("postgres"))


def emptied(url):
    """Drop what a PostgreSQL server holds and return its address."""
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
    return url


def filled(address):
    with History(address) as store:
        append(store, FIRST, IDS, {"bound": {}})
    with History(address, create=False) as store:
        append(store, SECOND, IDS, {"bound": {}}, [(2, 0, "suppressed"), (2, 1, "replaced")])


def test_releases_come_back_as_they_went_in(address):
    filled(address)
    with History(address, create=False) as store:
        back = published(store, IDS)
        assert [one.number for one in back] == [1, 2]
        assert [one.time for one in store.releases] == [100, 200]
        assert all(
            np.array_equal(one.lists.items, two.lists.items) for one, two in zip(back, (FIRST, SECOND), strict=True)
        )
        assert table_of(store, 1).rows() == [(1, 10, 1, 20), (1, 10, 2, 30), (1, 20, 1, 10), (1, 30, 2, 10)]


def test_items_are_numbered_as_in_the_ratings_and_strangers_left_out(address):
    filled(address)
    with History(address, create=False) as store:
        (_, last) = published(store, IdMap.of([5, 20, 30]))
    assert last.lists.items.tolist() == [[-1, -1], [-1, -1], [-1, 1]]


def test_changes_carry_their_reasons(address):
    filled(address)
    with History(address, create=False) as store:
        rows = {
            (row["item"], row["related"]): (row["change"], row["reason"])
            for row in store.changes(1, 2).to_json()["changes"]
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
        with History(address, create=False) as store, pytest.raises(RefusedError, match="published meanwhile"):
            append(store, ListRelease(number, 300, FIRST.lists), IDS, {})
    with History(address, create=False) as store, pytest.raises(InputError, match="must not be older"):
        append(store, ListRelease(3, 1, FIRST.lists), IDS, {})
    with History(address, create=False) as store:
        assert len(store.releases) == 2


def test_of_publishers_at_once_one_wins_and_the_others_are_told(address):
    with History(address) as store:
        append(store, FIRST, IDS, {})
    outcomes = []

    def publish():
        with History(address, create=False) as store:
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
    with History(address, create=False) as store:
        assert table_of(store, 2).height == SECOND.lists.n_entries


def test_of_makers_at_once_one_makes_the_store_and_all_can_use_it(address):
    outcomes, together = [], threading.Barrier(6)

    def make():
        together.wait()
        with History(address) as store:
            outcomes.append(store.releases)

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [()] * 6


def test_a_database_of_something_else_is_left_as_it_is(tmp_path):
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE tokens (number INTEGER)")
    with pytest.raises(InputError, match="a database of something else"):
        History(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("tokens",)]


@pytest.mark.parametrize("address", ["postgresql://ann:secret@host:port/db", "postgresql://[::1/db", "://"])
def test_an_address_that_is_none_is_told_without_its_password(address):
    with pytest.raises(InputError, match="a store's address must read") as told:
        History(address, create=False)
    assert "secret" not in str(told.value)


@pytest.fixture
def silent():
    """Return the address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"postgresql://ann:secret@127.0.0.1:{listening.getsockname()[1]}/lists"


def test_a_server_that_never_answers_is_told_in_one_sentence(silent, capsys):
    start = time.monotonic()
    assert run(["related", "history", f"{silent}?connect_timeout=2"]) == 2
    assert time.monotonic() - start < 60
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "the server did not answer in time" in told
    assert "secret" not in told


@pytest.mark.parametrize(("asked", "environment", "waits"), [("", {}, "10"), ("?connect_timeout=3", {}, "3"),
                                                            ("", {"PGCONNECT_TIMEOUT": "7"}, None)])  # fmt: skip
def test_a_connection_is_waited_for_ten_seconds_unless_somebody_says_otherwise(asked, environment, waits, monkeypatch):
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    name, url = history_database._address(f"postgresql://ann@host/lists{asked}", create=False)
    assert url.query.get("connect_timeout") == waits
    assert name == f"postgresql://ann@host/lists{asked}"


@pytest.mark.slow
def test_a_server_of_tests_that_were_killed_ends_by_itself():
    code = "from tests.related.test_history import *\nwith server() as url: print(url, flush=True), time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as tests:
        assert tests.stdout is not None
        home = Path(tests.stdout.readline().strip().partition("?host=")[2])
        server_id = int((home / "data" / "postmaster.pid").read_text().splitlines()[0])
        tests.kill()
    until = time.monotonic() + 60
    while home.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not home.exists()
    state = Path(f"/proc/{server_id}/stat")
    assert not state.exists() or state.read_text().rpartition(") ")[2].startswith("Z")  # nobody has asked for its end


def test_a_crash_in_the_middle_leaves_the_last_complete_release(tmp_path):
    path = tmp_path / "history.db"
    filled(str(path))
    code = (
        "import os, sqlalchemy as sa\n"
        "from tests.related.test_history import *\n"
        "import recloak._related.history as history\n"
        "history._note_kind = lambda *_: None\n"
        f"store = History({str(path)!r}, create=False)\n"
        "sa.event.listen(store._database.engine, 'after_cursor_execute', lambda c, cur, s, *_: "
        "'recloak_entries' in s and s.startswith('INSERT') and os.kill(os.getpid(), 9))\n"
        "append(store, ListRelease(3, 300, FIRST.lists), IDS, {})\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT)
    assert killed.returncode == -9
    with History(path, create=False) as store:
        assert [one.number for one in store.releases] == [1, 2]
        assert table_of(store).filter(table_of(store)["release"] == 3).is_empty()


def test_a_store_of_another_format_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "history.db"
    filled(str(path))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE recloak_store SET value = '7' WHERE key = 'format'")
    with pytest.raises(InputError, match="a store of format 7, this version reads format 2"):
        History(path, create=False)


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be one" * 30, b""])
def test_what_is_no_store_is_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a history store"):
        History(path, create=False)


def test_a_missing_store_and_ids_of_another_kind_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no history store"):
        History(tmp_path / "none.db", create=False)
    filled(str(tmp_path / "history.db"))
    with (
        History(tmp_path / "history.db", create=False) as store,
        pytest.raises(InputError, match="ids are whole numbers"),
    ):
        published(store, IdMap.of(["a", "b"]))


@pytest.mark.parametrize("ids", [[10, 20, 30], ["ten", "twenty", "thirty"]])
def test_one_opened_history_takes_three_releases_and_reads_them_back(address, ids):
    times = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9])
    items = [ids[place] for place in (0, 1, 2, 0, 1, 0, 2, 1, 2)]
    ratings = pl.DataFrame({"user": [1, 1, 1, 2, 2, 3, 3, 4, 4], "item": items, "rating": 1.0, "time": times})
    with History(address) as history:
        kind = history.is_text
        assert kind is None  # nothing is published, and this must not be remembered
        made = [related.publish(history, ratings, until=until, top=2, delta=1.0, min_support=1) for until in (3, 6, 9)]
        assert [one.number for one in made] == [1, 2, 3] == [one.number for one in history.releases]
        kept = history.to_polars()
        for one in made:
            assert len(one.to_polars()) > 0
            back = kept.filter(release=one.number).drop("release")
            assert back.sort("item", "position").equals(one.to_polars().sort("item", "position"))
        assert history.is_text == isinstance(ids[0], str)
        later = published(history, IdMap.of(ids))
        assert [one.lists.n_entries for one in later] == [len(one.to_polars()) for one in made]
