"""A small HTTP client that keeps a server busy, in a process of its own.

It must not be the bottleneck: requests are prepared as bytes, answers barely read, and its own CPU time is told.
Without a rate each connection asks again as soon as it has its answer. With one, requests arrive by chance (Poisson) at
so many a second whether or not the last were answered; an answer's time counts from the arrival, waiting included.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class _Connection(asyncio.Protocol):
    """One connection that sends the next request as soon as the last is answered and one is there."""

    def __init__(self, load: _Load, first: int) -> None:
        self.load, self.next, self.buffer, self.sent = load, first, b"", 0.0
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.load.free(self)

    def send(self, arrived: float) -> None:
        """Send the next request, which arrived at some time."""
        self.sent = arrived
        self.transport.write(self.load.requests[self.next % len(self.load.requests)])
        self.next += self.load.connections

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        said = _LENGTH.search(self.buffer, 0, head)
        if said is None or len(self.buffer) < head + 4 + int(said.group(1)):
            return
        self.load.note(time.perf_counter() - self.sent, self.buffer[9:12] == b"200")
        self.buffer = b""
        self.load.free(self)

    def connection_lost(self, _: Exception | None) -> None:
        self.load.lost()


class _Load:
    """Requests given out to connections until the time or the number is up."""

    def __init__(self, requests: Sequence[bytes], connections: int, seconds: float, most: int) -> None:
        self.requests, self.connections, self.most = requests, connections, most
        self.until = time.perf_counter() + seconds
        self.took: list[float] = []
        self.n_wrong, self.n_sent, self.n_open = 0, 0, connections
        self.done = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        """Do nothing: each connection asks as soon as it is there."""

    def free(self, connection: _Connection) -> None:
        """Give a free connection its next request, or close it."""
        if self.is_open():
            connection.send(time.perf_counter())
        else:
            connection.transport.close()

    def is_open(self) -> bool:
        """Count a request, and return whether it may still be sent."""
        self.n_sent += 1
        return self.n_sent <= self.most and time.perf_counter() < self.until

    def note(self, seconds: float, right: bool) -> None:
        self.took.append(seconds)
        self.n_wrong += not right

    def lost(self) -> None:
        self.n_open -= 1
        if self.n_open == 0:
            self.done.set_result(None)


class _Arrivals(_Load):
    """Requests that arrive by chance at a rate, and wait for a free connection."""

    def __init__(self, *load: Any, rate: float) -> None:
        super().__init__(*load)
        self.rate, self.rng = rate, np.random.default_rng(1)
        self.idle: deque[_Connection] = deque()
        self.waiting: deque[float] = deque()

    def start(self) -> None:
        """Let requests arrive, now that all connections are there."""
        self.task = asyncio.get_running_loop().create_task(self._arrive())

    async def _arrive(self) -> None:
        arrives = time.perf_counter()
        while self.is_open():
            arrives += float(self.rng.exponential(1 / self.rate))
            await asyncio.sleep(max(arrives - time.perf_counter(), 0.0))
            self.waiting.append(arrives)
            self._send()
        self.rate = 0.0
        self._send()

    def free(self, connection: _Connection) -> None:
        """Note a free connection; close all once nothing arrives any more."""
        self.idle.append(connection)
        self._send()

    def _send(self) -> None:
        while self.idle and self.waiting:
            self.idle.popleft().send(self.waiting.popleft())
        while self.idle and not self.rate:
            self.idle.popleft().transport.close()


def _load(asked: dict[str, Any]) -> _Load:
    requests = [one.encode() for one in asked["requests"]]
    parts = (requests, asked["connections"], asked["seconds"], asked["most"])
    return _Arrivals(*parts, rate=asked["rate"]) if asked.get("rate") else _Load(*parts)


async def _run(asked: dict[str, Any]) -> dict[str, float]:
    began, cpu = time.perf_counter(), time.process_time()
    load = _load(asked)
    loop = asyncio.get_running_loop()
    for number in range(asked["connections"]):
        await loop.create_connection(lambda first=number: _Connection(load, first), "127.0.0.1", asked["port"])  # type: ignore[misc]
    load.start()
    await load.done
    wall = time.perf_counter() - began
    p50, p99 = np.quantile(load.took, [0.5, 0.99])
    return {
        "n": len(load.took), "wrong": load.n_wrong, "rate": len(load.took) / wall, "p50": 1000 * p50, "p99": 1000 * p99,
        "longest": 1000 * max(load.took), "cpu": (time.process_time() - cpu) / wall,
    }  # fmt: skip


if __name__ == "__main__":
    import uvloop

    print(json.dumps(uvloop.run(_run(json.loads(Path(sys.argv[1]).read_text())))))
