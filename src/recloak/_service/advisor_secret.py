"""The secret by which the advisor draws its crowd: made once, kept beside the tokens, the same for every worker.

Another secret would draw another crowd, and whoever asks before and after learns about the people of both; so the file
must outlive restarts and move with the token store.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from recloak._core.errors import InputError
from recloak._service.private_files import require_private

_BYTES = 32


def crowd_secret(store: str | Path) -> bytes:
    """Give the secret of the service whose tokens are in ``store``; the first to ask makes it."""
    file = Path(f"{store}.crowd")
    try:
        if not file.exists():
            _make(file)
    except OSError as error:
        raise InputError(f"{file}: the crowd's secret cannot be written: {error.strerror}") from error
    require_private(file)
    found = file.read_bytes()
    if len(found) != _BYTES:
        raise InputError(f"{file}: a crowd's secret has {_BYTES} bytes, got {len(found)}")
    return found


def _make(file: Path) -> None:
    """Make it whole at once and readable by its owner only; of makers at the same time one wins."""
    with tempfile.TemporaryDirectory(dir=file.absolute().parent, prefix=f".{file.name}.") as folder:
        aside = Path(folder) / "crowd"
        with os.fdopen(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as open_file:
            open_file.write(secrets.token_bytes(_BYTES))
            open_file.flush()
            os.fsync(open_file.fileno())
        with suppress(FileExistsError):
            os.link(aside, file)
