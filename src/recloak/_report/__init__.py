"""Pages that show what was found: one self-contained HTML file each, charts included."""

from recloak._report.charts import Axis, Bars, Chart, ChartPoint, Lines, Series, bars, ecdf, lines, quantile_curve
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Section, Table, render, write_page

__all__ = [
    "Account",
    "Axis",
    "Bars",
    "Chapter",
    "Chart",
    "ChartPoint",
    "Fact",
    "Lines",
    "Page",
    "PageVerdict",
    "Section",
    "Series",
    "Table",
    "bars",
    "ecdf",
    "lines",
    "quantile_curve",
    "render",
    "write_page",
]
