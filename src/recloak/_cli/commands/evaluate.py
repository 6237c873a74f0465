"""``recloak evaluate``: what a release is still good for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import recloak
from recloak._cli.common import (
    emit_json,
    given_only,
    grid_option,
    json_option,
    options_of,
    seed_option,
    source_of,
    source_options,
    with_progress,
)
from recloak._cli.engine import LocalOption, engine_options
from recloak._cli.path_types import PAGE, RELEASE, SOURCE_PATH
from recloak._core.errors import OptionError
from recloak._evaluation.options import EvaluateOptions
from recloak._releases.options import PublishOptions

_folder = click.Path(path_type=Path)


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE_PATH)
@click.argument("folder", metavar="[DIR]", type=RELEASE, required=False)
@click.option(
    "--private", metavar="DIR", type=_folder, help="The private folder of the release. [default: DIR-private]"
)
@click.option(
    "--probe", metavar="PROBE", type=SOURCE_PATH, help="Ratings that were left out of SOURCE before publishing."
)
@click.option(
    "--holdout",
    cls=LocalOption,
    type=float,
    metavar="SHARE",
    help="Hold this share out, publish the rest, and evaluate that.",
)
@click.option("-o", "--out", cls=LocalOption, metavar="FILE", type=PAGE, help="Page to write (.html).")
@engine_options
@options_of(EvaluateOptions)
@options_of(PublishOptions, leave_out=("grid",))
@grid_option
@source_options
@seed_option
@json_option
@with_progress
def command(
    source: Path, folder: Path | None, out: Path | None, probe: Path | None, as_json: bool, **given: Any
) -> None:
    """Tell what the release of SOURCE in DIR is still good for, on the held-out ratings in PROBE.

    With --holdout no DIR is needed: a share of SOURCE is held out, the rest is published with the options of publish
    (--k, --mode, ...) into a folder that is thrown away, and that release is evaluated. With --engine spark the
    target deviation alone is measured.
    """
    _check_choice(folder, probe, out, given)
    held_out = source_of(probe, dict(given))
    found = recloak.evaluate(source_of(source, given), folder, probe=held_out, **given_only(given))
    if out is not None:
        found.write_page(out)
    if as_json:
        emit_json(found.to_json())
    elif not found.recommenders:
        target = found.target_deviation
        rmse = "-" if target.rmse is None else f"{target.rmse:.4f}"
        click.echo(f"target deviation {rmse} over {target.coverage:.1%} of {target.n:,} held-out ratings")
    else:
        from recloak._cli.evaluate_tables import print_evaluation

        print_evaluation(found)
        click.echo("" if out is None else f"Written to {out}.", nl=out is not None)


def _check_choice(folder: Path | None, probe: Path | None, out: Path | None, given: dict[str, Any]) -> None:
    """Refuse flags that would do nothing, even those given with their default."""
    if given["engine"] == "spark" and (folder is None or probe is None or out is not None):
        raise OptionError("--engine spark measures the target deviation of a release in DIR on --probe, without a page")
    if (probe is None) != (given["holdout"] is None) and (folder is None) != (probe is None):
        raise OptionError("--probe needs the release in DIR, and --holdout makes its own; leave DIR out with it")
    idle = [name for name in PublishOptions().to_mapping() if given.get(name) is not None]
    if folder is not None and probe is not None and idle:
        flag = idle[0].replace("_", "-")
        raise OptionError(f"--{flag} is for the release that --holdout makes; the one in DIR is made")
