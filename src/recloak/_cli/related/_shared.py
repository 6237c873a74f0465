"""What the commands about related-item lists share: the promise, times, the store and the source."""

from typing import Any

import click

from recloak._cli.common import options_of
from recloak._cli.path_types import NEW_FILE, NEW_STORE, SOURCE, STORE
from recloak._core.errors import OptionError
from recloak._related.options import BoundOptions


class _Window(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number of releases, or ``all``."""

    name = "N|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a number or the word all."""
        if value == "all" or isinstance(value, int):
            return value
        if not str(value).isdigit():
            self.fail(f"a window is a number of releases or all, got {value!r}", param, ctx)
        return int(value)


class _Moment(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A time in whole seconds since 1970, or a date or moment as people write them (UTC unless a zone is named)."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return seconds since 1970; a date alone is its first second."""
        from recloak._library.related_arguments import as_seconds

        try:
            return as_seconds(value)
        except OptionError as error:
            self.fail(str(error), param, ctx)


MOMENT = _Moment()


def bound_options(function: Any) -> Any:
    """Add the flags of the promise to a command."""
    return options_of(BoundOptions, leave_out=("window",))(_window(function))


def claimed_bound_options(function: Any) -> Any:
    """Add the flags of the promise to a command whose default is each release's own."""
    return options_of(BoundOptions, leave_out=("window",), with_defaults=False)(_window(function))


def _window(function: Any) -> Any:
    text = "The paper's literal bound instead of a horizon: releases that an observer compares; all: every one."
    return click.option("--window", type=_Window(), metavar="N|all", help=text)(function)


def surest(verdict: Any) -> str:
    """Return in words the surest inference that the observer of the promise can draw, beside what is allowed."""
    if not verdict.n_pairs:
        return "nothing to compare with yet"
    return f"surest inference {verdict.max_breach:.4f} of {verdict.bound.delta:g} allowed"


key_option = click.option(
    "--key", type=NEW_FILE, help="File of the key that knows who was forgotten, by default STORE.key beside the store."
)

store_argument = click.argument("store", type=STORE)
new_store_argument = click.argument("store", type=NEW_STORE)
source_argument = click.argument("source", nargs=-1, required=True, type=SOURCE)
