"""Pages in a real browser: no error, no request to anyone, light and dark, phone and paper."""

import shutil

import pytest
from tests.evaluation.test_frontier import point
from tests.report.test_audit_page import MANIFEST, evaluation, whole

from recloak._evaluation.frontier import Frontier
from recloak._evaluation.model import Accuracy
from recloak._evaluation.options import FrontierOptions
from recloak._ratings.exposure import expose
from recloak._ratings.summary import summarise
from recloak._ratings.synthetic.rating_stream import synthesise
from recloak._report.audit_page import audit_page
from recloak._report.frontier_page import frontier_page
from recloak._report.inspect_page import inspect_page
from recloak._report.page import write_page

pytestmark = pytest.mark.browser
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("there is no chromium on this machine")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()


def inspected():
    ratings = synthesise(rng=1)
    return inspect_page(summarise(ratings), expose(ratings, rng=1), source="<i>x</i>")


def audited():
    return audit_page(whole(), evaluation(), manifest=MANIFEST, source="<i>x</i>")


def compared():
    points = tuple(point(k, mode) for mode in ("pure", "padded") for k in (2, 5, 50))
    found = Frontier(point(1, "original"), points, Accuracy(1.1, 0.9, 1.0, 10), 1)
    return frontier_page(found, FrontierOptions(), source="<i>x</i>")


@pytest.fixture(scope="module", params=[inspected, audited, compared], ids=["inspect", "audit", "frontier"])
def page_file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(request.param(), path)
    return path


@pytest.fixture(params=["light", "dark"])
def opened(request, browser, page_file):
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1000, "height": 800})
    page = context.new_page()
    page.problems, page.requests = [], []
    page.on("console", lambda message: page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda asked: page.requests.append(asked.url))
    page.goto(page_file.as_uri())
    page.scheme = request.param
    page.evaluate("document.querySelectorAll('details.folded').forEach(one => { one.open = true })")
    yield page
    context.close()


def test_a_page_renders_without_an_error_and_asks_nobody(opened, page_file):
    assert opened.problems == []
    assert opened.requests == [page_file.as_uri()]
    assert opened.locator("figure .wide svg").first.bounding_box()["width"] > 500


def test_colours_follow_the_scheme(opened):
    ground = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in ground.strip("rgb()").split(",")) / 3
    assert (brightness > 200) == (opened.scheme == "light")
    line = opened.locator("figure .wide svg path[stroke^='var']").first
    assert line.evaluate("e => getComputedStyle(e).stroke") != "none"


def test_a_phone_shows_narrow_charts_and_never_scrolls_sideways(opened):
    opened.set_viewport_size({"width": 390, "height": 844})
    assert opened.locator("figure .narrow svg").first.is_visible()
    assert not opened.locator("figure .wide svg").first.is_visible()
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_word_of_a_chart_lies_on_the_phone(opened):
    opened.set_viewport_size({"width": 390, "height": 844})
    boxes = opened.locator("figure .narrow svg text").evaluate_all(
        "all => all.map(e => [e.textContent, e.getBoundingClientRect().left, e.getBoundingClientRect().right])"
    )
    assert len(boxes) > 10
    assert [box for box in boxes if box[1] < 0 or box[2] > 390] == []


def test_no_table_is_cut_off_on_paper(opened):
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": 672, "height": 900})  # A4 less the margins, at 96 dots an inch
    edges = opened.locator("table").evaluate_all("all => all.map(e => e.getBoundingClientRect().right)")
    assert edges
    assert max(edges) <= 672


def test_paper_is_light_and_shows_the_numbers(opened):
    opened.emulate_media(media="print")
    assert opened.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink')").strip() == "#1c2330"
    assert opened.locator("table").first.is_visible()
    assert opened.pdf().startswith(b"%PDF")


def test_an_audit_fits_three_screens_before_anything_is_opened(browser, tmp_path):
    write_page(audited(), tmp_path / "page.html")
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollHeight") <= 3 * 800
    assert page.locator(".verdict").first.is_visible()
    assert page.locator("table").first.is_visible()
    assert (tmp_path / "page.html").stat().st_size < 1_000_000
    page.context.close()


def test_a_point_of_the_frontier_shows_its_value_on_hover_and_focus(browser, tmp_path):
    write_page(compared(), tmp_path / "page.html")
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto((tmp_path / "page.html").as_uri())
    mark = page.locator("figure .wide [data-value]").first
    value = mark.locator("text")
    assert not value.is_visible()
    mark.focus()
    assert value.is_visible()
    assert "RMSE" in value.text_content()
    assert mark.locator("title").text_content() == value.text_content()
    page.context.close()
