"""A browser, a server on loopback, and pages that are watched: every test fails on an error or a foreign request."""

import shutil
from contextlib import contextmanager

import pytest

from tests.service.browser.serving import served

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 20_000  # milliseconds


@pytest.fixture(scope="package")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("there is no chromium on this machine")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="package")
def service(tmp_path_factory):
    with served(tmp_path_factory.mktemp("service"), rate=1e6, burst=10**6) as running:
        yield running


class Watched:
    """What a page did that it should not."""

    def __init__(self, page, origin):
        self.origin = origin + "/"
        self.problems: list[str] = []
        self.foreign: list[str] = []
        self.allowed: list[str] = []
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def _dialog(self, dialog):
        self.problems.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _request(self, asked):
        if not asked.url.startswith(self.origin):
            self.foreign.append(asked.url)

    def check(self):
        left = [one for one in self.problems if not any(words in one for words in self.allowed)]
        assert left == []
        assert self.foreign == []


@pytest.fixture
def visit(browser, service):
    """Open pages: `visit("/", user=0)` comes with a key for the user, without `user` without a key."""
    opened = []

    def open_page(path="/", *, user=None, width=1000, **context):
        made = browser.new_context(viewport={"width": width, "height": 800}, **context)
        page = made.new_page()
        page.set_default_timeout(PATIENCE)
        page.watched = Watched(page, service.origin)
        opened.append((made, page))
        page.goto(service.origin + path + ("" if user is None else f"#token={service.token(user)}"))
        if user is not None:
            page.wait_for_selector("#meter-answer:not([hidden])")
        return page

    yield open_page
    for made, page in opened:
        page.watched.check()
        made.close()


@pytest.fixture
def advised(visit):
    """Open the advisor with a draft and wait for what it says."""

    @contextmanager
    def answering(page):
        with page.expect_response("**/api/v1/advice"):
            yield

    def write(text, *, user=0, **more):
        page = visit("/", user=user, **more)
        page.answering = lambda: answering(page)
        with page.answering():
            page.fill("#draft", text)
        if text:
            page.wait_for_selector("#help:not([hidden])")
        return page

    return write
