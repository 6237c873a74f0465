"""The owner's key: Ed25519, made once, the private half in a file that only its owner can read.

Both halves are PEM files (PKCS 8 and SubjectPublicKeyInfo), which OpenSSL and other tools read. A fingerprint is the
SHA-256 of the raw public key in hexadecimal.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recloak._core.errors import InputError
from recloak._core.extras import require_extra
from recloak._core.files import require_parent

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_PUBLIC = ".pub"
_MOST_BYTES = 10_000
FINGERPRINT = re.compile(r"[0-9a-f]{64}")


def create_key(path: str | os.PathLike[str]) -> str:
    """Write a new private key to ``path`` (mode 600) and its public half to ``path.pub``; return the fingerprint.

    Parameters
    ----------
    path
        Where the private key goes. Neither file may be there already.

    Returns
    -------
    str
        The fingerprint of the public half: 64 hexadecimal digits, to give to those who check certificates.

    Raises
    ------
    InputError
        If one of the files exists, or the folder does not.

    Examples
    --------
    >>> import recloak
    >>> len(recloak.create_key("owner.key"))
    64
    """
    ed25519, serialization = _library()
    private, public = Path(path), Path(f"{path}{_PUBLIC}")
    require_parent(private)
    for file in (private, public):
        if file.exists() or file.is_symlink():
            raise InputError(f"{file}: the file exists; a key is never overwritten, choose another name")
    key = ed25519.Ed25519PrivateKey.generate()
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    _write_new(private, key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain), 0o600)
    _write_new(public, key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo), 0o644)
    return fingerprint(key.public_key())


def _write_new(file: Path, content: bytes, mode: int) -> None:
    with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as open_file:
        open_file.write(content)


def private_key(path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    """Read a private key; raise InputError for one that others may read, or a file that holds none."""
    ed25519, serialization = _library()
    file = Path(path)
    content = _content(file)
    if file.stat().st_mode & 0o077:
        raise InputError(f"{file}: others than its owner may read or write the key; first run: chmod 600 {file}")
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise InputError(f"{file}: holds no Ed25519 private key without a password; recloak key create makes one")
    return key


def public_fingerprint(signer: str | os.PathLike[str]) -> str:
    """Return the fingerprint of a public key file, or the fingerprint that was given."""
    if FINGERPRINT.fullmatch(os.fspath(signer).lower()):
        return os.fspath(signer).lower()
    ed25519, serialization = _library()
    file = Path(signer)
    try:
        key = serialization.load_pem_public_key(_content(file))
    except ValueError:
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise InputError(f"{file}: holds no Ed25519 public key; it is the file that ends in {_PUBLIC}")
    return fingerprint(key)


def public_key(raw: bytes) -> Ed25519PublicKey:
    """Return the key of 32 raw bytes."""
    return _library()[0].Ed25519PublicKey.from_public_bytes(raw)


def raw_bytes(key: Ed25519PublicKey) -> bytes:
    """Return the 32 raw bytes of a public key."""
    return key.public_bytes_raw()


def fingerprint(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of the raw public key."""
    return hashlib.sha256(raw_bytes(key)).hexdigest()


def _content(file: Path) -> bytes:
    if not file.is_file():
        raise InputError(f"{file}: there is no such file")
    with file.open("rb") as open_file:
        return open_file.read(_MOST_BYTES)


def _library() -> tuple[Any, Any]:
    require_extra("certificate", "cryptography", need="a signature")
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 (optional)
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 (likewise)

    return ed25519, serialization
