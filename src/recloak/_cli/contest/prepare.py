"""``recloak contest prepare``: the task for others, the answers for the owner."""

from pathlib import Path
from typing import Any

import click

from recloak._cli.common import (
    emit_json,
    given_only,
    grid_option,
    options_of,
    output_options,
    seed_option,
    source_of,
    source_options,
)
from recloak._cli.path_types import SOURCE_PATH
from recloak._contest.options import ContestOptions
from recloak._releases.options import PublishOptions


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE_PATH)
@click.option("-o", "--out", metavar="DIR", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@click.option(
    "--private", metavar="DIR", type=click.Path(path_type=Path), help="Folder for the answers. [default: DIR-private]"
)
@options_of(ContestOptions)
@options_of(PublishOptions, leave_out=("grid",))
@grid_option
@source_options
@seed_option
@output_options
def command(source: Path, out: Path, as_json: bool, **given: Any) -> None:
    """Hold ratings of SOURCE out, publish the rest into DIR, and ask about what was held out.

    DIR holds the release, the questions, the task, terms of use, a baseline submission, a validator, loaders and a
    Croissant description. The answers stay in the private folder.
    """
    from recloak import contest

    made = contest.prepare(source_of(source, given), out, **given_only(given))
    if as_json:
        emit_json(made.to_json())
    else:
        click.echo(f"{made.n_questions:,} questions about {made.n_hidden:,} hidden ratings written to {made.folder}.")
        click.echo(f"The board's scores will have noise of about {made.noise:.1g}.")
        click.echo(f"The answers are in {made.private}; keep them to yourself.")
