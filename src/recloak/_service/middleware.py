"""What is done for every request: headers, limits, the log, the metrics, and an answer whatever happens."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import ClientDisconnect

from recloak._service import metrics
from recloak._service.api_errors import ApiError
from recloak._service.logs import failure, log_event
from recloak._service.options import ServeOptions

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
_NO_STORE = (b"cache-control", b"no-store")  # of every answer that does not say otherwise
_VARY = (b"vary", b"origin")
_CLIENT_GONE = 499  # the client left before the answer: for the log only
_OTHER = "other"
_MAX_OPEN = 256  # requests that one process answers at the same time


@dataclass(slots=True)
class _Exchange:
    """One request in progress."""

    scope: Scope
    cors: tuple[tuple[bytes, bytes], ...]
    started: float = field(default_factory=time.perf_counter)
    status: int = 0
    is_head: bool = False

    @property
    def is_shared(self) -> bool:
        """True if a page of another origin may read the answer."""
        return len(self.cors) > 1


class RequestMiddleware:
    """Wraps the application: no error of it reaches the server, and every answer has the security headers."""

    def __init__(self, app: Application, options: ServeOptions) -> None:
        self._app, self._options, self._origins = app, options, options.origins
        self._n_open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; start and stop are passed on, and web sockets are closed."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = _Exchange(scope, self._cors_headers(scope), is_head=scope["method"] == "HEAD")
        if exchange.is_head:
            scope["method"] = "GET"
        send = _with_headers(exchange, send)
        self._n_open += 1
        try:
            await self._within_limits(exchange, receive, send)
        except ApiError as error:
            await _send_error(exchange, error, send)
        except TimeoutError:
            await _send_error(exchange, ApiError("timeout", headers={"retry-after": "5"}), send)
        except ClientDisconnect:
            exchange.status = exchange.status or _CLIENT_GONE
        except Exception as error:  # the last line of defence: an answer, and no message in the log
            log_event("failed", level=logging.ERROR, route=_route(scope), **failure(error))
            await _send_error(exchange, ApiError("internal"), send)
        finally:
            self._n_open -= 1
            _record(exchange)

    async def _within_limits(self, exchange: _Exchange, receive: Receive, send: Send) -> None:
        if _is_preflight(exchange.scope) and exchange.is_shared:
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        if self._n_open > _MAX_OPEN:
            raise ApiError("overloaded", headers={"retry-after": "1"})
        if _declared_length(exchange.scope) > self._options.max_body:
            raise ApiError("too_large", headers={"connection": "close"})
        async with asyncio.timeout(self._options.timeout):
            await self._app(exchange.scope, _limited(receive, self._options.max_body), send)

    def _cors_headers(self, scope: Scope) -> tuple[tuple[bytes, bytes], ...]:
        """Return the CORS headers that let a page of an allowed origin read the answer; none by default."""
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


def _with_headers(exchange: _Exchange, send: Send) -> Send:
    """Return ``send`` with the headers added, the status recorded, and the body left out for HEAD."""
    shared = exchange.is_shared
    always = tuple((n, b"cross-origin" if shared and n == b"cross-origin-resource-policy" else v) for n, v in HEADERS)

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            exchange.status = message["status"]
            given = list(message.get("headers", ()))
            default = () if any(name.lower() == b"cache-control" for name, _ in given) else (_NO_STORE,)
            message["headers"] = [*given, *default, *always, *exchange.cors]
        elif exchange.is_head:
            message = {**message, "body": b""}
        await send(message)

    return sending


def _limited(receive: Receive, max_bytes: int) -> Receive:
    """Return ``receive`` with a limit on the bytes of the body, for bodies that do not declare their length."""
    total = 0

    async def receiving() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > max_bytes:
            raise ApiError("too_large", headers={"connection": "close"})
        return message

    return receiving


async def _send_error(exchange: _Exchange, error: ApiError, send: Send) -> None:
    if not exchange.status:
        response = error.response()
        await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
        await send({"type": "http.response.body", "body": response.body})


def _record(exchange: _Exchange) -> None:
    """Log and count a request by its route's pattern."""
    seconds = time.perf_counter() - exchange.started
    route = _route(exchange.scope)
    method = "HEAD" if exchange.is_head else exchange.scope["method"]
    method = method if method in ("GET", "HEAD", "POST", "OPTIONS") else _OTHER
    metrics.requests.labels(route, method, str(exchange.status)).inc()
    metrics.seconds.labels(route).observe(seconds)
    log_event("request", route=route, method=method, status=exchange.status, ms=round(1000 * seconds, 2))


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", _OTHER)


def _is_preflight(scope: Scope) -> bool:
    return scope["method"] == "OPTIONS" and _header(scope, b"access-control-request-method") != b""


def _declared_length(scope: Scope) -> int:
    text = _header(scope, b"content-length")
    return int(text) if text.isdigit() and len(text) < 20 else 0


def _header(scope: Scope, wanted: bytes) -> bytes:
    return next((value for name, value in scope["headers"] if name == wanted), b"")
