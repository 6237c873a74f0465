"""``recloak reproduce mentions``: the charts and figures of "You Are What You Say" on your data."""

from pathlib import Path
from typing import Any

import click

from recloak._cli.common import gather, options_of, output_options, report, source_of, source_options
from recloak._cli.path_types import NEW_FOLDER, SOURCE, TABLE
from recloak._mentions.options import IdentifyOptions


@click.command()
@click.argument("source", nargs=-1, required=True, type=SOURCE)
@click.option("--mentions", "table", required=True, type=TABLE, help="Table of who mentioned which item.")
@click.option("-o", "--out", type=NEW_FOLDER, required=True, help="Folder to write.")
@source_options
@options_of(IdentifyOptions)
@output_options
def command(source: tuple[str, ...], table: str, out: Path, as_json: bool, **given: Any) -> None:
    """Repeat "You Are What You Say" (Frankowski et al.) on SOURCE: figures 3 to 9, its numbers and ours.

    OUT gets `report.html` and `figures.json`.
    """
    from recloak._library.reproduce_papers import reproduce_mentions

    made = reproduce_mentions(source_of(source, given), table, out, gather(IdentifyOptions, given))
    report(made, lambda _: click.echo(f"The paper's figures and ours are in {out / 'report.html'}."), as_json=as_json)
