"""What stands around every request: headers, limits, the log, the figures, and an answer whatever happens."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import ClientDisconnect

from recloak._service import metrics
from recloak._service.logs import failure, tell
from recloak._service.options import ServeOptions
from recloak._service.problems import Refused

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_VARY = (b"vary", b"origin")
_GONE = 499  # the client left before the answer: for the log only
_OTHER = "other"


@dataclass(slots=True)
class _Exchange:
    """One request under way."""

    scope: Scope
    extra: tuple[tuple[bytes, bytes], ...]
    began: float = field(default_factory=time.perf_counter)
    status: int = 0
    is_head: bool = False

    @property
    def is_shared(self) -> bool:
        """Whether a page of another origin may read the answer."""
        return len(self.extra) > 1


class RequestMiddleware:
    """Wraps the application; nothing it raises reaches the server, and nothing leaves without the headers."""

    def __init__(self, app: Application, options: ServeOptions) -> None:
        self._app, self._options, self._origins = app, options, options.origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; what is not HTTP goes through (start and stop) or is turned away."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = _Exchange(scope, self._sharing(scope), is_head=scope["method"] == "HEAD")
        if exchange.is_head:
            scope["method"] = "GET"
        sending = _sending(exchange, send)
        try:
            await self._within_limits(exchange, receive, sending)
        except Refused as refused:
            await _refuse(exchange, refused, sending)
        except TimeoutError:
            await _refuse(exchange, Refused("timeout", headers={"retry-after": "5"}), sending)
        except ClientDisconnect:
            exchange.status = exchange.status or _GONE
        except Exception as error:  # the last line of defence: an answer, and no message in the log
            tell("failed", level=logging.ERROR, route=_route(scope), **failure(error))
            await _refuse(exchange, Refused("internal"), sending)
        finally:
            _account(exchange)

    async def _within_limits(self, exchange: _Exchange, receive: Receive, send: Send) -> None:
        if _is_preflight(exchange.scope) and exchange.is_shared:
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        if _said_length(exchange.scope) > self._options.max_body:
            raise Refused("too_large", headers={"connection": "close"})
        async with asyncio.timeout(self._options.timeout):
            await self._app(exchange.scope, _counting(receive, self._options.max_body), send)

    def _sharing(self, scope: Scope) -> tuple[tuple[bytes, bytes], ...]:
        """Give the headers that let a page of an allowed origin read the answer (CORS); none by default."""
        if not self._origins:
            return ()
        origin = _header(scope, b"origin")
        if origin.decode("latin-1") not in self._origins:
            return (_VARY,)  # a cache must not give this answer to a page that may read it
        return (
            (b"access-control-allow-origin", origin),
            (b"access-control-allow-methods", b"GET, POST"),
            (b"access-control-allow-headers", b"authorization, content-type, if-none-match"),
            (b"access-control-expose-headers", b"etag, retry-after"),
            (b"access-control-max-age", b"600"),
            _VARY,
        )


def _sending(exchange: _Exchange, send: Send) -> Send:
    """Add the headers to every answer, note its status, and leave the body out where only the head was asked for."""
    shared = exchange.is_shared
    always = tuple((n, b"cross-origin" if shared and n == b"cross-origin-resource-policy" else v) for n, v in HEADERS)

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            exchange.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *always, *exchange.extra]
        elif exchange.is_head:
            message = {**message, "body": b""}
        await send(message)

    return sending


def _counting(receive: Receive, most: int) -> Receive:
    """Count the bytes of a body as they come, so that one without a said length is bounded too."""
    total = 0

    async def counting() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > most:
            raise Refused("too_large", headers={"connection": "close"})
        return message

    return counting


async def _refuse(exchange: _Exchange, refused: Refused, send: Send) -> None:
    """Answer with a problem, unless an answer has begun."""
    if exchange.status:
        return
    answer = refused.answer()
    await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
    await send({"type": "http.response.body", "body": answer.body})


def _account(exchange: _Exchange) -> None:
    """Log a request and count it, by its route's pattern."""
    took = time.perf_counter() - exchange.began
    route = _route(exchange.scope)
    method = "HEAD" if exchange.is_head else exchange.scope["method"]
    method = method if method in ("GET", "HEAD", "POST", "OPTIONS") else _OTHER
    metrics.requests.labels(route, method, str(exchange.status)).inc()
    metrics.seconds.labels(route).observe(took)
    tell("request", route=route, method=method, status=exchange.status, ms=round(1000 * took, 2))


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", _OTHER)


def _is_preflight(scope: Scope) -> bool:
    return scope["method"] == "OPTIONS" and _header(scope, b"access-control-request-method") != b""


def _said_length(scope: Scope) -> int:
    said = _header(scope, b"content-length")
    return int(said) if said.isdigit() and len(said) < 20 else 0


def _header(scope: Scope, wanted: bytes) -> bytes:
    found: bytes = next((value for name, value in scope["headers"] if name == wanted), b"")
    return found
