"""Fit a drawn SVG into a page: colours that follow the page, ids of its own, words for screen readers."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

# Stand-ins that the drawing uses, and the CSS variables they become.
INK, MUTED, LINE = "#010203", "#010204", "#010205"
SERIES = ("#010211", "#010212", "#010213", "#010214", "#010215")
_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    LINE: "var(--line)",
    **{stand_in: f"var(--series-{n})" for n, stand_in in enumerate(SERIES, 1)},
}
_SVG = "http://www.w3.org/2000/svg"
_DROPPED = ("class", "role", "aria-", "pointer-events", "font-family", "version")
_COORDINATE = re.compile(r"-?\d+\.\d{3,}")


def variable(stand_in: str) -> str:
    """Give the CSS variable that a stand-in colour becomes."""
    return _VARIABLES[stand_in]


def clean(drawn: str, *, key: str, title: str, text: str) -> str:
    """Give the drawing as an accessible inline SVG that scales with the page."""
    ET.register_namespace("", _SVG)
    root = ET.fromstring(drawn)  # noqa: S314 (the renderer's own output, not a stranger's file)
    _prune(root)
    names = _own_names(root, key)
    for element in root.iter():
        _rewrite(element, names)
    root.attrib.pop("width", None)
    root.attrib.pop("height", None)
    width = float(root.attrib["viewBox"].split()[2])
    root.attrib.update({"role": "img", "aria-labelledby": f"{key}-title {key}-text", "style": f"max-width:{width:g}px"})
    root.insert(0, _words("desc", f"{key}-text", text))
    root.insert(0, _words("title", f"{key}-title", title))
    return ET.tostring(root, encoding="unicode")


def _words(tag: str, name: str, words: str) -> ET.Element:
    element = ET.Element(f"{{{_SVG}}}{tag}", {"id": name})
    element.text = words
    return element


def _prune(parent: ET.Element) -> None:
    """Drop what is drawn nowhere: the renderer's empty background and foreground paths, and emptied groups."""
    for child in list(parent):
        _prune(child)
        unseen = child.get("display") == "none" or child.get("d") in ("", "M0,0h0v0h0Z")
        hollow = child.tag.endswith("}g") and not len(child)
        unpainted = child.get("class") == "background" and not {"stroke", "fill"} & set(child.attrib)
        if unseen or hollow or unpainted:
            parent.remove(child)


def _own_names(root: ET.Element, key: str) -> dict[str, str]:
    """Give the ids new numbers: the renderer counts on from one drawing to the next, which would change the bytes."""
    given = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    return {name: f"{key}-{n}" for n, name in enumerate(given)}


def _rewrite(element: ET.Element, names: dict[str, str]) -> None:
    for name, value in list(element.attrib.items()):
        if name.startswith(_DROPPED):
            del element.attrib[name]
        elif value in _VARIABLES:
            element.set(name, _VARIABLES[value])
        elif name == "id":
            element.set(name, names[value])
        elif value.startswith("url(#"):
            element.set(name, f"url(#{names[value[5:-1]]})")
        elif name in ("d", "transform"):
            element.set(name, _COORDINATE.sub(lambda found: f"{float(found.group()):.2f}", value))
