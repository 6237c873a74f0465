"""The API for people to read: its own description as one plain page, without a script and without another host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

router = APIRouter(include_in_schema=False)
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


@router.get("/docs")
async def documentation(request: Request) -> Response:
    """Give the page."""
    return Response(_page(request.app.openapi()), media_type="text/html", headers={"cache-control": "no-cache"})


def _page(told: dict[str, Any]) -> str:
    schemas = told["components"]["schemas"]
    parts = [
        _OPERATION.format(
            method=method.upper(),
            path=path,
            about=one.get("description", ""),
            fields=Markup("").join(_fields(one, schemas)),
            answers=Markup("").join(_answers(one)),
        )
        for path, methods in told["paths"].items()
        for method, one in methods.items()
    ]
    return _PAGE.format(operations=Markup("").join(parts))


def _fields(one: dict[str, Any], schemas: dict[str, Any]) -> Iterator[Markup]:
    """Give what may be asked: the parameters, and the fields of the body."""
    asked = {about["name"]: about.get("description", "") for about in one.get("parameters", ())}
    body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
    properties = schemas.get(body.rpartition("/")[2], {}).get("properties", {})
    asked |= {name: about.get("description", "") for name, about in properties.items()}
    if asked:
        rows = (Markup("<dt><code>{}</code></dt><dd>{}</dd>").format(*pair) for pair in asked.items())
        yield Markup("<dl>{}</dl>").format(Markup("").join(rows))


def _answers(one: dict[str, Any]) -> Iterator[Markup]:
    for status, about in sorted(one["responses"].items()):
        yield Markup("<li><code>{}</code> {}</li>").format(status, about["description"].replace("`", ""))
