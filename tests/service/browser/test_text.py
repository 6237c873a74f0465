"""What the page's own functions make of a draft, asked in the browser."""

import pytest

pytestmark = pytest.mark.browser

LEAVE_OUT = """async ([text, titles, left]) => {
  const { edited, leaveOut } = await import("/static/text.js");
  const spans = titles.flatMap(([title, words]) =>
    [...text.matchAll(RegExp(words, "g"))].map(({ index }) => ({ start: index, end: index + words.length, title })));
  return leaveOut(text, spans, (span) => left.includes(span.title)).reduce(edited, text);
}"""
TITLES = [
    ("Heat (1995)", "Heat"),
    ("Up (2009)", "Up"),
    ("Her (2013)", "Her"),
    ("Escape from L.A. (1996)", "Escape from L.A"),
]
HEAT, UP, HER, ESCAPE = (title for title, _ in TITLES)


@pytest.fixture(scope="module")
def plain(browser, service):
    page = browser.new_page()
    page.goto(service.origin + "/items")
    yield page
    page.close()


@pytest.mark.parametrize(
    ("text", "left", "rest"),
    [
        ("I like Heat, Up and Her.", [HEAT], "I like Up and Her."),
        ("I like Heat, Up and Her.", [UP], "I like Heat and Her."),
        ("I like Heat, Up and Her.", [HER], "I like Heat and Up."),
        ("I like Heat, Up, and Her.", [HER], "I like Heat and Up."),
        ("I like Heat, Up, and Her.", [HEAT], "I like Up and Her."),
        ("I like Heat, Up and Her.", [HEAT, UP], "I like Her."),
        ("I like Heat, Up and Her.", [UP, HER], "I like Heat."),
        ("I like Heat, Up and Her.", [HEAT, UP, HER], "I like …."),
        ("Heat is great, “Up” (2009) too. Heat!", [HEAT, UP], "… is great, … too. …!"),
        ("Yesterday, Heat was on.", [HEAT], "Yesterday, … was on."),
        ("🎬 Heat (1995) & Up (2009)", [UP], "🎬 Heat (1995)"),
        ("See Escape from L.A. (1996) or Up", [ESCAPE], "See Up"),
        ("See Escape from L.A. now", [ESCAPE], "See … now"),
        ("Nothing here", [HEAT], "Nothing here"),
    ],
)
def test_titles_are_left_out_as_a_writer_would(plain, text, left, rest):
    assert plain.evaluate(LEAVE_OUT, [text, TITLES, left]) == rest


SHIFT = """async ([before, after, spans]) => {
  const { difference, shift, takenBack, edited } = await import("/static/text.js");
  const edit = difference(before, after);
  return { spans: shift(spans, edit).map(({ start, end }) => after.slice(start, end)),
           back: edited(after, takenBack(before, after)) };
}"""


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        ("So I like Heat and Up", ["Heat", "Up"]),
        ("I like Heat, really, and Up", ["Heat", "Up"]),
        ("I like Heats and Up", ["Up"]),
        ("I like Heat and Up!", ["Heat", "Up"]),
        ("I like and Up", ["Up"]),
        ("", []),
    ],
)
def test_places_move_along_with_the_text_and_every_change_can_be_taken_back(plain, after, kept):
    before, spans = "I like Heat and Up", [{"start": 7, "end": 11}, {"start": 16, "end": 18}]
    assert plain.evaluate(SHIFT, [before, after, spans]) == {"spans": kept, "back": before}
