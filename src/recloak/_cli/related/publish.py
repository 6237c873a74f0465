"""``recloak related publish``: the nightly job."""

from __future__ import annotations

from typing import Any

import click

from recloak._cli.common import emit_json, gather, json_option, options_of, source_options, with_progress
from recloak._cli.path_types import TABLE
from recloak._cli.related import _shared as shared
from recloak._related.options import MethodOptions, SimilarityOptions


@click.command()
@shared.new_store_argument
@shared.source_argument
@click.option(
    "--lists", "file", type=TABLE, help="Lists of another recommender (item, related, score) instead of our own."
)
@click.option(
    "--until",
    type=shared.MOMENT,
    help="Publish as of this time (seconds since 1970, or a date, which is its first second), by default that of the "
    "last rating.",
)
@shared.bound_options
@options_of(MethodOptions)
@options_of(SimilarityOptions)
@source_options
@json_option
@with_progress
def command(
    store: str, source: tuple[str, ...], file: str | None, until: int | None, as_json: bool, **given: Any
) -> None:
    """Publish the next release of related-item lists into STORE, safe against every release of the window.

    STORE is a file or a postgresql:// address; SOURCE holds the ratings, with times. Nothing is stored that the
    verifier refuses.
    """
    from recloak._related.history import opened
    from recloak._related.lists import read_lists
    from recloak._related.nightly import n_late, publish

    method = gather(MethodOptions, given)
    method.require_publishable()
    ratings = shared.ratings_of(source, given)
    lists = None if file is None else read_lists(file, ratings.item_ids)
    with opened(store, create=True) as history:
        late = n_late(history, ratings)
        step = publish(
            history,
            ratings,
            bound=shared.bound_of(given),
            method=method,
            similarity=gather(SimilarityOptions, given),
            lists=lists,
            until=until,
        )
    if late:
        click.echo(f"recloak: {late} ratings came after the last release with times before it, so the proof does not "
                   "cover them; give late ratings the time of their arrival", err=True)  # fmt: skip
    if as_json:
        proof = shared.verdict_json(step.verdict, ratings.item_ids)
        emit_json({"release": step.release.number, "time": step.release.time, **step.cost.to_json(),
                   "seconds": step.seconds, "late_ratings": late, "verified": proof})  # fmt: skip
    else:
        from recloak._report.formats import plural

        click.echo(
            f"Release {step.release.number} stored: recall {step.cost.recall:.3f}, {step.cost.suppressed:,} entries "
            f"suppressed, {step.cost.permuted:,} permuted, largest breach {step.verdict.max_breach:.4f} "
            f"(delta {step.verdict.bound.delta}) over {plural(step.verdict.n_pairs, 'pair')} of releases."
        )
