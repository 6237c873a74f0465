"""One chart as a picture of its own, for a README or a slide: an SVG file that carries its colours, light and dark."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree as ET

from recloak._core.files import written_file
from recloak._report.charts import Chart
from recloak._report.draw import WIDE, Swatch, draw, swatches

_SVG = "http://www.w3.org/2000/svg"
_MARGIN = 28
_HEAD = 92  # room for headline, caption and legend above the chart
_FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif'


def picture(chart: Chart, *, headline: str, caption: str) -> str:
    """Give a chart under its headline and caption as a stand-alone SVG."""
    root = ET.fromstring(draw(chart, size=WIDE, key="picture", title=headline, text=caption))  # noqa: S314 (our own drawing)
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    left, top = -_MARGIN, -_MARGIN - _HEAD
    full_width, full_height = width + 2 * _MARGIN, height + 2 * _MARGIN + _HEAD
    root.attrib.pop("style")
    root.attrib.update(
        {
            "viewBox": f"{left:g} {top:g} {full_width:g} {full_height:g}",
            "width": f"{full_width:g}",
            "height": f"{full_height:g}",
            "font-family": _FONT,
        }
    )
    box = {
        "x": f"{left + 0.5:g}",
        "y": f"{top + 0.5:g}",
        "width": f"{full_width - 1:g}",
        "height": f"{full_height - 1:g}",
    }
    head = [
        _element("style", _colours()),
        _element("rect", "", **box, rx="12", fill="var(--card)", stroke="var(--line)"),
        _element("text", headline, x="0", y="-74", fill="var(--ink)", **{"font-size": "19", "font-weight": "650"}),
        _element("text", caption, x="0", y="-50", fill="var(--muted)", **{"font-size": "13"}),
    ]
    for element in reversed(head + _legend(swatches(chart))):
        root.insert(2, element)  # after the title and the description
    return ET.tostring(root, encoding="unicode") + "\n"


def _legend(keys: list[Swatch]) -> list[ET.Element]:
    """Set the legend on one line; widths are guessed from the number of letters, with room to spare."""
    found, x = [], 14.0
    for key in keys:
        if key.is_line:
            line = {
                "stroke": key.colour,
                "stroke-width": "2.25",
                **({"stroke-dasharray": key.dash} if key.dash else {}),
            }
            found.append(_element("path", "", d=f"M{x - 14:g},-20h28", **line))
        mark = key.mark or "" if key.is_line else "M-6,-6h12v12h-12Z"
        found.append(_element("path", "", d=mark, transform=f"translate({x:g},-20)", fill=key.colour))
        found.append(_element("text", key.name, x=f"{x + 22:g}", y="-16", fill="var(--ink)", **{"font-size": "13"}))
        x += 60 + 7.5 * len(key.name)
    return found


def write_picture(chart: Chart, path: str | Path, *, headline: str, caption: str) -> None:
    """Write a chart as an SVG file, whole or not at all."""
    drawn = picture(chart, headline=headline, caption=caption)
    with written_file(path) as aside:
        aside.write_text(drawn, encoding="utf-8")


def _element(tag: str, text: str, **attributes: str) -> ET.Element:
    element = ET.Element(f"{{{_SVG}}}{tag}", attributes)
    element.text = text or None
    return element


def _colours() -> str:
    """Give the page's own colours, light and dark, so that picture and page never differ."""
    css = resources.files("recloak._report").joinpath("templates/page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root\s*{([^}]*)}", css)
    kept = [" ".join(re.findall(r"--(?:card|ink|muted|line|series-\d): #\w+;", block)) for block in (light, dark)]
    return f":root{{{kept[0]}}} @media (prefers-color-scheme: dark){{:root{{{kept[1]}}}}}"
