"""``recloak frontier``: risk against usefulness of several releases, one chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from recloak._cli.common import emit_json, gather, json_option, options_of, seed_option, source_options, with_progress
from recloak._cli.path_types import PAGE, SOURCE_PATH
from recloak._core.errors import OptionError
from recloak._evaluation.options import FrontierOptions
from recloak._releases.model.modes import MODES


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE_PATH)
@click.option("--k", "ks", default="2,5,10,20,50", show_default=True, help="Values of k, with commas between.")
@click.option("--mode", "modes", default=",".join(MODES), show_default=True, help="Modes, with a comma between.")
@click.option("-o", "--out", metavar="FILE", type=PAGE, required=True, help="Page to write (.html).")
@options_of(FrontierOptions)
@source_options
@seed_option
@json_option
@with_progress
def command(source: Path, ks: str, modes: str, out: Path, seed: int | None, as_json: bool, **given: Any) -> None:
    """Publish SOURCE in several ways and chart how risky and how useful each release is.

    Finished points are kept beside the page in FILE.points.json: a run that was stopped goes on where it was, and a
    later one with more values of k computes only what is new. Points made with other options, another seed or from
    another source are measured afresh, which is said.
    """
    from recloak._core.randomness import Randomness, randomness
    from recloak._evaluation.frontier import frontier
    from recloak._evaluation.kept_points import SOURCE, open_kept
    from recloak._ratings.options import ReadOptions
    from recloak._ratings.readers import read
    from recloak._report.frontier_page import frontier_page
    from recloak._report.page import write_page
    from recloak._report.provenance import of_source, source_hash

    options, reading = gather(FrontierOptions, given), gather(ReadOptions, given)
    wanted = [(k, mode) for mode in _modes(modes) for k in _numbers(ks)]
    ratings = read(source, options=reading)
    about = {SOURCE: source_hash(source), **options.to_mapping(), **reading.to_mapping()}
    kept = open_kept(out.with_name(f"{out.name}.points.json"), about, seed=seed, fresh_seed=randomness(None).seed)
    if kept.why_afresh:
        click.echo(f"recloak: {kept.file}: the points kept there {kept.why_afresh}; all are measured afresh", err=True)
    box = [kept]
    found = frontier(
        ratings, wanted, options=options, kept=kept.points, chance=Randomness(kept.seed),
        keep=lambda point: box.append(box[-1].add(point)),
    )  # fmt: skip
    provenance = (("Seed", str(found.seed)), *of_source(source))
    write_page(frontier_page(found, options, source=source.absolute().name, provenance=provenance), out)
    if as_json:
        emit_json(found.to_json())
    else:
        click.echo(f"{len(found.points)} releases compared; the chart lies at {out}.")


def _numbers(text: str) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"k must be whole numbers with commas between, got {text!r}") from None
    if min(found) < 2:
        raise OptionError(f"k must be at least 2, got {min(found)}")
    return found


def _modes(text: str) -> list[str]:
    found = text.split(",")
    for mode in found:
        if mode not in MODES:
            raise OptionError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
    return found
