"""What the commands about related-item lists share: the window, the store, the source, findings as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import gather, options_of
from recloak._cli.path_types import NEW_STORE, SOURCE, STORE
from recloak._related.options import BoundOptions

if TYPE_CHECKING:
    from recloak._ratings.ids import IdMap
    from recloak._ratings.model import Ratings
    from recloak._related.verifier import Finding, HistoryVerdict


class _Window(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number of releases, or ``all``."""

    name = "N|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Take a number or the word."""
        if value == "all" or isinstance(value, int):
            return value
        if not str(value).isdigit():
            self.fail(f"a window is a number of releases or all, got {value!r}", param, ctx)
        return int(value)


class _Moment(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A time in whole seconds since 1970, or a date or moment as people write them (UTC unless a zone is named)."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Take seconds as they are, and read anything else; a date alone is its first second."""
        try:
            return int(value)
        except ValueError:
            pass
        from recloak._ratings.readers.times import seconds_of

        seconds = seconds_of(value)
        if seconds is None:
            self.fail(f"a time is whole seconds since 1970 or a date such as 2005-12-31 or 2005-12-31T23:59:59, "
                      f"got {value!r}", param, ctx)  # fmt: skip
        return seconds


MOMENT = _Moment()


def bound_options(function: Any) -> Any:
    """Give a command the flags of the bound; `bound_of` makes the value."""
    return options_of(BoundOptions, leave_out=("window",))(_window(" [default: 4]")(function))


def claimed_bound_options(function: Any) -> Any:
    """Give a command the flags of a bound that is by default the one of the last release."""
    return options_of(BoundOptions, leave_out=("window",), with_defaults=False)(_window("")(function))


def _window(default: str) -> Any:
    text = f"Releases that an observer compares; all: every one.{default}"
    return click.option("--window", type=_Window(), metavar="N|all", help=text)


def bound_of(given: dict[str, Any], before: BoundOptions | None = None) -> BoundOptions:
    """Make the bound from a command's flags; what is not given is taken from ``before``."""
    start = {} if before is None else before.to_mapping()
    named = {name: value for name, value in given.items() if name in BoundOptions().to_mapping() and value is not None}
    if named.get("window") == "all":
        named["window"] = None
    return BoundOptions.from_mapping({**start, **named})


store_argument = click.argument("store", type=STORE)
new_store_argument = click.argument("store", type=NEW_STORE)
source_argument = click.argument("source", nargs=-1, required=True, type=SOURCE)


def ratings_of(source: tuple[str, ...], given: dict[str, Any]) -> Ratings:
    """Read the ratings of a command's source."""
    from recloak._ratings.options import ReadOptions
    from recloak._ratings.readers import read

    return read(source, options=gather(ReadOptions, given))


def finding_json(finding: Finding, item_ids: IdMap) -> dict[str, Any]:
    """Give a finding with outside ids."""
    ids = item_ids.ids
    return {
        "earlier": finding.earlier,
        "later": finding.later,
        "item": ids[finding.target],
        "background": [ids[item] for item in finding.background],
        "above": finding.above,
        "below": finding.below,
        "breach": finding.breach,
        "base_rate": finding.base_rate,
        "lift": finding.lift,
    }


def verdict_json(verdict: HistoryVerdict, item_ids: IdMap) -> dict[str, Any]:
    """Give a verdict with outside ids."""
    return {
        "verdict": "pass" if verdict.passed else "fail",
        "delta": verdict.bound.delta,
        "window": "all" if verdict.bound.window is None else verdict.bound.window,
        "evidence": verdict.bound.evidence,
        "pairs_checked": verdict.n_pairs,
        "max_breach": verdict.max_breach,
        "worst": None if verdict.worst is None else finding_json(verdict.worst, item_ids),
        "not_measured": verdict.n_unknown,
        "violations": [finding_json(finding, item_ids) for finding in verdict.violations],
    }
