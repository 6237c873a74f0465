"""``recloak reproduce mentions``: the charts and figures of "You Are What You Say" on your data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from recloak._cli.common import gather, options_of, output_options, report, source_options
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
    from recloak._cli.related._shared import ratings_of
    from recloak._core.files import written_folder
    from recloak._mentions.mention_tables import read_mentions
    from recloak._report import write_page
    from recloak._report.mentions_paper import reproduce, reproduction_page
    from recloak._report.provenance import source_hash, versions

    with written_folder(out) as folder:
        ratings = ratings_of(source, given)
        made = reproduce(ratings, read_mentions(table, ratings), gather(IdentifyOptions, given))
        hashes = tuple((f"SHA-256 of {Path(one).absolute().name}", source_hash(one)) for one in (*source, table))
        name = Path(source[0]).absolute().name
        page = reproduction_page(made, source=name, provenance=(*hashes, ("Versions", versions())))
        write_page(page, folder / "report.html")
        figures = json.dumps(made.to_json(), indent=2, allow_nan=False)
        (folder / "figures.json").write_text(figures, encoding="utf-8")
    report(made, lambda _: click.echo(f"The paper's figures and ours lie at {out / 'report.html'}."), as_json=as_json)
