"""``recloak related report``: the operator's page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import given_only, output_options, report, seed_option, source_of, source_options
from recloak._cli.path_types import PAGE, SOURCE, TABLE
from recloak._cli.related._shared import store_argument

if TYPE_CHECKING:
    from recloak.related import OperatorView


@click.command()
@store_argument
@click.argument("source", nargs=-1, type=SOURCE)
@click.option("--titles", type=TABLE, help="Title list: CSV with id and title, movies.csv, movies.dat or .item.")
@click.option("-o", "--out", type=PAGE, help="Page to write (.html).")
@seed_option
@source_options
@output_options
def command(store: str, source: tuple[str, ...], out: Path | None, as_json: bool, **given: Any) -> None:
    """Report on STORE to its operator: tonight's changes and why, recall and risk over time, the promise, warnings.

    With SOURCE, the ratings behind it, the learned observer of `related attack` is run on the published lists too. The
    page says more than was published: keep it private.
    """
    from recloak import related

    ratings = source_of(source or None, given)
    view = related.report(store, ratings, **given_only(given))
    report(view, _print, as_json=as_json, page=out)


def _print(view: OperatorView) -> None:
    click.echo("release   recall  surest  delta  covers   loosened")
    for one in view.to_json()["releases"]:
        covers = one["horizon"] or f"window {one['window']}"
        loosened = ", ".join(one["loosened"]) or "-"
        click.echo(
            f"{one['number']:7} {one['recall']:8.3f} {one['max_breach']:7.4f} {one['delta']:6.2f}  {covers:8} "
            f"{loosened}"
        )
    click.echo(f"{view.n_lists:,} of {view.n_items:,} items have a list, with {view.n_entries:,} entries.")
    for warning in view.warnings:
        click.echo(f"Warning: {warning}")
