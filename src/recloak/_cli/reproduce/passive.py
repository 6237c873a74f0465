"""``recloak reproduce passive``: figures 4 to 7 of "Thwarting Passive Privacy Attacks" on your data."""

from pathlib import Path
from typing import Any

import click

from recloak._cli.common import fixed_seed_option, output_options, report, source_of, source_options
from recloak._cli.path_types import OWN_FOLDER
from recloak._cli.related._shared import source_argument


@click.command()
@source_argument
@click.option("-o", "--out", required=True, type=OWN_FOLDER, help="Folder to write; a run that was "
              "broken off goes on from there.")  # fmt: skip
@click.option("--literal/--no-literal", default=True, show_default=True, help="Also run the printed algorithm at the "
              "default setting.")  # fmt: skip
@fixed_seed_option
@source_options
@output_options
def command(source: tuple[str, ...], out: Path, literal: bool, seed: int, as_json: bool, **given: Any) -> None:
    """Repeat "Thwarting Passive Privacy Attacks" (Chen et al.) on SOURCE: window, gap, delta and length varied.

    OUT gets `report.html`, `figures.json`, and `outcomes.json`, from which a run that was broken off goes on.
    """
    from recloak._library.reproduce_papers import reproduce_passive

    found = reproduce_passive(source_of(source, given), out, literal=literal, seed=seed)
    report(found, lambda _: click.echo(f"The paper's figures and ours are in {out / 'report.html'}."), as_json=as_json)
