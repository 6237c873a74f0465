"""SIGINT (Ctrl-C) and SIGTERM: the run deletes its temporary files, says so, and exits with 130.

The first signal interrupts the main thread as soon as it returns from compiled code, or at the next check
(`_core.stopping`). The second ends the process at once, whatever the main thread is doing: Python's handlers run in the
main thread only, so a thread of its own is told of every signal.
"""

import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import Any, NoReturn

import click

from recloak._cli import memory_limit
from recloak._core import files, stopping

INTERRUPTED = 130
STOPPED = "stopped; nothing was left half-written"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_GRACE = 0.3  # seconds that a run may still take to exit by itself after the second signal


def listen() -> None:
    """Handle both signals from now on, except those that the parent process ignores, as nohup does."""
    sys.unraisablehook = _ignore_interrupts
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.detach(), warn_on_full_buffer=False)
    threading.Thread(target=_await_second, args=(reader,), name="signals", daemon=True).start()


def leave(code: int) -> NoReturn:
    """Exit with a code, ignoring late signals; an interrupted run does not wait for threads that still compute."""
    memory_limit.ended()
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if code == INTERRUPTED:
        files.clear_away()
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _stop(*_: Any) -> None:
    stopping.ask()


def _await_second(reader: socket.socket) -> None:
    """Exit at the second signal; signals that a server handles itself do not count."""
    n = 0
    while n < 2:
        n += sum(number in _SIGNALS and signal.getsignal(number) is _stop for number in reader.recv(1))
    time.sleep(_GRACE)
    with files.moving:
        files.clear_away()
        click.echo(f"recloak: {STOPPED}", err=True)
        memory_limit.ended()
        os._exit(INTERRUPTED)


def _ignore_interrupts(unraisable: Any) -> None:
    """Print an exception that could not be raised, unless it is an interruption, which `_core.stopping` remembers."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
