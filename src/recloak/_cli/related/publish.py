"""``recloak related publish``: the nightly job."""

from typing import Any

import click

from recloak._cli.common import emit_json, given_only, options_of, output_options, source_of, source_options
from recloak._cli.path_types import TABLE
from recloak._cli.related import _shared as shared
from recloak._related.options import MethodOptions, SimilarityOptions


@click.command()
@shared.new_store_argument
@shared.source_argument
@click.option("--lists", type=TABLE, help="Lists of another recommender (item, related, score) instead of our own.")
@click.option("--until", type=shared.MOMENT, help="Publish as of this time (seconds since 1970, or a date, which is "
              "its first second), by default that of the last rating.")  # fmt: skip
@shared.bound_options
@options_of(MethodOptions)
@options_of(SimilarityOptions)
@source_options
@output_options
def command(store: str, source: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Publish the next release of related-item lists into STORE, safe against every release of the window.

    STORE is a file or a postgresql:// address; SOURCE holds the ratings, with times. Nothing is stored that the
    verifier refuses.
    """
    from recloak import related

    made = related.publish(store, source_of(source, given), **given_only(given))
    if made.late_ratings:
        click.echo(f"recloak: {made.late_ratings} ratings came after the last release with times before it, so the "
                   "proof does not cover them; give late ratings the time of their arrival", err=True)  # fmt: skip
    if as_json:
        emit_json(made.to_json())
    else:
        from recloak._report.formats import plural

        click.echo(
            f"Release {made.number} stored: recall {made.cost.recall:.3f}, {made.cost.suppressed:,} entries "
            f"suppressed, {made.cost.permuted:,} permuted, largest breach {made.verdict.max_breach:.4f} "
            f"(delta {made.verdict.bound.delta}) over {plural(made.verdict.n_pairs, 'pair')} of releases."
        )
