"""Files for their owner's eyes only."""

from __future__ import annotations

import os
from pathlib import Path

from recloak._core.errors import InputError


def require_private(file: Path) -> None:
    """Refuse a file that cannot be read, and one that others than its owner may read or write."""
    if not os.access(file, os.R_OK):
        raise InputError(f"{file}: whoever runs this may not read it")
    if file.stat().st_mode & 0o077:
        raise InputError(f"{file}: others than its owner may read or write it; first run: chmod 600 {file}")
