"""The pages: whole files of ``static/``, which bring their own script and style and nothing from another host.

``/`` is ``index.html`` (the advisor), ``/items`` and ``/items/{id}`` are ``related.html`` (an item's list and its
history, by the id in the address), and ``/static/NAME`` is any other file there.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

from recloak._service.problems import Refused

router = APIRouter(include_in_schema=False)
STATIC = Path(__file__).parents[1] / "static"
_KINDS = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}


@router.get("/")
async def advisor_page() -> Response:
    """Give the page of the advisor."""
    return _file("index.html")


@router.get("/items")
@router.get("/items/{item:path}")
async def related_page() -> Response:
    """Give the page of related lists."""
    return _file("related.html")


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """Give a file that a page needs."""
    return _file(name)


def _file(name: str) -> Response:
    """Give a file of the folder by its bare name, of a known kind."""
    path = STATIC / name
    if path.suffix not in _KINDS or path.name != name or not path.is_file():
        raise Refused("not_found")
    return FileResponse(path, media_type=f"{_KINDS[path.suffix]}; charset=utf-8", headers={"cache-control": "no-cache"})
