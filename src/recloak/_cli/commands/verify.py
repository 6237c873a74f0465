"""``recloak verify``: re-derive the guarantee of a release from its public files alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import emit_json, gather, json_option, source_options, with_progress
from recloak._cli.engine import engine_options, on_spark, spark_session
from recloak._cli.path_types import FOLDER, SOURCE, mapping_of, mapping_path
from recloak._releases.model.release_format import MANIFEST

if TYPE_CHECKING:
    from recloak._releases.model.release_format import Verdict

_private = click.Path(path_type=Path)


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--k", type=click.IntRange(min=2), help="Demand at least this k; by default the one the release claims.")
@click.option("--original", metavar="SOURCE", type=SOURCE, help="The source, to check diversity and a cap on links.")
@click.option("--diversity", metavar="B,L", help="Demand this diversity; by default the one the release claims.")
@click.option(
    "--private", metavar="DIR", type=_private, help="Who is who, to check a cap on links. [default: DIR-private]"
)
@engine_options
@source_options
@json_option
@with_progress
def command(
    folder: Path, k: int | None, original: str | None, diversity: str | None, as_json: bool, **given: Any
) -> int:
    """Check that every row of the release in DIR is shared by at least k users, and that nothing was changed.

    Reads the public files only; what the release promises about its source, diversity and a cap on links, is checked
    where --original is given. Exits with 0 if the release keeps its promise, 1 if it does not.
    """
    judged = _on_spark if on_spark(given) else _here
    verdict = judged(folder, k, original, diversity, given)
    if as_json:
        emit_json(verdict.to_mapping())
    else:
        click.echo(_summary(verdict))
        for problem in verdict.problems:
            click.echo(f"  - {problem}")
        if original is None and verdict.passed:
            _tell_unchecked(folder)
    return 0 if verdict.passed else 1


def _summary(verdict: Verdict) -> str:
    """Say the verdict in a line; a release that was changed has no counts that could be trusted."""
    if verdict.k_found is None:
        return f"{verdict.verdict}: nothing is known of its rows, because of this:"
    return (
        f"{verdict.verdict}: k required {verdict.k_required}, found {verdict.k_found}; "
        f"{verdict.n_users} users in {verdict.n_groups} groups"
    )


def _tell_unchecked(folder: Path) -> None:
    """Name what the release promises about its source, so that a pass without the source is not taken for more."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    for name in ("diversity", "max_link"):
        if manifest.get(name) is not None:
            click.echo(f"  not checked without --original: {name} {manifest[name]}")


def _here(folder: Path, k: int | None, original: str | None, diversity: str | None, given: dict[str, Any]) -> Verdict:
    from recloak._ratings.options import ReadOptions
    from recloak._ratings.readers import read
    from recloak._releases.verifier import verify

    source = None if original is None else read(original, options=gather(ReadOptions, given))
    mapping = None if original is None else mapping_of(folder, given["private"])
    return verify(folder, k=k, original=source, diversity=diversity, mapping=mapping)


def _on_spark(
    folder: Path, k: int | None, original: str | None, diversity: str | None, given: dict[str, Any]
) -> Verdict:
    from recloak._ratings.options import ReadOptions

    with spark_session(given) as spark:
        from recloak._spark.user_blocks import opened_blocks
        from recloak._spark.verification import verify

        if original is None:
            return verify(spark, folder, k=k, diversity=diversity)
        mapping = mapping_path(folder, given["private"])
        with opened_blocks(spark, original, gather(ReadOptions, given)) as blocks:
            return verify(spark, folder, k=k, original=blocks, diversity=diversity, mapping=mapping)
