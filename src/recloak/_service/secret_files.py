"""Files that only their owner may read, and the advisor's secret, which is one of them."""

import os
import secrets
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from recloak._core.errors import InputError

_SECRET_BYTES = 32


def require_private(file: Path) -> None:
    """Raise InputError if a file cannot be read, or if others than its owner may read or write it."""
    if not os.access(file, os.R_OK):
        raise InputError(f"{file}: whoever runs this may not read it")
    if file.stat().st_mode & 0o077:
        raise InputError(f"{file}: others than its owner may read or write it; first run: chmod 600 {file}")


def create_private(file: Path, fill: Callable[[Path], object]) -> None:
    """Create a file with mode 600 that appears only once ``fill`` has written it; an existing file is kept.

    Several processes may do this at the same time: unlike a rename, a link never replaces the file of another one.
    """
    with tempfile.TemporaryDirectory(dir=file.absolute().parent, prefix=f".{file.name}.") as folder:
        temporary = Path(folder) / "new"
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        fill(temporary)
        with suppress(FileExistsError):
            os.link(temporary, file)


def advisor_secret(store: str | Path) -> bytes:
    """Return the secret that selects the advisor's crowd, kept beside the token store and created on first use.

    With another secret the advisor would compare with other people, and whoever asks before and after the change learns
    about both groups. The file must therefore survive restarts and move with the token store.
    """
    file = Path(f"{store}.crowd")
    try:
        if not file.exists():
            create_private(file, _write_secret)
    except OSError as error:
        raise InputError(f"{file}: the crowd's secret cannot be written: {error.strerror}") from error
    require_private(file)
    secret = file.read_bytes()
    if len(secret) != _SECRET_BYTES:
        raise InputError(f"{file}: a crowd's secret has {_SECRET_BYTES} bytes, got {len(secret)}")
    return secret


def _write_secret(file: Path) -> None:
    with file.open("wb") as open_file:
        open_file.write(secrets.token_bytes(_SECRET_BYTES))
        open_file.flush()
        os.fsync(open_file.fileno())
