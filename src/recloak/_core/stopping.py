"""A request to stop, remembered until the work checks for it.

Python raises KeyboardInterrupt wherever the main thread happens to be. Inside a callback (a finaliser, compiled code
that calls back) it is printed and lost, and the work goes on. The command line therefore notes the request here before
it raises, and long work asks `check`: at every tick of progress, before every share of compiled work, and before
anything is moved into place. The library installs no handler of signals: without the command line nothing is ever
noted, Ctrl-C does what Python does, and a check is a look at one name.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Request:
    """Whether a stop was requested."""

    asked = False


class _Holding(threading.local):
    """How many blocks of this thread hold requests back; only the main thread is ever interrupted."""

    n = 0


_request, _holding = _Request(), _Holding()


def begin() -> None:
    """Start a run, without a request to stop."""
    _request.asked, _holding.n = False, 0


def ask() -> None:
    """Note a request to stop, and raise KeyboardInterrupt unless it has to wait for a check."""
    _request.asked = True
    if not _holding.n:
        raise KeyboardInterrupt


def asked() -> bool:
    """Return whether a stop has been asked for."""
    return _request.asked


def check() -> None:
    """Raise KeyboardInterrupt if a stop was requested."""
    if _request.asked:
        raise KeyboardInterrupt


@contextmanager
def at_checks() -> Iterator[None]:
    """Hold requests back until the next check, where an interruption would leave things half done."""
    _holding.n += 1
    try:
        yield
    finally:
        _holding.n -= 1


def stop_at_checks_only() -> None:
    """Hold requests back until a check from here to the end of the run: after the last one it is too late."""
    _holding.n += 1
