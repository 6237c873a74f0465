"""``--engine``: the same work on this machine or on a Spark cluster."""

from collections.abc import Collection
from typing import Any, TypeVar

import click

from recloak._core.options import require_on_spark
from recloak._library.engines import ENGINES

F = TypeVar("F")


class LocalOption(click.Option):
    """An option that ``--engine spark`` does not take, or of which it takes some values only."""

    def __init__(self, *args: Any, taken: Collection[Any] = (), **kwargs: Any) -> None:
        self.taken = taken
        limit = f"With --engine spark: {', '.join(map(str, taken))}." if taken else "Not with --engine spark."
        text, gap, default = kwargs["help"].partition("  [default")
        told = {"default": None, **kwargs, "help": f"{text} {limit}{gap}{default}"}  # None: not given, in any click
        super().__init__(*args, **told)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the value; raise OptionError if Spark is asked for and does not take it."""
        value = super().process_value(ctx, value)
        if ctx.params.get("engine") == "spark":  # already known, since the engine is an eager option
            require_on_spark(str(self.name), value, self.taken)
        return value


def engine_options(function: F) -> F:
    """Add the flags of the engine to a command; the library's functions take them as keywords."""
    for option in (
        click.option(
            "--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark; may be given several times."
        ),
        click.option("--master", metavar="URL", help="Spark's master, such as spark://host:7077, yarn or local[4]."),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            default="local",
            show_default=True,
            help="Where the work is done.",
            is_eager=True,  # paths are checked on this machine only if it reads them
        ),
    ):
        function = option(function)  # type: ignore[type-var]
    return function
