"""Pages that show what was found: one self-contained HTML file each, charts included."""

from recloak.report.charts import Axis, Bars, Chart, Lines, Point, Series, bars, ecdf, lines, quantile_curve
from recloak.report.page import Account, Chapter, Fact, Page, Section, Table, Verdict, render, write_page

__all__ = [
    "Account",
    "Axis",
    "Bars",
    "Chapter",
    "Chart",
    "Fact",
    "Lines",
    "Page",
    "Point",
    "Section",
    "Series",
    "Table",
    "Verdict",
    "bars",
    "ecdf",
    "lines",
    "quantile_curve",
    "render",
    "write_page",
]
