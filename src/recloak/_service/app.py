"""The application: its routes, one shape for every error, and the task that looks for new releases."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import Response

from recloak._service import metrics
from recloak._service.access import SCHEMES
from recloak._service.api_errors import ApiError
from recloak._service.logs import failure, log_event
from recloak._service.middleware import Application, RequestMiddleware
from recloak._service.resources import Resources
from recloak._service.routes import advice, html_pages, operations, related
from recloak._service.schema import AdviceRequest, Choice

_CODE_BY_STATUS = {400: "bad_request", 404: "not_found", 405: "wrong_method", 413: "too_large", 415: "not_json"}
_DESCRIPTION = """\
Posting advice and related-item lists.

Every error has one shape: `{"error": {"code": "...", "message": "one sentence"}}`. Places in a text count UTF-16 code
units, as JavaScript's strings do. Advice is given to the user that the token is bound to, about that user alone.
"""


def create_app(resources: Resources) -> FastAPI:
    """Return the application that serves the loaded resources."""
    disabled: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": None}  # they use other hosts
    app = FastAPI(title="recloak", version="1", description=_DESCRIPTION, lifespan=_lifespan, **disabled)
    app.state.resources = resources
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    for module in (advice, related, operations, html_pages):
        app.include_router(module.router)
    for kind in (ApiError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, _error_response)
    return app


def with_middleware(app: FastAPI) -> Application:
    """Wrap an application in the limits, the security headers and the log."""
    return RequestMiddleware(app, app.state.resources.options)  # type: ignore[arg-type,unused-ignore]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Look for new releases as long as the application runs, then close its resources."""
    resources: Resources = app.state.resources
    task = asyncio.create_task(keep_fresh(resources))
    try:
        yield
    finally:
        task.cancel()
        resources.close()


async def keep_fresh(resources: Resources) -> None:
    """Look for new releases at intervals, until cancelled."""
    if resources.published is None:
        return
    metrics.release.set(resources.published.release or 0)
    while True:
        await asyncio.sleep(resources.options.refresh)
        await _refresh(resources)


async def _refresh(resources: Resources) -> None:
    """Look once; if the history cannot be read, the last release stays in place."""
    assert resources.published is not None
    try:
        if await asyncio.to_thread(resources.published.refresh):
            metrics.release.set(resources.published.release or 0)
            log_event("release", number=resources.published.release)
    except Exception as error:  # whatever it is, the next look may succeed
        metrics.refresh_failures.inc()
        log_event("history", level=logging.WARNING, **failure(error))


async def _error_response(_: Request, error: Exception) -> Response:
    match error:
        case ApiError():
            return error.response()
        case HTTPException():
            return ApiError(_CODE_BY_STATUS.get(error.status_code, "bad_request"), headers=error.headers).response()
        case RequestValidationError():
            return ApiError("invalid").response()
    return ApiError("internal").response()


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description, with the bodies that routes read themselves."""
    if app.openapi_schema is None:
        described = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        described["components"]["securitySchemes"] = SCHEMES
        for model in (AdviceRequest, Choice):
            schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
            schema.pop("$defs", None)
            described["components"]["schemas"][model.__name__] = schema
        app.openapi_schema = described
    return app.openapi_schema
