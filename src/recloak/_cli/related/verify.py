"""``recloak related verify``: the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import given_only, output_options, report, seed_option, source_of, source_options
from recloak._cli.related import _shared as shared

if TYPE_CHECKING:
    from recloak.related import HistoryVerdict


@click.command()
@shared.store_argument
@shared.source_argument
@shared.claimed_bound_options
@click.option("--residual", type=click.IntRange(min=2), help="Also sample what an observer learns who knows this many "
              "items of which only some moved.")  # fmt: skip
@seed_option
@source_options
@output_options
def command(store: str, source: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Check every two releases of STORE that one window covers against the ratings of SOURCE.

    Exact, and independent of the code that makes the lists. What is not given of
    --delta, --evidence, --knowledge and --window is taken from the last release. Exit code 0 for pass, 1 for fail.
    """
    from recloak import related

    verdict = related.verify(store, source_of(source, given), **given_only(given))
    report(verdict, _print, as_json=as_json)
    return 0 if verdict.passed else 1


def _print(verdict: HistoryVerdict) -> None:
    from recloak._report.formats import plural

    answer = verdict.to_json()
    click.echo(
        f"{answer['verdict']}: largest breach {answer['max_breach']:.4f}, delta {answer['delta']} "
        f"({answer['evidence']}), {plural(answer['pairs_checked'], 'pair')} of releases, window {answer['window']}."
    )
    for one in answer["violations"][:20]:
        click.echo(
            f"  releases {one['earlier']} and {one['later']}: item {one['item']} given "
            f"{', '.join(map(str, one['background']))}: {one['above']}/{one['below']} = {one['breach']:.3f}, "
            f"{one['lift']:.1f} times the base rate"
        )
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
