"""Published related lists: an item's list now, how it changed, and items by their titles."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from recloak._core.errors import RecloakError
from recloak._service.logs import failure, tell
from recloak._service.parts import Parts
from recloak._service.problems import UNREADABLE, Refused, documented
from recloak._service.published_lists import PublishedLists, Rendered
from recloak._service.schema import HistoryAnswer, Named, RelatedAnswer, SearchAnswer

router = APIRouter(prefix="/api/v1/items", tags=["related"])
_PROBLEMS = documented("no_such_item", "not_served", "not_found", "internal", "timeout")
_UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {"description": "Not changed since the entity tag of If-None-Match."}
}
_LISTS = {**_PROBLEMS, **_UNCHANGED, **documented("invalid")}


@router.get("", responses={**documented("not_served", "invalid", "internal", "timeout")})
async def search(
    request: Request,
    q: Annotated[str, Query(min_length=1, max_length=100, description="Words of the title.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
) -> SearchAnswer:
    """Give items whose titles hold these words, in the order of their titles."""
    catalogue = request.app.state.parts.catalogue
    if catalogue is None:
        raise Refused("not_served")
    found = catalogue.search(q, limit)
    return SearchAnswer(items=[Named(item=item, title=catalogue.name(item)) for item in found])


@router.get("/{item:path}/related", response_model=RelatedAnswer, responses=_LISTS)
async def related(request: Request, item: str) -> Response:
    """Give an item's list in the latest published release."""
    return _given(request, _shelf(request).related(item))


@router.get(
    "/{item:path}/history", response_model=HistoryAnswer, responses={**_LISTS, **documented("not_ready", "timeout")}
)
async def history(
    request: Request,
    item: str,
    last: Annotated[int, Query(ge=1, le=50, description="How many releases to show.")] = 10,
) -> Response:
    """Give an item's list through the last published releases, the newest first, and what moved in each."""
    shelf, pool = _shelf(request), request.app.state.parts.pool
    try:
        found = await asyncio.get_running_loop().run_in_executor(pool, shelf.history, item, last)
    except RecloakError as error:
        tell("history", level=logging.WARNING, **failure(error))
        raise Refused("not_ready", UNREADABLE, {"retry-after": "5"}) from None
    return _given(request, found)


def _shelf(request: Request) -> PublishedLists:
    parts: Parts = request.app.state.parts
    if parts.shelf is None:
        raise Refused("not_served")
    return parts.shelf


def _given(request: Request, found: Rendered | None) -> Response:
    """Give an answer, or say that the asker has it already."""
    if found is None:
        raise Refused("no_such_item")
    seconds = request.app.state.parts.options.cache
    headers = {"etag": found.etag, "cache-control": f"public, max-age={seconds}"}
    if _has(request.headers.get("if-none-match", ""), found.etag):
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type="application/json", headers=headers)


def _has(known: str, etag: str) -> bool:
    """Tell whether If-None-Match names an entity tag; the comparison is weak, as RFC 9110 asks for here."""
    return known.strip() == "*" or etag in (one.strip().removeprefix("W/") for one in known.split(","))
