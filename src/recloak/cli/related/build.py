"""``recloak related build``: true lists from ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from recloak.cli.common import emit_json, gather, json_option, options_of, source_options, with_progress
from recloak.cli.related._shared import ratings_of, source_argument
from recloak.related.options import SimilarityOptions


@click.command()
@source_argument
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="File to write (.csv or .parquet).")
@click.option("--top", type=click.IntRange(min=1), default=5, show_default=True, help="Positions of a list.")
@click.option("--until", type=int, help="Use the ratings up to this time (seconds since 1970).")
@options_of(SimilarityOptions)
@source_options
@json_option
@with_progress
def command(source: tuple[str, ...], out: Path, top: int, until: int | None, as_json: bool, **given: Any) -> None:
    """List for every item of SOURCE its most similar others: columns item, related, score.

    These are the true lists. They are not safe to publish again and again: that is what `related publish` is for.
    """
    from recloak.related.lists import build
    from recloak.related.tables import write_lists

    ratings = ratings_of(source, given)
    lists = build(ratings, top, gather(SimilarityOptions, given), until=until)
    write_lists(lists, ratings.item_ids, out)
    if as_json:
        emit_json({"items": lists.n_items, "entries": lists.n_entries, "top": top, "file": str(out)})
    else:
        click.echo(f"{lists.n_entries} entries in the lists of {lists.n_items} items written to {out}.")
