"""Progress of long work, reported to a listener.

The library reports to the current listener and never prints; without one it is silent. The command line installs a rich
bar with the time left when standard error is a terminal. Every tick is also a moment to stop (`_core.stopping`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

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
    if listener is None:
        yield _ignore
        return
    tell, end = listener.start(label, total)

    def advance(n: float = 1) -> None:
        stopping.check()
        tell(n)

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
def on_terminal() -> Iterator[None]:
    """Show progress bars on standard error if it is a terminal."""
    from rich.console import Console  # noqa: PLC0415 (only long work on a terminal pays for rich)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415 (likewise)

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    bars = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bars, listening(_Bars(bars)):
        yield


class _Bars:
    """Listens with rich bars."""

    def __init__(self, bars: object) -> None:
        self._bars = bars

    def start(self, label: str, total: float | None) -> tuple[Advance, Callable[[], None]]:
        bars = self._bars
        number = bars.add_task(label, total=total)  # type: ignore[attr-defined]
        return (lambda n=1: bars.advance(number, n)), (lambda: bars.remove_task(number))  # type: ignore[attr-defined,misc]
