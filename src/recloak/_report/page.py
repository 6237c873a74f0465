"""A page as a frozen value, and how it becomes one self-contained HTML file.

Verdict first, then chapters of sections; each section is a heading, a chart, a sentence that says what it means and
which way is good, and the numbers in a table behind it; last the numbered account of what was done. The page asks
nothing of the network and runs no script. Every text is escaped, so ids and titles of a stranger's data cannot become
markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import jinja2
from markupsafe import Markup, escape

from recloak._core.files import written_file
from recloak._report.charts import Chart
from recloak._report.draw import NARROW, WIDE, draw, swatches

Tone = Literal["alert", "caution", "good", "plain"]
Good = Literal["lower", "higher", "neither"]


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What was found, in one line a stranger understands; the word says it without the colour."""

    tone: Tone
    word: str
    headline: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure worth a glance."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers behind a chart; the first ``n_labels`` columns are words, the rest are numbers set to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_labels: int = 1


@dataclass(frozen=True, slots=True)
class Section:
    """One finding: heading, chart, what it means, which way is good, the numbers."""

    heading: str
    meaning: str
    good: Good | None = None
    chart: Chart | None = None
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Chapter:
    """Findings that belong together, with a verdict of their own where they have one."""

    heading: str
    intro: str = ""
    facts: tuple[Fact, ...] = ()
    sections: tuple[Section, ...] = ()
    verdict: PageVerdict | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """What was done, step by step, and what it takes to do it again: seed, hashes, versions."""

    steps: tuple[str, ...]
    provenance: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report."""

    title: str
    subtitle: str
    verdict: PageVerdict
    chapters: tuple[Chapter, ...]
    account: Account
    facts: tuple[Fact, ...] = ()


def render(page: Page) -> str:
    """Give a page as one HTML text."""
    return _template().render(page=page, figure=_figure, swatches=swatches)


def head_html(page: Page) -> str:
    """Return what a notebook shows of a page: its verdict and its figures."""
    facts = "".join(f"<tr><th>{escape(one.label)}</th><td>{escape(one.value)}</td></tr>" for one in page.facts)
    verdict = f"<p><b>{escape(page.verdict.word)}.</b> {escape(page.verdict.headline)}</p>"
    return f"{verdict}<table>{facts}</table>"


def write_page(page: Page, path: str | Path) -> None:
    """Write a page as one HTML file, whole or not at all."""
    html = render(page)
    with written_file(path) as aside:
        aside.write_text(html, encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("recloak._report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _figure(section: Section, key: str) -> Markup:
    """Draw a section's chart twice: text keeps its size, so a phone gets a drawing of its own."""
    assert section.chart is not None
    drawn = ""
    for kind, size in (("wide", WIDE), ("narrow", NARROW)):
        words = {"title": section.heading, "text": section.meaning}
        drawn += f'<div class="{kind}">{draw(section.chart, size=size, key=f"{key}-{kind}", **words)}</div>'
    return Markup(drawn)  # noqa: S704 (our own drawing, whose texts were escaped when it was written)
