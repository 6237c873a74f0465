"""``recloak publish``: an anonymised release of ratings."""

from __future__ import annotations

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
from recloak._cli.engine import engine_options, on_spark, spark_session
from recloak._cli.path_types import SOURCE
from recloak._core import stopping
from recloak._releases.options import PadOptions, PublishOptions, WriteOptions

if TYPE_CHECKING:
    from recloak._releases.manifest import Facts
    from recloak._releases.release import Release


_folder = click.Path(path_type=Path)


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE)
@click.option(
    "-o", "--out", "--output", "output", metavar="DIR", type=_folder, required=True, help="The public folder."
)
@options_of(PublishOptions, leave_out=("grid",))
@grid_option
@options_of(WriteOptions)
@click.option("--private", metavar="DIR", type=_folder, help="Where who-is-who goes. [default: DIR-private]")
@engine_options
@options_of(PadOptions)
@source_options
@seed_option
@json_option
@with_progress
def command(
    source: str,
    output: Path,
    private: Path | None,
    seed: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Publish the ratings in SOURCE as a k-anonymous release in the folder DIR.

    What was written is verified before it appears; who is who goes into a private folder that only you can read.
    """
    from recloak._releases.folder_checks import check_folders

    options, writing = gather(PublishOptions, given), gather(WriteOptions, given)
    public, hidden = check_folders(output, private)
    if on_spark(given):
        _tell(_on_spark(source, public, hidden, writing.layout, options, seed, given), public, hidden, as_json)
        return
    release = _here(source, options, seed, given)
    stopping.stop_at_checks_only()  # once the folders are in place it is too late to stop
    release.write(public, private=hidden, layout=writing.layout, format=writing.format)
    _tell(release.facts, public, hidden, as_json)


def _tell(facts: Facts, public: Path, hidden: Path, as_json: bool) -> None:
    if as_json:
        counts = {name: getattr(facts, name) for name in ("k", "mode", "n_users", "n_items", "n_ratings", "n_groups")}
        emit_json({"verdict": "pass", "folder": str(public), "private": str(hidden), **counts})
    else:
        click.echo(
            f"{facts.n_users:,} users in {facts.n_groups:,} groups of at least {facts.k}, verified, in {public}; "
            f"who is who in {hidden}"
        )


def _here(source: str, options: PublishOptions, seed: int | None, given: dict[str, Any]) -> Release:
    from recloak._ratings.options import ReadOptions
    from recloak._ratings.readers import read
    from recloak._releases.publishing import publish

    ratings = read(source, options=gather(ReadOptions, given))
    return publish(ratings, options=options, pad_options=gather(PadOptions, given), rng=seed)


def _on_spark(
    source: str, public: Path, hidden: Path, layout: str | None, options: PublishOptions,
    seed: int | None, given: dict[str, Any],
) -> Facts:  # fmt: skip
    from recloak._ratings.options import ReadOptions

    reading, padding = gather(ReadOptions, given), gather(PadOptions, given)
    with spark_session(given) as spark:
        from recloak._spark.publishing import publish

        published = publish(
            spark, source, public, private=hidden, layout=layout, options=options, reading=reading, rng=seed,
            pad_options=padding,
        )  # fmt: skip
    return published.facts
