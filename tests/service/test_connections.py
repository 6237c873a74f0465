"""Clients that send slowly, without an end, or never: bounded in bytes, time and number, with either parser."""

import contextlib
import json
import re
import resource
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest
import uvicorn

from recloak._service import connections
from recloak._service.connections import ConnectionLimits, LimitedH11, LimitedHttpTools
from recloak._service.middleware import HEADERS
from tests.service.helpers import World
from tests.service.running import running
from tests.service.test_related import FIRST, publish

HEAD = b"GET /health HTTP/1.1\r\nhost: x\r\n"
LIMITS = ConnectionLimits(head_bytes=20_000, seconds=0.6, waiting=8, pipelined=4)


@pytest.fixture(params=[LimitedH11, LimitedHttpTools])
def served(request, tmp_path, monkeypatch):
    """Serve an application by one of the parsers, with small limits; return its port and the server."""
    monkeypatch.setattr(request.param, "limits", LIMITS)
    world = World(tmp_path, timeout=1.0)
    size = LIMITS.head_bytes
    config = uvicorn.Config(
        world.app, port=0, http=request.param, h11_max_incomplete_event_size=size, log_config=None, access_log=False,
        server_header=False, ws="none", timeout_keep_alive=1,
    )  # fmt: skip
    server, listening = uvicorn.Server(config), socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    world.address = listening.getsockname()
    world.keys = server
    yield world
    server.should_exit = True
    thread.join()
    listening.close()  # the server has closed the world


def connected(world):
    return socket.create_connection(world.address, timeout=30)


def rest(connection):
    """Return what comes until the other side closes."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while more := connection.recv(65536):
            found += more
    return found


def sent(connection, data):
    """Send bytes; return whether the other side still takes them."""
    try:
        connection.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def is_alive(world):
    return httpx.get("http://{}:{}/health".format(*world.address)).status_code == 200


def test_a_header_without_an_end_is_cut(served):
    with connected(served) as connection:
        pieces = 0
        while sent(connection, HEAD if not pieces else b"x-more: " + b"a" * 992) and pieces < 1000:
            pieces += 1
            time.sleep(0.001)
        assert pieces < 200
    assert is_alive(served)


def test_a_large_header_is_refused_although_it_ends(served, request):
    n_bytes = 300_000 if "H11" in request.node.name else 21_000  # h11 takes what comes whole in one read
    with connected(served) as connection:
        assert sent(connection, HEAD + b"x-more: " + b"a" * 15_000 + b"\r\n\r\n")
        assert b" 200 " in connection.recv(65536)
        sent(connection, HEAD + b"x-more: " + b"a" * n_bytes + b"\r\n\r\n")
        answer = rest(connection)
    assert b" 200 " not in answer
    assert not answer or answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))


@pytest.mark.parametrize("begun", [b"", b"G", HEAD, HEAD + b"x-slow: "])
def test_a_request_that_never_comes_is_given_up(served, begun):
    with connected(served) as connection:
        connection.sendall(begun)
        answer = rest(connection)
    if begun:
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert json.loads(body)["error"]["code"] == "too_slow"
        assert b"cache-control: no-store" in head
        assert all(name in head for name, _ in HEADERS)
    else:
        assert answer == b""


@pytest.mark.parametrize("drop", [b"x", b"\r\n"])
def test_a_request_that_comes_drop_by_drop_is_given_up(served, drop):
    with connected(served) as connection:
        connection.sendall(HEAD + b"\r\n")
        assert b" 200 " in connection.recv(65536)  # uvicorn's own limit of time begins here, and every byte stops it
        until = time.monotonic() + 30
        while sent(connection, drop) and time.monotonic() < until:
            time.sleep(0.05)
        assert time.monotonic() < until


@pytest.mark.parametrize("head", [b"content-length: 100000\r\n", b"transfer-encoding: chunked\r\n"])
def test_a_body_that_nobody_reads_is_not_waited_for(served, head):
    with connected(served) as connection:
        connection.sendall(HEAD + head + b"\r\n")
        assert b" 200 " in connection.recv(65536)
        until = time.monotonic() + 30
        while sent(connection, b"1\r\nx\r\n") and time.monotonic() < until:
            time.sleep(0.05)
        assert time.monotonic() < until


def test_a_body_without_an_end_that_holds_nothing_is_cut(served):
    token = served.token(3).encode()
    head = b"POST /api/v1/advice HTTP/1.1\r\nhost: x\r\nauthorization: Bearer " + token + b"\r\n"
    head += b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    for framing in (b"1;" + b"e" * 10_000, b"0\r\n" + b"x-trailer: " + b"t" * 10_000):
        with connected(served) as connection:
            connection.sendall(head + framing)
            pieces = 0
            while sent(connection, b"t" * 10_000) and pieces < 1000:
                pieces += 1
                time.sleep(0.01)
            assert pieces < 100


def test_a_body_in_many_small_chunks_is_read(served):
    token = served.token(3).encode()
    head = b"POST /api/v1/advice HTTP/1.1\r\nhost: x\r\nauthorization: Bearer " + token + b"\r\n"
    head += b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    body = b'{"text": "' + b"a" * 5000 + b'"}'
    with connected(served) as connection:
        for byte in body:
            connection.sendall(head + b"1\r\n%c\r\n" % byte)
            head = b""
        connection.sendall(b"0\r\n\r\n")
        assert b" 200 " in connection.recv(65536)


def test_what_follows_a_body_is_no_header(served):
    token = served.token(3).encode()
    with connected(served) as connection:
        connection.sendall(
            b"POST /api/v1/advice HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            b"transfer-encoding: chunked\r\n\r\n0\r\nauthorization: Bearer " + token + b"\r\n\r\n"
        )
        assert b" 401 " in connection.recv(65536)


def test_new_clients_get_through_and_the_longest_wait_gives_way(served):
    with contextlib.ExitStack() as stack:
        begun = [stack.enter_context(connected(served)) for _ in range(40)]
        for connection in begun:
            sent(connection, HEAD)
        assert is_alive(served)
        assert len(served.keys.server_state.connections) <= LIMITS.waiting + 1
        assert rest(begun[0]) == b""
    assert is_alive(served)


def test_a_client_that_sends_many_requests_and_reads_nothing_is_cut(served):
    with connected(served) as connection:
        sent(connection, (HEAD + b"\r\n") * 300)
        answers = rest(connection)
    assert answers.count(b"HTTP/1.1 200 ") <= 300
    assert is_alive(served)
    assert not any(len(getattr(one, "pipeline", ())) for one in served.keys.server_state.connections)


def test_answers_go_on_for_as_long_as_they_are_asked_for(served):
    """Nothing of the limits is counted against a client that asks and reads, request after request."""
    with httpx.Client(base_url="http://{}:{}".format(*served.address)) as client:
        until = time.monotonic() + 2 * LIMITS.seconds
        while time.monotonic() < until:
            assert client.get("/health").status_code == client.get("/static/base.css").status_code == 200
            time.sleep(0.02)
        assert client.post("/health", content=b" " * 100_000).status_code == 405
        assert client.get("/health").status_code == 200
        assert len(served.keys.server_state.connections) == 1


def test_the_longest_wait_is_at_most_half_of_what_may_be_opened(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    assert connections._Waiting(None, ConnectionLimits())._most == 32


def test_a_client_that_never_reads_is_given_up(served):
    with contextlib.closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(0.5)
        connection.connect(served.address)
        with contextlib.suppress(TimeoutError):
            for _ in range(3000):  # until the buffers on the way are full
                if not sent(connection, HEAD.replace(b"/health", b"/openapi.json") + b"\r\n"):
                    break
                time.sleep(0.0005)
        until = time.monotonic() + 30
        while served.keys.server_state.connections and time.monotonic() < until:
            time.sleep(0.05)
        assert not served.keys.server_state.connections


def memory(process):
    """Return the resident memory of a process in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) / 1024


def flood(address, number, first, drop, seconds):
    """Open connections that send the beginning of a request, and then a little each second; yield after each round."""
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(socket.create_connection(address, timeout=30)) for _ in range(number)]
        living = [one for one in opened if sent(one, first)]
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            yield len(living)
            time.sleep(0.5)
            living = [one for one in living if sent(one, drop)]
        yield len(living)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "first", "drop"),
    [
        (200, b"", b""), (200, HEAD, b"x: 1\r\n"), (200, HEAD + b"x-long: " + b"a" * 60_000, b"a"),
        (200, HEAD + b"content-length: 100000\r\n\r\n", b"a"), (3000, HEAD, b"x: 1\r\n"),
    ],
    ids=["silent", "slow header", "long header", "slow body", "thousands"],
)  # fmt: skip
def test_a_real_server_outlives_slow_clients_and_gives_its_memory_back(tmp_path, number, first, drop):
    publish(str(tmp_path / "history.db"), 1, FIRST)
    with running(tmp_path, "--history", "history.db") as server:
        host, port = server.url.removeprefix("http://").split(":")
        ask = lambda: httpx.get(f"{server.url}/api/v1/items/1/related")  # noqa: E731
        ask()
        before, most, alive, n_files = memory(server.process), 0.0, [], []
        for living in flood((host, int(port)), number, first, drop, seconds=15):
            began = time.monotonic()
            assert ask().status_code == 200
            took = time.monotonic() - began
            most = max(most, memory(server.process))
            alive.append((living, round(took, 2)))
            n_files.append(len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())))
        time.sleep(2)
        after = memory(server.process)
        sizes = f"{before:.0f} MB before, {most:.0f} at most, {after:.0f} after"
        print(f"{number}: {sizes}; slowest answer {max(seconds for _, seconds in alive)} s; {max(n_files)} files")
    assert max(n_files) < ConnectionLimits().waiting + 64
    assert alive[-1][0] == 0 or not drop  # a client that sends nothing does not see that it was closed
    assert n_files[-1] < 64
    assert after - before < 20
