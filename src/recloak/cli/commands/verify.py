"""``recloak verify``: re-derive the guarantee of a release from its public files alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak.cli.common import emit_json, gather, json_option, source_options, with_progress
from recloak.cli.engine import engine_options, on_spark, spark_session
from recloak.cli.paths import FOLDER, SOURCE

if TYPE_CHECKING:
    from recloak.publish.model import Verdict


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--k", type=click.IntRange(min=2), help="Demand at least this k; by default the one the release claims.")
@click.option("--original", metavar="SOURCE", type=SOURCE, help="The source, to check diversity.")
@click.option("--diversity", metavar="B,L", help="Demand this diversity; by default the one the release claims.")
@engine_options
@source_options
@json_option
@with_progress
def command(
    folder: Path, k: int | None, original: str | None, diversity: str | None, as_json: bool, **given: Any
) -> int:
    """Check that every row of the release in DIR is shared by at least k users, and that nothing was changed.

    Reads the public files only. Exits with 0 if the release keeps its promise, 1 if it does not.
    """
    judged = _on_spark if on_spark(given) else _here
    verdict = judged(folder, k, original, diversity, given)
    if as_json:
        emit_json(verdict.to_mapping())
    else:
        click.echo(f"{verdict.verdict}: k required {verdict.k_required}, found {verdict.k_found}; "
                   f"{verdict.n_users} users in {verdict.n_groups} groups")  # fmt: skip
        for problem in verdict.problems:
            click.echo(f"  - {problem}")
    return 0 if verdict.passed else 1


def _here(folder: Path, k: int | None, original: str | None, diversity: str | None, given: dict[str, Any]) -> Verdict:
    from recloak.publish.verify import verify
    from recloak.ratings import ReadOptions, read

    source = None if original is None else read(original, options=gather(ReadOptions, given))
    return verify(folder, k=k, original=source, diversity=diversity)


def _on_spark(
    folder: Path, k: int | None, original: str | None, diversity: str | None, given: dict[str, Any]
) -> Verdict:
    from recloak.ratings import ReadOptions

    with spark_session(given) as spark:
        from recloak.spark.blocks import opened_blocks
        from recloak.spark.verify import verify

        if original is None:
            return verify(spark, folder, k=k, diversity=diversity)
        with opened_blocks(spark, original, gather(ReadOptions, given)) as blocks:
            return verify(spark, folder, k=k, original=blocks, diversity=diversity)
