"""``recloak evaluate``: what a release is still good for."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import (
    emit_json,
    gather,
    grid_option,
    json_option,
    options_of,
    seed_option,
    source_options,
    with_progress,
)
from recloak._cli.engine import LocalOption, engine_options, on_spark, spark_session
from recloak._cli.path_types import PAGE, RELEASE, SOURCE_PATH, private_of, require_private
from recloak._core.errors import OptionError
from recloak._core.files import written_file
from recloak._evaluation.options import EvaluateOptions
from recloak._releases.options import PublishOptions

if TYPE_CHECKING:
    from recloak._evaluation.trial_release import TrialRelease
    from recloak._ratings.options import ReadOptions

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
    source: Path,
    folder: Path | None,
    private: Path | None,
    probe: Path | None,
    holdout: float | None,
    out: Path | None,
    seed: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Tell what the release of SOURCE in DIR is still good for, on the held-out ratings in PROBE.

    With --holdout no DIR is needed: a share of SOURCE is held out, the rest is published with the options of publish
    (--k, --mode, ...) into a folder that is thrown away, and that release is evaluated. With --engine spark the
    target deviation alone is measured.
    """
    _check_choice(folder, probe, holdout, given)
    if folder is not None:
        require_private(folder, private)
    from recloak._core.randomness import randomness
    from recloak._evaluation.evaluating import evaluate
    from recloak._ratings.options import ReadOptions

    options, chance = gather(EvaluateOptions, given), randomness(seed)
    if on_spark(given):
        _deviation_on_spark(folder, private, probe, given, as_json)
        return
    with nullcontext() if out is None else written_file(out) as aside:  # a place that cannot be written shows at once
        reading = gather(ReadOptions, given)
        if holdout is not None:
            trial = _hold_out(source, holdout, given, reading, chance.seed)
        else:
            trial = _take_probe(source, folder, private, probe, reading)
        found = evaluate(trial.ratings, trial.release, trial.probe, options=options, rng=chance)
        if aside is not None:
            from recloak._report import render
            from recloak._report.evaluate_page import evaluate_page
            from recloak._report.provenance import of_source

            provenance = (("Seed", str(found.seed)), *of_source(source, folder, probe))
            page = evaluate_page(found, trial.release.manifest, source=source.absolute().name, provenance=provenance)
            aside.write_text(render(page), encoding="utf-8")
    if as_json:
        emit_json(found.to_json())
    else:
        from recloak._cli.evaluate_tables import print_evaluation

        print_evaluation(found)
        click.echo("" if out is None else f"Written to {out}.", nl=out is not None)


def _deviation_on_spark(
    folder: Path | None, private: Path | None, probe: Path | None, given: dict[str, Any], as_json: bool
) -> None:
    from recloak._ratings.options import ReadOptions

    assert folder is not None
    with spark_session(given) as spark:
        from recloak._spark.deviations import target_deviation

        found = target_deviation(spark, folder, private_of(folder, private), str(probe), gather(ReadOptions, given))
    if as_json:
        emit_json({"target_deviation": found.to_json()})
    else:
        rmse = "-" if found.rmse is None else f"{found.rmse:.4f}"
        click.echo(f"target deviation {rmse} over {found.coverage:.1%} of {found.n:,} held-out ratings")


def _check_choice(folder: Path | None, probe: Path | None, holdout: float | None, given: dict[str, Any]) -> None:
    if (probe is None) == (holdout is None):
        raise OptionError("give either --probe with a release, or --holdout without one")
    if (folder is None) != (probe is None):
        raise OptionError("--probe needs the release in DIR, and --holdout makes its own; leave DIR out with it")
    idle = [name for name in PublishOptions().to_mapping() if given.get(name) is not None]
    if probe is not None and idle:
        raise OptionError(
            f"--{idle[0].replace('_', '-')} is for the release that --holdout makes; the one in DIR is made"
        )


def _hold_out(source: Path, share: float, given: dict[str, Any], reading: ReadOptions, seed: int) -> TrialRelease:
    from recloak._evaluation.trial_release import try_out
    from recloak._ratings.readers import read

    options = gather(PublishOptions, given)
    if not 0 < share < 1:
        raise OptionError(f"holdout must lie between 0 and 1, got {share:g}")
    return try_out(read(source, options=reading), share, options, rng=seed)


def _take_probe(
    source: Path, folder: Path | None, private: Path | None, probe: Path | None, reading: ReadOptions
) -> TrialRelease:
    from recloak._cli.open_release import open_release
    from recloak._evaluation.probe import probe_from
    from recloak._evaluation.trial_release import TrialRelease
    from recloak._ratings.readers import read

    assert folder is not None
    assert probe is not None
    ratings = read(source, options=reading)
    held_out = probe_from(ratings, read(probe, options=reading))
    return TrialRelease(ratings, held_out, open_release(folder, private, ratings))
