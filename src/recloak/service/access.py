"""Who asks: the bearer token of a request, and what it may do."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from recloak.service import metrics
from recloak.service.parts import Parts
from recloak.service.problems import Refused
from recloak.service.tokens import Token

_CHALLENGE = {"www-authenticate": "Bearer"}
bearer = HTTPBearer(auto_error=False, scheme_name="token", description="A token of `recloak token create`.")


async def holder(request: Request, _: Annotated[object, Depends(bearer)]) -> Token:
    """Give the valid token of a request, within its rate."""
    parts: Parts = request.app.state.parts
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise Refused("no_token", headers=_CHALLENGE)
    token = None if parts.guard is None else parts.guard.check(text.strip())
    if token is None:
        raise Refused("bad_token", headers=_CHALLENGE)
    charge(parts, token)
    return token


def charge(parts: Parts, token: Token, cost: float = 1.0) -> None:
    """Take a request's cost out of its token's bucket, or refuse it and say when to come back."""
    wait = 0.0 if parts.buckets is None else parts.buckets.take(token.number, cost)
    if wait > 0:
        metrics.limited.inc()
        raise Refused("too_many", headers={"retry-after": str(math.ceil(wait))})


async def poster(token: Annotated[Token, Depends(holder)]) -> Token:
    """Give the token of a user."""
    if token.user is None:
        raise Refused("not_allowed")
    return token


async def administrator(token: Annotated[Token, Depends(holder)]) -> Token:
    """Give the token of an administrator."""
    if not token.admin:
        raise Refused("not_allowed")
    return token


Poster = Annotated[Token, Depends(poster)]
Administrator = Annotated[Token, Depends(administrator)]
