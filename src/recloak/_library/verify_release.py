"""Verify a release: re-derive its guarantee from its public files alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recloak._core.calendar_day import today
from recloak._core.errors import OptionError
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import at_least, diversity_text
from recloak._library.certify_release import require_certificate_place, with_signature, write_certificate
from recloak._library.engines import on_spark, require_files, spark_session
from recloak._library.opened_releases import folder_of, mapping_path, other_counts, written_aside
from recloak._library.sources import as_ratings
from recloak._policy.review import Review
from recloak._releases.model.release_format import MANIFEST

if TYPE_CHECKING:
    from recloak._library.certify_release import AuditLike
    from recloak._library.opened_releases import ReleaseLike
    from recloak._library.sources import PathLike, RatingsLike
    from recloak._releases.model.release_format import Diversity, Verdict


@suggests_keywords
def verify(
    release: ReleaseLike,
    *,
    k: int | None = None,
    original: RatingsLike | None = None,
    diversity: Diversity | str | None = None,
    private: PathLike | None = None,
    content: bool = False,
    certificate: PathLike | None = None,
    audit: AuditLike | None = None,
    review: date | str | None = None,
    owner: str = "",
    key: PathLike | None = None,
    signature: PathLike | None = None,
    signer: PathLike | None = None,
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
        The source, to check what the release promises about it: diversity, a cap on links, and of drawn rows that none
        is a person's own.
    diversity
        Demand this diversity (``"B,L"``); by default the one that the release claims.
    private
        The folder that says who is who, to check a cap on links; by default the one that `publish` makes.
    content
        Judge only what the tables hold and not how every byte of them is written: for releases of other tools, or of
        earlier versions. The verdict says so.
    certificate
        Write a certificate to this file, ``.html`` or ``.pdf``, if the release passes: one page for a lawyer.
    audit
        For the certificate: an `Audit` of this release, or the file of ``recloak audit --json``; else attacks are
        called not measured.
    review
        For the certificate: when the release must be looked at again, a date or ``"12 months"``.
    owner
        For the certificate: who answers for the release.
    key
        The owner's private key, which signs the certificate into a file beside it, ``.sig``; `create_key` makes one.
    signature
        Check this signature of a certificate, which lies beside it: that ``signer`` signed it for this release and that
        neither was changed since.
    signer
        The owner's public key, a file or its fingerprint. Get it from the owner, not from whoever sent the release.
    engine, master, conf
        ``"local"`` or ``"spark"``, and Spark's master and settings (``"KEY=VALUE"``).

    Returns
    -------
    Verdict
        ``passed`` and the ``problems``; ``unchecked`` names promises that need ``original``, and ``measured`` says of
        drawn rows how near they are to people, given ``original`` and ``private``.

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
    place = _certificate_place(release, certificate, signature, (audit, review, owner or None, key), signer)
    with written_aside(release) as (folder, default):
        hidden = private if private is not None else default
        if spark:
            verdict = _on_spark(folder, k, original, diversity, hidden, content, (master, tuple(conf)))
        else:
            verdict = _here(folder, k, original, diversity, hidden, content)
        unchecked = _claims_about_source(folder) if original is None and verdict.passed else ()
    verdict = replace(verdict, unchecked=unchecked)
    lies_in = folder_of(release)
    if lies_in is not None and signature is not None:
        return with_signature(verdict, lies_in, signature, signer)
    if lies_in is not None and place is not None and verdict.passed:
        due = Review.parse(review).date_from(today())
        write_certificate(lies_in, verdict, place, audit=audit, review=due, owner=owner, key=key)
    return verdict


def _certificate_place(
    release: ReleaseLike, certificate: PathLike | None, signature: PathLike | None, more: tuple[Any, ...],
    signer: PathLike | None,
) -> Path | None:  # fmt: skip
    """Return where the certificate goes; raise OptionError for keywords that contradict each other."""
    if certificate is not None and signature is not None:
        raise OptionError("certificate=... writes a certificate and signature=... checks one: give one of them")
    if certificate is not None and more[3] is None and Path(f"{certificate}.sig").exists():
        raise OptionError(
            f"{certificate} is signed and would be written over; to check it give signature=... and signer=... instead"
        )
    if certificate is None and any(one is not None for one in more):
        raise OptionError("audit, review, owner and key are for a certificate: give certificate=... as well")
    if signature is None and signer is not None:
        raise OptionError("signer=... says whose signature is expected: give signature=... as well")
    if (certificate is not None or signature is not None) and folder_of(release) is None:
        raise OptionError("a certificate is about the files of a release: give its folder")
    Review.parse(more[1])
    return None if certificate is None else require_certificate_place(certificate)


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
    told = tuple(f"{name} {claimed}" for name, claimed in claims if claimed is not None)
    return (*told, "that no drawn row is nearer to a person than by chance") if "boost" in manifest else told
