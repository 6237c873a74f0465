"""Checks of arguments that no options value holds: each raises OptionError with the name, the rule and the value."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from recloak._core.errors import OptionError
from recloak._core.options import whole_number


def several(name: str, given: Any, example: str) -> tuple[Any, ...]:
    """Return several values as a tuple; a text is one value, not its letters."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise OptionError(f"{name} must be several values, such as {example}, got {given!r}")
    return tuple(given)


def at_least(least: int, name: str, given: Any) -> int:
    """Return a whole number that is not below the least."""
    if (number := whole_number(name, given)) < least:
        raise OptionError(f"{name} must be at least {least}, got {given}")
    return number


def share(name: str, given: Any) -> float:
    """Return a number from 0 to 1."""
    if isinstance(given, bool) or not hasattr(given, "__float__") or not 0 <= float(given) <= 1:
        raise OptionError(f"{name} must be at least 0 and at most 1, got {given!r}")
    return float(given)


def as_path(name: str, given: Any) -> Path:
    """Return a path."""
    if not isinstance(given, str | os.PathLike):
        raise OptionError(f"{name} must be a path, got {type(given).__name__}")
    return Path(given)


def diversity_text(given: Any) -> str | None:
    """Return a diversity as ``B,L``; it may be given as text, as a `Diversity` or as the two numbers."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return ",".join("all" if one is None else str(one) for one in given)
    return None if given is None else str(given)
