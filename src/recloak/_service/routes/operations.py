"""For operators: health, readiness, metrics and the description of the API."""

import asyncio
import logging
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from recloak._core.errors import RecloakError
from recloak._service import metrics
from recloak._service.access import SECURITY, read_tokens, require_administrator
from recloak._service.api_errors import UNREADABLE, ApiError, error_responses
from recloak._service.logs import failure, log_event
from recloak._service.resources import Resources
from recloak._service.schema import Alive, Ready

router = APIRouter()
_NO_STORE = {"cache-control": "no-store"}


@router.get("/health", tags=["operations"], response_model=Alive)
async def health() -> Response:
    """Say that the process is alive."""
    return Response(b'{"status":"ok"}', media_type="application/json", headers=_NO_STORE)


@router.get(
    "/ready", tags=["operations"], response_model=Ready, responses=error_responses("not_ready", "tokens_unreadable")
)
async def ready(request: Request) -> Response:
    """Say what is served, or that the history or the tokens cannot be read just now."""
    resources: Resources = request.app.state.resources
    published = resources.published
    if published is not None and not published.is_fresh:
        raise ApiError("not_ready", UNREADABLE)
    if resources.tokens is not None:
        await read_tokens(resources.tokens.require_readable)
    served = Ready(
        status="ready",
        advice=resources.advisor is not None,
        related=published is not None,
        release=None if published is None else published.release,
    )
    return JSONResponse(served.model_dump(), headers=_NO_STORE)


_METRICS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Figures in Prometheus' text format.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    },
    **error_responses("no_token", "bad_token", "not_allowed", "too_many", "tokens_unreadable"),
}


@router.get("/metrics", tags=["operations"], response_class=Response, responses=_METRICS, openapi_extra=SECURITY)
async def figures(request: Request) -> Response:
    """Return figures in Prometheus' text format, for an administrator's token."""
    await require_administrator(request)
    body, media = metrics.exposition()
    return Response(body, media_type=media, headers=_NO_STORE)


_REPORT: dict[int | str, dict[str, Any]] = {
    200: {"description": "A page.", "content": {"text/html": {"schema": {"type": "string"}}}},
    **error_responses(
        "no_token", "bad_token", "not_allowed", "not_served", "too_many", "not_ready", "tokens_unreadable", "timeout",
        "internal",
    ),
}  # fmt: skip


@router.get("/report", tags=["operations"], response_class=Response, responses=_REPORT, openapi_extra=SECURITY)
async def report(request: Request) -> Response:
    """Return the operator's page about the published lists, for an administrator's token."""
    await require_administrator(request)
    resources: Resources = request.app.state.resources
    if resources.published is None:
        raise ApiError("not_served")
    try:
        draw = resources.published.operator_page
        page = await asyncio.get_running_loop().run_in_executor(resources.history_pool, draw)
    except RecloakError as error:
        log_event("report", level=logging.WARNING, **failure(error))
        raise ApiError("not_ready", UNREADABLE, {"retry-after": "5"}) from None
    return Response(page, media_type="text/html", headers=_NO_STORE)


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """Return the description of the API."""
    return JSONResponse(request.app.openapi(), headers={"cache-control": "no-cache"})
