"""``recloak related advise``: which delta and which horizon suit this data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import given_only, options_of, output_options, report, seed_option, source_of, source_options
from recloak._cli.path_types import PAGE
from recloak._cli.related._shared import source_argument
from recloak._related.options import MethodOptions, ProtocolOptions, SimilarityOptions

if TYPE_CHECKING:
    from recloak.related import ListAdvice


@click.command()
@source_argument
@click.option("--deltas", default="0.1,0.3", show_default=True, help="Deltas to try, with commas between.")
@click.option("--horizons", default="30d,all", show_default=True, help="Horizons to try, with commas between.")
@click.option(
    "--evidence", default="fresh", show_default=True, help="Meanings of the bound to try: fresh, total or both."
)
@click.option("--least-recall", type=click.FloatRange(0, 1), help="Recall to keep at least.  [default: 0.9]")
@click.option("--min-support", type=click.IntRange(min=1), help="Fewest people behind an entry.  [default: 5]")
@options_of(ProtocolOptions, leave_out=("gap",))
@click.option("--gap", type=float, default=10.0, show_default=True, help="Percent of the ratings between two releases.")
@options_of(MethodOptions, leave_out=("literal", "method"))
@options_of(SimilarityOptions, leave_out=("min_support",))
@click.option("-o", "--out", type=PAGE, help="Page to write (.html), with all ways on one chart.")
@seed_option
@source_options
@output_options
def command(
    source: tuple[str, ...], deltas: str, horizons: str, evidence: str, out: Path | None, as_json: bool, **given: Any
) -> None:
    """Recommend a delta and a horizon for SOURCE in one sentence, before anything is published.

    Replays the ratings as if lists had been published after the first 10 % (--initial) and then after every 10 %
    (--gap), under every delta and horizon, and attacks each with the learned observer of `related attack`. Beside them
    stand true lists, lists published every second or fourth night, lists held back, and lists from noisy counts.

    Recall is the share of the true lists that stays. Yield is the share of what people added that is inferred while at
    least so many of the inferences are right.
    """
    from recloak import related

    found = related.advise(
        source_of(source, given),
        deltas=_numbers(deltas),
        horizons=tuple(horizons.split(",")),
        evidence=tuple(evidence.split(",")),
        **given_only(given),
    )
    report(found, _print, as_json=as_json, page=out)


def _print(found: ListAdvice) -> None:
    click.echo(f"{'':18} {'':28} recall    last  yield: 50%     30%     20%     10% right")
    for one in (*found.settings, *found.others):
        yields = "".join(f"{each.yielded.rate:8.2%}" for each in one.observation.yields or ()) or "  not measured"
        click.echo(f"{one.way:18} {one.name:28} {one.recall:6.3f}  {one.last_recall:6.3f}    {yields}")
    click.echo(found.sentence)


def _numbers(text: str) -> tuple[float, ...]:
    from recloak._core.errors import OptionError

    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"deltas must be numbers with commas between, got {text!r}") from None
