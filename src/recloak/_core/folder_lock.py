"""One process at a time in a folder: a lock on the folder itself, which leaves no file and ends with the process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recloak._core.errors import InputError


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder; raise InputError if one is at work there."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InputError(f"{folder}: another run is at work in this folder; wait for it to end") from None
    finally:
        os.close(handle)
