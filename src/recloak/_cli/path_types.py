"""Paths on the command line, checked while it is parsed.

A wrong name is reported before anything heavy is imported, in the same sentence that the work would have failed with.
Each kind of path is a click type; the command gets a ``Path`` or the plain text.
"""

import functools
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from recloak._core.errors import InputError, OptionError, SourceError
from recloak._core.files import require_file_place, require_folder_place, require_parent

P = TypeVar("P", str, Path)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # two letters at least: C:/ is a folder
_MANIFEST = "manifest.json"
_STDIN = "-"


class PathType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A kind of path: converted by ``convert_to`` and checked by ``check``; a remote address is not checked."""

    name = "path"

    def __init__(
        self, convert_to: Callable[[str], Any], check: Callable[[Path], None], *, remote: bool = False
    ) -> None:
        self.convert_to, self.check, self.remote = convert_to, check, remote

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002 (click's signature)
        """Check a path, unless a cluster reads it, whose files this machine may not see."""
        elsewhere = self.remote and (_ADDRESS.match(str(value)) or (ctx and ctx.params.get("engine") == "spark"))
        if not elsewhere and not (ctx and ctx.resilient_parsing):
            self._check(Path(value), {} if ctx is None else ctx.params)
        return self.convert_to(value)

    def _check(self, path: Path, before: dict[str, Any]) -> None:
        """Check a path, and say so if it seems to have changed places with one named before it."""
        try:
            self.check(path)
        except InputError as error:
            named = [
                one for one in before.values() if isinstance(one, str | Path) and (Path(one) / _MANIFEST).is_file()
            ]
            if path.is_file() and named:
                raise InputError(f"{error}; the source comes first, then the release") from None
            raise


def _readable(path: Path) -> None:
    if str(path) == _STDIN:
        return
    if not path.exists():
        raise SourceError("there is no such file or folder", file=path)
    if not os.access(path, os.R_OK):
        raise SourceError("may not be read: permission denied", file=path)


def _table(path: Path) -> None:
    if path.is_dir() or (str(path) != _STDIN and not path.exists()):
        raise SourceError("there is no such file", file=path)
    _readable(path)


def _release(path: Path) -> None:
    _folder(path)
    _require_no_deeper(path)
    if not (path / _MANIFEST).is_file():
        raise SourceError(f"there is no {_MANIFEST}: not a release folder", file=path)


def _verifiable(path: Path) -> None:
    _folder(path)
    _require_no_deeper(path)


def _require_no_deeper(path: Path) -> None:
    """Raise InputError if a folder is no release but holds releases, so that one was named a folder too high."""
    if (path / _MANIFEST).exists():
        return
    found = sorted(str(one.parent) for one in path.glob(f"*/{_MANIFEST}"))
    if found:
        raise InputError(f"{path}: is no release, but holds {', '.join(found[:3])}; name the release itself")


def _folder(path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path}: there is no such folder")
    if not path.is_dir():
        of = f"; its folder is {path.parent}" if (path.parent / _MANIFEST).is_file() else ""
        raise InputError(f"{path}: is a file, not the folder of a release{of}")


def _store(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"{path}: there is no history store")


def _file_or_folder_place(path: Path) -> None:
    """Check a path that becomes a file or a folder; synthetic data never replace an existing file."""
    if path.is_dir() or not path.suffix:
        require_folder_place(path)
    elif path.exists():
        raise InputError(f"{path}: the file exists; choose another or remove it first")
    else:
        require_parent(path)


SOURCE = PathType(str, _readable, remote=True)
SOURCE_PATH = PathType(Path, _readable, remote=True)
TABLE = PathType(str, _table)
RELEASE = PathType(Path, _release)
FOLDER = PathType(Path, _verifiable)
PRIVATE_FOLDER = click.Path(path_type=Path)
STORE = PathType(str, _store, remote=True)
NEW_STORE = PathType(str, require_parent, remote=True)
NEW_TOKENS = PathType(str, require_parent)
NEW_FILE = PathType(Path, require_file_place)
NEW_FOLDER = PathType(Path, require_folder_place)
OWN_FOLDER = PathType(Path, functools.partial(require_folder_place, replace=True))
NEW_FILE_OR_FOLDER = PathType(Path, _file_or_folder_place)


def new_file(*endings: str) -> PathType:
    """Return the type of a file to write that ends in one of ``endings``, so that no source is overwritten."""

    def check(path: Path) -> None:
        if path.suffix not in endings:
            raise OptionError(f"--out must end in {' or '.join(endings)}, got {str(path)!r}")
        require_file_place(path)

    return PathType(Path, check)


PAGE = new_file(".html")


def require_distinct(out: Path | None, *sources: str | Path) -> None:
    """Raise OptionError if the output is one of the sources."""
    for source in sources:
        if out is not None and out.exists() and Path(source).exists() and out.samefile(source):
            raise OptionError(f"--out must not be the source itself, got {str(out)!r}")
