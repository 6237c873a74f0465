"""Versions and hashes that a page reports; no times and no paths, so that the same seed gives the same bytes."""

import hashlib
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from recloak._core.files import sha256_of

_PACKAGES = ("recloak", "numpy", "numba", "polars")


def versions() -> str:
    """Return the versions of the packages that did the work, and of Python."""
    packages = (f"{name} {metadata.version(name)}" for name in _PACKAGES)
    return ", ".join([*packages, f"Python {platform.python_version()}"])


def source_hash(path: str | Path) -> str:
    """Return the SHA-256 of a file, or of the names and hashes of a folder's files in order of their names."""
    source = Path(path)
    if source.is_file():
        return sha256_of(source)
    digest = hashlib.sha256()
    for file in sorted(file for file in source.rglob("*") if file.is_file()):
        digest.update(f"{sha256_of(file)}  {file.relative_to(source).as_posix()}\n".encode())
    return digest.hexdigest()


def hashes_of(paths: Sequence[str | Path], name: str) -> tuple[tuple[str, str], ...]:
    """Return a row with the hash of a source, or of each of several files by its name."""
    return ((f"SHA-256 of {name}", source_hash(paths[0])),) if len(paths) == 1 else hashes_by_name(paths)


def hashes_by_name(paths: Sequence[str | Path]) -> tuple[tuple[str, str], ...]:
    """Return a row with the hash of each file or folder by its name."""
    return tuple((f"SHA-256 of {Path(path).absolute().name}", source_hash(path)) for path in paths)


def manifest_hash(folder: str | Path | None) -> tuple[tuple[str, str], ...]:
    """Return a row with the hash of a release's manifest, or no row if the release is in no folder."""
    return () if folder is None else (("SHA-256 of the release's manifest", sha256_of(Path(folder) / "manifest.json")),)


def of_source(source: str | Path) -> tuple[tuple[str, str], ...]:
    """Return rows with the hash of a source and the versions."""
    return (*hashes_of([source], "the source"), ("Versions", versions()))
