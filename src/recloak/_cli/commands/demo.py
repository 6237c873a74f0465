"""``recloak demo``: a tour on synthetic data."""

from pathlib import Path

import click

from recloak._cli.common import emit_json, output_options
from recloak._cli.path_types import OWN_FOLDER


@click.command()
@click.option("-o", "--out", type=OWN_FOLDER, default=Path("demo"), show_default=True, help="Folder to write.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Makes the run repeatable.")
@output_options
def command(out: Path, seed: int, as_json: bool) -> None:
    """Run a tour on synthetic data and leave a report to look at; opens nothing."""
    from recloak._cli.demo_steps import run_demo

    found = run_demo(out, seed=seed)
    if as_json:
        emit_json(found)
    else:
        click.echo(f"The report is {found['report']}; open it in a browser.")
