"""``recloak related simulate``: the paper's protocol over timestamped ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import given_only, options_of, output_options, report, seed_option, source_of, source_options
from recloak._cli.path_types import NEW_STORE
from recloak._cli.related._shared import bound_options, source_argument
from recloak._related.options import MethodOptions, ProtocolOptions, SimilarityOptions

if TYPE_CHECKING:
    from recloak.related import Simulation


@click.command()
@source_argument
@options_of(ProtocolOptions)
@bound_options
@options_of(MethodOptions)
@options_of(SimilarityOptions, leave_out=("min_support",))
@click.option(
    "--history", type=NEW_STORE, help="Store to keep the releases in; a run that was broken off goes on from there."
)
@seed_option
@source_options
@output_options
def command(source: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Release lists after the first 10 % of the ratings of SOURCE and then after every 5 %, and measure the cost."""
    from recloak import related

    run = related.simulate(source_of(source, given), **given_only(given))
    report(run, _print, as_json=as_json)


def _print(run: Simulation) -> None:
    click.echo("release   recall targeted  suppressed  permuted  stale  order  surest before  after  seconds")
    for record in run.records:
        cost = record.cost
        click.echo(
            f"{record.number:7} {cost['recall']:8.3f} {_number(cost['targeted_recall'])} {cost['suppressed']:11} "
            f"{cost['permuted']:9} {cost['staleness']:6.3f} {_number(cost['order_agreement'])[2:]} "
            f"{record.breach_before:14.3f} {record.breach_after:6.3f} {record.seconds_all:8.2f}"
        )
    click.echo(
        f"Mean over the later releases: recall {run.mean('recall'):.4f}, targeted {run.mean('targeted_recall'):.4f}; "
        f"surest inference {run.max_breach:.4f} (true lists {run.max_breach_before:.4f}), delta {run.bound.delta}."
    )


def _number(value: float | None) -> str:
    return "       -" if value is None else f"{value:8.3f}"
