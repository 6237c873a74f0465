"""Who asks: the bearer token of a request, and what it may do.

Routes call these functions themselves; as dependencies of the framework they would cost a tenth of a millisecond more.
"""

from __future__ import annotations

import math
from typing import Any

from fastapi import Request

from recloak._service import metrics
from recloak._service.parts import Parts
from recloak._service.problems import Refused
from recloak._service.tokens import Token

_UNIT = 1.0  # what every request costs
_CHALLENGE = {"www-authenticate": "Bearer"}
SECURITY: dict[str, Any] = {"security": [{"token": []}]}  # for OpenAPI: of a route
SCHEMES: dict[str, Any] = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of `recloak token create`."}
}


def poster(request: Request) -> tuple[Token, str]:
    """Give the token of a user and the user's name, or refuse."""
    token = _holder(request)
    if token.user is None:
        raise Refused("not_allowed")
    return token, token.user


def administrator(request: Request) -> Token:
    """Give the token of an administrator, or refuse."""
    token = _holder(request)
    if not token.admin:
        raise Refused("not_allowed")
    return token


def charge(parts: Parts, token: Token, cost: float) -> None:
    """Take what a request costs beyond its first unit, or refuse it and say when to come back."""
    _take(parts, token, cost, paid=_UNIT)


def _take(parts: Parts, token: Token, cost: float, paid: float = 0.0) -> None:
    wait = 0.0 if parts.buckets is None else parts.buckets.take(token.number, cost, paid=paid)
    if wait > 0:
        metrics.limited.inc()
        raise Refused("too_many", headers={"retry-after": str(math.ceil(wait))})


def _holder(request: Request) -> Token:
    """Give the valid token of a request, within its rate."""
    parts: Parts = request.app.state.parts
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise Refused("no_token", headers=_CHALLENGE)
    token = None if parts.guard is None else parts.guard.check(text.strip())
    if token is None:
        raise Refused("bad_token", headers=_CHALLENGE)
    _take(parts, token, _UNIT)
    return token
