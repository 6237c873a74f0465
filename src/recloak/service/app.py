"""The application: its routes, and one shape for every error."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import Response

from recloak.service.parts import Parts
from recloak.service.problems import Refused
from recloak.service.routes import advice, operations, pages
from recloak.service.schema import AdviceRequest, Choice

_BY_STATUS = {400: "bad_request", 404: "not_found", 405: "wrong_method", 413: "too_large", 415: "not_json"}
_ABOUT = """\
Posting advice and related-item lists.

Every error has one shape: `{"error": {"code": "...", "message": "one sentence"}}`. Places in a text count UTF-16 code
units, as JavaScript's strings do. Advice is given to the user that the token is bound to, about that user alone.
"""


def create_app(parts: Parts) -> FastAPI:
    """Make the application from what was loaded."""
    app = FastAPI(title="recloak", version="1", description=_ABOUT, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.parts = parts
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    for router in (advice.router, operations.router, pages.router):
        app.include_router(router)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _unfit)
    return app


async def _refused(_: Request, refused: Exception) -> Response:
    assert isinstance(refused, Refused)
    return refused.answer()


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Refused(_BY_STATUS.get(error.status_code, "bad_request"), headers=error.headers).answer()


async def _unfit(_: Request, __: Exception) -> Response:
    return Refused("invalid").answer()


def _described(app: FastAPI) -> dict[str, Any]:
    """Give the OpenAPI description, with the bodies that routes read themselves."""
    if app.openapi_schema is None:
        told = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = told["components"]["schemas"]
        for kind in (AdviceRequest, Choice):
            whole = kind.model_json_schema(ref_template="#/components/schemas/{model}")
            whole.pop("$defs", None)
            schemas[kind.__name__] = whole
        app.openapi_schema = told
    return app.openapi_schema
