"""Ctrl-C and a polite kill: the run clears away what it wrote aside, says so, and leaves with 130.

The first signal interrupts the main thread as soon as it is back from compiled code, or at the next check
(`_core.stopping`). The second ends the process at once, whatever that thread is doing: a thread of its own hears of
every signal, for Python's handlers run in the main thread only.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import Any, NoReturn

import click

from recloak._core import files, stopping

INTERRUPTED = 130
STOPPED = "stopped; nothing was left half-written"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_GRACE = 0.3  # seconds that a run may still take to leave by itself when it is told twice


def listen() -> None:
    """Take both signals from here on, but none that whoever started us had ignored, such as nohup."""
    sys.unraisablehook = _pass_over
    for sign in _SIGNALS:
        if signal.getsignal(sign) is not signal.SIG_IGN:
            signal.signal(sign, _stop)
    heard, told = socket.socketpair()
    told.setblocking(False)
    signal.set_wakeup_fd(told.detach(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(heard,), name="signals", daemon=True).start()


def leave(code: int) -> NoReturn:
    """Leave with an exit code, deaf to late signals; an interrupted run waits for no thread that still computes."""
    for sign in _SIGNALS:
        signal.signal(sign, signal.SIG_IGN)
    if code == INTERRUPTED:
        files.clear_away()
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _stop(*_: Any) -> None:
    stopping.ask()


def _watch(heard: socket.socket) -> None:
    """Wait for the second signal; those that a server has taken over are its own."""
    n = 0
    while n < 2:
        n += sum(sign in _SIGNALS and signal.getsignal(sign) is _stop for sign in heard.recv(1))
    time.sleep(_GRACE)
    with files.moving:
        files.clear_away()
        click.echo(f"recloak: {STOPPED}", err=True)
        os._exit(INTERRUPTED)


def _pass_over(lost: Any) -> None:
    """Print what was raised where nobody could catch it, but no interruption: that one is remembered."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
