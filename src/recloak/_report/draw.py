"""Draw a chart as SVG, for a page or as a stand-alone picture: vl-convert draws a Vega-Lite description of it.

All charts have one style. Colours are placeholders here and become CSS variables, so that one drawing serves light and
dark (docs/decisions/charts.md has the figures behind the choice of tool).
"""

import math
import re
import textwrap
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any
from xml.etree import ElementTree as ET

import vl_convert

from recloak._core.intervals import Share
from recloak._report.charts import Axis, Bars, Chart, Lines, Panels, Slopes
from recloak._report.comparison_drawing import panels_body, slopes_body
from recloak._report.formats import number, percent
from recloak._report.svg import INK, LINE, MUTED, NOTE, SERIES, VARIABLES, clean, svg_element

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
_MOST_LABELLED = 12  # more bars than this have no number above them, it would not fit
_LETTER_WIDTH = 7.2  # pixels of a letter in a wide font of the page; the font that draws is narrower
_Y_LABELS_WIDTH = 60  # pixels of the labels of the y axis, left of the bars
_SHORT_LABEL = 4  # letters of a label, such as a year, that stays upright if only some of them are shown
_LABEL_GAP = 12  # pixels between two labels
_LINE_HEIGHT = 15  # pixels from one line of an axis' title to the next
_MARGIN, _HEAD_HEIGHT = 28, 92  # pixels around a picture, and for headline, caption and legend above its chart
_FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif'


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a drawing; text keeps its size, so a narrow screen needs its own drawing."""

    width: int
    height: int
    narrow: bool = False


WIDE = Size(680, 280)
NARROW = Size(330, 240, narrow=True)


def draw(chart: Chart, *, size: Size, key: str, title: str, text: str) -> str:
    """Draw a chart; ``key`` makes its ids unique on a page, title and text are for screen readers."""
    svg = vl_convert.vegalite_to_svg(describe(chart, size), vl_version=_VEGA_LITE, allowed_base_urls=[])
    return clean(svg, key=key, title=title, text=text)


@dataclass(frozen=True, slots=True)
class Swatch:
    """How a series looks in the legend: its name and colour, and the dash and mark of a line."""

    name: str
    colour: str
    dash: str = ""
    mark: str = ""  # an SVG path around (0, 0)
    is_line: bool = False


def swatches(chart: Chart) -> list[Swatch]:
    """Return the legend of a chart, which is empty for a single series."""
    if isinstance(chart, Slopes | Panels):
        return []
    if isinstance(chart, Bars):
        legend = [Swatch(name, VARIABLES[colour]) for name, colour in zip(chart.names, SERIES, strict=False)]
    else:
        legend = [
            Swatch(series.name, VARIABLES[SERIES[n]], _dash(n), _MARKS[n] if chart.marked else "", is_line=True)
            for n, series in enumerate(chart.series)
        ]
    return legend if len(legend) > 1 else []


def _dash(n: int) -> str:
    return "" if n == 0 else " ".join(str(part) for part in _DASHES[n])


def describe(chart: Chart, size: Size) -> dict[str, Any]:
    """Return the Vega-Lite description of a chart."""
    if isinstance(chart, Panels):  # each has its own size
        return {"background": None, "padding": 4, "config": _style(), **panels_body(chart, narrow=size.narrow)}
    body = _body(chart, size)
    return {
        "width": size.width,
        "height": size.height,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"left": 0, "right": 8, "top": 4, "bottom": 0},
        "background": None,
        "config": _style(),
        **body,
    }


def _body(chart: Lines | Bars | Slopes, size: Size) -> dict[str, Any]:
    if isinstance(chart, Slopes):
        return slopes_body(chart, narrow=size.narrow)
    return _bars(chart, size) if isinstance(chart, Bars) else _lines(chart, size)


def _style() -> dict[str, Any]:
    """Return the style of all charts: no frame, faint horizontal lines, muted labels."""
    labels = {"labelColor": MUTED, "labelFontSize": 12, "labelPadding": 6}
    titles = {"titleColor": MUTED, "titleFontSize": 12, "titleFontWeight": "normal", "titlePadding": 10}
    domain, ticks = {"domain": True, "domainColor": MUTED}, {"ticks": True, "tickColor": MUTED, "tickSize": 4}
    return {
        "view": {"stroke": None},
        "axis": {**labels, **titles, "domain": False, "ticks": False, "gridColor": LINE},
        "axisX": {"grid": False, **domain, **ticks},
        "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": 0, "titleY": -12},
    }


def _title(label: str, size: Size) -> list[str]:
    """Break the title of an axis into lines that fit the drawing."""
    return textwrap.wrap(label, int((size.width - _Y_LABELS_WIDTH) / _LETTER_WIDTH)) or [""]


def _axis(axis: Axis, size: Size, *, n_ticks: int) -> dict[str, Any]:
    """Return the axis part of an encoding."""
    ticks = {"values": list(axis.ticks)} if axis.ticks else {"tickCount": n_ticks}
    return {"title": _title(axis.label, size), "labelExpr": _number_format(axis), "labelOverlap": True, **ticks}


def _number_format(axis: Axis) -> str:
    if axis.percent:
        return "format(100 * datum.value, '~r') + '\N{NO-BREAK SPACE}%'"
    return "abs(datum.value) < 100000 ? format(datum.value, ',~r') : format(datum.value, '~s')"


def _with_log_ticks(axis: Axis, values: list[float]) -> Axis:
    """Set the ends of a logarithmic axis, and ticks at the powers of ten, unless it has ticks."""
    if not axis.log or axis.ticks:
        return axis
    low = min(values) if axis.low is None else axis.low
    high = max(values) if axis.high is None else axis.high
    powers = range(math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9) + 1)
    ticks = tuple(float(10**power) if power >= 0 else 10.0**power for power in powers)
    return replace(axis, low=min(low, ticks[0]), high=max(high, ticks[-1]), ticks=ticks)


def _y_values(chart: Lines) -> list[float]:
    """Return all values along the y axis, intervals included; on a logarithmic axis only those above 0."""
    values = [y for series in chart.series for p in series.points for y in (p.y, p.low, p.high) if y is not None]
    return [y for y in values if y > 0 or not chart.y.log]


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
    return {"field": field, "type": "quantitative", "scale": _scale(axis), "axis": _axis(axis, size, n_ticks=n_ticks)}


def _y_axis(axis: Axis, size: Size, *, above: int = 12) -> dict[str, Any]:
    """Return the y axis, with the last line of its title ``above`` pixels above the drawing."""
    encoding = _quantity("y", axis, size, n_ticks=5)
    encoding["axis"]["titleY"] = -above - _LINE_HEIGHT * (len(encoding["axis"]["title"]) - 1)
    return encoding


def _by_name(names: tuple[str, ...], channel: tuple[Any, ...]) -> dict[str, Any]:
    """Encode the series by one channel, without a legend: the page has it, where it can wrap like text."""
    scale = {"domain": list(names), "range": list(channel[: len(names)])}
    return {"field": "name", "type": "nominal", "sort": None, "scale": scale, "legend": None}


def _lines(chart: Lines, size: Size) -> dict[str, Any]:
    names = tuple(series.name for series in chart.series)
    rows: list[dict[str, Any]] = [
        {
            "name": series.name,
            "x": p.x,
            "y": p.y,
            "low": p.low,
            "high": p.high,
            "label": p.label,
            "note": p.note and NOTE + p.note,
        }
        for series in chart.series
        for p in series.points
    ]
    colour = _by_name(names, SERIES)
    x_axis = _quantity("x", _with_log_ticks(chart.x, [row["x"] for row in rows]), size, n_ticks=5 if size.narrow else 8)
    if chart.marked:
        x_axis["scale"] |= {"padding": 16, "nice": False}
    y_axis = _y_axis(_with_log_ticks(chart.y, _y_values(chart)), size)
    base = {"x": x_axis, "y": y_axis, "color": colour, "strokeDash": _by_name(names, _DASHES)}
    line = {"type": "line", "strokeWidth": 2.25, "interpolate": "linear", "clip": False}
    layers: list[dict[str, Any]] = []
    if any(row["low"] is not None for row in rows):
        layers += _intervals(base) if chart.marked else _intervals(base)[:1]
    layers.append({"mark": line, "encoding": base})
    if chart.marked:
        marks = {"type": "point", "filled": True, "size": 55, "opacity": 1}
        shape = _by_name(names, _SHAPES)
        note = {"description": {"field": "note", "type": "nominal"}} if any(row["note"] for row in rows) else {}
        layers.append({"mark": marks, "encoding": {"x": x_axis, "y": y_axis, "color": colour, "shape": shape, **note}})
    if any(row["label"] for row in rows):
        layers.append(_labels({"x": x_axis, "y": y_axis, "color": colour}))
    return {"data": {"values": rows}, "layer": layers}


def _labels(base: dict[str, Any]) -> dict[str, Any]:
    """Return a layer with the label of each point, above it."""
    text = {"type": "text", "dy": -11, "fontSize": 11, "clip": False}
    label = {"field": "label", "type": "nominal"}
    return {"mark": text, "encoding": {**base, "text": label}}


def _intervals(base: dict[str, Any]) -> list[dict[str, Any]]:
    """Return two layers that show intervals: a band along the curve, and a thin vertical line at each point."""
    ends = {"x": base["x"], "y": {**base["y"], "field": "low"}, "y2": {"field": "high"}}
    band = {"mark": {"type": "area", "opacity": 0.14}, "encoding": {**ends, "fill": base["color"]}}
    rule = {"type": "rule", "strokeWidth": 1.5, "opacity": 0.55}
    return [band, {"mark": rule, "encoding": {**ends, "color": base["color"]}}]


def _bars(chart: Bars, size: Size) -> dict[str, Any]:
    rows = [
        {"name": name, "place": category, **_value(value, chart.y)}
        for name, row in zip(chart.names, chart.values, strict=True)
        for category, value in zip(chart.categories, row, strict=True)
    ]
    whiskered = any("low" in row for row in rows)
    with_numbers = not whiskered and _numbers_fit(chart, [row["text"] for row in rows], size)
    y_axis = _y_axis(chart.y, size, above=24 if with_numbers else 12)
    y_axis["scale"] |= {"zero": True}
    y_axis["stack"] = None  # bars of several series stand side by side
    base: dict[str, Any] = {"x": _category_axis(chart, size), "y": y_axis, "color": _by_name(chart.names, SERIES)}
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
    """Return whether a number fits above every bar without touching the next one."""
    bar_share = 1.0 if len(chart.names) == 1 else 0.7 / len(chart.names)  # of the width of a category
    room = (size.width - _Y_LABELS_WIDTH) / len(chart.categories) * bar_share
    return 0 < len(texts) <= _MOST_LABELLED and max(len(text) for text in texts) * _LETTER_WIDTH <= room


def _category_axis(chart: Bars, size: Size) -> dict[str, Any]:
    """Return the x axis of bars; long labels are turned rather than cut off."""
    longest = max(len(label) for label in chart.categories)
    overfull = longest * len(chart.categories) * 7 > size.width
    too_many = len(chart.categories) > _MOST_LABELLED  # years, bins: every other label is enough
    turned = overfull and not (too_many and longest <= _SHORT_LABEL)
    axis: dict[str, Any] = {"title": _title(chart.x.label, size), "labelAngle": -45 if turned else 0, "labelLimit": 120}
    axis |= {"labelOverlap": too_many, "labelSeparation": 0 if turned else _LABEL_GAP}
    if turned:
        axis["titlePadding"] = 22  # a reader's font may be wider than the one that was measured
    return {"field": "place", "type": "nominal", "sort": None, "axis": axis, "scale": {"padding": 0.3}}


def _whiskers(base: dict[str, Any]) -> dict[str, Any]:
    ends = {"y": {**base["y"], "field": "low"}, "y2": {"field": "high"}}
    encoding = {**base, **ends, "color": {"value": INK}}
    return {"mark": {"type": "rule", "strokeWidth": 1.5}, "encoding": encoding}


def _numbers(base: dict[str, Any]) -> dict[str, Any]:
    text = {"type": "text", "dy": -8, "fontSize": 12}
    encoding = {**base, "text": {"field": "text", "type": "nominal"}, "color": {"value": INK}}
    return {"mark": text, "encoding": encoding}


def picture(chart: Chart, *, headline: str, caption: str) -> str:
    """Return a chart under its headline and caption as a stand-alone SVG."""
    root = ET.fromstring(draw(chart, size=WIDE, key="picture", title=headline, text=caption))  # noqa: S314 (our own drawing)
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    left, top = -_MARGIN, -_MARGIN - _HEAD_HEIGHT
    full_width, full_height = width + 2 * _MARGIN, height + 2 * _MARGIN + _HEAD_HEIGHT
    root.attrib.pop("style")
    view_box = f"{left:g} {top:g} {full_width:g} {full_height:g}"
    root.attrib.update({"viewBox": view_box, "width": f"{full_width:g}", "height": f"{full_height:g}"})
    root.attrib["font-family"] = _FONT
    sides = {"x": left + 0.5, "y": top + 0.5, "width": full_width - 1, "height": full_height - 1}
    box = {name: f"{value:g}" for name, value in sides.items()}
    head = [
        svg_element("style", _colours()),
        svg_element("rect", "", **box, rx="12", fill="var(--card)", stroke="var(--line)"),
        svg_element("text", headline, x="0", y="-74", fill="var(--ink)", **{"font-size": "19", "font-weight": "650"}),
        svg_element("text", caption, x="0", y="-50", fill="var(--muted)", **{"font-size": "13"}),
    ]
    for element in reversed(head + _legend(swatches(chart))):
        root.insert(2, element)  # after the title and the description
    return ET.tostring(root, encoding="unicode") + "\n"


def _legend(keys: list[Swatch]) -> list[ET.Element]:
    """Return the legend on one line; widths are estimated from the number of letters."""
    elements, x = [], 14.0
    for key in keys:
        if key.is_line:
            dash = {"stroke-dasharray": key.dash} if key.dash else {}
            line = {"stroke": key.colour, "stroke-width": "2.25", **dash}
            elements.append(svg_element("path", "", d=f"M{x - 14:g},-20h28", **line))
        mark = key.mark or "" if key.is_line else "M-6,-6h12v12h-12Z"
        elements.append(svg_element("path", "", d=mark, transform=f"translate({x:g},-20)", fill=key.colour))
        label = {"x": f"{x + 22:g}", "y": "-16", "fill": "var(--ink)", "font-size": "13"}
        elements.append(svg_element("text", key.name, **label))
        x += 60 + 7.5 * len(key.name)
    return elements


def _colours() -> str:
    """Return the page's colours, light and dark, so that picture and page never differ."""
    css = resources.files("recloak._report").joinpath("templates/page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root\s*{([^}]*)}", css)
    kept = [" ".join(re.findall(r"--(?:card|ink|muted|line|series-\d): #\w+;", block)) for block in (light, dark)]
    return f":root{{{kept[0]}}} @media (prefers-color-scheme: dark){{:root{{{kept[1]}}}}}"
