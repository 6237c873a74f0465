"""The plain script and the Discourse theme component, on a page with the markup of Discourse's composer."""

import json
import re
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from recloak._service.app import create_app, with_middleware
from recloak._service.options import ServeOptions
from recloak._service.resources import Resources
from recloak._service.signed_claims import create_keys, sign
from tests.service.browser.serving import listening, served
from tests.service.browser.world import advisor

pytestmark = pytest.mark.browser
FOLDER = Path(__file__).parents[3] / "integrations"
THEME = FOLDER / "discourse"
COMPOSER = """
<div id="reply-control" class="open"><div class="reply-area"><div class="wmd-controls"><div class="d-editor">
<div class="d-editor-container"><div class="d-editor-textarea-column"><div class="d-editor-textarea-wrapper">
<div class="d-editor-button-bar" role="toolbar"></div>
<textarea class="ember-text-area d-editor-input" aria-label="Type here."></textarea>
</div></div></div></div></div></div></div>"""
OPEN = f"document.body.insertAdjacentHTML('beforeend', {json.dumps(COMPOSER)})"
ALONE = "With this post you would be nearly alone. To hide among others: leave out Zorgon (1950)."


@contextmanager
def forum(head, *more):
    """Serve a forum whose composer opens later, as Discourse's does."""
    page = lambda _: HTMLResponse(f"<!doctype html><title>forum</title>{head()}<body></body>")  # noqa: E731
    script = Response((FOLDER / "forum-advice.js").read_text(), media_type="text/javascript")
    routes = [Route("/", page), Route("/forum-advice.js", lambda _: script), *more]
    with listening(Starlette(routes=routes)) as port:
        yield f"http://127.0.0.1:{port}"


def hint_for(browser, origin, text):
    page = browser.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(origin)
    page.evaluate(OPEN)
    page.wait_for_selector(".recloak-advice", state="attached")
    page.type("textarea.d-editor-input", text)
    page.wait_for_function("document.querySelector('.recloak-advice').textContent !== ''")
    hint = page.inner_text(".recloak-advice")
    assert page.locator(".recloak-advice").get_attribute("role") == "status"
    assert page.locator(".recloak-advice").count() == 1
    page.close()
    assert problems == []
    return hint


def test_the_plain_script_writes_below_discourses_composer(browser, tmp_path):
    here = {"origin": "", "token": ""}
    tag = lambda: (  # noqa: E731
        f'<script src="/forum-advice.js" data-advisor="{here["origin"]}" data-token-url="/t" defer></script>'
    )
    with forum(tag, Route("/t", lambda _: JSONResponse({"token": here["token"]}))) as origin:  # noqa: SIM117
        with served(tmp_path, allow_origin=origin) as service:
            here.update(origin=service.origin, token=service.token(0))
            assert hint_for(browser, origin, "I liked Zorgon and The Glass Orchard.") == ALONE


@contextmanager
def signed_for(folder, origin):
    """Serve advice to whom the forum signs for, without a token store."""
    keys = create_keys(folder / "forum.key")
    options = ServeOptions(allow_origin=origin)
    resources = Resources(advisor(), advisor().catalogue, signing_keys=keys, options=options)
    with listening(with_middleware(create_app(resources))) as port:
        yield f"http://127.0.0.1:{port}", keys
    resources.close()


def theme_head(advisor_url):
    """Return what Discourse makes of the theme: its module with the settings, and the modules it imports."""
    imports = {
        "discourse/lib/api": "data:text/javascript,export const apiInitializer = (version, run) => "
        "run({getCurrentUser: () => ({id: 1})});",
    }
    settings = json.dumps({"advisor_url": advisor_url, "token_url": "/t"})
    return (
        f"<script>var settings = {settings};</script>"
        f'<script type="importmap">{json.dumps({"imports": imports})}</script>'
        '<script type="module" src="/api-initializers/recloak-advice.js"></script>'
    )


def test_the_theme_component_asks_with_a_claim_that_the_forum_signs_and_renews_it(browser, tmp_path):
    here: dict[str, Any] = {"advisor": "", "asked": 0}

    def claim(_):
        here["asked"] += 1
        stale = here["asked"] == 1  # the first claim has expired by the time it is used
        return JSONResponse({"token": sign(here["keys"], "0", now=1_600_000_000 if stale else None)})

    def module(name):
        text = (THEME / "javascripts" / "discourse" / name).read_text().replace('forum-advice";', 'forum-advice.js";')
        return Route(f"/{name}", lambda _: Response(text, media_type="text/javascript"))

    modules = [module("api-initializers/recloak-advice.js"), module("lib/forum-advice.js")]
    with forum(lambda: theme_head(here["advisor"]), Route("/t", claim), *modules) as origin:  # noqa: SIM117
        with signed_for(tmp_path, origin) as (here["advisor"], here["keys"]):
            assert hint_for(browser, origin, "I liked Zorgon and The Glass Orchard.") == ALONE
    assert here["asked"] == 2


def test_the_theme_carries_the_plain_script_as_it_is():
    carried = THEME / "javascripts" / "discourse" / "lib" / "forum-advice.js"
    assert carried.read_bytes() == (FOLDER / "forum-advice.js").read_bytes()


def test_the_theme_is_a_component_whose_settings_its_code_reads():
    about = json.loads((THEME / "about.json").read_text())
    assert about["component"] is True
    named = re.findall(r"^(\w+):", (THEME / "settings.yml").read_text(), re.MULTILINE)
    code = (THEME / "javascripts" / "discourse" / "api-initializers" / "recloak-advice.js").read_text()
    assert all(name in code for name in named)


def test_no_text_can_become_markup():
    text = (FOLDER / "forum-advice.js").read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(", text)
