"""Where a release goes: the public folder and the private one, checked before any work, put into place together."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recloak._core.errors import InputError, SourceError
from recloak._core.files import Place, require_folder_name, require_folder_place, sha256_of, written_folders
from recloak._releases.model.release_format import MANIFEST

ACCOUNT = "account.json"
MAPPING = "mapping.parquet"


def private_beside(public: Path) -> Path:
    """Return the private folder that publishing makes by default: beside the public one, named as it was named."""
    named = public if public.name else public.absolute()
    return named.with_name(f"{named.name}-private")


def check_folders(folder: str | Path, private: str | Path | None) -> tuple[Path, Path]:
    """Return the public and the private folder; raise InputError if one cannot be written, before any work."""
    public = Path(folder)
    hidden = private_beside(public) if private is None else Path(private)
    outer, inner = public.resolve(), hidden.resolve()
    if outer == inner or outer in inner.parents or inner in outer.parents:
        raise InputError(f"{hidden}: the private folder must lie apart from the public folder {public}")
    require_folder_name(public)
    for target in (public, hidden):
        require_folder_place(target, replace=target == hidden and is_left_over(hidden, public))
    return public, hidden


@contextmanager
def both_or_none(public: Path, hidden: Path) -> Iterator[tuple[Path, Path]]:
    """Open both folders aside; when the block ends well, the private one goes into place, then the public one."""
    replaced = is_left_over(hidden, public)
    with written_folders(Place(hidden, 0o700, replaced), Place(public)) as (hidden_aside, aside):
        yield aside, hidden_aside


def is_left_over(hidden: Path, public: Path) -> bool:
    """Return whether a private folder was left by a run that was killed before its public one was in place.

    Only then may it be replaced: the account names its public folder, and that one is not there.
    """
    if (public / MANIFEST).exists() or not hidden.is_dir() or _names(hidden) != {ACCOUNT, MAPPING}:
        return False
    try:
        account = json.loads((hidden / ACCOUNT).read_text(encoding="utf-8"))
        return bool(account["release"]["folder"] == str(public.resolve()))
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def read_account(hidden: Path) -> dict[str, Any]:
    """Return the account in a private folder; raise SourceError where there is none."""
    if not (hidden / ACCOUNT).is_file():
        raise SourceError(f"there is no {ACCOUNT}: not the private folder of a release", file=hidden)
    try:
        account = json.loads((hidden / ACCOUNT).read_text(encoding="utf-8"))
    except ValueError:
        raise SourceError("is not JSON", file=hidden / ACCOUNT) from None
    if not isinstance(account, dict):
        raise SourceError("is not a JSON object", file=hidden / ACCOUNT)
    return account


def require_private_of(hidden: Path, public: Path) -> None:
    """Raise SourceError unless a private folder says who is who in the release that lies in ``public``.

    With the mapping of others every attack would be scored against the wrong people, and look harmless.
    """
    if not (hidden / MAPPING).exists():
        raise SourceError(f"there is no {MAPPING}: not the private folder of a release", file=hidden)
    about = read_account(hidden).get("release")
    about = about if isinstance(about, dict) else {}
    if about.get("manifest_sha256") != sha256_of(public / MANIFEST):
        raise SourceError(f"is the private folder of another release, or {public} was changed", file=hidden)
    if about.get("mapping_sha256", digest := mapping_digest(hidden)) != digest:  # older accounts do not have it
        raise SourceError(f"{MAPPING} was changed after the release was made", file=hidden)


def mapping_digest(hidden: Path) -> str:
    """Return the SHA-256 of who is who: of the file, or of the names and digests of its parts."""
    mapping = hidden / MAPPING
    if mapping.is_file():
        return sha256_of(mapping)
    parts = sorted(part for part in mapping.iterdir() if not part.name.startswith((".", "_")))
    return hashlib.sha256("".join(f"{part.name} {sha256_of(part)}\n" for part in parts).encode()).hexdigest()
