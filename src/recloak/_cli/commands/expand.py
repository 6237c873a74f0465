"""``recloak expand``: write a release, or a part of it, as one long table."""

import logging
from pathlib import Path
from typing import Any

import click

import recloak
from recloak._cli.common import emit_json, given_only, json_option, with_progress
from recloak._cli.path_types import RELEASE
from recloak._core.errors import OptionError


def _whole_numbers(_ctx: click.Context, param: click.Parameter, text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(one) for one in text.split(",")]
    except ValueError:
        raise OptionError(f"--{param.name} must be whole numbers with commas between, got {text!r}") from None


@click.command()
@click.argument("folder", metavar="DIR", type=RELEASE)
@click.option("-o", "--out", "out", metavar="FILE", type=click.Path(path_type=Path), required=True,
              help="The table to write (.parquet or .csv).")  # fmt: skip
@click.option("--groups", metavar="1,2,...", callback=_whole_numbers, help="Only these groups. [default: all]")
@click.option("--users", metavar="1,2,...", callback=_whole_numbers, help="Only these users, a row each.")
@click.option("--items", metavar="A,B,...", help="Only these items. [default: all]")
@click.option("--size-limit", metavar="SIZE", help="The largest table to write, such as 500MB, or none. [default: 2GB]")
@json_option
@with_progress
def command(folder: Path, out: Path, items: str | None, as_json: bool, **given: Any) -> None:
    """Write the ratings of the release in DIR to FILE: group (or user), item, rating.

    Any layout goes in; ratings of the layout factors are computed. How large the table will be is said beforehand.
    """
    logging.getLogger("recloak").setLevel(logging.INFO)
    release = recloak.load(folder)
    chosen = None if items is None else _ids(items, release)
    n_rows = recloak.expand(release, out, items=chosen, **given_only(given))
    if as_json:
        emit_json({"file": str(out), "rows": n_rows})
    else:
        click.echo(f"{n_rows:,} rows in {out}")


def _ids(text: str, release: "recloak.LoadedRelease") -> list[Any]:
    """Return items in the kind of the release's ids."""
    names = text.split(",")
    if release.item_ids.is_text:
        return names
    try:
        return [int(name) for name in names]
    except ValueError:
        raise OptionError(
            f"--items must be whole numbers with commas between, as in the release, got {text!r}"
        ) from None
