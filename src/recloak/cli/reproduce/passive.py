"""``recloak reproduce passive``: figures 4 to 7 of paper 003 on your data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from recloak.cli.common import emit_json, json_option, seed_option, source_options, with_progress
from recloak.cli.related._shared import ratings_of, source_argument


@click.command()
@source_argument
@click.option(
    "-o", "--out", required=True, type=click.Path(path_type=Path), help="Folder to write the page and data to."
)
@click.option("--literal/--no-literal", default=True, help="Also run the printed algorithm at the default setting.")
@seed_option
@source_options
@json_option
@with_progress
def command(source: tuple[str, ...], out: Path, literal: bool, seed: int | None, as_json: bool, **given: Any) -> None:
    """Repeat the experiments of paper 003 on SOURCE: window, gap, delta and list length varied, one page."""
    import json

    from recloak.files import written_folder
    from recloak.related.reproduce import reproduce_passive
    from recloak.report import render
    from recloak.report.passive_page import passive_page

    ratings = ratings_of(source, given)
    found = reproduce_passive(ratings, literal=literal, rng=seed)
    with written_folder(out, replace=True) as aside:
        (aside / "passive.json").write_text(json.dumps(found.to_json(), indent=2), encoding="utf-8")
        (aside / "passive.html").write_text(render(passive_page(found, Path(source[0]).name)), encoding="utf-8")
    if as_json:
        emit_json(found.to_json())
    else:
        click.echo(f"Written to {out}/passive.html and {out}/passive.json.")
