"""``recloak related verify``: the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import given_only, output_options, report, seed_option, source_of, source_options
from recloak._cli.engine import engine_options
from recloak._cli.related import _shared as shared
from recloak._core.terminal_text import printable

if TYPE_CHECKING:
    from recloak.related import HistoryVerdict


@click.command()
@shared.store_argument
@shared.source_argument
@shared.claimed_bound_options
@click.option("--residual", type=click.IntRange(min=2), help="Also sample what an observer learns who knows this many "
              "items of which only some moved.")  # fmt: skip
@seed_option
@engine_options
@source_options
@output_options
def command(store: str, source: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Check every release of STORE as it was shown, with its ledger and the ratings of SOURCE.

    Exact, and independent of the code that makes the lists. Every release is judged by the promise that held when it
    was published, or by the flags that are given. Exit code 0 for pass, 1 for fail.
    """
    from recloak import related

    verdict = related.verify(store, source_of(source, given), **given_only(given))
    report(verdict, _print, as_json=as_json)
    return 0 if verdict.passed else 1


def _print(verdict: HistoryVerdict) -> None:

    answer = verdict.to_json()
    reach = f"window {answer['window']}" if answer["horizon"] is None else f"horizon {answer['horizon']}"
    click.echo(
        f"{answer['verdict']}: {shared.surest(verdict)} ({answer['evidence']}, {reach}), entries resting on at least "
        f"{answer['min_support']} people."
    )
    _print_why_not(verdict)
    _print_looked(answer)
    for one in answer["violations"][:20]:
        click.echo(
            f"  releases {one['earlier']} and {one['later']}: item {printable(one['item'])} given "
            f"{', '.join(map(printable, one['background']))}: {one['above']}/{one['below']} = {one['breach']:.3f}, "
            f"{one['lift']:.1f} times the base rate"
        )
    for one in answer["unsupported"][:20]:
        click.echo(f"  release {one['release']}: {printable(one['related'])} in the list of {printable(one['item'])} "
                   f"rests on {one['co_raters']} people")  # fmt: skip
    if len(answer["violations"]) > 20:
        click.echo(f"  and {len(answer['violations']) - 20} more (--json lists all)")
    if "residual" in answer:
        one = answer["residual"]
        least = "" if one["exact"] else " at least (further items were chosen greedily)"
        click.echo(
            f"Whoever also knows items whose lists did not move ({one['known']} items in all): above delta in "
            f"{one['above_delta']['rate']:.1%} of {one['above_delta']['n']} sampled moves, "
            f"at worst {one['max_breach']:.3f}{least}."
        )


def _print_why_not(verdict: HistoryVerdict) -> None:
    """Say why a check that found nothing wrong is no pass."""
    if verdict.unpromising:
        numbers = ", ".join(map(str, verdict.unpromising[:20]))
        click.echo(f"Nothing was promised (release {numbers}): with delta 1 everything may be inferred, and with a "
                   "support of 1 an entry may point at one person. There was nothing to prove.")  # fmt: skip
    elif not verdict.n_entries:
        click.echo("Nothing was checked: no release has a list.")


def _print_looked(answer: dict[str, Any]) -> None:
    """Say what was looked at, and what was not."""
    from recloak._report.formats import plural

    pairs = answer["pairs_checked"]
    compared = f"{plural(pairs, 'pair')} of a start and a later release" if pairs else "no two releases to compare"
    click.echo(f"Looked at: {plural(answer['releases_checked'], 'release')}, {compared}.")
    if answer["releases_sealed"]:
        click.echo(f"Not looked at: {plural(answer['releases_sealed'], 'release')}, proved for the last time before "
                   "somebody was forgotten.")  # fmt: skip
    if "coverage" in answer:
        one = answer["coverage"]
        click.echo(
            f"The ratings hold {one['items']} of {one['items_of_history']} published items, {one['users']} of "
            f"{one['users_of_history']} users and {one['holdings']} of {one['holdings_of_history']} ratings seen."
        )
