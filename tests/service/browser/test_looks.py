"""How the pages hold on a phone, in the dark, and for those who do not see them."""

import base64
from itertools import product

import pytest

pytestmark = pytest.mark.browser
RISKY = "I liked Zorgon (1950), Solaris and The Glass Orchard (1987) 🎬 last week. " + "Verylongword" * 12
SCHEMES = ["light", "dark"]


@pytest.mark.parametrize("path", ["/", "/items", "/items/1", "/docs"])
def test_a_phone_never_scrolls_sideways(visit, advised, path):
    page = advised(RISKY, width=320) if path == "/" else visit(path, width=320)
    page.wait_for_load_state("networkidle")
    page.watched.allowed.append("Failed to load resource")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("scheme", SCHEMES)
def test_colours_follow_the_scheme(advised, scheme):
    page = advised(RISKY, color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in ground.strip("rgb()").split(",")) / 3
    assert (brightness > 200) == (scheme == "light")


@pytest.mark.parametrize("state", ["key", "empty", "risky", "taken", "/items", "/items/1", "/docs"])
def test_axe_finds_nothing_to_complain_about(visit, advised, state):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = opened(visit, advised, state, reduced_motion="reduce")
    for scheme, width in product(SCHEMES, [1100, 360]):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        found = axe.Axe().run(page, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, f"{scheme}, {width} wide: {found.generate_report()}"


def opened(visit, advised, state, **more):
    if state == "key":
        return visit("/", **more)
    if state == "empty":
        return visit("/", user=0, **more)
    if state.startswith("/"):
        page = visit(state, **more)
        page.wait_for_load_state("networkidle")
        return page
    page = advised(RISKY, **more)
    if state == "taken":
        with page.answering():
            page.click("#help-main button")
    return page


def test_what_moves_stands_still_on_request(advised):
    page = advised(RISKY, reduced_motion="reduce")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.crowd .on, .crowd .off')).transitionDuration") == "0s"
    )


TEXTS = {
    "wrapping": "A fairly long sentence that has to wrap several times over the width of the field. " * 8,
    "line breaks": "One\n\n\nTwo\n  indented\n\ttabbed\n",
    "emoji": "👩‍👩‍👧‍👦🎬" * 40 + " Zorgon 🏳️‍🌈 end",
    "long words": "Zorgon" * 120,
    "spaces": "Zorgon" + " " * 300 + "Fjordlight  " * 30,
    "right to left": "שלום עולם Zorgon مرحبا بالعالم " * 12,
    "combining": "Zo\u0308rgon\u0301 ﬁne ﬂow e\u0301te\u0301 " * 30,
    "long": "Zorgon and Fjordlight, then Slow Comet. Next! " * 180,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_marks_lie_exactly_under_the_words(browser, advised, text):
    page = advised(text, bypass_csp=True)  # for the test's own styles
    page.evaluate("document.getElementById('draft').blur()")
    for width in (1000, 360):
        page.set_viewport_size({"width": width, "height": 800})
        front = layer(page, ".backdrop, mark { color: transparent !important }")
        behind = layer(
            page, "#draft { color: transparent !important } .backdrop, mark { color: var(--ink) !important }"
        )
        assert difference(browser, front, behind) < 100  # of 255: letters beside a mark move by a part of a pixel


def layer(page, style):
    plain = "mark { background: none !important; text-decoration: none !important }"
    return page.locator("#editor").screenshot(style=plain + style)


DIFFERENCE = """async (pictures) => {
  const [a, b] = await Promise.all(pictures.map(async (text) => {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height).data;
  }));
  return a.length === b.length ? a.reduce((most, one, n) => Math.max(most, Math.abs(one - b[n])), 0) : 999;
}"""


def difference(browser, *pictures):
    """Return the greatest difference of two pictures' pixels."""
    page = browser.new_page()
    found = page.evaluate(DIFFERENCE, [base64.b64encode(one).decode() for one in pictures])
    page.close()
    return found


def test_a_long_draft_scrolls_with_its_marks_and_keeps_the_caret_in_sight(advised):
    page = advised("A line of words.\n" * 120 + "At last: Zorgon (1950)")
    page.locator("#draft").press("Control+End")
    page.keyboard.type(" !")
    page.wait_for_selector("#backdrop mark")
    mark = page.locator("#backdrop mark").last.bounding_box()
    box = page.locator("#editor").bounding_box()
    assert box["y"] <= mark["y"] <= box["y"] + box["height"]
