"""``recloak synth``: synthetic ratings with the shape of real data sets."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

import recloak
from recloak._cli.common import emit_json, given_only, options_of, output_options, seed_option
from recloak._cli.path_types import NEW_FILE_OR_FOLDER
from recloak._ratings.synthetic.options import FileOptions, MentionOptions, SynthOptions


@click.command()
@click.argument("out", type=NEW_FILE_OR_FOLDER)
@options_of(SynthOptions)
@options_of(FileOptions)
@options_of(MentionOptions)
@seed_option
@output_options
def command(out: Path, as_json: bool, **given: Any) -> None:
    """Make synthetic ratings with the shape of a real data set.

    OUT ending in .parquet, .csv, .csv.gz or .csv.zst is one file of ratings, with OUT-titles.csv and OUT-mentions
    beside it where asked (OUT without its ending); any other OUT is a new folder with ratings.parquet, titles.csv and
    mentions.parquet.
    """
    written = recloak.synth(out, **given_only(given))
    if as_json:
        emit_json({name: str(value) if isinstance(value, Path) else value for name, value in asdict(written).items()})
    else:
        click.echo(_sentence(written))


def _sentence(written: Any) -> str:
    also = [
        *([f"titles in {written.titles}"] if written.titles else []),
        *([f"{written.n_mentions:,} mentions in {written.mentions}"] if written.mentions else []),
    ]
    made = f"{written.n_ratings:,} ratings of {written.n_users:,} users for {written.n_items:,} items"
    return "; ".join([f"{made} in {written.ratings}", *also])
