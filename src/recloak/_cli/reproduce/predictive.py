"""``recloak reproduce predictive``: the tables and figures of "Predictive Anonymization" on your data."""

from pathlib import Path
from typing import Any

import click

from recloak._cli.common import gather, options_of, output_options, report, seed_option, source_of, source_options
from recloak._cli.path_types import NEW_FOLDER, SOURCE_PATH
from recloak._evaluation.options import PredictiveOptions


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE_PATH)
@click.option("-o", "--out", type=NEW_FOLDER, required=True, help="Folder to write.")
@options_of(PredictiveOptions)
@source_options
@seed_option
@output_options
def command(source: Path, out: Path, seed: int | None, as_json: bool, **given: Any) -> None:
    """Repeat "Predictive Anonymization" (Chang et al.) on SOURCE: tables 1 to 3 and figures 3 to 5, its and ours.

    OUT gets `report.html` and `figures.json`.
    """
    from recloak._library.reproduce_papers import reproduce_predictive

    made = reproduce_predictive(source_of(source, given), out, gather(PredictiveOptions, given), seed)
    report(made, lambda _: click.echo(f"The paper's figures and ours are in {out / 'report.html'}."), as_json=as_json)
