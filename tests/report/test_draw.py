"""Every kind of chart becomes an SVG that can stand in a page."""

import re
from xml.etree import ElementTree as ET

import pytest

from recloak.intervals import wilson
from recloak.report import Axis, Chart, bars, ecdf, lines, quantile_curve
from recloak.report.draw import NARROW, WIDE, draw, swatches
from recloak.report.picture import picture
from recloak.report.svg import SERIES, clean

HOSTILE = '<script>alert("x")</script> & "quotes"'
PERCENT = Axis("share", percent=True, low=0, high=1)
CHARTS: dict[str, Chart] = {
    "histogram": bars(Axis("rating"), PERCENT, ["1", "2", "3"], {"all": [0.2, 0.3, 0.5]}),
    "grouped bars": bars(
        Axis("model"), PERCENT, ["a", HOSTILE], {"original": [wilson(3, 9), 0.5], "release": [0.1, 0.2]}
    ),
    "intervals": lines(
        Axis("known", log=True, ticks=(1, 2)),
        PERCENT,
        {HOSTILE: {1: wilson(0, 9), 2: wilson(9, 9)}, "b": {1: 0.5, 2: 0.6}},
    ),
    "quantiles": quantile_curve(
        Axis("percentile"), Axis("ratings", log=True), {"a": [(1, 3), (50, 400), (99, 20_000)]}
    ),
    "stairs": ecdf(Axis("rank", log=True), PERCENT, {"a": [1, 2, 2, 80], "b": [5, 6]}),
    "one point": lines(Axis("k"), Axis("rmse"), {"a": {5: 0.9}}),
}


def drawn(name, size=WIDE):
    return ET.fromstring(draw(CHARTS[name], size=size, key="k", title=HOSTILE, text="what it means"))


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_named_and_described_for_those_who_cannot_see_it(name):
    root = drawn(name)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "k-title k-text"
    words = {element.get("id"): element.text for element in root[:2]}
    assert words == {"k-title": HOSTILE, "k-text": "what it means"}


@pytest.mark.parametrize("name", CHARTS)
def test_colours_follow_the_page_and_nothing_points_outside(name):
    text = draw(CHARTS[name], size=NARROW, key="k", title="t", text="d")
    assert "var(--series-1)" in text
    assert not re.search(r"#0102\d\d", text), "a stand-in colour was left"
    assert re.findall(r'(?:fill|stroke)="(?!var\(|none|transparent)[^"]*"', text) == []
    assert re.findall(r"https?://(?!www\.w3\.org/)", text) == []
    assert "<script" not in text


@pytest.mark.parametrize("name", CHARTS)
def test_ids_do_not_clash_with_those_of_another_chart(name):
    text = draw(CHARTS[name], size=WIDE, key="own", title="t", text="d")
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert all(one.startswith("own-") for one in ids)
    assert len(set(ids)) == len(ids)
    assert {f"own-{one}" for one in re.findall(r"url\(#own-([^)]*)\)", text)} <= set(ids)


def test_clip_paths_get_names_of_their_own_that_do_not_depend_on_earlier_drawings():
    def drawn_as(number):
        clip = f'<defs><clipPath id="clip{number}"><path d="M0,0h9v9Z"/></clipPath></defs>'
        body = f'<g clip-path="url(#clip{number})"><path d="M0,0h1.23456v1" fill="{SERIES[0]}"/></g>'
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{clip}{body}</svg>'

    first, later = (clean(drawn_as(number), key="k", title="t", text="d") for number in (0, 112))
    assert first == later
    assert 'id="k-0"' in first
    assert 'clip-path="url(#k-0)"' in first
    assert "h1.23v1" in first


def test_the_same_chart_gives_the_same_bytes():
    again = [draw(CHARTS["intervals"], size=WIDE, key="k", title="t", text="d") for _ in range(2)]
    assert again[0] == again[1]


def test_hostile_names_stay_text():
    words = [element.text for element in drawn("grouped bars").iter() if element.tag.endswith("}text")]
    assert any(word and word.startswith("<script>") for word in words)


def test_a_logarithmic_axis_has_its_ticks_at_the_powers_of_ten():
    words = [element.text for element in drawn("quantiles").iter() if element.tag.endswith("}text")]
    assert {"1", "10", "100", "1,000", "10k", "100k"} <= set(words)


def test_one_series_needs_no_legend_and_several_are_told_apart_without_colour():
    assert swatches(CHARTS["histogram"]) == []
    keys = swatches(CHARTS["intervals"])
    assert [key.name for key in keys] == [HOSTILE, "b"]
    assert len({key.dash for key in keys}) == len({key.mark for key in keys}) == 2


def test_a_picture_stands_alone_with_its_colours_for_light_and_dark():
    text = picture(CHARTS["intervals"], headline=HOSTILE, caption="c")
    root = ET.fromstring(text)
    assert "prefers-color-scheme: dark" in text
    used, given = set(re.findall(r"var\((--[\w-]+)\)", text)), set(re.findall(r"(--[\w-]+): #", text))
    assert used <= given
    assert text.count("--card: #") == 2
    assert next(element.text for element in root.iter() if element.tag.endswith("}text")) == HOSTILE
