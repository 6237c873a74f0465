"""What it takes to do it again: versions and hashes; no times, no paths, so the same seed gives the same bytes."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from pathlib import Path

from recloak._core.files import sha256_of

_PACKAGES = ("recloak", "numpy", "numba", "polars")


def versions() -> str:
    """Name the versions of what did the work."""
    return ", ".join(
        [*(f"{name} {metadata.version(name)}" for name in _PACKAGES), f"Python {platform.python_version()}"]
    )


def source_hash(path: str | Path) -> str:
    """Give the SHA-256 of a file, or of the names and hashes of a folder's files in order of their names."""
    source = Path(path)
    if source.is_file():
        return sha256_of(source)
    digest = hashlib.sha256()
    for file in sorted(file for file in source.rglob("*") if file.is_file()):
        digest.update(f"{sha256_of(file)}  {file.relative_to(source).as_posix()}\n".encode())
    return digest.hexdigest()


def of_source(
    source: str | Path, folder: str | Path | None = None, probe: str | Path | None = None
) -> tuple[tuple[str, str], ...]:
    """Name a source, and where there are, a release and a probe, by their hashes, and the versions."""
    rows = [("SHA-256 of the source", source_hash(source))]
    if folder is not None:
        rows.append(("SHA-256 of the release's manifest", sha256_of(Path(folder) / "manifest.json")))
    if probe is not None:
        rows.append(("SHA-256 of the probe", source_hash(probe)))
    return (*rows, ("Versions", versions()))
