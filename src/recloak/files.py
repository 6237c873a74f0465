"""Writing so that nothing half-written is ever seen: write aside, flush to disk, then rename.

A kill at any moment leaves the old file or folder, or the complete new one, and at worst a hidden ``.NAME.*.partial``
beside it that the next run of the same command clears away.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recloak.errors import InputError

_PARTIAL = ".partial"


@contextmanager
def written_file(path: str | Path, *, mode: int = 0o644) -> Iterator[Path]:
    """Give a path to write to; it becomes ``path`` when the block ends well, and vanishes when it does not."""
    target = Path(path)
    require_file_place(target)
    aside = _aside(target)
    try:
        yield aside
        aside.chmod(mode)
        _flush(aside)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def written_folder(path: str | Path, *, mode: int = 0o755, replace: bool = False) -> Iterator[Path]:
    """Give a new folder to fill; it becomes ``path`` when the block ends well, and vanishes when it does not.

    An existing non-empty ``path`` is refused unless ``replace`` is set; then it is swapped out whole.
    """
    target = Path(path)
    require_folder_place(target, replace=replace)
    aside = _aside(target)
    try:
        aside.mkdir(mode=mode)
        aside.chmod(mode)
        yield aside
        for file in sorted(aside.rglob("*")):
            if file.is_file():
                _flush(file)
        _swap_in(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def scratch_folder(beside: str | Path) -> Iterator[Path]:
    """Give a hidden folder beside a target for work that only its owner may see; it vanishes when the block ends."""
    scratch = _aside(Path(beside))
    try:
        scratch.mkdir(mode=0o700)
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def sha256_of(path: str | Path) -> str:
    """Give the SHA-256 of a file's bytes in hexadecimal, reading it in blocks."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_file_place(target: Path) -> None:
    """Refuse a place where no file can be written, so that it shows before any work is done."""
    require_parent(target)
    if target.is_dir():
        raise InputError(f"{target}: is a folder, a file is to be written there")


def require_folder_place(target: Path, *, replace: bool = False) -> None:
    """Refuse a place where no new folder can be written; one that is not empty only goes with ``replace``."""
    require_parent(target)
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file, a folder is to be written there")
    if target.is_dir() and any(target.iterdir()) and not replace:
        raise InputError(f"{target}: the folder exists and is not empty; choose another or remove it first")


def require_parent(target: Path) -> None:
    """Refuse a place in a folder that is not there or may not be written into."""
    parent = target.absolute().parent
    if not parent.is_dir():
        raise InputError(f"{target}: there is no folder {parent} to write into")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{target}: the folder {parent} may not be written into: permission denied")


def _aside(target: Path) -> Path:
    """Name a hidden neighbour of the target, clearing away what a killed run left there."""
    parent = target.absolute().parent
    name = target.absolute().name
    for stale in parent.glob(f".{name}.*{_PARTIAL}"):
        if _is_dead(stale):
            shutil.rmtree(stale, ignore_errors=True) if stale.is_dir() else stale.unlink(missing_ok=True)
    return parent / f".{name}.{os.getpid()}-{secrets.token_hex(3)}{_PARTIAL}"


def _is_dead(partial: Path) -> bool:
    """Tell whether the process that named this partial file has ended."""
    pid = partial.name.removesuffix(_PARTIAL).rsplit(".", 1)[-1].split("-")[0]
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _swap_in(aside: Path, target: Path) -> None:
    """Put the finished folder in place; an old one is moved away first and removed after."""
    if not target.exists():
        aside.rename(target)
        return
    old = _aside(target)
    target.rename(old)
    try:
        aside.rename(target)
    except BaseException:  # also Ctrl-C: nobody would look for the old one under its hidden name
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _flush(path: Path) -> None:
    """Ask the system to put a file's bytes on disk before it is renamed."""
    with suppress(OSError), path.open("rb") as file:
        os.fsync(file.fileno())
