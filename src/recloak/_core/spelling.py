"""Near misses: what somebody who misspelt a name probably meant."""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def did_you_mean(word: Any, known: Iterable[Any]) -> str:
    """Return the end of a sentence that names the nearest known word, or nothing where none is near."""
    near = difflib.get_close_matches(str(word), [str(one) for one in known], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def suggests_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a public function: the TypeError for a keyword that it does not have names the nearest one it has."""
    known = tuple(inspect.signature(function).parameters)

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        for name in kwargs:
            if name not in known:
                text = f"{function.__name__}() got an unexpected keyword argument {name!r}"
                raise TypeError(f"{text}{did_you_mean(name, known)}")
        return function(*args, **kwargs)

    return called
