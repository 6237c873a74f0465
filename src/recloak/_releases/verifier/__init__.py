"""Verify: re-derive from the public files alone what a release promises. It shares no code with the makers.

What it re-derives: that the folder holds these files and no others, each with its published SHA-256; that every byte
is the one that must stand there, given what was read (`canonical_parquet`, `canonical_csv`, `claims`); that tables are
in order and hold nothing twice; that every label lies on the published grid; that the counts, and all that manifest and
data card say, are those of the tables; and k: the smallest number of users with identical items and labels. With the
source at hand, (b, l)-diversity as well; with the owner's mapping too, a cap on links.

A file that is not what the manifest says is not opened: what could not be derived is None, never a pass.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recloak._ratings.model import Ratings
from recloak._releases.model.release_format import Diversity, Verdict
from recloak._releases.verifier.judgement import check_release
from recloak._releases.verifier.local_inspection import LocalInspection

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
    content: bool = False,
) -> Verdict:
    """Check a released folder; ``k`` demands at least that, ``original`` and ``diversity`` check (b, l)-diversity.

    A cap on links that the release claims is checked against ``original`` too; that needs ``mapping``, the table of
    ``user_id`` and ``user`` in the private folder. ``content`` judges what the files hold and not how they are written.
    """
    return check_release(
        folder, LocalInspection, k=k, original=original, diversity=diversity, mapping=mapping, content=content
    )
