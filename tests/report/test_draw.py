"""Every kind of chart becomes an SVG that can stand in a page."""

import itertools
import re
from xml.etree import ElementTree as ET

import pytest

from recloak._core.intervals import wilson
from recloak._report.charts import Axis, Chart, bars, lines, quantile_curve
from recloak._report.draw import NARROW, WIDE, describe, draw, picture, swatches
from recloak._report.svg import SERIES, clean

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
    assert {"1", "10", "100", "1,000", "10,000", "100k"} <= set(words)


def texts_of(chart, size):
    """Return every text of a drawing with its position: x from the left edge, y from the top."""
    found = []

    def walk(element, x, y):
        moved = re.search(r"translate\(([-\d.]+),\s*([-\d.]+)\)", element.get("transform", ""))
        x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        if element.tag.endswith("}text"):
            found.append(("".join(element.itertext()), x, y, float(element.get("opacity", 1))))
        for child in element:
            walk(child, x, y)

    walk(ET.fromstring(draw(chart, size=size, key="k", title="t", text="d")), 0.0, 0.0)
    return found


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("n_years", [13, 23, 40])
def test_years_under_bars_never_touch_each_other(size, n_years):
    years = [str(1990 + n) for n in range(n_years)]
    drawn_texts = texts_of(bars(Axis("year"), Axis("ratings", low=0), years, {"all": [9.0] * n_years}), size)
    places = sorted(x for word, x, _, opacity in drawn_texts if word in years and opacity > 0)
    assert len(places) >= 5
    assert all(after - before >= 4 * 8 for before, after in itertools.pairwise(places)), "a digit may take 8 pixels"


def test_a_long_title_of_an_axis_is_broken_into_lines_on_a_phone():
    label = "error of a recommender (RMSE; the axis does not start at 0)"
    body = describe(lines(Axis(label), Axis(label), {"a": {1: 0.9, 2: 1.0}}), NARROW)
    for channel in ("x", "y"):
        title = body["layer"][0]["encoding"][channel]["axis"]["title"]
        assert " ".join(title) == label
        assert max(map(len, title)) * 7 <= NARROW.width - 40


def test_numbers_stand_above_bars_only_where_they_fit():
    shares = [0.927, 0.063, 0.008, 0.002, 0.00031, 0.000027]
    chart = bars(Axis("share"), Axis("cells", percent=True, low=0), list("abcdef"), {"all": shares})
    assert any("0.0027" in word for word, *_ in texts_of(chart, WIDE))
    assert not any("0.0027" in word for word, *_ in texts_of(chart, NARROW))


def test_the_axis_reaches_above_the_tallest_bar():
    chart = bars(Axis("rating"), Axis("share", percent=True, low=0), ["1", "2"], {"all": [0.266, 0.1]})
    assert "30\N{NO-BREAK SPACE}%" in [word for word, *_ in texts_of(chart, WIDE)]


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
