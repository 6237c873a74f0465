"""What signals do to a running server: it reloads without an interruption, stops in time, and leaves nothing behind."""

import json
import os
import shutil
import signal
import socket
import threading
import time

import httpx
import pytest

from recloak._service.tokens import create
from tests.service.running import running, write_sources

pytestmark = pytest.mark.slow
UNLIMITED = ("--rate", "1e6", "--burst", "1000000", "--timeout", "600")
ALL = ("--ratings", "ratings.csv", "--titles", "titles.csv", "--tokens", "tokens.db", *UNLIMITED)
BOUND = 30  # seconds: ten for requests under way, and some for a busy machine


@pytest.fixture
def folder(tmp_path):
    write_sources(tmp_path)
    return tmp_path


def events(server):
    return [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]


def wait_for(fits, server):
    for _ in range(600):
        found = [line for line in events(server) if fits(line)]
        if found:
            return found[-1]
        time.sleep(0.1)
    raise AssertionError(server.log.read_text())


class Asking:
    """Asks again and again in threads until told to stop; counts the answers by their codes.

    A connection that is closed before its request was read is opened once more, as browsers and proxies do.
    """

    def __init__(self, url, token):
        self.codes, self.broken, self.n_closed, self._stop = [], [], 0, threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(url, token)) for _ in range(3)]
        for thread in self._threads:
            thread.start()

    def _ask(self, url, token):
        while not self._stop.wait(0.1):
            try:
                asked = httpx.post(
                    f"{url}/api/v1/advice", json={"text": "I love Mintaka (1953)"}, headers=bearer(token), timeout=60
                )
                self.codes.append(asked.status_code)
            except (httpx.RemoteProtocolError, httpx.ReadError):
                self.n_closed += 1
            except httpx.HTTPError as error:
                self.broken.append(repr(error))
                return

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join(60)


def bearer(token):
    return {"authorization": f"Bearer {token}"}


class Halves:
    """Requests of which one half is sent, and the other half later."""

    def __init__(self, url, token, number):
        host, port = url.removeprefix("http://").split(":")
        body = json.dumps({"text": "I love Mintaka (1953)"}).encode()
        head = f"POST /api/v1/advice HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self._rest = body[9:]
        self._open = [socket.create_connection((host, int(port)), timeout=60) for _ in range(number)]
        for one in self._open:
            one.sendall(head.encode() + body[:9])
        time.sleep(1)  # until they are read

    def finish(self):
        """Send the rest and return the first lines of the answers."""
        return {self._answer(one) for one in self._open}

    def close(self):
        for one in self._open:
            one.close()

    def _answer(self, one):
        one.sendall(self._rest)
        with one, one.makefile("rb") as reply:
            return reply.read().split(b"\r\n")[0]


def unseen(url, token):
    """Return what is found of a title that only comes with the new title list."""
    body = {"text": "I saw Newfangled (2020)"}
    try:
        asked = httpx.post(f"{url}/api/v1/advice", json=body, headers=bearer(token), timeout=60)
    except (httpx.RemoteProtocolError, httpx.ReadError):  # closed before it was read
        return unseen(url, token)
    return [one["title"] for one in asked.json()["finds"]]


@pytest.mark.parametrize("workers", [1, 2])
def test_sighup_reloads_while_requests_are_answered(folder, workers):
    token = create(folder / "tokens.db", user="3")[1]
    with running(folder, *ALL, "--workers", workers) as server:
        assert unseen(server.url, token) == []
        with (folder / "titles.csv").open("a") as titles:
            titles.write('1,"Newfangled (2020)"\n')
        n_halves = (
            4 if workers == 1 else 0
        )  # a worker that is replaced waits ten seconds for them, and loading takes longer
        asking, halves = Asking(server.url, token), Halves(server.url, token, n_halves)
        server.process.send_signal(signal.SIGHUP)
        for _ in range(300):
            if [unseen(server.url, token) for _ in range(6)] == [["Newfangled (2020)"]] * 6:
                break
            time.sleep(0.2)
        asking.stop()
        assert halves.finish() <= {b"HTTP/1.1 200 OK"}
        assert unseen(server.url, token) == ["Newfangled (2020)"]
        assert (set(asking.codes), asking.broken) == ({200}, [])
        assert workers > 1 or asking.n_closed == 0
        assert server.stop() == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failed_reload_keeps_the_old_and_logs_no_value(folder, workers):
    token = create(folder / "tokens.db", user="3")[1]
    with running(folder, *ALL, "--workers", workers) as server:
        (folder / "ratings.csv").write_text("user,item,rating\n1,1,secretfive\n")
        server.process.send_signal(signal.SIGHUP)
        line = wait_for(lambda line: line["event"] == "not loaded", server)
        assert (line["file"], line["line"]) == ("ratings.csv", 2)
        assert "secretfive" not in server.log.read_text()
        assert {unseen(server.url, token) == [] for _ in range(4)} == {True}
        assert server.stop() == 0


def test_a_hang_up_of_a_worker_changes_nothing(folder):
    create(folder / "tokens.db", user="3")
    with running(folder, *ALL, "--workers", "2") as server:
        first = {line["process"] for line in events(server)} - {server.process.pid}
        for process in first:
            os.kill(process, signal.SIGHUP)
        time.sleep(1)
        for _ in range(20):
            assert httpx.get(f"{server.url}/health", timeout=60).status_code == 200
        assert {line["process"] for line in events(server)} >= first
        for process in first:
            os.kill(process, 0)  # it is still there


@pytest.mark.parametrize("workers", [1, 2])
def test_requests_under_way_are_answered_before_a_stop(folder, workers):
    token = create(folder / "tokens.db", user="3")[1]
    with running(folder, *ALL, "--workers", workers) as server:
        halves = Halves(server.url, token, 6)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(1)
        assert halves.finish() == {b"HTTP/1.1 200 OK"}
        assert server.process.wait(BOUND) == 0


def test_a_request_that_never_ends_does_not_keep_a_server(folder):
    token = create(folder / "tokens.db", user="3")[1]
    with running(folder, *ALL, "--workers", "2") as server:
        halves = Halves(server.url, token, 2)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(BOUND) == 0
        halves.close()


def test_a_stop_while_workers_are_replaced_does_not_wait_for_them(folder):
    create(folder / "tokens.db", user="3")
    with running(folder, *ALL, "--workers", "2") as server:
        shutil.move(folder / "titles.csv", folder / "whole.csv")
        os.mkfifo(folder / "titles.csv")  # whoever reads it waits for good
        server.process.send_signal(signal.SIGHUP)
        time.sleep(3)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < BOUND


def test_workers_do_not_outlive_their_parent(folder):
    create(folder / "tokens.db", user="3")
    with running(folder, *ALL, "--workers", "2") as server:
        server.process.kill()
        for _ in range(300):
            time.sleep(0.1)
            try:
                httpx.get(f"{server.url}/health", timeout=10)
            except httpx.HTTPError:
                return
    raise AssertionError("orphans still answer")
