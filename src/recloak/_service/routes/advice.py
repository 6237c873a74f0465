"""Advice on a draft: ``POST /api/v1/advice``; on all that was posted: ``GET /api/v1/exposure``."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import Response

from recloak._service.access import SECURITY, charge, require_user
from recloak._service.advice import answer
from recloak._service.api_errors import ApiError, error_responses
from recloak._service.posts_exposure import exposure
from recloak._service.resources import Resources
from recloak._service.schema import AdviceRequest, AdviceResponse, ExposureResponse

router = APIRouter(tags=["advice"])
_ERRORS = error_responses(
    "bad_request", "no_token", "bad_token", "not_allowed", "no_ratings", "not_served", "too_large", "not_json",
    "invalid", "too_many", "internal", "timeout", "tokens_unreadable",
)  # fmt: skip
_EXPOSURE_ERRORS = error_responses(
    "no_token", "bad_token", "not_allowed", "no_ratings", "not_served", "too_many", "internal", "timeout",
    "tokens_unreadable",
)  # fmt: skip
_CHARACTERS = 2_000  # a text counts as one request more for each of these
_MENTIONS = 50  # more of them are worth a thread
_CONTENT = {"application/json": {"schema": {"$ref": f"#/components/schemas/{AdviceRequest.__name__}"}}}
_BODY = {"requestBody": {"required": True, "content": _CONTENT}, **SECURITY}


@router.post("/api/v1/advice", response_model=AdviceResponse, responses=_ERRORS, openapi_extra=_BODY)
@router.post("/api/advice", include_in_schema=False)
async def advise(request: Request) -> Response:
    """Say what a draft gives away of its writer, the user that the token is bound to, and what would help."""
    token, name = await require_user(request)
    resources: Resources = request.app.state.resources
    advisor = resources.advisor
    if advisor is None:
        raise ApiError("not_served")
    draft = await _read_body(request)
    user = advisor.users.get(name)
    if user is None:
        raise ApiError("no_ratings")
    if _is_short(draft):
        advice = answer(advisor, user, draft)
    else:
        charge(resources, token, len(draft.text or "") / _CHARACTERS)
        advice = await asyncio.get_running_loop().run_in_executor(resources.pool, answer, advisor, user, draft)
    return Response(advice.model_dump_json(), media_type="application/json", headers={"cache-control": "no-store"})


@router.get("/api/v1/exposure", response_model=ExposureResponse, responses=_EXPOSURE_ERRORS, openapi_extra=SECURITY)
async def expose(request: Request) -> Response:
    """Say how findable all that the token's user ever posted makes them, and what deleting it would bring."""
    _, name = await require_user(request)
    resources: Resources = request.app.state.resources
    advisor = resources.advisor
    if advisor is None:
        raise ApiError("not_served")
    user = advisor.users.get(name)
    if user is None:
        raise ApiError("no_ratings")
    told = await asyncio.get_running_loop().run_in_executor(resources.pool, exposure, advisor, user)
    return Response(told.model_dump_json(), media_type="application/json", headers={"cache-control": "no-store"})


def _is_short(draft: AdviceRequest) -> bool:
    """Return whether the answer takes a few milliseconds only, so that handing it to a thread would cost more."""
    return len(draft.text or "") <= _CHARACTERS and len(draft.earlier) + len(draft.items or ()) <= _MENTIONS


async def _read_body(request: Request) -> AdviceRequest:
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise ApiError("not_json")
    try:
        return AdviceRequest.model_validate_json(await request.body())
    except ValidationError as error:
        raise ApiError("invalid", _sentence_of(error)) from None


def _sentence_of(error: ValidationError) -> str:
    """Describe what is wrong by the schema's names and rules, never by what was sent."""
    first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return "The body is not JSON in UTF-8."
    field = first["loc"][0] if first["loc"] else ""
    if first["type"] == "value_error":
        return "Give either text or items."
    if field not in AdviceRequest.model_fields:
        return "There is a field in the body that the description does not name."
    return f"The field {field} does not fit its description."
