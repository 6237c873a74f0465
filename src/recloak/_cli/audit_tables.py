"""An audit as tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from recloak._attacks.audit_result import Audit
from recloak._attacks.model import Outcome
from recloak._core.intervals import Share
from recloak._report.audit_page import audit_verdict
from recloak._report.audit_sections import verdict_in_words
from recloak._report.formats import percent


def print_audit(found: Audit) -> None:
    """Print the verdict, the attacks and the gates to standard output."""
    console, verdict = Console(highlight=False), audit_verdict(found)
    console.print(f"[bold]{verdict.word}: {escape(verdict.headline)}[/bold]\n{escape(verdict.text)}\n")
    console.print(_attacks(found.outcomes))
    for passage in found.passages:
        console.print(f"gate {passage.gate}: {'passed' if passage.passed else 'closed'}, {escape(passage.reason)}")


def _attacks(outcomes: tuple[Outcome, ...]) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
    for place, column in enumerate(("attack", "known", "original", "release", "guessing", "verdict")):
        table.add_column(column, justify="right" if 0 < place < 5 else "left", overflow="fold")
    for one in outcomes:
        name = one.name if one.setting == "plain" else f"{one.name}, {one.setting}"
        known = "" if one.known is None else str(one.known)
        table.add_row(
            name, known, _rate(one.original), _rate(one.release), percent(one.baseline), verdict_in_words(one)
        )
    return table


def _rate(share: Share | None) -> str:
    return "–" if share is None else percent(share.rate)
