"""The application: its routes, and one shape for every error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import Response

from recloak._service.access import SCHEMES
from recloak._service.middleware import Application, RequestMiddleware
from recloak._service.parts import Parts
from recloak._service.problems import Refused
from recloak._service.release_watch import keep_fresh
from recloak._service.routes import advice, documentation, html_pages, operations, related
from recloak._service.schema import AdviceRequest, Choice

_BY_STATUS = {400: "bad_request", 404: "not_found", 405: "wrong_method", 413: "too_large", 415: "not_json"}
_ABOUT = """\
Posting advice and related-item lists.

Every error has one shape: `{"error": {"code": "...", "message": "one sentence"}}`. Places in a text count UTF-16 code
units, as JavaScript's strings do. Advice is given to the user that the token is bound to, about that user alone.
"""


def create_app(parts: Parts) -> FastAPI:
    """Make the application from what was loaded."""
    closed: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": None}  # they fetch from other hosts
    app = FastAPI(title="recloak", version="1", description=_ABOUT, lifespan=_running, **closed)
    app.state.parts = parts
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    for router in (advice.router, related.router, operations.router, documentation.router, html_pages.router):
        app.include_router(router)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _unfit)
    app.add_exception_handler(Exception, _failed)
    return app


def shielded(app: FastAPI) -> Application:
    """Put the limits, the headers and the log around an application."""
    return RequestMiddleware(app, app.state.parts.options)  # type: ignore[arg-type,unused-ignore]


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    """Look for new releases as long as the application runs, then close its parts."""
    parts: Parts = app.state.parts
    looking = asyncio.create_task(keep_fresh(parts))
    try:
        yield
    finally:
        looking.cancel()
        parts.close()


async def _refused(_: Request, refused: Exception) -> Response:
    assert isinstance(refused, Refused)
    return refused.answer()


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Refused(_BY_STATUS.get(error.status_code, "bad_request"), headers=error.headers).answer()


async def _unfit(_: Request, __: Exception) -> Response:
    return Refused("invalid").answer()


async def _failed(_: Request, __: Exception) -> Response:
    return Refused("internal").answer()


def _described(app: FastAPI) -> dict[str, Any]:
    """Give the OpenAPI description, with the bodies that routes read themselves."""
    if app.openapi_schema is None:
        told = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        told["components"]["securitySchemes"] = SCHEMES
        schemas = told["components"]["schemas"]
        for kind in (AdviceRequest, Choice):
            whole = kind.model_json_schema(ref_template="#/components/schemas/{model}")
            whole.pop("$defs", None)
            schemas[kind.__name__] = whole
        app.openapi_schema = told
    return app.openapi_schema
