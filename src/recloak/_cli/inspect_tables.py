"""A summary and an exposure as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from recloak._ratings.exposure import Exposure
from recloak._ratings.summary import PERCENTILES, Spread, Summary
from recloak._report.formats import count, day, number, percent, plural, with_interval
from recloak._report.inspect_page import headline, telling_level

_BAR = 30  # cells of the longest bar of the histogram


def print_tables(source: str, summary: Summary, exposure: Exposure) -> None:
    """Print what was found to standard output."""
    console = Console(highlight=False)
    console.print(f"[bold]{escape(source)}[/bold]")
    for table in (_counts(summary), _spreads(summary), _histogram(summary), _exposure(exposure)):
        console.print(table)
    console.print(f"\n[bold]{headline(telling_level(exposure))}.[/bold]")


def _table(title: str, *columns: str) -> Table:
    table = Table(title=f"\n{title}", title_justify="left", title_style="bold", header_style="dim")
    table.box, table.padding, table.pad_edge = None, (0, 2, 0, 0), False
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right", overflow="fold")
    return table


def _counts(summary: Summary) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for label, value in _facts(summary):
        table.add_row(label, value)
    return table


def _facts(summary: Summary) -> Iterator[tuple[str, str]]:
    scale = summary.scale
    yield "users", count(summary.n_users)
    yield "items", count(summary.n_items)
    yield "ratings", f"{count(summary.n_ratings)} ({percent(summary.density)} of all pairs)"
    step = "any value between" if scale.step is None else f"in steps of {scale.step:g}"
    yield "scale", f"{scale.low:g} to {scale.high:g}, {step}, mean {summary.mean_rating:.2f}"
    if summary.times is not None:
        yield "time span", f"{day(summary.times.first)} to {day(summary.times.last)}"
    yield "repeated pairs", f"{plural(summary.n_repeated, 'row')} dropped, the latest counts"
    if summary.n_skipped:
        yield "bad rows", f"{count(summary.n_skipped)} skipped"
    for note in summary.notes:
        yield "note", escape(note)
    for n, share in summary.top_shares:
        yield f"top {count(n)} items", f"{percent(share)} of the ratings"


def _spreads(summary: Summary) -> Table:
    table = _table("Ratings per user and per item, by percentile", "", *(f"{p:g}" for p in PERCENTILES), "mean")
    for label, spread in (("per user", summary.activity), ("per item", summary.popularity)):
        table.add_row(label, *_spread(spread))
    return table


def _spread(spread: Spread) -> list[str]:
    return [*(count(spread.at(p)) for p in PERCENTILES), number(spread.mean)]


def _histogram(summary: Summary) -> Table:
    table = _table("Which ratings are given", "rating", "share", "ratings")
    table.add_column("")
    most = max(bar.share for bar in summary.histogram)
    for bar in summary.histogram:
        place = f"{bar.low:g}" if bar.low == bar.high else f"{bar.low:.3g}–{bar.high:.3g}"
        table.add_row(place, percent(bar.share), count(bar.n), "█" * round(_BAR * bar.share / most))
    return table


def _exposure(exposure: Exposure) -> Table:
    title = f"Users singled out by what is known of them ({plural(exposure.n_targets, 'user')}, 95 % intervals)"
    table = _table(title, "known", "by items", "by items and ratings", "crowd", "with ratings")
    table.caption, table.caption_justify = "crowd: how many users fit what is known (median)", "left"
    for known in sorted({level.known for level in exposure.levels}):
        alone, level = exposure.at(known, with_ratings=False), exposure.at(known, with_ratings=True)
        crowds = (count(alone.candidates[2]), count(level.candidates[2]))
        table.add_row(str(known), with_interval(alone.unique), with_interval(level.unique), *crowds)
    return table
