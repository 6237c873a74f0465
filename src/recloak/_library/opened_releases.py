"""Open a release for an auditor: verify it, then read it with its private folder beside it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from recloak._core.errors import InputError, OptionError, RefusedError, SourceError
from recloak._library.arguments import as_path
from recloak._releases.folder_checks import MAPPING, private_beside, read_account, require_private_of
from recloak._releases.model.release_format import MANIFEST

if TYPE_CHECKING:
    import polars as pl

    from recloak._attacks.public_view import ReleaseView
    from recloak._library.sources import PathLike
    from recloak._ratings.model import Ratings
    from recloak._releases.release import Release

    ReleaseLike: TypeAlias = "PathLike | Release"


def folder_of(release: ReleaseLike) -> Path | None:
    """Return the folder that a release lies in, None for one in memory."""
    if isinstance(release, str | os.PathLike):
        return Path(release)
    if not hasattr(type(release), "facts"):
        raise OptionError(f"a release must be its folder or a recloak.Release, got {type(release).__name__}")
    return release.folder


def private_of(release: ReleaseLike, private: PathLike | None) -> Path | None:
    """Return the private folder: the one named, or the one that publishing made; None for a release in memory."""
    if private is not None:
        return as_path("private", private)
    if isinstance(release, str | os.PathLike):
        return private_beside(Path(release))
    return release.private


def require_folders(release: ReleaseLike, private: PathLike | None) -> None:
    """Raise for a release or a private folder that is not there, or that belong to different releases."""
    folder, hidden = folder_of(release), private_of(release, private)
    if folder is not None:
        _require_release(folder)
    if folder is not None and hidden is not None:
        require_private_of(hidden, folder)


def _require_release(folder: Path) -> None:
    if not folder.is_dir():
        raise SourceError("there is no such folder", file=folder)
    if not (folder / MANIFEST).is_file():
        raise SourceError(f"there is no {MANIFEST}: not a release folder", file=folder)


def mapping_path(folder: Path, private: PathLike | None) -> Path | None:
    """Return where who is who lies; None where no folder was named and there is none beside the release."""
    hidden = private_beside(folder) if private is None else as_path("private", private)
    if private is None and not (hidden / MAPPING).exists():
        return None
    require_private_of(hidden, folder)
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
    from recloak._releases.release_folders import about_release, write_private, write_public

    assert not isinstance(release, str | os.PathLike)
    with scratch_folder(Path(tempfile.gettempdir()) / "recloak-release") as scratch:
        public, hidden = scratch / "public", scratch / "private"
        public.mkdir()
        hidden.mkdir()
        layout = release.usual_layout
        release = release.named(layout)
        write_public(release, public, layout, "parquet")
        write_private(release, hidden, about_release(public, public, layout, "parquet"))
        yield public, hidden


def manifest_of(release: ReleaseLike) -> dict[str, Any]:
    """Return what a release says of itself: its manifest, or the same facts of one in memory."""
    if (folder := folder_of(release)) is not None:
        _require_release(folder)
        try:
            said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        except ValueError:
            raise SourceError("the manifest is not JSON", file=folder) from None
        if not isinstance(said, dict) or not {"mode", "scale"} <= set(said):
            raise SourceError("the manifest is not one of a release", file=folder)
        return said
    assert not isinstance(release, str | os.PathLike)
    facts = release.facts
    return {"values": facts.values, "mode": facts.mode, "scale": {"low": facts.scale.low, "high": facts.scale.high}}


def open_release(release: ReleaseLike, private: PathLike | None, ratings: Ratings) -> ReleaseView:
    """Read a release of ``ratings``; raise for one that does not keep its promise or was changed."""
    from recloak._attacks.public_view import see_release
    from recloak._releases.verifier import verify

    with written_aside(release) as (folder, hidden):
        _require_release(folder)
        named = hidden if private is None else Path(private)
        original = ratings.compact() if _claims_cap(folder) else None
        verdict = verify(folder, original=original, mapping=mapping_of(folder, named))
        if not verdict.passed:
            raise RefusedError(f"{folder}: the release does not pass recloak verify: {verdict.problems[0]}")
        view = see_release(folder, named or private_beside(folder), ratings)
        if different := other_counts(named or private_beside(folder), ratings):
            raise SourceError(different, file=folder)
        return view


def other_counts(hidden: Path, ratings: Ratings) -> str | None:
    """Return why a source is not the one that a private folder was made from, None if it can be."""
    told, source = read_account(hidden).get("counts", {}), ratings.compact()
    for name, word in (("n_users", "users"), ("n_items", "items"), ("n_ratings", "ratings")):
        if told.get(name, getattr(source, name)) != getattr(source, name):
            return f"the source is not this release's: it has {getattr(source, name)} {word}, not {told[name]}"
    return None


def _claims_cap(folder: Path) -> bool:
    """Return whether a release says that it caps links: only then is it compared with the source."""
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
        from recloak._attacks.event_views import values_seen

        return open_release(second, second_private, values_seen(ratings, manifest_of(second)))
    return publish_again(account_of(first, first_private), ratings) if again else None


def publish_again(account: dict[str, Any], ratings: Ratings, *, seed: int | None = None) -> ReleaseView:
    """Publish the same people with the same options and a seed, or one of the system's choice, and read it back."""
    from recloak._evaluation.holdout import publish_temporarily
    from recloak._releases.options import PadOptions, PublishOptions

    padding = account.get("padding", {})
    if "padder" in padding:
        raise InputError("the release was padded by a function of its maker's own, so it cannot be made again here")
    options = PublishOptions.from_mapping(account.get("options", {}))
    return publish_temporarily(ratings, options, pad_options=PadOptions.from_mapping(padding), rng=seed)


def account_of(release: ReleaseLike, private: PathLike | None) -> dict[str, Any]:
    """Return the account of how a release was made: from its private folder, or from memory."""
    hidden = private_of(release, private)
    if hidden is None:
        assert not isinstance(release, str | os.PathLike)
        return release.account
    return read_account(hidden)


def require_published(ratings: Ratings, account: Mapping[str, Any]) -> None:
    """Raise InputError if these are not the ratings that were published: attacks on others would find too little."""
    from recloak._ratings.source_hash import fingerprint_of

    recorded = account.get("source_sha256")
    if recorded is not None and recorded != fingerprint_of(ratings):
        raise InputError(
            "these are not the ratings that were published: users, items or values differ from what the private folder "
            "records; pass the very source of the release"
        )
