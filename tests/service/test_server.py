"""The real server over a socket: it starts with checks, answers, logs nothing private, and stops politely."""

import contextlib
import json
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import httpx
import pytest

from recloak._cli.main import run
from recloak._related.history import History
from recloak._service.options import ServeOptions
from recloak._service.resources import load
from recloak._service.tokens import create
from tests.service.helpers import ratings
from tests.service.running import ROOT, Server, command, running, write_sources
from tests.service.test_related import FIRST, SECOND, publish


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("served")
    write_sources(made)
    publish(str(made / "history.db"), 1, FIRST)
    create(made / "tokens.db", user="0")
    return made


ALL = ("--ratings", "ratings.csv", "--titles", "titles.csv", "--history", "history.db", "--tokens", "tokens.db")


def test_one_worker_answers_logs_nothing_private_and_stops_politely(folder):
    token, admin = create(folder / "tokens.db", user="3")[1], create(folder / "tokens.db", user=None, admin=True)[1]
    draft = {"text": "I love Mintaka (1953) and The Matrix", "earlier": [1]}
    with running(folder, *ALL) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        answer = client.post("/api/v1/advice", json=draft, headers={"authorization": f"Bearer {token}"})
        assert answer.json()["after"]["words"] == "nearly alone"
        assert client.post("/api/v1/advice", json=draft).status_code == 401
        assert client.get("/api/v1/items/1/related").json()["release"] == 1
        assert client.get("/", params={"token": token}).headers["content-type"] == "text/html; charset=utf-8"
        assert client.get("/metrics", headers={"authorization": f"Bearer {admin}"}).status_code == 200
        assert client.get("/openapi.json").json()["openapi"].startswith("3.")
        assert "server" not in answer.headers
        assert b" 400 " in raw_answer(server.url, b"GARBAGE\r\n\r\n")
        assert b" 400 " in raw_answer(server.url, b"GET /%ff%00 HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n")
        code = server.stop()
    assert code == 0
    log = server.log.read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    assert {"request", "server"} <= {line["event"] for line in lines}
    for word in ("intaka", "1953", "Matrix", token, token.split("_", 2)[2], admin, "Bearer", "GARBAGE", "%ff"):
        assert word not in log


def raw_answer(url, sent):
    """Send bytes as they are and return what comes back."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(sent)
        connection.settimeout(10)
        answer = b""
        while not answer.endswith(b"}") and (more := connection.recv(65536)):
            answer += more
        return answer


@pytest.mark.slow
def test_a_chunked_body_without_an_end_is_cut_off(folder):
    token = create(folder / "tokens.db", user="3")[1]
    head = (
        f"POST /api/v1/advice HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n"
        "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    ).encode()
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    with running(folder, *ALL, "--max-body", "8192", "--timeout", "5") as server:
        assert b" 413 " in raw_answer(server.url, head + 3 * chunk)
        assert b"too_large" in raw_answer(server.url, head + 3 * chunk)


@pytest.mark.slow
def test_two_workers_share_the_limit_and_the_figures_and_survive_one_death(folder):
    token, admin = create(folder / "tokens.db", user="3")[1], create(folder / "tokens.db", user=None, admin=True)[1]
    with running(folder, *ALL, "--workers", "2", "--rate", "0.01", "--burst", "10") as server:
        asked = [
            httpx.post(f"{server.url}/api/v1/advice", json={"text": "a"}, headers={"authorization": f"Bearer {token}"})
            for _ in range(14)
        ]
        assert [one.status_code for one in asked] == [200] * 10 + [429] * 4
        figures = httpx.get(f"{server.url}/metrics", headers={"authorization": f"Bearer {admin}"}).text
        assert 'recloak_requests_total{method="POST",route="/api/v1/advice",status="200"} 10.0' in figures
        assert "recloak_limited_total 4.0" in figures
        served = {json.loads(line)["process"] for line in server.log.read_text().splitlines() if '"request"' in line}
        subprocess.run(["kill", "-9", str(min(served))], check=True)
        for _ in range(50):
            assert httpx.get(f"{server.url}/health", timeout=60).status_code == 200
        code = server.stop(signal.SIGINT)
    assert code == 0


@pytest.mark.slow
def test_a_publisher_killed_in_the_middle_loses_nothing_while_readers_read(folder):
    """Readers keep getting complete releases, the last one stays, and the next publish works and is picked up."""
    path = folder / "killed.db"
    publish(str(path), 1, FIRST)
    whole = {1: [2, 3], 2: [3, 2]}
    seen, stop = set(), threading.Event()

    def read(url):
        with httpx.Client(base_url=url, timeout=60) as client:
            while not stop.is_set():
                answer = client.get("/api/v1/items/1/related").json()
                assert [one["item"] for one in answer["related"]] == whole[answer["release"]]
                seen.add(answer["release"])

    with running(folder, "--history", path, "--refresh", "0.05") as server:
        reader = threading.Thread(target=read, args=(server.url,))
        reader.start()
        for table in ("recloak_releases", "recloak_entries"):
            killed = subprocess.run([sys.executable, "-c", _dying(path, table)], check=False, cwd=ROOT)
            assert killed.returncode == -9
            time.sleep(0.3)
        with History(path, create=False) as store:
            assert [one.number for one in store.releases] == [1]
        assert seen == {1}
        publish(str(path), 2, SECOND)
        for _ in range(100):
            time.sleep(0.05)
            if 2 in seen:
                break
        stop.set()
        reader.join()
    assert seen == {1, 2}


def _dying(path, table):
    """Return a program that publishes and is killed right after its first row of a table."""
    return (
        "import os, sqlalchemy as sa\n"
        "from tests.service.test_related import *\n"
        "from recloak._related.history import History\n"
        f"store = History({str(path)!r}, create=False)\n"
        f"sa.event.listen(store._database.engine, 'after_cursor_execute', lambda c, cur, s, *_: "
        f"s.startswith('INSERT INTO {table}') and os.kill(os.getpid(), 9))\n"
        "append(store, ListRelease(2, 200, SECOND), IDS, {})\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "there is nothing to serve"),
        (("--ratings", "ratings.csv"), "--ratings needs --titles"),
        (("--ratings", "ratings.csv", "--titles", "titles.csv"), "advice needs --tokens"),
        (("--history", "none.db"), "none.db: there is no history store"),
        (("--history", "history.db", "--host", "0.0.0.0"), "name --tokens FILE"),
        (("--history", "history.db", "--tokens", "none.db"), "none.db: there is no token store"),
        (("--history", "history.db", "--titles", "none.csv"), "none.csv: there is no such file"),
        (("--history", "history.db", "--allow-origin", "*"), "an origin is a scheme and a host"),
        (("--history", "history.db", "--config", "none.toml"), "none.toml: there is no such file"),
        (("--config", "odd.toml"), "there is no option 'wrokers'; did you mean 'workers'?"),
        (("--config", "broken.toml"), "not TOML"),
        (("--history", "history.db", "--workers", "0"), "workers must be at least 1"),
        (("--history", "history.db", "--user", "who"), "how ratings are read (--user, --item, --reader"),
        (("--history", "empty.db"), "empty.db: not a history store that can be used"),
        (("--history", "older.db"), "older.db: a store of format 0, this version reads format 2"),
        (("--history", "history.db", "--titles", "blob.csv"), "blob.csv"),
        (("--history", "history.db", "--titles", "."), "."),
        (("--history", "history.db", "--tokens", "open.db"), "open.db: others than its owner may read or write it"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_sentence(folder, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(folder)
    (folder / "odd.toml").write_text("wrokers = 2\n")
    (folder / "broken.toml").write_text("= 2\n")
    (folder / "empty.db").touch()
    (folder / "blob.csv").write_bytes(bytes(range(256)) * 20)
    shutil.copy(folder / "history.db", folder / "older.db")
    with contextlib.closing(sqlite3.connect(folder / "older.db")) as connection, connection:
        connection.execute("UPDATE recloak_store SET value = '0' WHERE key = 'format'")
    shutil.copy(folder / "tokens.db", folder / "open.db")
    (folder / "open.db").chmod(0o644)
    assert run(["serve", *arguments]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_the_ratings_are_read_as_told(folder):
    rows = (folder / "ratings.csv").read_text().splitlines()[1:]
    (folder / "odd.csv").write_text("stars;film;who\n" + "".join(";".join(row.split(",")[::-1]) + "\n" for row in rows))
    named = {"user": "who", "item": "film", "rating": "stars", "reader": "csv", "scale": "1,5"}
    files = {"ratings": "odd.csv", "titles": "titles.csv", "tokens": "tokens.db"}
    options = ServeOptions.from_mapping({**{name: str(folder / file) for name, file in files.items()}, **named})
    assert options.replace(port=1).reading == options.reading
    resources = load(options, folder)
    assert resources.advisor is not None
    assert resources.advisor.index.ratings.n_users == ratings().n_users
    assert resources.advisor.rated_by(3) >= {1, 2, 3, 4}
    resources.close()


def test_a_port_that_is_taken_is_said_in_one_sentence(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["serve", "--history", "history.db", "--port", str(taken.getsockname()[1])]) == 2
    assert "cannot be listened at" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.slow
def test_a_worker_that_cannot_load_stops_the_server_with_its_sentence(folder):
    (folder / "bad.csv").write_text("user,item,rating\n1,1,five\n")
    arguments = ("--ratings", "bad.csv", "--titles", "titles.csv", "--tokens", "tokens.db", "--workers", "2")
    done = subprocess.run(
        command("serve", "--port", "0", *arguments),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if line.startswith("recloak: ")] == [done.stderr.splitlines()[-1]]
    assert "bad.csv, line 2" in done.stderr


@pytest.mark.slow
def test_a_config_file_says_the_same_as_flags_and_flags_win(folder):
    (folder / "serve.toml").write_text('history = "history.db"\nmax-body = 2048\ncache = 7\n')
    with running(folder, "--config", "serve.toml", "--cache", "9") as server:
        assert httpx.get(f"{server.url}/api/v1/items/1/related").headers["cache-control"] == "public, max-age=9"
        assert httpx.post(f"{server.url}/health", content=b" " * 3000).status_code == 413


@pytest.mark.slow
def test_listening_beyond_this_machine_is_warned_of(folder):
    server = Server(folder, "--history", "history.db", "--tokens", "tokens.db", "--host", "0.0.0.0")
    assert server.stop() == 0
    assert "recloak: listening at 0.0.0.0, beyond this machine" in server.log.read_text()
