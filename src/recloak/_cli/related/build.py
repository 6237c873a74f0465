"""``recloak related build``: true lists from ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import emit_json, gather, json_option, options_of, source_options, with_progress
from recloak._cli.engine import engine_options, on_spark, spark_session
from recloak._cli.path_types import new_file, require_apart
from recloak._cli.related._shared import MOMENT, ratings_of, source_argument
from recloak._related.options import SimilarityOptions

if TYPE_CHECKING:
    from recloak._ratings.ids import IdMap
    from recloak._related.model import Lists


@click.command()
@source_argument
@click.option("-o", "--out", required=True, type=new_file(".csv", ".parquet"), help="File to write (.csv or .parquet).")
@click.option("--top", type=click.IntRange(min=1), default=5, show_default=True, help="Positions of a list.")
@click.option("--until", type=MOMENT, help="Use the ratings up to this time (seconds since 1970, or a date).")
@options_of(SimilarityOptions)
@engine_options
@source_options
@json_option
@with_progress
def command(source: tuple[str, ...], out: Path, top: int, until: int | None, as_json: bool, **given: Any) -> None:
    """List for every item of SOURCE its most similar others: columns item, related, score.

    These are the true lists. They are not safe to publish again and again: that is what `related publish` is for.
    """
    require_apart(out, *source)
    from recloak._related.list_files import write_lists

    made = _on_spark if on_spark(given) else _here
    lists, item_ids = made(source, top, until, given)
    write_lists(lists, item_ids, out)
    if as_json:
        emit_json({"items": lists.n_items, "entries": lists.n_entries, "top": top, "file": str(out)})
    else:
        click.echo(f"{lists.n_entries:,} entries in the lists of {lists.n_items:,} items written to {out}.")


def _here(source: tuple[str, ...], top: int, until: int | None, given: dict[str, Any]) -> tuple[Lists, IdMap]:
    from recloak._related.lists import build

    ratings = ratings_of(source, given)
    return build(ratings, top, gather(SimilarityOptions, given), until=until), ratings.item_ids


def _on_spark(source: tuple[str, ...], top: int, until: int | None, given: dict[str, Any]) -> tuple[Lists, IdMap]:
    from recloak._ratings.options import ReadOptions

    with spark_session(given) as spark:
        from recloak._spark.similar_items import nearest
        from recloak._spark.user_blocks import opened_blocks

        with opened_blocks(spark, source, gather(ReadOptions, given), until=until) as blocks:
            return nearest(spark, blocks, top, gather(SimilarityOptions, given)), blocks.item_ids
