"""``recloak related history``: what was published, and what changed and why."""

from typing import Any

import click

from recloak._cli.common import emit_json, json_option
from recloak._cli.related._shared import store_argument
from recloak._core.terminal_text import printable


@click.command()
@store_argument
@click.option("--changes", nargs=2, type=click.IntRange(min=1), help="Two releases to compare, the earlier first.")
@json_option
def command(store: str, changes: tuple[int, int] | None, as_json: bool) -> None:
    """List the releases of STORE, or what changed between two of them and why.

    Why: an entry of the true list is missing (suppressed), stands elsewhere (permuted), or another stands in its place
    (replaced). This is for the operator; it says more than was published.
    """
    from recloak.related import History

    with History(store, create=False) as history:
        answer = history.to_json() if changes is None else history.changes(*changes).to_json()
    if as_json:
        emit_json(answer)
    elif changes is None:
        _print_releases(answer["releases"])
    else:
        _print_changes(answer["changes"], *changes)


def _print_releases(releases: list[dict[str, Any]]) -> None:
    from recloak._report.formats import day

    for one in releases:
        click.echo(
            f"release {one['number']}  {day(one['time'])}  delta {one['delta']} ({one['evidence']}, {_reach(one)}, "
            f"support {one['min_support']})  recall {one['recall']:.3f}  surest inference {one['max_breach']:.4f}"
        )
        if one["accepted_source"]:
            click.echo("  its ratings did not go on from those before (--accept-source)")
        if one["loosened"]:
            click.echo(f"  promises less than the one before: {', '.join(one['loosened'])}")


def _reach(one: dict[str, Any]) -> str:
    return f"window {one['window']}" if one["horizon"] is None else f"horizon {one['horizon']}"


def _print_changes(changes: list[dict[str, Any]], earlier: int, later: int) -> None:
    from recloak._report.formats import plural

    for row in changes:
        why = "" if row["reason"] is None else f" ({row['reason']})"
        click.echo(f"list of {printable(row['item'])}: {printable(row['related'])} {row['change']}{why}")
    click.echo(f"{plural(len(changes), 'change')} between release {earlier} and {later}.")
