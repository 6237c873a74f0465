"""``recloak verify``: re-derive the guarantee of a release from its public files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from recloak.cli.common import emit_json, gather, json_option, source_options, with_progress


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--k", type=click.IntRange(min=2), help="Demand at least this k; by default the one the release claims.")
@click.option("--original", metavar="SOURCE", type=click.Path(path_type=Path), help="The source, to check diversity.")
@click.option("--diversity", metavar="B,L", help="Demand this diversity; by default the one the release claims.")
@source_options
@json_option
@with_progress
def command(
    folder: Path, k: int | None, original: Path | None, diversity: str | None, as_json: bool, **given: Any
) -> int:
    """Check that every row of the release in DIR is shared by at least k users, and that nothing was changed.

    Reads the public files only. Exits with 0 if the release keeps its promise, 1 if it does not.
    """
    from recloak.publish.verify import verify

    source = None
    if original is not None:
        from recloak.ratings import ReadOptions, read

        source = read(original, options=gather(ReadOptions, given))
    verdict = verify(folder, k=k, original=source, diversity=diversity)
    if as_json:
        emit_json(verdict.to_mapping())
    else:
        click.echo(f"{verdict.verdict}: k required {verdict.k_required}, found {verdict.k_found}; "
                   f"{verdict.n_users} users in {verdict.n_groups} groups")  # fmt: skip
        for problem in verdict.problems:
            click.echo(f"  - {problem}")
    return 0 if verdict.passed else 1
