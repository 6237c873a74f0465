"""The HTML pages, which load nothing from another host.

``/`` is ``static/index.html`` (the advisor), ``/items`` and ``/items/{id}`` are ``static/related.html`` (an item's list
and its history, by the id in the address), ``/static/NAME`` is any other file there, and ``/docs`` is the API's own
description as one plain page without a script.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import FileResponse, Response

from recloak._service.api_errors import ApiError

router = APIRouter(include_in_schema=False)
STATIC = Path(__file__).parents[1] / "static"
_MEDIA_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}
_REVALIDATE = {"cache-control": "no-cache"}
_PAGE = Markup("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · recloak</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/base.css">
<link rel="stylesheet" href="/static/docs.css">
</head>
<body>
<header class="top">
<p class="brand">recloak</p>
<nav aria-label="Pages"><a href="/">Check a post</a> <a href="/items">Related titles</a></nav>
</header>
<main>
<div class="intro">
<h1>The API</h1>
<p>Programs read <a href="/openapi.json">openapi.json</a>. Every error has one shape:
<code>{{"error": {{"code": "...", "message": "one sentence"}}}}</code>.</p>
</div>
{operations}
</main>
</body>
</html>
""")
_OPERATION = Markup(
    "<section><h2><code>{method} {path}</code></h2><p>{about}</p>{fields}<ul>{answers}</ul></section>\n"
)


@router.get("/")
async def advisor_page() -> Response:
    """Return the page of the advisor."""
    return _file("index.html")


@router.get("/items")
@router.get("/items/{item:path}")
async def related_page() -> Response:
    """Return the page of related lists."""
    return _file("related.html")


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """Return a file that a page needs."""
    return _file(name)


def _file(name: str) -> Response:
    """Return a file of the folder by its bare name; only known types, and no path to elsewhere."""
    path = STATIC / name
    if path.suffix not in _MEDIA_TYPES or path.name != name or not path.is_file():
        raise ApiError("not_found")
    return FileResponse(path, headers=_REVALIDATE, media_type=f"{_MEDIA_TYPES[path.suffix]}; charset=utf-8")


@router.get("/docs")
async def documentation(request: Request) -> Response:
    """Return the page that describes the API."""
    return Response(docs_page(request.app.openapi()), media_type="text/html", headers=_REVALIDATE)


def docs_page(described: dict[str, Any]) -> str:
    """Return the page for an OpenAPI description."""
    schemas = described["components"]["schemas"]
    operations = [
        _OPERATION.format(
            method=method.upper(),
            path=path,
            about=operation.get("description", ""),
            fields=Markup("").join(_fields(operation, schemas)),
            answers=Markup("").join(_responses(operation)),
        )
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    return _PAGE.format(operations=Markup("").join(operations))


def _fields(operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[Markup]:
    fields = {about["name"]: about.get("description", "") for about in operation.get("parameters", ())}
    if "requestBody" in operation:
        reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        properties = schemas[reference.rpartition("/")[2]]["properties"]
        fields |= {name: about.get("description", "") for name, about in properties.items()}
    if fields:
        rows = (Markup("<dt><code>{}</code></dt><dd>{}</dd>").format(*pair) for pair in fields.items())
        yield Markup("<dl>{}</dl>").format(Markup("").join(rows))


def _responses(operation: dict[str, Any]) -> Iterator[Markup]:
    for status, about in sorted(operation["responses"].items()):
        yield Markup("<li><code>{}</code> {}</li>").format(status, about["description"].replace("`", ""))
