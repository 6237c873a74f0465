"""The signature of a certificate: a file beside it that binds its bytes to one release and to the owner's key.

    {"format": "recloak-signature", "version": 1, "certificate_sha256": ..., "manifest_sha256": ..., "date": ...,
     "review": ..., "public_key": ..., "signature": ...}

Signed are the bytes of all fields but the signature, as JSON with sorted keys and no spaces, after a fixed first line.
A certificate that was changed has another hash; one that was moved to another release names another manifest; one that
was signed again by somebody else has another key than the owner's, which whoever checks must know from elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from recloak._certificate.keys import fingerprint, private_key, public_fingerprint, public_key, raw_bytes
from recloak._core.errors import InputError
from recloak._core.files import sha256_of, written_file

ENDING = ".sig"
_FORMAT, _VERSION = "recloak-signature", 1
_FIRST_LINE = b"recloak-signature-v1\n"
_FIELDS = {"format", "version", "certificate_sha256", "manifest_sha256", "date", "review", "public_key", "signature"}
_MOST_BYTES = 10_000


def sign(
    certificate: Path, manifest_sha256: str, key: str | os.PathLike[str], *, made_on: date, review: date | None
) -> Path:
    """Sign a certificate with the owner's key; return the file beside it that holds the signature."""
    private = private_key(key)
    fields: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "certificate_sha256": sha256_of(certificate),
        "manifest_sha256": manifest_sha256,
        "date": made_on.isoformat(),
        "review": None if review is None else review.isoformat(),
        "public_key": _text(raw_bytes(private.public_key())),
    }
    fields["signature"] = _text(private.sign(_signed(fields)))
    target = Path(f"{certificate}{ENDING}")
    with written_file(target) as aside:
        aside.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
    return target


def problems_of(signature: Path, folder: Path, signer: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return what is wrong with a signature: nothing, if the owner signed this certificate of this release."""
    trusted = public_fingerprint(signer)
    if not signature.is_file():
        raise InputError(f"{signature}: there is no such file")
    fields = _read(signature)
    if isinstance(fields, str):
        return (fields,)
    return tuple(_wrong(fields, signature, folder, trusted))


def review_of(signature: Path) -> date | None:
    """Return the review date that a checked signature names."""
    fields = _read(signature)
    assert isinstance(fields, dict)
    return None if fields["review"] is None else date.fromisoformat(fields["review"])


def _read(signature: Path) -> dict[str, Any] | str:
    """Return the fields of a signature file, or what is wrong with its form."""
    with signature.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    try:
        fields = json.loads(content) if len(content) <= _MOST_BYTES else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or set(fields) != _FIELDS or fields["format"] != _FORMAT:
        return "the signature file is not one of recloak, or was cut short"
    if fields["version"] != _VERSION or isinstance(fields["version"], bool):
        return f"the signature has the version {fields['version']!r}; this recloak reads {_VERSION}"
    texts = {name: value for name, value in fields.items() if name not in ("version", "review")}
    if not all(isinstance(value, str) for value in texts.values()) or not _is_day(fields["review"]):
        return "the signature file was changed: a field has another form"
    return fields


def _is_day(text: object) -> bool:
    try:
        return text is None or bool(date.fromisoformat(text))  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return False


def _wrong(fields: dict[str, Any], signature: Path, folder: Path, trusted: str) -> Iterator[str]:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 (optional)

    raw, made = _bytes(fields["public_key"], 32), _bytes(fields["signature"], 64)
    if raw is None or made is None:
        yield "the signature file was changed: a key or a signature has another length"
        return
    key = public_key(raw)
    if fingerprint(key) != trusted:
        yield f"signed by another key than the owner's: by {fingerprint(key)}, expected {trusted}"
    try:
        key.verify(made, _signed(fields))
    except InvalidSignature:
        yield "the signature does not fit what is signed: the signature file was changed or forged"
    certificate = signature.with_name(signature.name.removesuffix(ENDING))
    if certificate == signature or not certificate.is_file():
        yield f"there is no certificate beside the signature: {signature.name} must lie beside it and end in {ENDING}"
    elif sha256_of(certificate) != fields["certificate_sha256"]:
        yield "the certificate was changed after it was signed"
    manifest = folder / "manifest.json"
    if not manifest.is_file() or sha256_of(manifest) != fields["manifest_sha256"]:
        yield "the certificate is of another release, or the release was changed after it was signed"


def _signed(fields: dict[str, Any]) -> bytes:
    rest = {name: value for name, value in fields.items() if name != "signature"}
    return _FIRST_LINE + json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _bytes(text: str, length: int) -> bytes | None:
    """Return the bytes of a text in its one spelling, or None."""
    try:
        content = base64.b64decode(text.encode(), validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if len(content) == length and _text(content) == text else None
