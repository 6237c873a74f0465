"""``recloak related publish``: the nightly job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import emit_json, given_only, options_of, output_options, source_of, source_options
from recloak._cli.engine import engine_options
from recloak._cli.path_types import TABLE
from recloak._cli.related import _shared as shared
from recloak._related.options import MethodOptions, SimilarityOptions

if TYPE_CHECKING:
    from recloak.related import PublishedRelease


@click.command()
@shared.new_store_argument
@shared.source_argument
@click.option("--lists", type=TABLE, help="Lists of another recommender (item, related, score) instead of our own.")
@click.option("--until", type=shared.MOMENT, help="Publish as of this time (seconds since 1970, or a date, which is "
              "its first second), by default that of the last rating.")  # fmt: skip
@click.option(
    "--loosen",
    is_flag=True,
    default=None,
    help="Allow this release to promise less than the last one; this is recorded.",
)
@click.option("--accept-times", is_flag=True, default=None, help="Allow a newest rating that is dated ahead of the "
              "clock or far beyond the last release.")  # fmt: skip
@click.option("--accept-source", is_flag=True, default=None, help="Allow ratings that do not go on from those of the "
              "last release, such as another log; what they hold counts as added now.")  # fmt: skip
@shared.key_option
@shared.bound_options
@options_of(MethodOptions)
@options_of(SimilarityOptions, leave_out=("min_support",))
@engine_options
@source_options
@output_options
def command(store: str, source: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Publish the next release of related-item lists into STORE, safe as shown and for as long as the horizon.

    STORE is a file or a postgresql:// address; SOURCE holds the ratings, with times. Nothing is stored that the
    verifier refuses, and nothing if nothing is new. A rating counts from the night on which it first came.
    """
    from recloak import related

    made = related.publish(store, source_of(source, given), **given_only(given))
    if as_json:
        emit_json(made.to_json())
        return
    _warn(made)
    if made.is_new:
        _print(made)
    else:
        click.echo(f"Nothing is new since release {made.number}, so nothing was published.")


def _warn(made: PublishedRelease) -> None:
    """Say on standard error what the operator should know."""
    from recloak._report.formats import plural

    if made.kept_out:
        click.echo(f"recloak: the ratings still hold {plural(made.kept_out, 'person', 'people')} who asked to be "
                   "forgotten; they were left out, take them out of the ratings", err=True)  # fmt: skip
    bound = made.verdict.bound
    if bound.promises_nothing:
        click.echo("recloak: this promises nothing: with delta 1 everything may be inferred, and with min-support 1 an "
                   "entry may point at one person", err=True)  # fmt: skip
    elif bound.delta >= 1:
        click.echo("recloak: delta 1 bounds no inference; only the support of entries is promised", err=True)
    if made.is_new and not len(made.lists):
        click.echo(f"recloak: no item has a list: no two items have {bound.min_support} raters in common", err=True)


def _print(made: PublishedRelease) -> None:
    from recloak._report.formats import plural

    if made.late_ratings:
        click.echo(f"recloak: {plural(made.late_ratings, 'new rating')} dated before the last release; counted from "
                   "this release on", err=True)  # fmt: skip
    if made.loosened:
        click.echo(f"recloak: from now on less is promised: {', '.join(made.loosened)}", err=True)
    click.echo(
        f"Release {made.number} stored: recall {made.cost.recall:.3f}, {made.cost.suppressed:,} entries "
        f"suppressed, {made.cost.permuted:,} permuted, {shared.surest(made.verdict)}, over "
        f"{plural(made.verdict.n_pairs, 'start')} of the horizon."
    )
