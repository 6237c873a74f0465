"""``recloak publish``: an anonymised release of ratings."""

import logging
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
from recloak._cli.engine import engine_options
from recloak._cli.path_types import SOURCE
from recloak._core.errors import OptionError
from recloak._policy.options import PRESETS
from recloak._releases.options import PadOptions, PublishOptions, StatisticsOptions, WriteOptions

_folder = click.Path(path_type=Path)


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE)
@click.option(
    "-o", "--out", "--output", "output", metavar="DIR", type=_folder, required=True, help="The public folder."
)
@options_of(PublishOptions, leave_out=("grid",))
@grid_option
@options_of(WriteOptions)
@options_of(StatisticsOptions)
@click.option("--private", metavar="DIR", type=_folder, help="Where who-is-who goes. [default: DIR-private]")
@click.option(
    "--policy", metavar="FILE|PRESET", help=f"Take the options from a policy: a file, or {', '.join(PRESETS)}."
)
@engine_options
@options_of(PadOptions)
@source_options
@seed_option
@json_option
@with_progress
def command(source: str, output: Path, as_json: bool, **given: Any) -> None:
    """Publish the ratings in SOURCE as a k-anonymous release in the folder DIR.

    What was written is verified before it appears; who is who goes into a private folder that only you can read.
    """
    _refuse_beside_policy(given)
    logging.getLogger("recloak").setLevel(logging.INFO)  # say beforehand what will be written
    release = recloak.publish(source_of(source, given), output, **given_only(given))
    facts = release.facts
    if as_json:
        counts = {name: getattr(facts, name) for name in ("k", "mode", "n_users", "n_items", "n_ratings", "n_groups")}
        emit_json({"verdict": "pass", "folder": str(release.folder), "private": str(release.private), **counts})
    else:
        click.echo(
            f"{facts.n_users:,} users in {facts.n_groups:,} groups of at least {facts.k}, verified, in "
            f"{release.folder}; who is who in {release.private}"
        )


def _refuse_beside_policy(given: dict[str, Any]) -> None:
    """Raise OptionError for a flag that the policy sets, even if it is given with its default."""
    kinds = PublishOptions(), WriteOptions(), StatisticsOptions()
    names = [name for kind in kinds for name in kind.to_mapping()]
    flag = next((f"--{name.replace('_', '-')}" for name in names if given.get(name) is not None), None)
    if given["policy"] is not None and flag is not None:
        raise OptionError(f"{flag} is set by --policy; leave it out, or change the policy")
