"""``recloak related history``: what was published, and what changed and why."""

from __future__ import annotations

from typing import Any

import click

from recloak._cli.common import emit_json, json_option
from recloak._cli.related._shared import store_argument


@click.command()
@store_argument
@click.option("--changes", nargs=2, type=click.IntRange(min=1), help="Two releases to compare, the earlier first.")
@json_option
def command(store: str, changes: tuple[int, int] | None, as_json: bool) -> None:
    """List the releases of STORE, or what changed between two of them and why.

    Why: an entry of the true list is missing (suppressed), stands elsewhere (permuted), or another stands in its place
    (replaced). This is for the operator; it says more than was published.
    """
    from recloak._related.changes import changed
    from recloak._related.history import opened, releases

    with opened(store) as history:
        known = releases(history)
        answer: dict[str, Any] = {"releases": [_release(one.number, one.time, one.settings) for one in known]}
        if changes is not None:
            answer = changed(history, *changes)
    if as_json:
        emit_json(answer)
    elif changes is None:
        from recloak._report.formats import day

        for one in answer["releases"]:
            click.echo(
                f"release {one['number']}  {day(one['time'])}  delta {one['delta']} ({one['evidence']}, window "
                f"{one['window']})  recall {one['recall']:.3f}  largest breach {one['max_breach']:.4f}"
            )
    else:
        for row in answer["changes"]:
            click.echo(f"list of {row['item']}: {row['related']} {row['change']}{_why(row['reason'])}")
        from recloak._report.formats import plural

        click.echo(f"{plural(len(answer['changes']), 'change')} between release {changes[0]} and {changes[1]}.")


def _release(number: int, time: int, settings: dict[str, Any]) -> dict[str, Any]:
    bound = settings["bound"]
    return {
        "number": number,
        "time": time,
        "delta": bound["delta"],
        "evidence": bound["evidence"],
        "window": "all" if bound["window"] is None else bound["window"],
        "method": settings["method"]["method"],
        "recall": settings["cost"]["recall"],
        "max_breach": settings["max_breach"],
    }


def _why(reason: str | None) -> str:
    return "" if reason is None else f" ({reason})"
