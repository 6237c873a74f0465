"""A request to stop, remembered until it is heard.

Python raises KeyboardInterrupt wherever the main thread happens to be. Inside a callback (a finaliser, compiled code
that calls back) it is printed and lost, and the work goes on. The command line therefore notes the request here before
it raises, and long work asks `check`: at every tick of progress, before every share of compiled work, and before
anything is moved into place. The library installs no handler of signals: without the command line nothing is ever
noted, Ctrl-C does what Python does, and a check is a look at one name.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Request:
    """Whether anybody has asked."""

    asked = False


class _Holding(threading.local):
    """How many blocks of this thread let a request wait; only the main thread is ever interrupted."""

    n = 0


_request, _holding = _Request(), _Holding()


def begin() -> None:
    """Begin a run that nobody has asked to stop."""
    _request.asked, _holding.n = False, 0


def ask() -> None:
    """Note a request to stop, and raise it here and now unless it has to wait for a check."""
    _request.asked = True
    if not _holding.n:
        raise KeyboardInterrupt


def asked() -> bool:
    """Tell whether a stop has been asked for."""
    return _request.asked


def check() -> None:
    """Raise a request that has not been heard yet."""
    if _request.asked:
        raise KeyboardInterrupt


@contextmanager
def at_checks() -> Iterator[None]:
    """Let a request wait for the next check, where an interruption in the middle would leave things half done."""
    _holding.n += 1
    try:
        yield
    finally:
        _holding.n -= 1


def settle() -> None:
    """Let requests wait for a check from here to the end of the run: past the last one it is too late to stop."""
    _holding.n += 1
