"""Limits on connections: what a client that sends slowly, without an end or never may take up.

Uvicorn limits neither the size of a header nor how long it may take, and its time limit for unused connections begins
after the first answer. The classes here add this to both of its HTTP protocols. A connection that waits for its client
has a time limit, and there is a limit on their number: beyond it, the one that has waited longest is closed, so that a
new client is always let in.
"""

from __future__ import annotations

import asyncio
import http
import logging
import resource
from collections import Counter
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any
from weakref import WeakKeyDictionary

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from recloak._service import metrics
from recloak._service.api_errors import ApiError
from recloak._service.logs import log_event
from recloak._service.middleware import HEADERS

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:  # there is no wheel of httptools for every machine
    HttpToolsProtocol = None  # type: ignore[assignment,misc]

_FRAMING = 8  # bytes that a chunked body may take for each byte of content


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits on one server process."""

    head_bytes: int = 65_536
    seconds: float = 10.0  # for a header, for the rest of a body that nobody reads, and for reading the last answer
    waiting: int = 512  # connections that wait for their clients; at most half of what the process may open
    pipelined: int = 16  # requests that a client may send before it reads the first answer


class _Part(Enum):
    """What a connection is doing."""

    HEAD = auto()  # waiting for the rest of a header, or for the first byte of a new connection
    BODY = auto()  # waiting for the rest of a body
    WHOLE = auto()  # the request is there: it is our turn
    IDLE = auto()  # answered, and kept open for the next request
    CLOSING = auto()  # closed by us; the client may still have to read the last answer


class _Waiting:
    """The connections of one server that wait for their clients, the longest wait first."""

    def __init__(self, server_state: Any, limits: ConnectionLimits) -> None:
        self.connections: dict[_LimitedConnection, None] = {}
        self.n_cut: Counter[str] = Counter()
        self._state, self._limits, self._is_checking = server_state, limits, False
        self._most = min(limits.waiting, max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2, 1))

    def make_room(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close those that have waited longest if there are too many; begin to check the times of the others."""
        while len(self.connections) > self._most:
            oldest = next(iter(self.connections))
            del self.connections[oldest]
            oldest.transport.abort()
            self.n_cut["crowded"] += 1
        if not self._is_checking:
            self._check_later(loop)

    def _check_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_checking = True
        loop.call_later(self._limits.seconds / 20, self._check, loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection in list(self._state.connections):
            connection.check_time(now)
        if self.n_cut:  # one line for all, or an attack would fill the log
            log_event("connections cut", level=logging.WARNING, **self.n_cut)
            for reason, number in self.n_cut.items():
                metrics.cut.labels(reason).inc(number)
            self.n_cut.clear()
        self._is_checking = False
        if self._state.connections:
            self._check_later(loop)


_WAITING: WeakKeyDictionary[Any, _Waiting] = WeakKeyDictionary()  # by the state of a server


class _LimitedConnection(asyncio.Protocol):
    """What both protocols have in common; the subclasses tell which part of a request has arrived."""

    limits = ConnectionLimits()
    transport: Any
    loop: Any
    cycle: Any
    server_state: Any
    _part = _Part.IDLE
    _since = 0.0
    _n_bytes = 0
    _refusal = "bad_request"
    _unread_since: float | None = None  # when the client stopped to read

    def connection_made(self, transport: Any) -> None:
        """Take up a connection, if need be in the place of another one."""
        super().connection_made(transport)
        if self.server_state not in _WAITING:
            _WAITING[self.server_state] = _Waiting(self.server_state, self.limits)
        self._waiting = _WAITING[self.server_state]
        self._enter(_Part.HEAD)
        self._waiting.make_room(self.loop)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._waiting.connections.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive bytes; whatever comes after an answer, even an empty line, begins the next request."""
        if self._part is _Part.IDLE:
            self._enter(_Part.HEAD)
        self._n_bytes += len(data)
        super().data_received(data)
        self._look()
        if self._part in (_Part.HEAD, _Part.BODY) and self._n_bytes > self.limits.head_bytes:
            self._refuse("header_too_large")

    def send_400_response(self, _: str) -> None:
        """Refuse what is no request, in the shape of every error."""
        self._refuse(self._refusal)

    def pause_writing(self) -> None:
        """Note that the client does not read."""
        self._unread_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that the client reads again."""
        self._unread_since = None
        super().resume_writing()

    def check_time(self, now: float) -> None:
        """Close a connection whose client has taken too long to send or to read."""
        is_late = now - self._since >= self.limits.seconds
        if self._unread_since is not None and now - self._unread_since >= self.limits.seconds:
            self.transport.abort()
            self._unread_since, self._part = None, _Part.CLOSING
            self._waiting.n_cut["unread"] += 1
        if self.transport.is_closing():
            if self._part is not _Part.CLOSING:
                self._enter(_Part.CLOSING)
            elif is_late:
                self.transport.abort()
        elif is_late and self._part in (_Part.HEAD, _Part.BODY) and not self._is_answering():
            self._refuse("too_slow")

    def _look(self) -> None:
        """Find out which part of a request has arrived."""

    def _enter(self, part: _Part) -> None:
        self._part, self._since, self._n_bytes = part, self.loop.time(), 0
        self._waiting.connections.pop(self, None)
        if part is not _Part.WHOLE:
            self._waiting.connections[self] = None

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, code: str) -> None:
        """Close the connection, with an answer if a header was begun and no other answer is under way."""
        if self.transport.is_closing():
            return
        if self._part is _Part.HEAD and self._n_bytes and not self._is_answering():
            self.transport.write(_raw_answer(ApiError(code)))
        self.transport.close()
        self._waiting.n_cut[code] += 1
        self._enter(_Part.CLOSING)


class LimitedH11(_LimitedConnection, H11Protocol):
    """Uvicorn's protocol in plain Python, with limits; h11 itself limits headers and the framing of bodies.

    A large header that comes whole in one read is taken; a read has 256 kB at most.
    """

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        """Find out which part of a request has arrived."""
        state, part = self.conn.their_state, _Part.WHOLE
        if state is h11.IDLE:
            part = _Part.HEAD if self.conn.trailing_data[0] else _Part.IDLE
        elif state is h11.SEND_BODY:
            part = _Part.BODY
        if part is _Part.BODY:
            self._n_bytes = 0
        if part is not self._part is not _Part.CLOSING:
            self._enter(part)


if HttpToolsProtocol is not None:

    class LimitedHttpTools(_LimitedConnection, HttpToolsProtocol):
        """Uvicorn's protocol in C, with limits."""

        def on_message_begin(self) -> None:
            """Begin a request, perhaps in the same bytes as the one before."""
            if self._part is not _Part.HEAD:
                self._enter(_Part.HEAD)
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            """Keep a header; what follows a chunked body is none."""
            if self._part is _Part.HEAD:
                super().on_header(name, value)

        def on_headers_complete(self) -> None:
            """Start to answer; an exception makes the parser give up."""
            if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > self.limits.head_bytes:
                self._refusal = "header_too_large"
                raise ValueError(self._refusal)
            if len(self.pipeline) >= self.limits.pipelined:
                raise ValueError("too many requests in a row")
            super().on_headers_complete()
            self._enter(_Part.BODY)

        def on_body(self, body: bytes) -> None:
            """Keep a part of the body."""
            self._n_bytes -= (1 + _FRAMING) * len(body)
            super().on_body(body)

        def on_message_complete(self) -> None:
            """Note that a request is there."""
            super().on_message_complete()
            self._enter(_Part.WHOLE if self._is_answering() else _Part.IDLE)

        def on_response_complete(self) -> None:
            """Go on to the next request, or to the rest of this one that nobody reads any more."""
            super().on_response_complete()
            if self._part is not _Part.CLOSING and not self._is_answering():
                self._enter(_Part.IDLE if self._part is _Part.WHOLE else self._part)


def protocol_class() -> type[asyncio.Protocol]:
    """Return the fastest protocol that can be used here."""
    return LimitedH11 if HttpToolsProtocol is None else LimitedHttpTools


def _raw_answer(error: ApiError) -> bytes:
    """Return an error as the bytes of an answer, since uvicorn calls no application for half a request."""
    response = error.response()
    status = f"HTTP/1.1 {response.status_code} {http.HTTPStatus(response.status_code).phrase}".encode()
    headers = (*response.raw_headers, *HEADERS, (b"connection", b"close"))
    return b"\r\n".join((status, *(b": ".join(one) for one in headers), b"", bytes(response.body)))
