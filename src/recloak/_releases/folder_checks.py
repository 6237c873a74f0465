"""Where a release goes: the public folder and the private one, checked before any work, put into place together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recloak._core.errors import InputError
from recloak._core.files import Place, require_folder_place, written_folders
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
