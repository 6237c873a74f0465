"""Open a release for an auditor: verify it, then read it with its private folder beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recloak._attacks.public_view import ReleaseView, see_release
from recloak._cli.path_types import mapping_of, private_of
from recloak._core.errors import OptionError, RefusedError, SourceError
from recloak._ratings.model import Ratings
from recloak._releases.model.release_format import MANIFEST

_ACCOUNT = "account.json"


def open_release(folder: Path, private: Path | None, ratings: Ratings) -> ReleaseView:
    """Read a release of ``ratings``; one that does not keep its promise, or was changed, is refused."""
    from recloak._releases.verifier import verify

    if not (folder / MANIFEST).is_file():
        raise SourceError(f"there is no {MANIFEST}: not a release folder", file=folder)
    hidden = private_of(folder, private)
    verdict = verify(folder, original=ratings if _claims_cap(folder) else None, mapping=mapping_of(folder, private))
    if not verdict.passed:
        raise RefusedError(f"{folder}: the release does not pass recloak verify: {verdict.problems[0]}")
    return see_release(folder, hidden, ratings)


def _claims_cap(folder: Path) -> bool:
    """Tell whether a release says that it caps links: only then is it held against the source."""
    try:
        return json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("max_link") is not None
    except (ValueError, AttributeError):
        return False  # the verifier says what is wrong


def open_second(
    second: Path | None, private: Path | None, again: bool, first_private: Path, ratings: Ratings
) -> ReleaseView | None:
    """Read the second release, or make one of the same people with another seed; nothing where none is wanted."""
    if again and second is not None:
        raise OptionError("--again makes a second release itself; leave --second out or leave --again out")
    if second is not None:
        return open_release(second, private, ratings)
    return publish_again(first_private, ratings) if again else None


def publish_again(private: Path, ratings: Ratings) -> ReleaseView:
    """Publish the same people with the same options and a seed of the system's choice, and read what came of it."""
    from recloak._evaluation.trial_release import publish_aside
    from recloak._releases.options import PadOptions, PublishOptions

    account = _account(private)
    options, padding = PublishOptions.from_mapping(account.get("options", {})), account.get("padding", {})
    if "padder" in padding:
        raise OptionError(
            "the release was made with a padder of its owner's own: pass second=... instead of again=True"
        )
    return publish_aside(ratings, options, pad_options=PadOptions.from_mapping(padding))


def _account(private: Path) -> dict[str, Any]:
    path = private / _ACCOUNT
    if not path.is_file():
        raise SourceError(f"there is no {_ACCOUNT}: not the private folder of a release", file=private)
    account: dict[str, Any] = json.loads(path.read_text())
    return account
