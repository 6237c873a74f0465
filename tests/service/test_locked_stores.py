"""Stores that another process has locked, or that cannot be written: answered soon, refused, and never let through."""

import asyncio
import contextlib
import json
import resource
import shlex
import sqlite3
import subprocess
import sys
import threading
import time
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from recloak._cli.main import run
from recloak._core.errors import InputError
from recloak._service.rate_limits import RateLimiter
from recloak._service.tokens import TokenChecker, create, revoke
from tests.related import test_history
from tests.service.helpers import World, problem
from tests.service.running import command, running, write_sources
from tests.service.test_related import FIRST, publish

ALL = ("--ratings", "ratings.csv", "--titles", "titles.csv", "--history", "history.db", "--tokens", "tokens.db")
postgres = test_history.postgres  # a fixture


@pytest.fixture
def address_of_postgres(postgres):
    return test_history.emptied(postgres)


# Holds an exclusive lock until its standard input ends.
_HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
for line in sys.argv[2:]:
    connection.execute(line)
print("locked", flush=True)
sys.stdin.read()
"""
WHOLE_FILE = ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE", "CREATE TABLE held (a)")  # also against readers


@contextlib.contextmanager
def locked(store, *lines):
    """Lock a store by another process."""
    arguments = [sys.executable, "-c", _HOLDER, str(store), *(lines or ("BEGIN EXCLUSIVE",))]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        yield
        holder.communicate()


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def logged(server, event):
    """Return the fields of the log's lines of one event, and the place of each line."""
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    return [{**one, "place": place} for place, one in enumerate(lines) if one["event"] == event]


async def ask_all(url, *requests):
    """Send requests at the same time and return the answers."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        return await asyncio.gather(*(client.request(method, path, **more) for method, path, more in requests))


def test_a_locked_token_store_is_said_at_once_while_others_are_answered(tmp_path):
    write_sources(tmp_path)
    publish(str(tmp_path / "history.db"), 1, FIRST)
    made, token = create(tmp_path / "tokens.db", user="3")
    advice = ("POST", "/api/v1/advice", {"json": {"text": "Fargo"}, "headers": bearer(token)})
    ready, other = (("GET", path, dict[str, Any]()) for path in ("/ready", "/api/v1/items/1/related"))
    with running(tmp_path, *ALL) as server:
        ask = lambda *requests: asyncio.run(ask_all(server.url, *requests))  # noqa: E731
        assert [one.status_code for one in ask(advice, ready)] == [200, 200]
        with locked(tmp_path / "tokens.db"):
            found = ask(*10 * [advice], *10 * [ready], *20 * [other])
        assert [one.status_code for one in found] == 20 * [503] + 20 * [200]
        for answer in found[:20]:
            assert (problem(answer), answer.headers["retry-after"]) == ("tokens_unreadable", "1")
        assert [one.status_code for one in ask(advice, ready)] == [200, 200]
        revoke(tmp_path / "tokens.db", made.id)
        with locked(tmp_path / "tokens.db"):
            assert ask(advice)[0].status_code == 503  # nothing is remembered that could let a revoked token in
        assert problem(ask(advice)[0]) == "bad_token"
    told, asked = logged(server, "tokens"), logged(server, "request")
    assert [one["reason"] for one in told] == 21 * ["SQLITE_BUSY"]
    between = [one for one in asked if one["status"] == 200 and one["place"] < told[0]["place"]]
    assert len([one for one in between if "related" in one["route"]]) > 10  # answered while others waited
    waited = sorted(one["ms"] for one in asked if one["status"] == 503)
    assert waited[len(waited) // 2] < 1000
    assert waited[-1] < 5000  # on a machine that is busy with other things


def test_a_store_that_is_locked_for_a_moment_only_refuses_nobody(world):
    token = world.token(3)
    connection = sqlite3.connect(world.store, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN EXCLUSIVE")
    ending = threading.Timer(0.1, lambda: connection.execute("COMMIT"))
    ending.start()
    assert world.advise(token, text="Fargo").status_code == 200
    ending.join()
    connection.close()


def test_a_damaged_token_store_lets_nobody_in(world):
    token = world.token(3)
    with world.store.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 8000)
    for answer in (world.advise(token, text="Fargo"), world.ask("GET", "/metrics", world.admin)):
        assert (answer.status_code, problem(answer)) == (503, "tokens_unreadable")


@pytest.mark.parametrize("lock", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"])
def test_a_command_that_cannot_write_a_locked_store_says_so(tmp_path, lock, monkeypatch, capsys):
    store = tmp_path / "tokens.db"
    made, text = create(store, user="3")
    monkeypatch.setattr("recloak._service.tokens._PATIENCE", 0.2)
    with locked(store, lock):
        for line in (["create", "--user", "4"], ["revoke", made.id]):
            assert run(["token", *line, "--store", str(store)]) == 2
            said = capsys.readouterr()
            assert said.err == f"recloak: {store}: another process has locked the token store; try again\n"
            assert said.out == ""
    checker = TokenChecker(store)
    assert checker.check(text) is not None
    checker.close()


def test_a_full_disk_adds_no_token_and_revokes_none(tmp_path):
    store = tmp_path / "tokens.db"
    made, _ = create(store, user="3")
    before = store.read_bytes()
    for line in (["create", "--user", "4" * 5000], ["revoke", made.id]):
        limited = f"ulimit -f 1; exec {shlex.join(command('token', *line, '--store', store))}"
        done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
    assert store.read_bytes() == before
    assert revoke(store, made.id).revoked is not None


def test_a_full_disk_is_told_before_anything_is_served(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(InputError, match="16 MB for the limits of tokens cannot be written: File too large"):
            RateLimiter(tmp_path / "buckets", 1.0, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_locked_history_serves_what_is_loaded_and_says_that_it_is_not_ready(tmp_path):
    path = str(tmp_path / "history.db")
    publish(path, 1, FIRST)
    world = World(tmp_path, history=path)
    with locked(path, *WHOLE_FILE):
        check_locked_history(world)
    assert world.published.refresh() is False
    assert world.ask("GET", "/ready").status_code == 200
    assert world.ask("GET", "/api/v1/items/1/history").status_code == 200
    world.close()


def test_a_locked_table_of_postgresql_is_no_longer_waited_for(tmp_path, address_of_postgres):
    publish(address_of_postgres, 1, FIRST)
    world = World(tmp_path, history=address_of_postgres)
    engine = sa.create_engine(address_of_postgres.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(sa.text("LOCK TABLE recloak_releases IN ACCESS EXCLUSIVE MODE"))
        check_locked_history(world)
    engine.dispose()
    assert world.published.refresh() is False
    assert world.ask("GET", "/api/v1/items/1/history").status_code == 200
    world.close()


def check_locked_history(world):
    """Check that requests are answered although the history is locked."""
    began = time.monotonic()
    first = world.ask("GET", "/api/v1/items/1/history")
    with pytest.raises(InputError):
        world.published.refresh()
    for answer in (first, *(world.ask("GET", path) for path in 10 * ["/api/v1/items/1/history"] + ["/ready"])):
        assert (answer.status_code, problem(answer)) == (503, "not_ready")
    assert world.ask("GET", "/api/v1/items/1/related").status_code == 200
    assert world.advise(world.token(3), text="Fargo " * 400).status_code == 200
    assert time.monotonic() - began < 10  # it was minutes
