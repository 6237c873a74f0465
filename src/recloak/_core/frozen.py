"""What makes a value frozen all the way down: read-only arrays, and mappings that cannot be changed."""

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray


def make_read_only(*arrays: NDArray[Any] | None) -> None:
    """Make the arrays of a value read-only; whoever makes the value hands them over."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False


class FrozenDict(dict[str, Any]):
    """A mapping of plain values that JSON can write and nobody can change; mappings and lists inside are frozen too."""

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any] = {}) -> None:
        super().__init__({name: _frozen(value) for name, value in values.items()})

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping cannot be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return FrozenDict(value)
    return tuple(_frozen(one) for one in value) if isinstance(value, list | tuple) else value
