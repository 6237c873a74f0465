"""Published related lists: an item's list now, how it changed, and items by their titles."""

import asyncio
import logging
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from recloak._core.errors import RecloakError
from recloak._service.api_errors import UNREADABLE, ApiError, error_responses
from recloak._service.logs import failure, log_event
from recloak._service.published_lists import PublishedLists, Rendered
from recloak._service.resources import Resources
from recloak._service.schema import HistoryAnswer, Named, RelatedAnswer, SearchAnswer

router = APIRouter(prefix="/api/v1/items", tags=["related"])
_ERRORS = error_responses("no_such_item", "not_served", "not_found", "internal", "timeout")
_UNCHANGED: dict[int | str, Any] = {304: {"description": "Not changed since the entity tag of If-None-Match."}}
_LISTS = {**_ERRORS, **_UNCHANGED, **error_responses("invalid")}


@router.get("", responses=error_responses("not_served", "invalid", "internal", "timeout"))
async def search(
    request: Request,
    q: Annotated[str, Query(min_length=1, max_length=100, description="Words of the title.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
) -> SearchAnswer:
    """Return items whose titles hold these words, in the order of their titles."""
    catalogue = request.app.state.resources.catalogue
    if catalogue is None:
        raise ApiError("not_served")
    return SearchAnswer(items=[Named(item=item, title=catalogue.title(item)) for item in catalogue.search(q, limit)])


@router.get("/{item:path}/related", response_model=RelatedAnswer, responses=_LISTS)
async def related(request: Request, item: str) -> Response:
    """Return an item's list in the latest published release."""
    return _respond(request, _published(request).related(item))


@router.get(
    "/{item:path}/history",
    response_model=HistoryAnswer,
    responses={**_LISTS, **error_responses("not_ready", "timeout")},
)
async def history(
    request: Request, item: str, last: Annotated[int, Query(ge=1, le=50, description="How many releases to show.")] = 10
) -> Response:
    """Return an item's list through the last published releases, the newest first, and what moved in each."""
    published, pool = _published(request), request.app.state.resources.history_pool
    try:
        found = await asyncio.get_running_loop().run_in_executor(pool, published.history, item, last)
    except RecloakError as error:
        log_event("history", level=logging.WARNING, **failure(error))
        raise ApiError("not_ready", UNREADABLE, {"retry-after": "5"}) from None
    return _respond(request, found)


def _published(request: Request) -> PublishedLists:
    resources: Resources = request.app.state.resources
    if resources.published is None:
        raise ApiError("not_served")
    return resources.published


def _respond(request: Request, found: Rendered | None) -> Response:
    """Return the response with its body, or 304 if the client has it already."""
    if found is None:
        raise ApiError("no_such_item")
    seconds = request.app.state.resources.options.cache
    headers = {"etag": found.etag, "cache-control": f"public, max-age={seconds}"}
    if _names(request.headers.get("if-none-match", ""), found.etag):
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type="application/json", headers=headers)


def _names(known: str, etag: str) -> bool:
    """Return whether If-None-Match names an entity tag; the comparison is weak, as RFC 9110 requires here."""
    return known.strip() == "*" or etag in (one.strip().removeprefix("W/") for one in known.split(","))
