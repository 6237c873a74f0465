"""Writing so that nothing half-written is ever seen: write aside, flush to disk, then rename.

A kill at any moment leaves the old file or folder, or the complete new one, and at worst a hidden ``.NAME.*.partial``
beside it that the next run of the same command clears away. A request to stop (`_core.stopping`) is heard before
anything is moved into place and never in the middle of it.
"""

import hashlib
import os
import secrets
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from recloak._core import stopping
from recloak._core.errors import InputError

_PARTIAL = ".partial"

moving = threading.RLock()  # held while anything is moved into place, and by a thread that ends the process meanwhile
_asides: set[Path] = set()  # what this process has written aside and not yet moved or removed


@dataclass(frozen=True, slots=True)
class Place:
    """Where a new folder goes; one that is there and not empty is swapped out whole if ``replace`` is set."""

    path: Path
    mode: int = 0o755
    replace: bool = False


@contextmanager
def written_file(path: str | Path, *, mode: int = 0o644) -> Iterator[Path]:
    """Yield a path to write to; it becomes ``path`` when the block ends well, and vanishes when it does not."""
    target = Path(path)
    require_file_place(target)
    aside = _kept_aside(target)
    try:
        yield aside
        aside.chmod(mode)
        _flush(aside)
        stopping.check()
        with stopping.at_checks(), moving:
            aside.replace(target)
    finally:
        _remove(aside)


@contextmanager
def written_folder(path: str | Path, *, mode: int = 0o755, replace: bool = False) -> Iterator[Path]:
    """Yield a new folder to fill; it becomes ``path`` when the block ends well, and vanishes when it does not.

    An existing non-empty ``path`` is refused unless ``replace`` is set; then it is swapped out whole.
    """
    with written_folders(Place(Path(path), mode, replace)) as (aside,):
        yield aside


@contextmanager
def written_folders(*places: Place) -> Iterator[list[Path]]:
    """Yield new folders to fill; they go into place in the order given when the block ends well, or all vanish.

    Only a kill between two moves can leave the first ones without the last.
    """
    for place in places:
        require_folder_place(place.path, replace=place.replace)
    asides = [_kept_aside(place.path) for place in places]
    try:
        for aside, place in zip(asides, places, strict=True):
            aside.mkdir(mode=place.mode)
            aside.chmod(place.mode)
        yield asides
        for aside in asides:
            _flush_folder(aside)
        stopping.check()
        with stopping.at_checks(), moving:
            _move(asides, [place.path for place in places])
    finally:
        for aside in asides:
            _remove(aside)


@contextmanager
def scratch_folder(beside: str | Path) -> Iterator[Path]:
    """Yield a hidden folder beside a target for work that only its owner may see; it vanishes when the block ends."""
    scratch = _kept_aside(Path(beside))
    try:
        scratch.mkdir(mode=0o700)
        yield scratch
    finally:
        _remove(scratch)


def clear_away() -> None:
    """Remove whatever this process has still aside, for a run that ends in the middle."""
    for aside in tuple(_asides):
        _remove(aside)


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal, reading it in blocks."""
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


_FILE_ENDINGS = frozenset(
    ["csv", "gz", "html", "inter", "json", "jsonl", "parquet", "pdf", "tsv", "txt", "xlsx", "zip", "zst"]
)


def require_folder_name(target: Path) -> None:
    """Refuse a name that looks like that of a file where a new folder will be written."""
    ending = target.suffix.removeprefix(".").lower()
    if ending in _FILE_ENDINGS and not target.exists():
        raise InputError(
            f"{target}: this will be a folder of several files, and the name looks like one file; "
            f"choose a name such as {target.with_suffix('')}"
        )


def require_parent(target: Path) -> None:
    """Refuse a place in a folder that is not there or may not be written into."""
    parent = target.absolute().parent
    if not parent.is_dir():
        raise InputError(f"{target}: there is no folder {parent} to write into")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{target}: the folder {parent} may not be written into: permission denied")


def _kept_aside(target: Path) -> Path:
    """Name a hidden neighbour that is cleared away if the run ends in the middle."""
    aside = _aside(target)
    _asides.add(aside)
    return aside


def _aside(target: Path) -> Path:
    """Name a hidden neighbour of the target, clearing away what a killed run left there."""
    parent = target.absolute().parent
    name = target.absolute().name
    for stale in parent.glob(f".{name}.*{_PARTIAL}"):
        if _is_dead(stale):
            _remove(stale)
    return parent / f".{name}.{os.getpid()}-{secrets.token_hex(3)}{_PARTIAL}"


def _remove(aside: Path) -> None:
    """Remove what was written aside, if it is still there, to the end even if somebody asks to stop meanwhile."""
    with stopping.at_checks():
        if aside.is_dir():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.unlink(missing_ok=True)
        _asides.discard(aside)


def _is_dead(partial: Path) -> bool:
    """Return whether the process that named this partial file has ended."""
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


def _move(asides: Sequence[Path], targets: Sequence[Path]) -> None:
    """Put finished folders into place one after the other; where one cannot be, take back those before it."""
    moved: list[Path] = []
    try:
        for aside, target in zip(asides, targets, strict=True):
            _swap_in(aside, target)
            moved.append(target)
    except BaseException:
        for target in moved:
            shutil.rmtree(target, ignore_errors=True)
        raise


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
    _remove(old)


def _flush_folder(folder: Path) -> None:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            _flush(file)


def _flush(path: Path) -> None:
    """Ask the system to put a file's bytes on disk before it is renamed."""
    with suppress(OSError), path.open("rb") as file:
        os.fsync(file.fileno())
