"""Advice on a draft: ``POST /api/v1/advice``."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from starlette.responses import Response

from recloak._service.access import SECURITY, charge, poster
from recloak._service.advice import answer
from recloak._service.json_body import described, read_body
from recloak._service.parts import Parts
from recloak._service.problems import Refused, documented
from recloak._service.schema import AdviceRequest, AdviceResponse

router = APIRouter(tags=["advice"])
_PROBLEMS = documented(
    "bad_request", "no_token", "bad_token", "not_allowed", "no_ratings", "not_served", "too_large", "not_json",
    "invalid", "too_many", "internal", "timeout",
)  # fmt: skip
_CHARACTERS = 2_000  # a text counts as one request more for each of these
_MENTIONS = 50  # more of them are worth a thread
_ASKED = {**described(AdviceRequest), **SECURITY}


@router.post("/api/v1/advice", response_model=AdviceResponse, responses=_PROBLEMS, openapi_extra=_ASKED)
@router.post("/api/advice", include_in_schema=False)
async def advise(request: Request) -> Response:
    """Say what a draft gives away of its writer, the user that the token is bound to, and what would help."""
    token, name = poster(request)
    parts: Parts = request.app.state.parts
    if parts.advisor is None:
        raise Refused("not_served")
    asked = await read_body(request, AdviceRequest)
    user = parts.advisor.user_of(name)
    if user is None:
        raise Refused("no_ratings")
    if _is_short(asked):
        told = answer(parts.advisor, user, asked)
    else:
        charge(parts, token, len(asked.text or "") / _CHARACTERS)
        told = await asyncio.get_running_loop().run_in_executor(parts.pool, answer, parts.advisor, user, asked)
    return Response(told.model_dump_json(), media_type="application/json", headers={"cache-control": "no-store"})


def _is_short(asked: AdviceRequest) -> bool:
    """Tell whether an answer takes a few milliseconds only: then it is not worth the way to a thread and back."""
    return len(asked.text or "") <= _CHARACTERS and len(asked.earlier) + len(asked.items or ()) <= _MENTIONS
