"""``recloak related attack``: the passive inference attack on original and published lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recloak._attacks.options import PassiveOptions
from recloak._cli.common import given_only, options_of, output_options, report, seed_option, source_of, source_options
from recloak._cli.related._shared import source_argument, store_argument

if TYPE_CHECKING:
    from recloak.related import PassiveAttack, PassiveCurve


@click.command()
@store_argument
@source_argument
@options_of(PassiveOptions)
@click.option(
    "--window", type=click.IntRange(min=2), default=4, show_default=True, help="Releases the observer compares."
)
@seed_option
@source_options
@output_options
def command(store: str, source: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Attack the published lists of STORE, and the true lists of the same times, as a passive observer would.

    The observer knows some items of each target at one release, watches their lists until the next, and infers what the
    target has added: accuracy against yield, with 95 % intervals. Each line counts the inferences from a score on: the
    fewer, the surer. Yield is the share of all that the targets added that is inferred rightly.

    The scores: count, the lists in which an item appeared or rose; weighted, the same, lists of little-rated items
    counting more; largest, the positions gained in the window; vanish, as count, less the lists in which it sank.
    """
    from recloak import related

    found = related.attack(store, source_of(source, given), **given_only(given))
    if found.original is None:
        click.echo(
            "recloak: lists came from a file, so the true ones are not known: only the published are attacked", err=True
        )
    report(found, _print, as_json=as_json)


def _print(found: PassiveAttack) -> None:
    click.echo("Right: share of the inferences that are true. Yield: share of what was added that is inferred.")
    for name, curves in found.curves().items():
        _print_curves(name, curves)


def _print_curves(name: str, curves: tuple[PassiveCurve, ...]) -> None:
    for curve in curves:
        click.echo(f"{name} lists, {curve.variant} (guessing blindly is right in {curve.baseline:.2%}):")
        for point in curve.points:
            sure = point.accuracy
            click.echo(
                f"  from {point.threshold:6.2f}: {sure.rate:6.1%} right ({sure.low:.1%} to {sure.high:.1%}) "
                f"of {sure.n} inferences, yield {point.yielded.rate:.2%}"
            )
