"""A page is one file that asks nothing of anyone, and no text in it becomes markup."""

import itertools
import re
from html.parser import HTMLParser

import pytest

from recloak._core.errors import InputError
from recloak._core.intervals import wilson
from recloak._report.charts import Axis, bars, lines
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Section, Table, render, write_page

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
VOID = {"meta", "link", "img", "br", "hr", "input"}


def page_of(text):
    """Make a page with the same text in every place that holds one."""
    chart = lines(Axis(text), Axis(text, percent=True), {text: {1: wilson(1, 2)}, "b": {1: 0.5}})
    grouped = bars(Axis(text), Axis(text), [text, "other"], {text: [1.0, 2.0], "b": [3.0, 4.0]})
    table = Table((text, "n"), ((text, "1"), ("b", "2")))
    sections = (
        Section(text, text, "lower", chart, table),
        Section(text, text, "higher", grouped),
        Section(text, text, table=table),
    )
    verdict = PageVerdict("alert", text, text, text)
    chapter = Chapter(text, text, (Fact(text, text, text),), sections, verdict)
    return Page(text, text, verdict, (chapter, chapter), Account((text,), ((text, text),)), (Fact(text, text),))


class Outline(HTMLParser):
    """Collects tags, attributes and headings, and holds that every tag is closed in its turn."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.ids, self.headings, self.links = [], [], [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("href", "src", "xlink:href") if name in given]
        self.headings += [int(tag[1])] if re.fullmatch(r"h\d", tag) else []
        assert not any(name.startswith("on") for name in given)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):  # noqa: ARG002 (the signature is given)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def hostile():
    return render(page_of(HOSTILE))


def test_no_text_becomes_markup(hostile):
    outline = Outline(hostile)
    assert outline.open == []
    assert not {"script", "img", "iframe", "object"} & set(outline.tags)
    assert "<script" not in hostile


def test_nothing_is_fetched_from_anywhere(hostile):
    links = Outline(hostile).links
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"@import|url\((?!#)", hostile)
    assert "default-src 'none'" in hostile


def test_links_inside_the_page_lead_somewhere_and_ids_differ(hostile):
    outline = Outline(hostile)
    assert len(set(outline.ids)) == len(outline.ids)
    assert {link[1:] for link in outline.links if link.startswith("#")} <= set(outline.ids)


def test_headings_go_down_one_level_at_a_time(hostile):
    headings = Outline(hostile).headings
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(headings))


def test_every_chart_is_drawn_wide_and_narrow_and_its_numbers_stand_behind(hostile):
    assert hostile.count('<div class="wide"') == hostile.count('<div class="narrow"') == 4
    assert hostile.count("<details>") == 2
    assert hostile.count("<table>") == 4


def test_each_way_of_good_is_said():
    text = render(page_of("x"))
    assert "lower is better" in text
    assert "higher is better" in text


def test_the_verdict_comes_before_every_chapter():
    text = render(page_of("x"))
    assert text.index('class="verdict') < text.index("<h2")


def test_a_page_is_small_and_the_same_each_time():
    assert render(page_of("x")) == render(page_of("x"))
    assert len(render(page_of("x")).encode()) < 200_000


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        write_page(page_of("x"), tmp_path / "missing" / "page.html")
    assert list(tmp_path.iterdir()) == []


def rgb(colour):
    return [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    dark, light = sorted([luminance(a), luminance(b)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_and_lines_stand_out_from_their_ground(scheme):
    block = re.findall(r":root\s*{([^}]*)}", render(page_of("x")))[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", block))
    for ground in ("paper", "card"):
        for words in ("ink", "muted", "accent"):
            assert contrast(colours[words], colours[ground]) >= 4.5, (words, ground)
        for n in range(1, 6):
            assert contrast(colours[f"series-{n}"], colours[ground]) >= 3, (n, ground)
    for tone in ("alert", "caution", "good", "accent"):
        assert contrast(colours[tone], colours[f"{tone}-soft"]) >= 4.5, tone
        assert contrast(colours["ink"], colours[f"{tone}-soft"]) >= 4.5, tone
