"""What commands share: flags made from options classes, the source, ``--json``, ``--seed``, progress and output."""

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from recloak._cli.engine import LocalOption
from recloak._core.options import Options
from recloak._core.progress import progress

F = TypeVar("F", bound=Callable[..., Any])


def options_of(kind: type[Options], *, leave_out: tuple[str, ...] = (), with_defaults: bool = True) -> Callable[[F], F]:
    """Add one flag per field of an options class to a command; `gather` makes the value from them."""

    def decorate(function: F) -> F:
        hints = typing.get_type_hints(kind)
        for declared in reversed(dataclasses.fields(kind)):
            if declared.name not in leave_out:
                function = _flag(declared, hints[declared.name], with_default=with_defaults)(function)
        return function

    return decorate


def gather(kind: type[Options], given: dict[str, Any], **more: Any) -> Any:
    """Return an options value made from a command's arguments, with defaults for flags that were not given."""
    names = {declared.name for declared in dataclasses.fields(kind)}
    values = {name: value for name, value in given.items() if name in names and value is not None}
    return kind.from_mapping({**values, **more})


def source_options(function: F) -> F:
    """Add the flags that say how a source is read to a command."""
    from recloak._ratings.options import ReadOptions

    return options_of(ReadOptions)(function)


def source_of(paths: Any, given: dict[str, Any]) -> Any:
    """Remove the flags of `source_options` from a command's arguments; return the unread source, None for no paths."""
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
    short = (f"-{declared.name}",) if len(declared.name) == 1 else ()
    text = as_sentence(declared.metadata.get("text", ""))
    default = declared.default
    if _is(hint, bool):
        return click.option(name, declared.name, is_flag=True, default=None, help=text)
    is_shown = with_default and default not in (None, dataclasses.MISSING)
    shown = f"  [default: {_written(default)}]" if is_shown else ""
    taken = declared.metadata.get("spark")
    more: dict[str, Any] = {} if taken is None else {"cls": LocalOption, "taken": taken}
    return click.option(
        *short, name, declared.name, type=_click_type(declared, hint), default=None, help=text + shown, **more
    )


def _written(default: Any) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)


def as_sentence(text: str) -> str:
    """Return a text that starts with a capital and ends with a period, as click's own texts do."""
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
    """Return whether an annotation is a type, or that type or None."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return kind in typing.get_args(hint)
    return hint is kind


def emit_json(value: Any) -> None:
    """Print one JSON object on standard output."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def report(result: Any, show: Callable[[Any], object], *, as_json: bool, page: Path | None = None) -> None:
    """Write the result's page if asked for, and print the result as JSON or with ``show``."""
    if page is not None:
        result.write_page(page)
    if as_json:
        emit_json(result.to_json())
        return
    show(result)
    if page is not None:
        click.echo(f"Written to {page}.")


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
        """Return the step, or the word none."""
        if value == "none":
            return "none"
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor none", param, ctx)


_GRID_HELP = "Step of the published grid of labels, or none; by default chosen per mode."
grid_option = click.option("--grid", type=_Grid(), metavar="STEP|none", help=_GRID_HELP)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")
_SEED_HELP = "Makes the run repeatable; without it the system draws a secret one."
seed_option = click.option("--seed", type=click.IntRange(min=0), default=None, help=_SEED_HELP)
fixed_seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another one gives another run."
)


def output_options(function: F) -> F:
    """Add ``--json`` to a command, and show its progress on the terminal."""
    return json_option(with_progress(function))
