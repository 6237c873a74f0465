"""For operators: is it alive, is it ready, what does the API look like."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

router = APIRouter()


@router.get("/health", tags=["operations"])
async def health() -> Response:
    """Say that the process is alive."""
    return JSONResponse({"status": "ok"})


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """Give the description of the API."""
    return JSONResponse(request.app.openapi())
