"""A limit on memory (``ulimit -v``): the run ends with one sentence, whatever library was refused memory first.

Compiled libraries abort, exit or stop answering where Python would raise MemoryError, so under a limit the command runs
in a process of its own and this one tells how it ended. Without a limit nothing is done.
"""

import ctypes
import os
import resource
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import click

SENTENCE = "there is not enough memory for this source"
_LEAST = 4 << 30  # bytes of addresses that the libraries and their threads reserve before anything is read
_NO_MEMORY = 2
_DONE = b"."
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_HARMLESS = {"-h", "--help", "--version"}


class _Report:
    """The end of the pipe by which the command says that it ended by itself."""

    writer: int | None = None


def watch(arguments: Sequence[str]) -> None:
    """Go on in a child process if memory is limited, and leave this one as the child ends."""
    limit, data = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    if limit == data == resource.RLIM_INFINITY or not _HARMLESS.isdisjoint(arguments) or not arguments:
        return
    if limit != resource.RLIM_INFINITY and limit < _LEAST:
        click.echo(f"recloak: {SENTENCE}: the limit of {limit / 1e9:.1f} GB is below the least of 4.3 GB", err=True)
        os._exit(_NO_MEMORY)
    reader, _Report.writer = os.pipe()
    child = os.fork()
    if child:
        os.close(_Report.writer)
        os._exit(_end_of(child, reader))
    os.close(reader)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def ended() -> None:
    """Say that the command ended by itself, with a code of its own."""
    if _Report.writer is not None:
        os.write(_Report.writer, _DONE)


def _end_of(child: int, reader: int) -> int:
    """Wait for the child, hand signals on to it, and return the exit code; print the sentence if it broke down."""

    def hand_on(number: int, _: FrameType | None) -> None:
        os.kill(child, number)

    signal.signal(signal.SIGTERM, hand_on)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to both
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if os.read(reader, 1) == _DONE:
        return code
    _remove_partial(child)
    click.echo(f"recloak: {SENTENCE}", err=True)
    return _NO_MEMORY


def _remove_partial(child: int) -> None:
    """Remove what the child was about to write: it bears its number, beside a path of the command line."""
    for folder in {Path(argument).absolute().parent for argument in sys.argv[1:]}:
        for path in folder.glob(f".*.{child}-*.partial") if folder.is_dir() else ():
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
