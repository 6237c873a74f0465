"""``recloak related advise``: what delta costs on this data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import given_only, options_of, output_options, report, source_of, source_options
from recloak._cli.related._shared import source_argument
from recloak._related.options import BoundOptions, MethodOptions, ProtocolOptions, SimilarityOptions

if TYPE_CHECKING:
    from recloak.related import DeltaAdvice


@click.command()
@source_argument
@click.option("--deltas", default="0.05,0.1,0.2,0.3,0.5", show_default=True, help="Deltas to try, with commas between.")
@options_of(BoundOptions, leave_out=("delta", "evidence", "knowledge", "window"))
@options_of(ProtocolOptions, leave_out=("gap", "releases"))
@click.option("--gap", type=float, default=10.0, show_default=True, help="Percent of the ratings between two releases.")
@options_of(MethodOptions, leave_out=("literal", "method"))
@options_of(SimilarityOptions, leave_out=("min_support",))
@source_options
@output_options
def command(source: tuple[str, ...], deltas: str, as_json: bool, **given: Any) -> None:
    """Show how much of the lists stays (recall) for each delta on SOURCE, before anything is published.

    Replays the ratings as if lists had been published after the first 10 % (--initial) and then after every 10 %
    (--gap). Recall is the share of the true lists that stays, over all lists and over those that had to change
    (targeted); the largest breach is what an observer could be sure of, at most delta.
    """
    from recloak import related

    found = related.advise(source_of(source, given), deltas=_numbers(deltas), **given_only(given))
    report(found, _print, as_json=as_json)


def _print(found: DeltaAdvice) -> None:
    click.echo("evidence  delta  recall  targeted  last release  largest breach  no method above")
    for one in found:
        most = "-" if one.ceiling is None else f"{one.ceiling:.3f}"
        click.echo(
            f"{one.evidence:8} {one.delta:6.2f} {one.recall:7.3f} {one.targeted_recall:9.3f} {one.last_recall:13.3f} "
            f"{one.max_breach:15.4f}  {most}"
        )


def _numbers(text: str) -> tuple[float, ...]:
    from recloak._core.errors import OptionError

    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"deltas must be numbers with commas between, got {text!r}") from None
