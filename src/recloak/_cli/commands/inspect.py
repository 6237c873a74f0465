"""``recloak inspect``: what is in a source, and how exposed its users already are."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import emit_json, gather, json_option, options_of, seed_option, source_options, with_progress
from recloak._cli.engine import engine_options, on_spark, spark_session
from recloak._cli.path_types import SOURCE, new_file
from recloak._core.files import written_file
from recloak._ratings.options import ExposureOptions

if TYPE_CHECKING:
    from recloak._ratings.exposure import Exposure
    from recloak._ratings.options import ReadOptions
    from recloak._ratings.summary import Summary


@click.command()
@click.argument("source", nargs=-1, required=True, type=SOURCE)
@source_options
@options_of(ExposureOptions, leave_out=("known",))
@engine_options
@click.option("-o", "--out", type=new_file(".html", ".svg"), help="Page to write (.html), or its first chart (.svg).")
@seed_option
@json_option
@with_progress
def command(source: tuple[str, ...], out: Path | None, seed: int | None, as_json: bool, **given: Any) -> None:
    """Tell what is in SOURCE and how exposed its users already are.

    Counts, scale, spread, histogram, time span, repeated pairs, and the share of users whom 1, 2, 4 or 8 known items
    single out. Several files are read as one source.
    """
    from recloak._ratings.options import ReadOptions

    read_options, exposure_options = gather(ReadOptions, given), gather(ExposureOptions, given)
    with nullcontext() if out is None else written_file(out) as aside:  # a place that cannot be written shows at once
        looked_at = _on_spark if on_spark(given) else _here
        summary, exposure = looked_at(source, read_options, exposure_options, seed, given)
        if out is not None and aside is not None:
            aside.write_text(_written(out.suffix, source, summary, exposure), encoding="utf-8")
    if as_json:
        emit_json({"source": _name(source), **summary.to_json(), "exposure": exposure.to_json()})
    else:
        from recloak._cli.inspect_tables import print_tables

        print_tables(_name(source), summary, exposure)
        click.echo("" if out is None else f"Written to {out}.", nl=out is not None)


def _here(
    source: tuple[str, ...], reading: ReadOptions, options: ExposureOptions, seed: int | None, _: dict[str, Any]
) -> tuple[Summary, Exposure]:
    from recloak._ratings.exposure import expose
    from recloak._ratings.readers import read
    from recloak._ratings.summary import summarise

    ratings = read(source, options=reading)
    return summarise(ratings), expose(ratings, options, rng=seed)


def _on_spark(
    source: tuple[str, ...], reading: ReadOptions, options: ExposureOptions, seed: int | None, given: dict[str, Any]
) -> tuple[Summary, Exposure]:
    with spark_session(given) as spark:
        from recloak._spark.inspection import expose, summarise
        from recloak._spark.source import open_source
        from recloak._spark.user_blocks import opened_blocks

        with opened_blocks(spark, source, reading) as blocks:
            return summarise(open_source(spark, source, reading), blocks), expose(blocks, options, rng=seed)


def _name(source: tuple[str, ...]) -> str:
    """Name a source without the folders that lead to it."""
    first = Path(source[0]).absolute().name
    return first if len(source) == 1 else f"{first} and {len(source) - 1} more"


def _written(ending: str, source: tuple[str, ...], summary: Summary, exposure: Exposure) -> str:
    """Give the page, or its first chart as a picture."""
    from recloak._report import render
    from recloak._report.formats import count
    from recloak._report.inspect_page import headline, inspect_page, telling_level, unique_chart
    from recloak._report.picture import picture
    from recloak._report.provenance import source_hash, versions

    if ending == ".svg":
        caption = f"{_name(source)}: {count(summary.n_users)} users, {count(summary.n_ratings)} ratings; 95 % intervals"
        return picture(unique_chart(exposure), headline=headline(telling_level(exposure)), caption=caption)
    hashes = tuple((f"SHA-256 of {Path(one).absolute().name}", source_hash(one)) for one in source)
    provenance = (("Seed", str(exposure.seed)), *hashes, ("Versions", versions()))
    return render(inspect_page(summary, exposure, source=_name(source), provenance=provenance))
