"""Verify: re-derive from the public files alone what a release promises. It shares no code with the makers.

What it re-derives: that the folder holds these files and no others, each with its published SHA-256; that the tables
have their columns and types, are in order and hold nothing twice; that every label lies on the published grid; that the
counts are those published; and k: the smallest number of users with identical items and labels. With the source at
hand, (b, l)-diversity as well; with the owner's mapping too, a cap on links.

A file that is not what the manifest says is not opened: what could not be derived is None, never a pass.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recloak._core.errors import InputError, OptionError
from recloak._ratings.model import Ratings
from recloak._releases.model.release_format import Diversity, Verdict
from recloak._releases.verifier.claims import Claims, read_claims
from recloak._releases.verifier.contents import Contents, read_contents
from recloak._releases.verifier.diversity_check import check_diversity
from recloak._releases.verifier.link_check import check_links

if TYPE_CHECKING:
    import polars as pl

__all__ = ["verify"]


def verify(
    folder: str | Path,
    *,
    k: int | None = None,
    original: Ratings | None = None,
    diversity: Diversity | str | None = None,
    mapping: pl.DataFrame | None = None,
) -> Verdict:
    """Check a released folder; ``k`` demands at least that, ``original`` and ``diversity`` check (b, l)-diversity.

    A cap on links that the release claims is checked against ``original`` too; that needs ``mapping``, the table of
    ``user_id`` and ``user`` in the private folder.
    """
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: is not a folder")
    if k is not None and k < 2:
        raise OptionError(f"k must be at least 2, got {k}")
    if diversity is not None and original is None:
        raise OptionError("diversity can only be checked against the original ratings; give original=... as well")
    claims, problems = read_claims(Path(folder))
    if claims is None or problems:
        required = k if claims is None else max(k or 2, claims.k)
        return Verdict(required, None, None, None, tuple(problems))
    verdict, contents = _judge(claims, k)
    if original is None or not contents.readable:
        return verdict
    more = _owner_problems(claims, contents, original, _wanted(claims, diversity), mapping)
    return replace(verdict, problems=(*verdict.problems, *more))


def _judge(claims: Claims, k: int | None) -> tuple[Verdict, Contents]:
    """Judge what anybody can see."""
    contents = read_contents(claims)
    required = max(k or 2, claims.k)
    problems = list(contents.problems)
    found = contents.k_found if contents.readable else None
    if found is not None and found < required:
        problems.append(f"k must be at least {required}, but a row is shared by only {found} users")
    return Verdict(required, found, contents.n_users, contents.n_groups, tuple(problems)), contents


def _owner_problems(
    claims: Claims, contents: Contents, original: Ratings, wanted: Diversity | None, mapping: pl.DataFrame | None
) -> list[str]:
    """Judge what only the owner of the source can see."""
    problems = [] if wanted is None else check_diversity(claims, contents, original, wanted)
    return problems + ([] if claims.max_link is None else check_links(claims, contents, original, mapping))


def _wanted(claims: Claims, diversity: Diversity | str | None) -> Diversity | None:
    """Take the diversity asked for, else the one the release claims."""
    if isinstance(diversity, str):
        return Diversity.parse(diversity)
    return claims.diversity if diversity is None else diversity
