"""Open a release for an auditor: verify it, then read it with its private folder beside it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from recloak._core.errors import InputError, OptionError, RefusedError, SourceError
from recloak._releases.folder_checks import ACCOUNT, MAPPING, private_beside
from recloak._releases.model.release_format import MANIFEST
from recloak._releases.options import WriteOptions

if TYPE_CHECKING:
    import polars as pl

    from recloak._attacks.public_view import ReleaseView
    from recloak._library.sources import PathLike
    from recloak._ratings.model import Ratings
    from recloak._releases.release import Release

    ReleaseLike: TypeAlias = "PathLike | Release"


def folder_of(release: ReleaseLike) -> Path | None:
    """Return the folder that a release lies in, None for one in memory."""
    return Path(release) if isinstance(release, str | os.PathLike) else release.folder


def private_of(release: ReleaseLike, private: PathLike | None) -> Path | None:
    """Return the private folder: the one named, or the one that publishing made; None for a release in memory."""
    if private is not None:
        return Path(private)
    if isinstance(release, str | os.PathLike):
        return private_beside(Path(release))
    return release.private


def require_private(hidden: Path) -> None:
    """Raise for a private folder that does not say who is who."""
    if not (hidden / MAPPING).exists():
        raise SourceError(f"there is no {MAPPING}: not the private folder of a release", file=hidden)


def mapping_path(folder: Path, private: PathLike | None) -> Path | None:
    """Return where who is who lies; None where no folder was named and there is none beside the release."""
    hidden = private_beside(folder) if private is None else Path(private)
    if private is None and not (hidden / MAPPING).exists():
        return None
    require_private(hidden)
    return hidden / MAPPING


def mapping_of(folder: Path, private: PathLike | None) -> pl.DataFrame | None:
    """Read who is who from a private folder, where there is one."""
    import polars as pl

    path = mapping_path(folder, private)
    return None if path is None else pl.read_parquet(path)


@contextmanager
def written_aside(release: ReleaseLike) -> Iterator[tuple[Path, Path | None]]:
    """Yield the public and the private folder of a release; one in memory is written to folders thrown away."""
    folder = folder_of(release)
    if folder is not None:
        yield folder, None if isinstance(release, str | os.PathLike) else release.private
        return
    from recloak._core.files import scratch_folder
    from recloak._releases.release_folders import write_private, write_public

    assert not isinstance(release, str | os.PathLike)
    with scratch_folder(Path(tempfile.gettempdir()) / "recloak-release") as scratch:
        public, hidden = scratch / "public", scratch / "private"
        public.mkdir()
        hidden.mkdir()
        write_public(release, public, WriteOptions().layout_of(release.facts.mode), "parquet")
        write_private(release, hidden, {})
        yield public, hidden


def open_release(release: ReleaseLike, private: PathLike | None, ratings: Ratings) -> ReleaseView:
    """Read a release of ``ratings``; raise for one that does not keep its promise or was changed."""
    from recloak._attacks.public_view import see_release
    from recloak._releases.verifier import verify

    with written_aside(release) as (folder, hidden):
        if not (folder / MANIFEST).is_file():
            raise SourceError(f"there is no {MANIFEST}: not a release folder", file=folder)
        named = hidden if private is None else Path(private)
        original = ratings if _claims_cap(folder) else None
        verdict = verify(folder, original=original, mapping=mapping_of(folder, named))
        if not verdict.passed:
            raise RefusedError(f"{folder}: the release does not pass recloak verify: {verdict.problems[0]}")
        return see_release(folder, named or private_beside(folder), ratings)


def _claims_cap(folder: Path) -> bool:
    """Return whether a release says that it caps links: only then is it held against the source."""
    try:
        return json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("max_link") is not None
    except (ValueError, AttributeError):
        return False  # the verifier says what is wrong


def open_second(
    second: ReleaseLike | None, second_private: PathLike | None, again: bool, first: ReleaseLike,
    first_private: PathLike | None, ratings: Ratings,
) -> ReleaseView | None:  # fmt: skip
    """Read the second release, or make one of the same people with another seed; None where none is wanted."""
    if again and second is not None:
        raise OptionError("again=True makes a second release itself; leave second=... out or leave again=True out")
    if second is not None:
        return open_release(second, second_private, ratings)
    return publish_again(_account(first, first_private), ratings) if again else None


def publish_again(account: dict[str, Any], ratings: Ratings) -> ReleaseView:
    """Publish the same people with the same options and a seed of the system's choice, and read what came of it."""
    from recloak._evaluation.trial_release import publish_aside
    from recloak._releases.options import PadOptions, PublishOptions

    padding = account.get("padding", {})
    if "padder" in padding:
        raise InputError("the release was padded by a function of its maker's own, so it cannot be made again here")
    options = PublishOptions.from_mapping(account.get("options", {}))
    return publish_aside(ratings, options, pad_options=PadOptions.from_mapping(padding))


def _account(release: ReleaseLike, private: PathLike | None) -> dict[str, Any]:
    """Return the account of how a release was made: from its private folder, or from memory."""
    hidden = private_of(release, private)
    if hidden is None:
        assert not isinstance(release, str | os.PathLike)
        return release.account
    if not (hidden / ACCOUNT).is_file():
        raise SourceError(f"there is no {ACCOUNT}: not the private folder of a release", file=hidden)
    account: dict[str, Any] = json.loads((hidden / ACCOUNT).read_text())
    return account
