"""Write and check the certificate of a release."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from recloak._core.calendar_day import today
from recloak._core.errors import InputError, OptionError, SourceError
from recloak._core.files import require_file_place, sha256_of, written_file
from recloak._core.logger import log
from recloak._library.arguments import as_path
from recloak._releases.model.release_format import MANIFEST

if TYPE_CHECKING:
    from recloak._attacks.audit_result import Audit
    from recloak._library.sources import PathLike
    from recloak._releases.model.release_format import Verdict

    AuditLike: TypeAlias = "Audit | Mapping[str, Any] | PathLike"

ENDINGS = (".html", ".pdf")


def require_certificate_place(out: PathLike) -> Path:
    """Return where a certificate goes; raise for another ending, or a place where nothing can be written."""
    path = as_path("certificate", out)
    if path.suffix not in ENDINGS:
        raise OptionError(f"certificate must end in {' or '.join(ENDINGS)}, got {str(path)!r}")
    require_file_place(path)
    return path


def write_certificate(
    folder: Path, verdict: Verdict, out: Path, *, audit: AuditLike | None = None, review: date | None = None,
    owner: str = "", key: PathLike | None = None,
) -> Path:  # fmt: skip
    """Write the certificate of a verified release, and with a key its signature beside it; return the certificate."""
    from recloak._certificate.content import Circumstances, certificate_of
    from recloak._certificate.keys import fingerprint, private_key
    from recloak._certificate.signature import ENDING, sign

    if folder.resolve() in out.resolve().parents:
        raise InputError(f"{out}: a certificate must lie outside the release, which holds its own files only")
    made_on, named = today(), None if key is None else fingerprint(private_key(key).public_key())
    manifest, digest = json.loads((folder / MANIFEST).read_text(encoding="utf-8")), sha256_of(folder / MANIFEST)
    about = Circumstances(made_on, review, owner, named)
    certificate = certificate_of(manifest, digest, verdict, _audit_of(audit), about)
    Path(f"{out}{ENDING}").unlink(missing_ok=True)  # of an older certificate, which it would not fit
    with written_file(out) as aside:
        _write(certificate, aside, out.suffix)
    if key is not None:
        sign(out, digest, key, made_on=made_on, review=review)
    return out


def _write(certificate: Any, path: Path, ending: str) -> None:
    from recloak._certificate.certificate_page import certificate_html
    from recloak._certificate.certificate_pdf import write_pdf

    if ending == ".pdf":
        write_pdf(certificate, path)
    else:
        path.write_text(certificate_html(certificate), encoding="utf-8")


def _audit_of(given: AuditLike | None) -> Mapping[str, Any] | None:
    if given is None or isinstance(given, Mapping):
        return given
    if not isinstance(given, str | os.PathLike):
        return given.to_json()
    path = Path(given)
    if not path.is_file():
        raise SourceError("there is no such file", file=path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise SourceError("is not JSON; recloak audit --json writes it", file=path) from None
    if not isinstance(found, dict):
        raise SourceError("is not the JSON of recloak audit --json", file=path)
    return found


def with_signature(verdict: Verdict, folder: Path, signature: PathLike, signer: PathLike | None) -> Verdict:
    """Return the verdict with what is wrong with a signature added; warn of a review that is overdue."""
    from recloak._certificate.keys import public_fingerprint
    from recloak._certificate.signature import problems_of, review_of

    if signer is None:
        raise OptionError(
            "signature=... needs signer=...: the owner's public key or its fingerprint, got from the owner and not "
            "from whoever sent the release"
        )
    path = as_path("signature", signature)
    problems = (*verdict.problems, *problems_of(path, folder, signer))
    if not problems and (due := review_of(path)) is not None and due < today():
        log.warning("the certificate should have been reviewed by %s", due.isoformat())
    signed_by = None if problems else public_fingerprint(signer)
    return replace(verdict, problems=problems, signed_by=signed_by)
