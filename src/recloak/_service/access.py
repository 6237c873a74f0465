"""Authentication: the bearer token of a request, and what it may do.

Routes call these functions themselves; as dependencies of the framework they would cost a tenth of a millisecond more.
"""

from __future__ import annotations

import math
from typing import Any

from fastapi import Request

from recloak._service import metrics
from recloak._service.api_errors import ApiError
from recloak._service.resources import Resources
from recloak._service.tokens import Token

_REQUEST_COST = 1.0
_CHALLENGE = {"www-authenticate": "Bearer"}
SECURITY: dict[str, Any] = {"security": [{"token": []}]}  # for OpenAPI: of a route
SCHEMES: dict[str, Any] = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of `recloak token create`."}
}


def require_user(request: Request) -> tuple[Token, str]:
    """Return the token of a user and the user's name, or raise ApiError."""
    token = _require_token(request)
    if token.user is None:
        raise ApiError("not_allowed")
    return token, token.user


def require_administrator(request: Request) -> None:
    """Raise ApiError unless the token is an administrator's."""
    if not _require_token(request).admin:
        raise ApiError("not_allowed")


def charge(resources: Resources, token: Token, cost: float) -> None:
    """Charge what a request costs beyond its first unit; raise ApiError with the time to wait if it is too much."""
    _charge(resources, token, cost, paid=_REQUEST_COST)


def _charge(resources: Resources, token: Token, cost: float, paid: float = 0.0) -> None:
    wait = 0.0 if resources.limiter is None else resources.limiter.take(token.number, cost, paid=paid)
    if wait > 0:
        metrics.limited.inc()
        raise ApiError("too_many", headers={"retry-after": str(math.ceil(wait))})


def _require_token(request: Request) -> Token:
    """Return the valid token of a request, after charging the request to it."""
    resources: Resources = request.app.state.resources
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise ApiError("no_token", headers=_CHALLENGE)
    token = None if resources.tokens is None else resources.tokens.check(text.strip())
    if token is None:
        raise ApiError("bad_token", headers=_CHALLENGE)
    _charge(resources, token, _REQUEST_COST)
    return token
