"""Progress of long work, reported to a listener.

The library reports to the current listener and never prints; without one it is silent, except in a notebook, where the
outermost task shows bars by itself. The command line listens with rich bars when standard error is a terminal. Every
tick is also a moment to stop (`_core.stopping`).
"""

import builtins
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from recloak._core import stopping

Advance = Callable[[float], None]


class Listener(Protocol):
    """Takes the start of a task and gives a function to advance it and one to end it."""

    def start(self, label: str, total: float | None) -> tuple[Advance, Callable[[], None]]:
        """Begin a task of ``total`` steps (None: not known)."""
        ...


_listener: ContextVar[Listener | None] = ContextVar("recloak_progress", default=None)


def _ignore(_: float = 1) -> None:
    """Advance nothing, since there is no listener."""
    stopping.check()


@contextmanager
def task(label: str, total: float | None = None) -> Iterator[Advance]:
    """Report one task: ``with task("padding", 10) as advance: ... advance(1)``."""
    stopping.check()
    listener = _listener.get()
    if listener is None and (bars := _bars() if in_notebook() else None) is not None:
        with bars, listening(_Bars(bars)), task(label, total) as tell:
            yield tell
        return
    if listener is None:
        yield _ignore
        return
    step, end = listener.start(label, total)

    def advance(n: float = 1) -> None:
        stopping.check()
        step(n)

    try:
        yield advance
    finally:
        end()


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Send the progress of everything inside to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress() -> Iterator[None]:
    """Show the progress of everything inside: bars with the time left, on a terminal or in a notebook.

    Where standard error is neither, nothing is shown. In a notebook the bars appear without asking for them.

    Examples
    --------
    >>> import recloak
    >>> with recloak.progress():
    ...     ratings = recloak.synth(users=30, items=20, ratings=200, seed=1)
    """
    bars = _bars()
    if bars is None:
        yield
        return
    with bars, listening(_Bars(bars)):
        yield


def _bars() -> Any:
    """Return rich bars, or None where nobody could see them."""
    from rich.console import Console  # noqa: PLC0415 (only long work that is shown pays for rich)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415 (likewise)

    console = Console(stderr=True)
    if not console.is_terminal and not (console.is_jupyter and importlib.util.find_spec("ipywidgets")):
        return None
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True)


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    if not hasattr(builtins, "get_ipython"):  # IPython puts it there, so that plain scripts do not pay for rich
        return False
    from rich.console import Console  # noqa: PLC0415 (likewise)

    return Console(stderr=True).is_jupyter


class _Bars:
    """Listens with rich bars."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars

    def start(self, label: str, total: float | None) -> tuple[Advance, Callable[[], None]]:
        bars = self._bars
        number = bars.add_task(label, total=total)
        return (lambda n=1: bars.advance(number, n)), (lambda: bars.remove_task(number))
