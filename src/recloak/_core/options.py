"""Options: one frozen value per step, each field with its text and its rule, written once.

A step's options are a frozen dataclass below `Options` whose fields are made with `option`. The command line takes its
flags, their texts and their defaults from the same fields, so that both always agree. Unknown names are refused.

    @dataclass(frozen=True, kw_only=True)
    class GroupOptions(Options):
        k: int = option(5, "size of the smallest group", at_least=2)
"""

import dataclasses
import math
import operator
import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from recloak._core.errors import OptionError
from recloak._core.spelling import did_you_mean


def option(
    default: Any = dataclasses.MISSING,
    text: str = "",
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    choices: Collection[Any] | None = None,
    flag: str | None = None,
    spark: bool | Collection[Any] = True,
) -> Any:
    """Declare one field of an options value.

    ``text`` is the sentence shown by ``--help``, to which choices that are values by name add their own texts. The
    bounds and choices are checked whenever a value is made. ``flag`` is the command-line name where it differs from the
    field's. ``spark`` says whether the Spark engine takes the option, or which of its values.
    """
    if isinstance(choices, Mapping):
        text = "; ".join(filter(None, (text, "; ".join(f"{name}: {kind.text}" for name, kind in choices.items()))))
    rules = {"at_least": at_least, "at_most": at_most, "above": above, "choices": choices}
    taken = spark if not isinstance(spark, bool) else None if spark else ()
    if choices is not None and taken is not None and set(taken) == set(choices):
        taken = None  # every choice is taken
    return field(default=default, metadata={"text": text, "flag": flag, "spark": taken, **rules})


def require_on_spark(name: str, value: Any, taken: Collection[Any] | None) -> None:
    """Raise OptionError unless the Spark engine takes a value; ``taken`` None stands for every value."""
    if taken is None or value is None or value in taken:
        return
    if not taken:
        raise OptionError(f"{name}=... does not go with engine='spark'")
    raise OptionError(f"{name} must be {' or '.join(map(str, taken))} with engine='spark', got {value!r}")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Base of every options value: checked when made, refusing unknown names, easy to store."""

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for declared in dataclasses.fields(self):
            value = _fitted(declared.name, getattr(self, declared.name), hints[declared.name])
            object.__setattr__(self, declared.name, value)
            _check(declared.name, value, declared.metadata)
        self.check()

    def check(self) -> None:
        """Raise OptionError if fields contradict each other; steps override this."""

    def require_spark(self) -> None:
        """Raise OptionError if an option is set that the Spark engine does not take."""
        for declared in dataclasses.fields(self):
            value = getattr(self, declared.name)
            if value != declared.default:
                require_on_spark(declared.name, value, declared.metadata["spark"])

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Return a value made from names and values; raise OptionError for a name that does not exist."""
        known = [declared.name for declared in dataclasses.fields(cls)]
        for name in values:
            if name not in known:
                hint = did_you_mean(name, known) or f"; there are: {', '.join(known)}"
                raise OptionError(f"there is no option {name!r}{hint}")
        return cls(**values)

    def to_mapping(self) -> dict[str, Any]:
        """Return names and values, ready for JSON; `from_mapping` takes them back."""
        return dataclasses.asdict(self)

    def replace(self, **changes: Any) -> Self:
        """Return the same options with some changed."""
        return type(self).from_mapping({**self.to_mapping(), **changes})


def whole_number(name: str, value: Any) -> int:
    """Return a whole number of any type, numpy's included; raise OptionError for anything else."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise OptionError(f"{name} must be a whole number, got {value!r}")


def _fitted(name: str, value: Any, hint: Any) -> Any:
    """Return the value as its annotated type, or refuse it; a list may stand for a tuple (JSON has no tuples)."""
    allowed = _plain_types(hint)
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()  # a number of numpy's, which is not imported here: help must stay quick
    if float in allowed and isinstance(value, int) and not isinstance(value, bool) and int not in allowed:
        return float(value)
    if tuple in allowed and isinstance(value, list):
        return tuple(value)
    wrong_bool = isinstance(value, bool) and bool not in allowed
    if wrong_bool or not isinstance(value, allowed):
        names = " or ".join("nothing" if kind is type(None) else kind.__name__ for kind in allowed)
        raise OptionError(f"{name} must be of type {names}, got {value!r}")
    return value


def _plain_types(hint: Any) -> tuple[type, ...]:
    """Return the classes of an annotation, for ``isinstance``."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return tuple(kind for part in typing.get_args(hint) for kind in _plain_types(part))
    return (origin or hint,)


def _check(name: str, value: Any, rules: Mapping[str, Any]) -> None:
    """Raise OptionError if a value breaks the rules of its field; None is allowed where the type allows it."""
    if value is None:
        return
    choices = rules.get("choices")
    if choices is not None and value not in choices:
        hint = did_you_mean(value, choices)
        raise OptionError(f"{name} must be one of {', '.join(map(str, choices))}, got {value!r}{hint}")
    if isinstance(value, float) and math.isnan(value):
        raise OptionError(f"{name} must be a number, got nan")
    low, high, above = rules.get("at_least"), rules.get("at_most"), rules.get("above")
    if low is not None and value < low:
        raise OptionError(f"{name} must be at least {low}, got {value}")
    if above is not None and value <= above:
        raise OptionError(f"{name} must be more than {above}, got {value}")
    if high is not None and value > high:
        raise OptionError(f"{name} must be at most {high}, got {value}")
