"""``recloak evaluate``: what a release is still good for."""

from pathlib import Path
from typing import Any

import click

import recloak
from recloak._cli.common import (
    given_only,
    grid_option,
    options_of,
    output_options,
    report,
    seed_option,
    source_of,
    source_options,
)
from recloak._cli.engine import LocalOption, engine_options
from recloak._cli.fidelity import refuse_flags, run_fidelity
from recloak._cli.path_types import PAGE, PRIVATE_FOLDER, RELEASE, SOURCE_PATH
from recloak._core.errors import OptionError
from recloak._evaluation.options import EvaluateOptions, FidelityOptions
from recloak._releases.options import PublishOptions


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE_PATH)
@click.argument("folder", metavar="[DIR]", type=RELEASE, required=False)
@click.option(
    "--private", metavar="DIR", type=PRIVATE_FOLDER, help="The private folder of the release. [default: DIR-private]"
)
@click.option(
    "--probe", metavar="PROBE", type=SOURCE_PATH, help="Ratings that were left out of SOURCE before publishing."
)
@click.option("--holdout", cls=LocalOption, type=float, metavar="SHARE", help="Hold this share out, publish the rest, "
              "and evaluate that.")  # fmt: skip
@click.option("-o", "--out", cls=LocalOption, metavar="FILE", type=PAGE, help="Page to write (.html).")
@click.option("--fidelity", "is_fidelity", cls=LocalOption, is_flag=True, help="Compare leaderboards of algorithms "
              "on both sides instead.")  # fmt: skip
@engine_options
@options_of(EvaluateOptions)
@options_of(FidelityOptions)
@options_of(PublishOptions, leave_out=("grid",))
@grid_option
@source_options
@seed_option
@output_options
def command(
    source: Path,
    folder: Path | None,
    out: Path | None,
    probe: Path | None,
    is_fidelity: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Measure what the release of SOURCE in DIR is still good for, on the held-out ratings in PROBE.

    With --holdout no DIR is needed: a share of SOURCE is held out, the rest is published with the options of publish
    (--k, --mode, ...) into a folder that is thrown away, and that release is evaluated. With --engine spark the
    target deviation alone is measured. With --fidelity algorithms compete on both sides, to see whether the
    release ranks them as the original does; then --probe may be left out.
    """
    if is_fidelity:
        held_out = source_of(probe, dict(given))
        run_fidelity(source_of(source, given), folder, out, held_out, as_json, given)
        return
    refuse_flags(given)
    _check_choice(folder, probe, out, given)
    held_out = source_of(probe, dict(given))
    found = recloak.evaluate(source_of(source, given), folder, probe=held_out, **given_only(given))
    report(found, _print, as_json=as_json, page=out)


def _print(found: "recloak.Evaluation") -> None:
    if found.recommenders:
        from recloak._cli.tables import print_evaluation

        print_evaluation(found)
    elif isinstance(found, recloak.UseEvaluation):
        held_out = found.target_deviation
        click.echo(f"{held_out.coverage:.1%} of {held_out.n:,} held-out uses stand in a row of the person's own group")
    else:
        target = found.target_deviation
        rmse = "-" if target.rmse is None else f"{target.rmse:.4f}"
        click.echo(f"target deviation {rmse} over {target.coverage:.1%} of {target.n:,} held-out ratings")


def _check_choice(folder: Path | None, probe: Path | None, out: Path | None, given: dict[str, Any]) -> None:
    """Raise OptionError for flags that would have no effect, even if they are given with their default."""
    if given["engine"] == "spark" and (folder is None or probe is None or out is not None):
        raise OptionError("--engine spark measures the target deviation of a release in DIR on --probe, without a page")
    if (probe is None) != (given["holdout"] is None) and (folder is None) != (probe is None):
        raise OptionError("--probe needs the release in DIR, and --holdout makes its own; leave DIR out with it")
    idle = [name for name in PublishOptions().to_mapping() if given.get(name) is not None]
    if folder is not None and probe is not None and idle:
        flag = idle[0].replace("_", "-")
        raise OptionError(f"--{flag} is for the release that --holdout makes; the one in DIR is made")
