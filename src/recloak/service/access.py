"""Who asks: the bearer token of a request, and what it may do."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from recloak.service.problems import Refused
from recloak.service.tokens import Token

_CHALLENGE = {"www-authenticate": "Bearer"}
bearer = HTTPBearer(auto_error=False, scheme_name="token", description="A token of `recloak token create`.")


async def holder(request: Request, _: Annotated[object, Depends(bearer)]) -> Token:
    """Give the valid token of a request, within its rate."""
    guard = request.app.state.parts.guard
    header = request.headers.get("authorization", "")
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise Refused("no_token", headers=_CHALLENGE)
    token = None if guard is None else guard.check(text.strip())
    if token is None:
        raise Refused("bad_token", headers=_CHALLENGE)
    return token


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
