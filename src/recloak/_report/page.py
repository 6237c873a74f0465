"""A page as a frozen value, and how it becomes one self-contained HTML file.

Verdict first, then chapters of sections, those of detail folded; each section is a heading, a chart, a sentence that
says what it means and which direction is better, and the numbers in a table; last the numbered account of what was
done. The page loads nothing from the network and runs no script. Every text is escaped, so that ids and titles from the
data cannot become markup.
"""

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
Better = Literal["lower", "higher", "neither"]
Provenance = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """The verdict in one line that anyone understands; the word says the same as the colour."""

    tone: Tone
    word: str
    headline: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One key figure."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers of a chart; the first ``n_labels`` columns are words, the rest are numbers aligned right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_labels: int = 1
    wraps: bool = False  # whether cells hold sentences


@dataclass(frozen=True, slots=True)
class Section:
    """One finding: heading, meaning, which direction is better, chart and numbers."""

    heading: str
    meaning: str
    better: Better | None = None
    chart: Chart | None = None
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Chapter:
    """Findings that belong together, optionally with a verdict of their own."""

    heading: str
    intro: str = ""
    facts: tuple[Fact, ...] = ()
    sections: tuple[Section, ...] = ()
    verdict: PageVerdict | None = None
    folded: bool = False  # whether only its heading is seen until somebody opens it


@dataclass(frozen=True, slots=True)
class Account:
    """What was done, step by step, and what is needed to repeat it: seed, hashes, versions."""

    steps: tuple[str, ...]
    provenance: Provenance = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report."""

    title: str
    subtitle: str
    verdict: PageVerdict
    chapters: tuple[Chapter, ...]
    account: Account
    facts: tuple[Fact, ...] = ()

    @property
    def is_compact(self) -> bool:
        """Whether details are folded, so that the rest is set closely and needs no contents."""
        return any(chapter.folded for chapter in self.chapters)


def render(page: Page) -> str:
    """Return a page as HTML."""
    return _template().render(page=page, figure=_figure, swatches=swatches)


def head_html(page: Page) -> str:
    """Return the part of a page that a notebook shows: its verdict and key figures."""
    facts = "".join(f"<tr><th>{escape(one.label)}</th><td>{escape(one.value)}</td></tr>" for one in page.facts)
    verdict = f"<p><b>{escape(page.verdict.word)}.</b> {escape(page.verdict.headline)}</p>"
    return f"{verdict}<table>{facts}</table>"


def write_page(page: Page, path: str | Path) -> None:
    """Write a page as one HTML file, whole or not at all."""
    html = render(page)
    with written_file(path) as partial:
        partial.write_text(html, encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    return template_of("recloak._report", "page.html")


def template_of(package: str, name: str) -> jinja2.Template:
    """Return a template of a package; it may include those of this room, such as the head that all pages share."""
    loader = jinja2.ChoiceLoader([jinja2.PackageLoader(one) for one in (package, "recloak._report")])
    strict = jinja2.StrictUndefined
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=strict, trim_blocks=True, lstrip_blocks=True)
    return pages.get_template(name)


def _figure(section: Section, key: str) -> Markup:
    """Draw a section's chart for wide and for narrow screens: text keeps its size, so one drawing cannot fit both."""
    assert section.chart is not None
    html = ""
    for kind, size in (("wide", WIDE), ("narrow", NARROW)):
        svg = draw(section.chart, size=size, key=f"{key}-{kind}", title=section.heading, text=section.meaning)
        html += f'<div class="{kind}">{svg}</div>'
    return Markup(html)  # noqa: S704 (our own drawing, whose texts were escaped when it was written)
