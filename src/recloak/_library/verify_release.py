"""Verify a release: re-derive its guarantee from its public files alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recloak._library.arguments import at_least, diversity_text
from recloak._library.engines import on_spark, require_files, spark_session
from recloak._library.opened_releases import mapping_path, other_counts, written_aside
from recloak._library.sources import as_ratings
from recloak._releases.model.release_format import MANIFEST

if TYPE_CHECKING:
    from recloak._library.opened_releases import ReleaseLike
    from recloak._library.sources import PathLike, RatingsLike
    from recloak._releases.model.release_format import Diversity, Verdict


def verify(
    release: ReleaseLike,
    *,
    k: int | None = None,
    original: RatingsLike | None = None,
    diversity: Diversity | str | None = None,
    private: PathLike | None = None,
    content: bool = False,
    engine: str = "local",
    master: str | None = None,
    conf: Sequence[str] = (),
) -> Verdict:
    """Check that every row of a release is shared by at least k users and that nothing in it was changed.

    Parameters
    ----------
    release
        The public folder, or a `Release`; one in memory is written to a folder that is thrown away, and read there.
    k
        Demand at least this k; by default the one that the release claims.
    original
        The source, to check what the release promises about it: diversity and a cap on links.
    diversity
        Demand this diversity (``"B,L"``); by default the one that the release claims.
    private
        The folder that says who is who, to check a cap on links; by default the one that `publish` makes.
    content
        Judge only what the tables hold and not how every byte of them is written: for releases of other tools, or of
        earlier versions. The verdict says so.
    engine, master, conf
        ``"local"`` or ``"spark"``, and Spark's master and settings (``"KEY=VALUE"``).

    Returns
    -------
    Verdict
        ``passed`` and the ``problems``; ``unchecked`` names promises that need ``original``.

    Raises
    ------
    InputError
        If there is no such folder, or an option breaks its rule.

    Examples
    --------
    >>> import recloak
    >>> release = recloak.publish(recloak.synth(users=30, items=20, ratings=200, seed=1), k=3, seed=1)
    >>> recloak.verify(release)
    <Verdict: pass, k required 3, found 3, 30 users in 10 groups>
    """
    spark, k = on_spark(engine, master, conf), None if k is None else at_least(2, "k", k)
    diversity = diversity_text(diversity)
    with written_aside(release) as (folder, default):
        hidden = private if private is not None else default
        if spark:
            verdict = _on_spark(folder, k, original, diversity, hidden, content, (master, tuple(conf)))
        else:
            verdict = _here(folder, k, original, diversity, hidden, content)
        unchecked = _claims_about_source(folder) if original is None and verdict.passed else ()
    return replace(verdict, unchecked=unchecked)


def _here(
    folder: Path, k: int | None, original: RatingsLike | None, diversity: Diversity | str | None,
    private: PathLike | None, content: bool,
) -> Verdict:  # fmt: skip
    import polars as pl

    from recloak._releases.verifier import verify as verify_here

    if original is None:
        return verify_here(folder, k=k, diversity=diversity, content=content)
    source, path = as_ratings(original).compact(), mapping_path(folder, private)
    mapping = None if path is None else pl.read_parquet(path)
    verdict = verify_here(folder, k=k, original=source, diversity=diversity, mapping=mapping, content=content)
    different = None if path is None or not verdict.passed else other_counts(path.parent, source)
    return verdict if different is None else replace(verdict, problems=(different,))


def _on_spark(
    folder: Path, k: int | None, original: RatingsLike | None, diversity: Diversity | str | None,
    private: PathLike | None, content: bool, session: tuple[str | None, tuple[str, ...]],
) -> Verdict:  # fmt: skip
    files = None if original is None else require_files(original)
    with spark_session(*session) as spark:
        from recloak._spark.user_blocks import opened_blocks
        from recloak._spark.verification import verify as verify_there

        if files is None:
            return verify_there(spark, folder, k=k, diversity=diversity, content=content)
        mapping = mapping_path(folder, private)
        with opened_blocks(spark, files.paths, files.options) as blocks:
            return verify_there(
                spark, folder, k=k, original=blocks, diversity=diversity, mapping=mapping, content=content
            )


def _claims_about_source(folder: Path) -> tuple[str, ...]:
    """Name what a release promises about its source, so that a pass without the source is not taken for more."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    claims = ((name, manifest.get(name)) for name in ("diversity", "max_link"))
    return tuple(f"{name} {claimed}" for name, claimed in claims if claimed is not None)
