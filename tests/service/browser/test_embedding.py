"""The snippet of docs/embedding.md works as it stands, both ways."""

import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tests.service.browser.serving import listening, served

pytestmark = pytest.mark.browser
GUIDE = (Path(__file__).parents[3] / "docs" / "embedding.md").read_text()


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    return found


@contextmanager
def forum(*, advisor="", token="", more=()):
    """Serve a forum's page with the snippet in it, and whatever else the forum does."""
    here: dict[str, str] = {}

    def page(_):
        html = (
            block("html")
            .replace("https://advice.example", here["advisor"])
            .replace("TOKEN OF THE WRITER", here["token"])
        )
        return HTMLResponse(f"<!doctype html><title>forum</title>{html}")

    script = lambda _: Response(block("js"), media_type="text/javascript")  # noqa: E731
    here.update(advisor=advisor, token=token)
    with listening(Starlette(routes=[Route("/", page), Route("/hint.js", script), *more])) as port:
        here["origin"] = f"http://127.0.0.1:{port}"
        yield here


def hint_for(browser, origin, text):
    page = browser.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(origin)
    page.fill("#post", text)
    page.wait_for_function("document.getElementById('hint').textContent !== ''")
    hint = page.inner_text("#hint")
    page.close()
    assert problems == []
    return hint


ALONE = "With this post you would be nearly alone. To hide among others: leave out Zorgon (1950). Then: one of dozens."


def test_a_forum_that_passes_questions_on_needs_no_key_in_the_page(browser, service):
    space = {"token_of": lambda _: service.token(0)}
    exec(block("python").replace("http://127.0.0.1:8000", service.origin), space)
    route = Route("/api/v1/advice", space["pass_on"], methods=["POST"])
    with forum(more=[route]) as here:
        assert hint_for(browser, here["origin"], "I liked Zorgon and The Glass Orchard.") == ALONE


def test_a_forum_of_another_host_is_answered_once_it_is_allowed(browser, tmp_path):
    with forum() as here, served(tmp_path, allow_origin=here["origin"]) as allowed:
        here.update(advisor=allowed.origin, token=allowed.token(0))
        assert hint_for(browser, here["origin"], "I liked Zorgon and The Glass Orchard.") == ALONE


def test_a_forum_of_another_host_is_not_answered_by_default(browser, service):
    with forum(advisor=service.origin, token=service.token(0)) as here:
        assert hint_for(browser, here["origin"], "I liked Zorgon.") == "No advice just now."
