"""A history, a window and a bound as callers of `recloak.related` write them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from recloak._core.errors import OptionError
from recloak._related.history import History
from recloak._related.options import BoundOptions

Window = int | Literal["all"]
HistoryLike = History | str | os.PathLike[str]


@contextmanager
def opened(history: HistoryLike, *, create: bool = False) -> Iterator[History]:
    """Yield an open history as it is, or open one for the block."""
    if isinstance(history, History):
        yield history
    else:
        with History(history, create=create) as found:
            yield found


def bound_of(window: Window, **named: Any) -> BoundOptions:
    """Return a bound whose window is a number of releases or ``"all"``."""
    if window is None or (isinstance(window, str) and window != "all"):
        raise OptionError(f"window must be a number of releases or 'all', got {window!r}")
    return BoundOptions(window=None if window == "all" else window, **named)
