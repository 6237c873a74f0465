"""``recloak reproduce predictive``: the tables and figures of "Predictive Anonymization" on your data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from recloak._cli.common import gather, options_of, output_options, report, seed_option, source_options
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
    from recloak._core.files import written_folder
    from recloak._evaluation.predictive_experiments import repeat
    from recloak._ratings.options import ReadOptions
    from recloak._ratings.readers import read
    from recloak._report import write_page
    from recloak._report.predictive_paper import predictive_page
    from recloak._report.provenance import of_source

    options = gather(PredictiveOptions, given)
    with written_folder(out) as folder:
        made = repeat(read(source, options=gather(ReadOptions, given)), options, rng=seed)
        provenance = (("Seed", str(made.seed)), *of_source(source))
        write_page(predictive_page(made, source=source.absolute().name, provenance=provenance), folder / "report.html")
        (folder / "figures.json").write_text(json.dumps(made.to_json(), indent=2, allow_nan=False), encoding="utf-8")
    report(made, lambda _: click.echo(f"The paper's figures and ours lie at {out / 'report.html'}."), as_json=as_json)
