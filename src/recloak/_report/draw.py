"""Draw a chart as SVG: the chart becomes a Vega-Lite description, vl-convert draws it, `_report.svg` cleans it.

One visual style for all charts. Colours are written as stand-ins here and become CSS variables, so that one drawing
serves light and dark (docs/decisions/charts.md has the figures behind the choice of tool).
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, replace
from typing import Any

import vl_convert

from recloak._core.intervals import Share
from recloak._report.charts import Axis, Bars, Chart, Lines
from recloak._report.formats import number, percent
from recloak._report.svg import INK, LINE, MUTED, SERIES, clean, variable

_VEGA_LITE = "6.4"
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
_MARKS = (
    "M4,0A4,4,0,1,1,-4,0A4,4,0,1,1,4,0",
    "M-3.5,-3.5h7v7h-7Z",
    "M0,-4.5L4.5,3.5H-4.5Z",
    "M0,-5L4,0L0,5L-4,0Z",
    "M-1.5,-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z",
)
_MOST_LABELLED = 12  # bars beyond this carry no number, it would not fit
_LETTER = 7.2  # pixels that a letter takes in a wide font of the page; the one that draws is narrower
_BESIDE = 60  # pixels left of the bars that the labels of the y axis take
_SHORT_NAME = 4  # letters of a name, such as a year, that stays upright where only some of them are shown
_SEPARATION = 12  # pixels kept free between two names
_LINE = 15  # pixels from one line of an axis' title to the next


@dataclass(frozen=True, slots=True)
class Size:
    """The drawing's size; text keeps its size, so a narrow drawing is a drawing of its own."""

    width: int
    height: int
    narrow: bool = False


WIDE = Size(680, 280)
NARROW = Size(330, 240, narrow=True)


def draw(chart: Chart, *, size: Size, key: str, title: str, text: str) -> str:
    """Draw a chart; ``key`` keeps its ids apart from those of other charts, title and text are for screen readers."""
    drawn = vl_convert.vegalite_to_svg(describe(chart, size), vl_version=_VEGA_LITE, allowed_base_urls=[])
    return clean(drawn, key=key, title=title, text=text)


@dataclass(frozen=True, slots=True)
class Swatch:
    """How a series looks, for the legend: its name, colour, and where it is a line, dash and mark."""

    name: str
    colour: str
    dash: str = ""
    mark: str = ""  # an SVG path around (0, 0)
    is_line: bool = False


def swatches(chart: Chart) -> list[Swatch]:
    """Give the legend of a chart; one single series needs none."""
    if isinstance(chart, Bars):
        found = [Swatch(name, variable(colour)) for name, colour in zip(chart.names, SERIES, strict=False)]
    else:
        found = [
            Swatch(series.name, variable(SERIES[n]), _dash(n), _MARKS[n] if chart.marked else "", is_line=True)
            for n, series in enumerate(chart.series)
        ]
    return found if len(found) > 1 else []


def _dash(n: int) -> str:
    return "" if n == 0 else " ".join(str(part) for part in _DASHES[n])


def describe(chart: Chart, size: Size) -> dict[str, Any]:
    """Give the Vega-Lite description of a chart."""
    body = _bars(chart, size) if isinstance(chart, Bars) else _lines(chart, size)
    return {
        "width": size.width,
        "height": size.height,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"left": 0, "right": 8, "top": 4, "bottom": 0},
        "background": None,
        "config": _style(),
        **body,
    }


def _style() -> dict[str, Any]:
    """Give the one style: no frame, faint horizontal lines, quiet labels, the axis title in full words."""
    axis = {
        "labelColor": MUTED,
        "labelFontSize": 12,
        "titleColor": MUTED,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelPadding": 6,
        "domain": False,
        "ticks": False,
        "gridColor": LINE,
    }
    return {
        "view": {"stroke": None},
        "axis": axis,
        "axisX": {
            "grid": False,
            "domain": True,
            "domainColor": MUTED,
            "ticks": True,
            "tickColor": MUTED,
            "tickSize": 4,
        },
        "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": 0, "titleY": -12},
    }


def _title(label: str, size: Size) -> list[str]:
    """Break the title of an axis into lines that fit the drawing."""
    return textwrap.wrap(label, int((size.width - _BESIDE) / _LETTER)) or [""]


def _axis(axis: Axis, size: Size, *, n_ticks: int) -> dict[str, Any]:
    """Give the axis part of an encoding: its title, its numbers as people write them."""
    title = _title(axis.label, size)
    shown: dict[str, Any] = {"title": title, "labelExpr": _number_text(axis), "labelOverlap": True}
    if axis.ticks:
        shown["values"] = list(axis.ticks)
    else:
        shown["tickCount"] = n_ticks
    return shown


def _number_text(axis: Axis) -> str:
    if axis.percent:
        return "format(100 * datum.value, '~r') + '\N{NO-BREAK SPACE}%'"
    return "abs(datum.value) < 100000 ? format(datum.value, ',~r') : format(datum.value, '~s')"


def _spanned(axis: Axis, values: list[float]) -> Axis:
    """Give a logarithmic axis its ends and its ticks at the powers of ten, unless they were fixed."""
    if not axis.log or axis.ticks:
        return axis
    low = min(values) if axis.low is None else axis.low
    high = max(values) if axis.high is None else axis.high
    powers = range(math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9) + 1)
    ticks = tuple(float(10**power) if power >= 0 else 10.0**power for power in powers)
    return replace(axis, low=min(low, ticks[0]), high=max(high, ticks[-1]), ticks=ticks)


def _ends(chart: Lines) -> list[float]:
    """Give all that is drawn along the y axis, intervals included; a logarithmic axis shows only what is above 0."""
    drawn = [y for series in chart.series for p in series.points for y in (p.y, p.low, p.high) if y is not None]
    return [y for y in drawn if y > 0 or not chart.y.log]


def _scale(axis: Axis) -> dict[str, Any]:
    scale: dict[str, Any] = {"nice": 5 if axis.high is None else False}
    if axis.log:
        scale |= {"type": "log", "nice": False}
    if axis.low is not None:
        scale["domainMin"] = axis.low
    if axis.high is not None:
        scale["domainMax"] = axis.high
    return scale


def _quantity(field: str, axis: Axis, size: Size, *, n_ticks: int) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "scale": _scale(axis),
        "axis": _axis(axis, size, n_ticks=n_ticks),
    }


def _upright(axis: Axis, size: Size, *, above: int = 12) -> dict[str, Any]:
    """Give the y axis, with the last line of its title so many pixels above the drawing."""
    shown = _quantity("y", axis, size, n_ticks=5)
    shown["axis"]["titleY"] = -above - _LINE * (len(shown["axis"]["title"]) - 1)
    return shown


def _by_name(names: tuple[str, ...], channel: tuple[Any, ...]) -> dict[str, Any]:
    """Tell the series apart by one channel; the legend is the page's, where it can flow like text."""
    scale = {"domain": list(names), "range": list(channel[: len(names)])}
    return {"field": "name", "type": "nominal", "sort": None, "scale": scale, "legend": None}


def _lines(chart: Lines, size: Size) -> dict[str, Any]:
    names = tuple(series.name for series in chart.series)
    rows = [
        {"name": series.name, "x": p.x, "y": p.y, "low": p.low, "high": p.high}
        for series in chart.series
        for p in series.points
    ]
    colour = _by_name(names, SERIES)
    spanned = _spanned(chart.x, [p.x for series in chart.series for p in series.points])
    x_axis = _quantity("x", spanned, size, n_ticks=5 if size.narrow else 8)
    if chart.marked:
        x_axis["scale"] |= {"padding": 16, "nice": False}
    base = {
        "x": x_axis,
        "y": _upright(_spanned(chart.y, _ends(chart)), size),
        "color": colour,
        "strokeDash": _by_name(names, _DASHES),
    }
    line = {"type": "line", "strokeWidth": 2.25, "interpolate": "step-after" if chart.step else "linear", "clip": False}
    layers: list[dict[str, Any]] = []
    if any(row["low"] is not None for row in rows):
        layers += _intervals(base) if chart.marked else _intervals(base)[:1]
    layers.append({"mark": line, "encoding": base})
    if chart.marked:
        marks = {"type": "point", "filled": True, "size": 55, "opacity": 1}
        shape = _by_name(names, _SHAPES)
        layers.append({"mark": marks, "encoding": {"x": base["x"], "y": base["y"], "color": colour, "shape": shape}})
    return {"data": {"values": rows}, "layer": layers}


def _intervals(base: dict[str, Any]) -> list[dict[str, Any]]:
    """Show intervals as a band along the curve, and as a thin upright line at each point."""
    ends = {"x": base["x"], "y": {**base["y"], "field": "low"}, "y2": {"field": "high"}}
    band = {"mark": {"type": "area", "opacity": 0.14}, "encoding": {**ends, "fill": base["color"]}}
    upright = {
        "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.55},
        "encoding": {**ends, "color": base["color"]},
    }
    return [band, upright]


def _bars(chart: Bars, size: Size) -> dict[str, Any]:
    rows = [
        {"name": name, "place": place, **_value(value, chart.y)}
        for name, row in zip(chart.names, chart.values, strict=True)
        for place, value in zip(chart.places, row, strict=True)
    ]
    whiskered = any("low" in row for row in rows)
    with_numbers = not whiskered and _numbers_fit(chart, [row["text"] for row in rows], size)
    y_axis = _upright(chart.y, size, above=24 if with_numbers else 12)
    y_axis["scale"] |= {"zero": True}
    y_axis["stack"] = None  # bars of several series stand side by side
    base: dict[str, Any] = {"x": _places(chart, size), "y": y_axis, "color": _by_name(chart.names, SERIES)}
    if len(chart.names) > 1:
        base["xOffset"] = {"field": "name", "sort": None, "scale": {"paddingOuter": 0, "paddingInner": 0.08}}
    bar = {"type": "bar", "cornerRadiusEnd": 2}
    layers: list[dict[str, Any]] = [{"mark": bar, "encoding": base}]
    if whiskered:
        layers.append(_whiskers(base))
    elif with_numbers:
        layers.append(_numbers(base))
    return {"data": {"values": rows}, "layer": layers}


def _value(value: Share | float, axis: Axis) -> dict[str, Any]:
    if isinstance(value, Share):
        return {"y": value.rate, "low": value.low, "high": value.high}
    return {"y": float(value), "text": percent(value) if axis.percent else number(value)}


def _numbers_fit(chart: Bars, texts: list[str], size: Size) -> bool:
    """Tell whether a number fits above every bar without touching the next one."""
    share = 1.0 if len(chart.names) == 1 else 0.7 / len(chart.names)  # of a place, for one bar
    room = (size.width - _BESIDE) / len(chart.places) * share
    return 0 < len(texts) <= _MOST_LABELLED and max(len(text) for text in texts) * _LETTER <= room


def _places(chart: Bars, size: Size) -> dict[str, Any]:
    """Give the axis of named places; long names are turned, never cut to nothing."""
    longest = max(len(place) for place in chart.places)
    crowded = longest * len(chart.places) * 7 > size.width
    too_many = len(chart.places) > _MOST_LABELLED  # years, bins: every other one says enough
    turned = crowded and not (too_many and longest <= _SHORT_NAME)
    axis: dict[str, Any] = {"title": _title(chart.x.label, size), "labelAngle": -45 if turned else 0, "labelLimit": 120}
    axis |= {"labelOverlap": too_many, "labelSeparation": 0 if turned else _SEPARATION}
    if turned:
        axis["titlePadding"] = 22  # a reader's font may be wider than the one that was measured
    return {"field": "place", "type": "nominal", "sort": None, "axis": axis, "scale": {"padding": 0.3}}


def _whiskers(base: dict[str, Any]) -> dict[str, Any]:
    encoding = {
        "x": base["x"],
        "y": {**base["y"], "field": "low"},
        "y2": {"field": "high"},
        **({"xOffset": base["xOffset"]} if "xOffset" in base else {}),
        "color": {"value": INK},
    }
    return {"mark": {"type": "rule", "strokeWidth": 1.5}, "encoding": encoding}


def _numbers(base: dict[str, Any]) -> dict[str, Any]:
    text = {"type": "text", "dy": -8, "fontSize": 12}
    encoding = {**base, "text": {"field": "text", "type": "nominal"}, "color": {"value": INK}}
    return {"mark": text, "encoding": encoding}
