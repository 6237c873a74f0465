"""Authentication: the bearer token of a request, and what it may do.

Routes call these functions themselves; as dependencies of the framework they would cost a tenth of a millisecond more.
"""

import asyncio
import logging
import math
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import Request

from recloak._service import metrics
from recloak._service.api_errors import ApiError
from recloak._service.logs import failure, log_event
from recloak._service.resources import Resources
from recloak._service.tokens import Token, is_locked

_Value = TypeVar("_Value")
_REQUEST_COST = 1.0
_PAUSES = (0.01, 0.02, 0.04, 0.08, 0.15, 0.2)  # seconds between looks into a locked store: half a second in all
_CHALLENGE = {"www-authenticate": "Bearer"}
SECURITY: dict[str, Any] = {"security": [{"token": []}]}  # for OpenAPI: of a route
SCHEMES: dict[str, Any] = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of `recloak token create`, or a signed claim.",
    }
}


async def require_user(request: Request) -> tuple[Token, str]:
    """Return the token of a user and the user's name, or raise ApiError."""
    token = await _require_token(request)
    if token.user is None:
        raise ApiError("not_allowed")
    return token, token.user


async def require_administrator(request: Request) -> None:
    """Raise ApiError unless the token is an administrator's."""
    if not (await _require_token(request)).admin:
        raise ApiError("not_allowed")


def charge(resources: Resources, token: Token, cost: float) -> None:
    """Charge what a request costs beyond its first unit; raise ApiError with the time to wait if it is too much."""
    _charge(resources, token, cost, paid=_REQUEST_COST)


def _charge(resources: Resources, token: Token, cost: float, paid: float = 0.0) -> None:
    wait = 0.0 if resources.limiter is None else resources.limiter.take(token.number, cost, paid=paid)
    if wait > 0:
        metrics.limited.inc()
        raise ApiError("too_many", headers={"retry-after": str(math.ceil(wait))})


async def read_tokens(read: Callable[[], _Value]) -> _Value:
    """Read from the token store; raise ApiError if it stays locked, or cannot be read at all.

    A command that adds a token locks the store for some milliseconds, so a locked store is looked at again a few times.
    Other requests are answered meanwhile.
    """
    pauses = iter(_PAUSES)
    while True:
        try:
            return read()
        except sqlite3.DatabaseError as error:
            pause = next(pauses, None) if is_locked(error) else None
            if pause is None:
                raise _unreadable(error) from None
        await asyncio.sleep(pause)


def _unreadable(error: sqlite3.Error) -> ApiError:
    metrics.token_failures.inc()
    log_event("tokens", level=logging.WARNING, reason=getattr(error, "sqlite_errorname", ""), **failure(error))
    return ApiError("tokens_unreadable", headers={"retry-after": "1"})


async def _proved(resources: Resources, text: str) -> Token | None:
    """Return what a text proves: a claim has dots, a stored token has none, so neither is ever read as the other."""
    if "." in text:
        return None if resources.signing_keys is None else resources.signing_keys.check(text)
    tokens = resources.tokens
    return None if tokens is None else await read_tokens(lambda: tokens.check(text))


async def _require_token(request: Request) -> Token:
    """Return the valid token of a request, after charging the request to it."""
    resources: Resources = request.app.state.resources
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise ApiError("no_token", headers=_CHALLENGE)
    token = await _proved(resources, text.strip())
    if token is None:
        raise ApiError("bad_token", headers=_CHALLENGE)
    _charge(resources, token, _REQUEST_COST)
    return token
