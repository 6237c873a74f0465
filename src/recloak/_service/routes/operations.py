"""For operators: is it alive, is it ready, how does it do, what does the API look like."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from recloak._service import metrics
from recloak._service.access import SECURITY, administrator
from recloak._service.parts import Parts
from recloak._service.problems import UNREADABLE, Refused, documented
from recloak._service.schema import Alive, Ready

router = APIRouter()
_FRESH = {"cache-control": "no-store"}


@router.get("/health", tags=["operations"], response_model=Alive)
async def health() -> Response:
    """Say that the process is alive."""
    return Response(b'{"status":"ok"}', media_type="application/json", headers=_FRESH)


@router.get("/ready", tags=["operations"], response_model=Ready, responses=documented("not_ready"))
async def ready(request: Request) -> Response:
    """Say what is served, or that the history cannot be read just now."""
    parts: Parts = request.app.state.parts
    shelf = parts.shelf
    if shelf is not None and not shelf.is_fresh:
        raise Refused("not_ready", UNREADABLE)
    told = Ready(
        status="ready",
        advice=parts.advisor is not None and parts.guard is not None,
        related=shelf is not None,
        release=None if shelf is None else shelf.release,
    )
    return JSONResponse(told.model_dump(), headers=_FRESH)


_FIGURES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Figures in Prometheus' text format.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    },
    **documented("no_token", "bad_token", "not_allowed", "too_many"),
}


@router.get("/metrics", tags=["operations"], response_class=Response, responses=_FIGURES, openapi_extra=SECURITY)
async def figures(request: Request) -> Response:
    """Give figures in Prometheus' text format, for an administrator's token."""
    administrator(request)
    body, media = metrics.exposition()
    return Response(body, media_type=media, headers=_FRESH)


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """Give the description of the API."""
    return JSONResponse(request.app.openapi(), headers={"cache-control": "no-cache"})
