"""``recloak related attack``: the passive inference attack on original and published lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recloak._attacks.options import ObserverOptions, PassiveOptions
from recloak._cli.common import given_only, options_of, output_options, report, seed_option, source_of, source_options
from recloak._cli.related._shared import source_argument, store_argument

if TYPE_CHECKING:
    from recloak.related import ObserverResult, PassiveAttack, PassiveCurve


@click.command()
@store_argument
@source_argument
@options_of(PassiveOptions)
@click.option(
    "--window", type=click.IntRange(min=2), default=4, show_default=True, help="Releases the paper's observer compares."
)
@options_of(ObserverOptions, leave_out=("targets",))
@seed_option
@source_options
@output_options
def command(store: str, source: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Attack the published lists of STORE, and the true lists of the same times, as a passive observer would.

    The observer knows some items of each target at one release, watches their lists until the next, and infers what the
    target has added. Yield is the share of all that the targets added that is inferred correctly.

    The learned observer knows all that a target held, learns from half of the people how to read the lists and is tried
    on the other half, then the other way round. The control learns too but sees no moves. Active targets added
    something between two releases; mixed ones are these and as many who did not. Intervals are of 95 %.

    The scores of the paper's observer (each line counts the inferences from a score on: the fewer, the surer): count,
    the lists in which an item appeared or rose; weighted, the same, lists of little-rated items counting more;
    largest, the positions gained in the window; vanish, as count, less the lists in which it sank.
    """
    from recloak import related

    found = related.attack(store, source_of(source, given), **given_only(given))
    if found.original is None:
        click.echo(
            "recloak: lists came from a file, so the true ones are not known: only the published are attacked", err=True
        )
    report(found, _print, as_json=as_json)


def _print(found: PassiveAttack) -> None:
    _print_observers(found.observers)
    click.echo("\nThe paper's observer. Right: share of the inferences that are true. Yield: share of what was added.")
    for name, curves in found.curves().items():
        _print_curves(name, curves)


def _print_observers(observers: tuple[ObserverResult, ...]) -> None:
    click.echo(
        "Learned observer: share of what was added that is inferred while at least so many inferences are right."
    )
    click.echo(
        f"{'lists':10} {'targets':8} {'sees':9} " + "".join(f"{f'{level} right':^21}" for level in (0.5, 0.3, 0.2, 0.1))
    )
    for one in observers:
        seen = one.observation
        cells = [f"{y.yielded.rate:7.2%} ({y.yielded.low:.1%}-{y.yielded.high:.1%})" for y in seen.yields or ()]
        told = "".join(f"{cell:21}" for cell in cells) or f" not measured: {seen.n_added} additions are too few"
        click.echo(f"{one.lists:10} {one.targets:8} {one.sees:9} {told}")
    for one in observers:
        if one.targets == "active" and one.sees == "moves" and one.observation.beliefs:
            checks = ", ".join(f"{each.belief:.0%}: {each.right.rate:.0%}" for each in one.observation.beliefs)
            click.echo(f"Belief and how often it was right, {one.lists} lists: {checks}.")


def _print_curves(name: str, curves: tuple[PassiveCurve, ...]) -> None:
    for curve in curves:
        click.echo(f"{name} lists, {curve.variant} (guessing blindly is right in {curve.baseline:.2%}):")
        for point in curve.points:
            sure = point.accuracy
            click.echo(
                f"  from {point.threshold:6.2f}: {sure.rate:6.1%} right ({sure.low:.1%} to {sure.high:.1%}) "
                f"of {sure.n} inferences, yield {point.yielded.rate:.2%}"
            )
