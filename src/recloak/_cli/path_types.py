"""Paths on the command line, checked while it is parsed.

A wrong name is told before anything that does the work is imported, in the sentence the work would have ended with.
Each kind of path is a click type; a command declares which kind a parameter is and is given what it would have been
given by ``click.Path`` or plain text.
"""

from __future__ import annotations

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


class PathType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A path of one kind: made by ``make``, held against ``check``; an address is left to whoever opens it."""

    name = "path"

    def __init__(self, make: Callable[[str], Any], check: Callable[[Path], None], *, remote: bool = False) -> None:
        self.make, self.check, self.remote = make, check, remote

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002 (click's signature)
        """Check a path; what a cluster reads lies where this machine may not see it."""
        elsewhere = self.remote and (_ADDRESS.match(str(value)) or (ctx and ctx.params.get("engine") == "spark"))
        if not elsewhere and not (ctx and ctx.resilient_parsing):
            self.check(Path(value))
        return self.make(value)


def _readable(path: Path) -> None:
    if not path.exists():
        raise SourceError("there is no such file or folder", file=path)
    if not os.access(path, os.R_OK):
        raise SourceError("may not be read: permission denied", file=path)


def _table(path: Path) -> None:
    if not path.is_file():
        raise SourceError("there is no such file", file=path)
    _readable(path)


def _release(path: Path) -> None:
    _folder(path)
    if not (path / _MANIFEST).is_file():
        raise SourceError(f"there is no {_MANIFEST}: not a release folder", file=path)


def _folder(path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path}: there is no such folder")
    if not path.is_dir():
        raise InputError(f"{path}: is a file, not the folder of a release")


def _store(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"{path}: there is no history store")


def _file_or_folder_place(path: Path) -> None:
    """Check a place that becomes a file or a folder; made-up data never take the place of a file that is there."""
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
FOLDER = PathType(Path, _folder)
STORE = PathType(str, _store, remote=True)
NEW_STORE = PathType(str, require_parent, remote=True)
NEW_TOKENS = PathType(str, require_parent)
NEW_FILE = PathType(Path, require_file_place)
NEW_FOLDER = PathType(Path, require_folder_place)
OWN_FOLDER = PathType(Path, functools.partial(require_folder_place, replace=True))
NEW_FILE_OR_FOLDER = PathType(Path, _file_or_folder_place)


def new_file(*endings: str) -> PathType:
    """Give the type of a file to write whose name ends in one of ``endings``, so that no source is written over."""

    def check(path: Path) -> None:
        if path.suffix not in endings:
            raise OptionError(f"--out must end in {' or '.join(endings)}, got {str(path)!r}")
        require_file_place(path)

    return PathType(Path, check)


PAGE = new_file(".html")


def require_apart(out: Path | None, *sources: str | Path) -> None:
    """Refuse to write over what is read."""
    for source in sources:
        if out is not None and out.exists() and Path(source).exists() and out.samefile(source):
            raise OptionError(f"--out must not be the source itself, got {str(out)!r}")
