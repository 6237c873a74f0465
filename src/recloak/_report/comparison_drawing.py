"""How two rankings side by side and small charts are described to the renderer."""

from __future__ import annotations

from typing import Any

from recloak._report.charts import Panels, ScatterPanel, Slopes
from recloak._report.svg import INK, MUTED, SERIES

_ROW = 22  # pixels from one place to the next
_HEAD = 34  # pixels above the first place
_PANEL_SIDE = {False: 165, True: 110}


def slopes_body(chart: Slopes, *, narrow: bool) -> dict[str, Any]:
    """Return the part of a description that draws two rankings, the best on top."""
    rows = _slope_rows(chart, narrow)
    n = len(chart.entries)
    ends = {"domain": [-1.15, 1.35] if narrow else [-1.0, 2.0], "nice": False, "zero": False}
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": ends}
    y = {
        "field": "place", "type": "quantitative", "axis": None,
        "scale": {"domain": [n + 0.5, -0.5], "nice": False, "zero": False},
    }  # fmt: skip
    first = {"test": "datum.marked", "value": SERIES[0]}
    colour = {"condition": first, "value": MUTED}
    width = {"condition": {"test": "datum.marked", "value": 2.5}, "value": 1.0}
    line = {"x": x, "y": y, "detail": {"field": "name"}, "color": colour, "strokeWidth": width}
    weight = {"condition": {"test": "datum.marked", "value": 650}, "value": 400}
    words = {"x": x, "y": y, "text": {"field": "label"}, "color": {"value": INK}}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "line", "opacity": 0.9}, "transform": [{"filter": "datum.place > 0"}], "encoding": line},
        {"mark": {"type": "point", "filled": True, "size": 36, "opacity": 1},
         "transform": [{"filter": "datum.place > 0"}], "encoding": {"x": x, "y": y, "color": colour}},
    ]  # fmt: skip
    for side, align, dx in ((0, "right", -9), (1, "left", 9)):
        mark = {"type": "text", "align": align, "dx": dx, "baseline": "middle", "fontSize": 12}
        layers.append({
            "mark": mark, "transform": [{"filter": f"datum.x == {side}"}],
            "encoding": {**words, "fontWeight": weight},
        })  # fmt: skip
    return {"data": {"values": rows}, "layer": layers, "height": _HEAD + _ROW * (n + 1)}


def _slope_rows(chart: Slopes, narrow: bool) -> list[dict[str, Any]]:
    """Return two rows for each entry, and the headings of both sides in place 0."""
    sign = 1 if chart.smaller_first else -1
    rows: list[dict[str, Any]] = [
        {"name": "", "x": side, "place": 0, "label": title, "marked": True}
        for side, title in enumerate((chart.left, chart.right))
    ]
    for side in (0, 1):
        scores = [(one.left, one.right)[side] for one in chart.entries]
        order = sorted(range(len(scores)), key=lambda n: (sign * scores[n], n))
        for place, n in enumerate(order, 1):
            entry = chart.entries[n]
            label = _slope_label(entry.name, scores[n], side, narrow)
            rows.append({"name": entry.name, "x": side, "place": place, "label": label, "marked": entry.is_marked})
    return rows


def _slope_label(name: str, score: float, side: int, narrow: bool) -> str:
    if narrow:
        return name if side == 0 else f"{score:.3f}"
    return f"{name}  {score:.3f}" if side == 0 else f"{score:.3f}  {name}"


def panels_body(chart: Panels, *, narrow: bool) -> dict[str, Any]:
    """Return the description of small charts, in rows."""
    side = _PANEL_SIDE[narrow]
    return {"concat": [_panel(one, chart, side) for one in chart.panels], "columns": 2 if narrow else 3, "spacing": 22}


def _panel(panel: ScatterPanel, chart: Panels, side: int) -> dict[str, Any]:
    values = [value for pair in panel.points for value in pair]
    if panel.log:
        values = [value for value in values if value > 0]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    scale = {"domain": [low, high if high > low else low + 1], "nice": not panel.log, "zero": False}
    scale |= {"type": "log"} if panel.log else {}
    axis = {"tickCount": 3, "labelExpr": "format(datum.value, '~s')", "labelOverlap": True, "titlePadding": 4}

    def encoded(field: str, title: str) -> dict[str, Any]:
        return {"field": field, "type": "quantitative", "scale": scale, "axis": {**axis, "title": title}}

    x, y = encoded("x", chart.x), encoded("y", chart.y)
    points = [{"x": a, "y": b} for a, b in panel.points if not panel.log or min(a, b) > 0]
    diagonal = [{"x": end, "y": end} for end in (low, high)]
    return {
        "width": side, "height": side,
        "title": {"text": panel.title, "color": INK, "fontSize": 12, "anchor": "start", "fontWeight": 600},
        "layer": [
            {"data": {"values": diagonal}, "mark": {"type": "line", "strokeDash": [4, 3], "color": MUTED},
             "encoding": {"x": x, "y": y}},
            {"data": {"values": points}, "mark": {"type": "point", "filled": True, "size": 22, "color": SERIES[0],
             "opacity": 0.8}, "encoding": {"x": x, "y": y}},
        ],
    }  # fmt: skip
