"""What every command shares: options taken from options values, ``--json``, ``--seed``, the source, progress."""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from recloak._cli.engine import LocalOption
from recloak._core.options import Options
from recloak._core.progress import progress

F = TypeVar("F", bound=Callable[..., Any])


def options_of(kind: type[Options], *, leave_out: tuple[str, ...] = (), with_defaults: bool = True) -> Callable[[F], F]:
    """Give a command one flag per field of an options value; `gather` makes the value from them."""

    def decorate(function: F) -> F:
        hints = typing.get_type_hints(kind)
        for declared in reversed(dataclasses.fields(kind)):
            if declared.name not in leave_out:
                function = _flag(declared, hints[declared.name], with_default=with_defaults)(function)
        return function

    return decorate


def gather(kind: type[Options], given: dict[str, Any], **more: Any) -> Any:
    """Make an options value from a command's arguments, leaving defaults where a flag was not given."""
    names = {declared.name for declared in dataclasses.fields(kind)}
    values = {name: value for name, value in given.items() if name in names and value is not None}
    return kind.from_mapping({**values, **more})


def source_options(function: F) -> F:
    """Give a command the flags that say how a source is read; ``gather(ReadOptions, arguments)`` makes the value."""
    from recloak._ratings.options import ReadOptions

    return options_of(ReadOptions)(function)


def source_of(paths: Any, given: dict[str, Any]) -> Any:
    """Take the flags of `source_options` out of a command's arguments; return the source unread, None for no paths."""
    from recloak._library.sources import Source
    from recloak._ratings.options import ReadOptions

    reading = gather(ReadOptions, given)
    for name in reading.to_mapping():
        del given[name]
    return None if paths is None else Source(paths, **reading.to_mapping())


def given_only(given: dict[str, Any]) -> dict[str, Any]:
    """Return the flags that were given, as keywords for a function of the library, whose defaults hold for the rest."""
    return {name: value for name, value in given.items() if value is not None}


def _flag(declared: dataclasses.Field[Any], hint: Any, *, with_default: bool) -> Callable[[F], F]:
    name = declared.metadata.get("flag") or f"--{declared.name.replace('_', '-')}"
    text = as_sentence(declared.metadata.get("text", ""))
    default = declared.default
    if _is(hint, bool):
        return click.option(name, declared.name, is_flag=True, default=None, help=text)
    is_shown = with_default and default not in (None, dataclasses.MISSING)
    shown = f"  [default: {_written(default)}]" if is_shown else ""
    taken = declared.metadata.get("spark")
    more: dict[str, Any] = {} if taken is None else {"cls": LocalOption, "taken": taken}
    return click.option(name, declared.name, type=_click_type(declared, hint), default=None, help=text + shown, **more)


def _written(default: Any) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)


def as_sentence(text: str) -> str:
    """Begin a flag's text with a capital and end it with a period, as click's own texts do."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "]")) else f"{text}."


def _click_type(declared: dataclasses.Field[Any], hint: Any) -> Any:
    choices = declared.metadata.get("choices")
    if choices is not None and isinstance(next(iter(choices)), str):
        kind: Any = click.Choice(())
        kind.choices = choices  # not copied: installed packages may add names, which are looked for when needed
        return kind
    return next((kind for kind in (int, float) if _is(hint, kind)), str)


def _is(hint: Any, kind: type) -> bool:
    """Tell whether an annotation is a kind, or that kind or nothing."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return kind in typing.get_args(hint)
    return hint is kind


def emit_json(value: Any) -> None:
    """Print one JSON object on standard output."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def warnings_told() -> Iterator[None]:
    """Say each warning of the library on standard error as a sentence of the command line."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda told, *_, **__: click.echo(f"recloak: {told}", err=True)
        yield


def with_progress(function: F) -> F:
    """Show the progress of a command on the terminal."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with progress():
            return function(*args, **kwargs)

    return typing.cast("F", wrapped)


class _Grid(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A step, or the word none."""

    name = "STEP|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Read a step."""
        if value == "none":
            return "none"
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor none", param, ctx)


grid_option = click.option(
    "--grid",
    type=_Grid(),
    metavar="STEP|none",
    help="Step of the published grid of labels, or none; by default chosen per mode.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=None,
    help="Makes the run repeatable; without it the system draws a secret one.",
)
fixed_seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another one gives another run."
)
