"""Arguments of `recloak.related` as callers write them: a history, a bound, a time."""

import operator
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any, Literal

from recloak._core.errors import OptionError
from recloak._ratings.times import seconds_of
from recloak._related.history import History
from recloak._related.options import ALL_RELEASES, BoundOptions

_PAPER_WINDOW = 4
Window = int | Literal["all"]
HistoryLike = History | str | os.PathLike[str]
Moment = int | str | date


@contextmanager
def opened(history: HistoryLike, *, create: bool = False) -> Iterator[History]:
    """Yield an open history, or open and close one."""
    if isinstance(history, History):
        yield history
    elif not isinstance(history, str | os.PathLike):
        raise OptionError(f"a history must be a recloak.related.History, a file or an address, got {history!r}")
    else:
        with History(history, create=create) as opened_here:
            yield opened_here


def bound_of(window: Window | None, *, literal: bool = False, **named: Any) -> BoundOptions:
    """Return a bound; a window is a number of releases, ``"all"``, or None for a horizon.

    The paper's literal method knows no horizon, so its own window of 4 releases stands where none is given.
    """
    window = _PAPER_WINDOW if literal and window is None else window
    if isinstance(window, str) and window != "all":
        raise OptionError(f"window must be a number of releases or 'all', got {window!r}")
    return BoundOptions(window=ALL_RELEASES if window == "all" else window, **named)


def as_seconds(moment: Moment) -> int:
    """Return a time in whole seconds since 1970; a date alone is its first second, in UTC unless a zone is named."""
    try:
        return int(moment) if isinstance(moment, str) else operator.index(moment)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        pass
    seconds = seconds_of(str(moment))
    if seconds is None:
        raise OptionError(
            "a time is whole seconds since 1970 or a date such as 2005-12-31 or 2005-12-31T23:59:59, "
            f"got {str(moment)!r}"
        )
    return seconds
