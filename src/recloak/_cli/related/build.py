"""``recloak related build``: true lists from ratings."""

from pathlib import Path
from typing import Any

import click

from recloak._cli.common import emit_json, given_only, options_of, output_options, source_of, source_options
from recloak._cli.engine import engine_options
from recloak._cli.path_types import new_file, require_distinct
from recloak._cli.related._shared import MOMENT, source_argument
from recloak._related.options import SimilarityOptions


@click.command()
@source_argument
@click.option("-o", "--out", required=True, type=new_file(".csv", ".parquet"), help="File to write (.csv or .parquet).")
@click.option("--top", type=click.IntRange(min=1), default=5, show_default=True, help="Positions of a list.")
@click.option("--until", type=MOMENT, help="Use the ratings up to this time (seconds since 1970, or a date).")
@options_of(SimilarityOptions)
@engine_options
@source_options
@output_options
def command(source: tuple[str, ...], out: Path, top: int, as_json: bool, **given: Any) -> None:
    """List for every item of SOURCE its most similar others: columns item, related, score.

    These are the true lists. They are not safe to publish again and again: that is what `related publish` is for.
    """
    require_distinct(out, *source)
    from recloak import related

    lists = related.build(source_of(source, given), top=top, **given_only(given))
    lists.write(out)
    if as_json:
        emit_json({"items": lists.n_items, "entries": len(lists), "top": top, "file": str(out)})
    else:
        click.echo(f"{len(lists):,} entries in the lists of {lists.n_items:,} items written to {out}.")
