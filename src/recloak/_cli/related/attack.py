"""``recloak related attack``: the passive inference attack on original and published lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recloak._attacks.options import PassiveOptions
from recloak._cli.common import emit_json, gather, json_option, options_of, seed_option, source_options, with_progress
from recloak._cli.related._shared import ratings_of, source_argument, store_argument

if TYPE_CHECKING:
    from recloak._attacks.passive import PassiveCurve
    from recloak._ratings.model import Ratings
    from recloak._related.history import ReleaseRecord
    from recloak._related.model import ListRelease


@click.command()
@store_argument
@source_argument
@options_of(PassiveOptions)
@click.option(
    "--window", type=click.IntRange(min=2), default=4, show_default=True, help="Releases the observer compares."
)
@seed_option
@source_options
@json_option
@with_progress
def command(store: str, source: tuple[str, ...], window: int, seed: int | None, as_json: bool, **given: Any) -> None:
    """Attack the published lists of STORE, and the true lists of the same times, as a passive observer would.

    The observer knows some items of each target at one release, watches their lists until the next, and infers what the
    target has added: accuracy against yield, with 95 % intervals. Each line counts the inferences from a score on: the
    fewer, the surer. Yield is the share of all that the targets added that is inferred rightly.

    The scores: count, the lists in which an item appeared or rose; weighted, the same, lists of little-rated items
    counting more; largest, the positions gained in the window; vanish, as count, less the lists in which it sank.
    """
    from recloak._attacks.passive import attack
    from recloak._core.randomness import randomness
    from recloak._related.history import opened, published, releases

    ratings, options = ratings_of(source, given), gather(PassiveOptions, given)
    with opened(store) as history:
        known, safe = releases(history), published(history, ratings.item_ids)
    chance, attacked = randomness(seed), {"published": list(safe)}
    if any(one.settings.get("given") for one in known):
        click.echo(
            "recloak: lists came from a file, so the true ones are not known: only the published are attacked", err=True
        )
    else:
        attacked = {"original": [_true(one, ratings) for one in known], **attacked}
    curves = {name: attack(lists, ratings, options, window=window, rng=chance) for name, lists in attacked.items()}
    if as_json:
        emit_json({name: [curve.to_json() for curve in found] for name, found in curves.items()})
    else:
        click.echo("Right: share of the inferences that are true. Yield: share of what was added that is inferred.")
        for name, found in curves.items():
            _say(name, found)


def _true(one: ReleaseRecord, ratings: Ratings) -> ListRelease:
    """Make the true lists of a release anew."""
    from recloak._related.model import ListRelease
    from recloak._related.options import SimilarityOptions
    from recloak._related.similarity import nearest

    similarity = SimilarityOptions.from_mapping(one.settings["similarity"])
    return ListRelease(one.number, one.time, nearest(ratings.until(one.time), one.top, similarity))


def _say(name: str, curves: list[PassiveCurve]) -> None:
    for curve in curves:
        click.echo(f"{name} lists, {curve.variant} (guessing blindly is right in {curve.baseline:.2%}):")
        for point in curve.points:
            sure = point.accuracy
            click.echo(
                f"  from {point.threshold:6.2f}: {sure.rate:6.1%} right ({sure.low:.1%} to {sure.high:.1%}) "
                f"of {sure.n} inferences, yield {point.yielded.rate:.2%}"
            )
