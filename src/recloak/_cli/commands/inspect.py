"""``recloak inspect``: what is in a source, and how exposed its users already are."""

from pathlib import Path
from typing import Any

import click

import recloak
from recloak._cli.common import given_only, options_of, output_options, report, seed_option, source_of, source_options
from recloak._cli.engine import engine_options
from recloak._cli.path_types import SOURCE, new_file
from recloak._ratings.options import ExposureOptions


@click.command()
@click.argument("source", nargs=-1, required=True, type=SOURCE)
@source_options
@options_of(ExposureOptions, leave_out=("known",))
@engine_options
@click.option("-o", "--out", type=new_file(".html", ".svg"), help="Page to write (.html), or its first chart (.svg).")
@seed_option
@output_options
def command(source: tuple[str, ...], out: Path | None, as_json: bool, **given: Any) -> None:
    """Show what is in SOURCE and how exposed its users already are.

    Counts, scale, spread, histogram, time span, repeated pairs, and the share of users who are singled out
    by 1, 2, 4 or 8 known items. Several files are read as one source.
    """
    found = recloak.inspect(source_of(source, given), **given_only(given))
    report(found, _print, as_json=as_json, page=out)


def _print(found: "recloak.Inspection") -> None:
    from recloak._cli.tables import print_inspection

    print_inspection(found)
