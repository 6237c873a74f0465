"""``--engine``: the same work on this machine or on a Spark cluster."""

from __future__ import annotations

from typing import TypeVar

import click

from recloak._library.engines import ENGINES

F = TypeVar("F")


def engine_options(function: F) -> F:
    """Give a command the flags of the engine, which the library's functions take as keywords."""
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
