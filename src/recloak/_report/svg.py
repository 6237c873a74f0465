"""Fit a drawn SVG into a page: colours that follow the page, unique ids, texts for screen readers."""

import re
from xml.etree import ElementTree as ET

# Placeholder colours that the drawing uses, and the CSS variables that replace them.
INK, MUTED, LINE = "#010203", "#010204", "#010205"
SERIES = ("#010211", "#010212", "#010213", "#010214", "#010215")
VARIABLES = {INK: "var(--ink)", MUTED: "var(--muted)", LINE: "var(--line)"}
VARIABLES |= {placeholder: f"var(--series-{n})" for n, placeholder in enumerate(SERIES, 1)}
NOTE = "value: "  # begins the description of a mark whose value is shown on hover and focus
_SVG = "http://www.w3.org/2000/svg"
_DROPPED = ("class", "role", "aria-", "pointer-events", "font-family", "version")
_COORDINATE = re.compile(r"-?\d+\.\d{3,}")


def clean(drawn: str, *, key: str, title: str, text: str) -> str:
    """Return the drawing as an accessible inline SVG that scales with the page."""
    ET.register_namespace("", _SVG)
    root = ET.fromstring(drawn)  # noqa: S314 (the renderer's own output)
    _prune(root)
    has_values = _show_values(root)
    ids = _new_ids(root, key)
    for element in root.iter():
        _rewrite(element, ids)
    root.attrib.pop("width", None)
    root.attrib.pop("height", None)
    width = float(root.attrib["viewBox"].split()[2])
    role = "group" if has_values else "img"  # what is inside a picture cannot be focused
    root.attrib.update({"role": role, "aria-labelledby": f"{key}-title {key}-text", "style": f"max-width:{width:g}px"})
    root.insert(0, svg_element("desc", text, id=f"{key}-text"))
    root.insert(0, svg_element("title", title, id=f"{key}-title"))
    return ET.tostring(root, encoding="unicode")


def _show_values(parent: ET.Element) -> bool:
    """Put every described mark into a group that can be focused, with its value as title and text; tell if any was."""
    found = False
    for place, child in enumerate(list(parent)):
        described = child.get("aria-label", "")
        if not described.startswith(NOTE):
            found |= _show_values(child)
            continue
        value = described.removeprefix(NOTE)
        group = svg_element("g", "", tabindex="0")
        group.set("data-value", "")
        text = svg_element("text", value, x="4", y="12", fill=INK, **{"font-size": "12px"})  # fits on every screen
        group.extend([svg_element("title", value), child, text])
        parent[place] = group
        found = True
    return found


def svg_element(tag: str, text: str, **attributes: str) -> ET.Element:
    """Return an SVG element with a text."""
    element = ET.Element(f"{{{_SVG}}}{tag}", attributes)
    element.text = text or None
    return element


def _prune(parent: ET.Element) -> None:
    """Remove what is not visible: the renderer's empty background and foreground paths, and empty groups."""
    for child in list(parent):
        _prune(child)
        hidden = child.get("display") == "none" or child.get("d") in ("", "M0,0h0v0h0Z")
        empty = child.tag.endswith("}g") and not len(child)
        unpainted = child.get("class") == "background" and not {"stroke", "fill"} & set(child.attrib)
        if hidden or empty or unpainted:
            parent.remove(child)


def _new_ids(root: ET.Element, key: str) -> dict[str, str]:
    """Return ids counted from 0: the renderer counts on from one drawing to the next, which would change the bytes."""
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    return {name: f"{key}-{n}" for n, name in enumerate(ids)}


def _rewrite(element: ET.Element, ids: dict[str, str]) -> None:
    for name, value in list(element.attrib.items()):
        if name.startswith(_DROPPED):
            del element.attrib[name]
        elif value in VARIABLES:
            element.set(name, VARIABLES[value])
        elif name == "id":
            element.set(name, ids[value])
        elif value.startswith("url(#"):
            element.set(name, f"url(#{ids[value[5:-1]]})")
        elif name in ("d", "transform"):
            element.set(name, _COORDINATE.sub(lambda match: f"{float(match.group()):.2f}", value))
