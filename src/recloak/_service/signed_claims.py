"""Users vouched for by the forum itself: short-lived claims signed with a key that the forum and the service share.

A claim is a JSON Web Token (RFC 7519) signed with HMAC-SHA256, so that any language can make one: the header is
``{"alg": "HS256", "kid": ID, "typ": "JWT"}``, the payload ``{"sub": USER, "aud": "recloak", "exp": SECONDS}``. The
service stores no tokens. It takes one algorithm and no other, whatever the header says, and no claim that is valid for
longer than a day, so that a stolen one is soon worthless. The key file holds the newest key first; older ones stay
valid until they are dropped.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import secrets
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recloak._core.errors import InputError, OptionError
from recloak._service.secret_files import create_private, require_private
from recloak._service.tokens import Token, seconds_of

AUDIENCE = "recloak"
LONGEST = 86_400  # seconds that a claim may be valid
_ALGORITHM = "HS256"
_KEY_BYTES = 32
_MOST_KEYS = 8
_MOST_TEXT = 2_048  # characters of a claim
_KEY = re.compile(r"([0-9a-f]{8}) ([0-9a-f]{64})")
_NO_KEY = b"\0" * _KEY_BYTES


@dataclass(frozen=True, slots=True, repr=False)
class SigningKeys:
    """The keys of a file by id, the newest first."""

    by_id: dict[str, bytes]

    @property
    def newest(self) -> str:
        """The id of the key that signs."""
        return next(iter(self.by_id))

    def check(self, text: str, *, now: float | None = None) -> Token | None:
        """Return the user that a text proves, as a token without a place in any store; None if it proves none."""
        if len(text) > _MOST_TEXT or text.count(".") != 2 or not text.isascii():
            return None
        signed, _, signature = text.rpartition(".")
        header, claims = (_decoded(part) for part in signed.split("."))
        kid = header.get("kid") if header is not None else None
        key = self.by_id.get(kid) if isinstance(kid, str) else None
        matches = hmac.compare_digest(_signature(signed, key or _NO_KEY), signature)
        if key is None or not matches or header != {"alg": _ALGORITHM, "kid": kid, "typ": "JWT"}:
            return None
        return None if claims is None else _token(claims, time.time() if now is None else now)


def sign(keys: SigningKeys, user: str, *, expires: str = "1h", now: float | None = None) -> str:
    """Return a claim that its bearer is a user, as the forum would make it."""
    seconds = seconds_of(expires)
    if seconds > LONGEST:
        raise OptionError(f"a signed claim is valid for a day at most, got {expires!r}")
    if not user:
        raise OptionError("a claim's user must not be empty")
    claims = {"sub": user, "aud": AUDIENCE, "exp": int(time.time() if now is None else now) + seconds}
    header = {"alg": _ALGORITHM, "kid": keys.newest, "typ": "JWT"}
    signed = f"{_encoded(header)}.{_encoded(claims)}"
    return f"{signed}.{_signature(signed, keys.by_id[keys.newest])}"


def read_keys(file: str | Path) -> SigningKeys:
    """Return the keys of a file; raise InputError if it is no key file or others may read it."""
    path = Path(file)
    if not path.is_file():
        raise InputError(f"{path}: there is no key file; `recloak token key` makes one")
    require_private(path)
    lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    found = [_KEY.fullmatch(line) for line in lines]
    if not lines or len(lines) > _MOST_KEYS or None in found:
        raise InputError(f"{path}: not a key file of `recloak token key`")
    return SigningKeys({match[1]: bytes.fromhex(match[2]) for match in found if match})


def create_keys(file: str | Path) -> SigningKeys:
    """Create a key file, which must not exist."""
    path = Path(file)
    if path.exists():
        raise InputError(f"{path}: there is a key file already; --rotate adds a new key to it")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.absolute().parent} to write into")
    create_private(path, lambda new: new.write_text(_new_line() + "\n", encoding="ascii"))
    return read_keys(path)


def rotate_keys(file: str | Path, *, keep: int = 1) -> SigningKeys:
    """Put a new key first and keep the newest ``keep`` older ones, so that claims made with them stay valid."""
    if not 0 <= keep < _MOST_KEYS:
        raise OptionError(f"keep must be from 0 to {_MOST_KEYS - 1}, got {keep}")
    path = Path(file)
    read_keys(path)
    lines = [_new_line(), *path.read_text(encoding="ascii").splitlines()[:keep]]
    handle, temporary = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="ascii") as open_file:  # mkstemp gives mode 600
        open_file.write("\n".join(lines) + "\n")
        open_file.flush()
        os.fsync(open_file.fileno())
    Path(temporary).replace(path)
    return read_keys(path)


def _new_line() -> str:
    return f"{secrets.token_hex(4)} {secrets.token_hex(_KEY_BYTES)}"


def _token(claims: dict[str, Any], now: float) -> Token | None:
    """Return the token of claims that are whole, for this service, and valid now for a day at most."""
    user, until = claims.get("sub"), claims.get("exp")
    if claims.get("aud") != AUDIENCE or not isinstance(user, str) or not user:
        return None
    if type(until) is not int or not now < until <= now + LONGEST:
        return None
    digest = hashlib.sha256(user.encode()).digest()
    number = int.from_bytes(digest[:8], "big") >> 1  # its bucket of the rate limits: one per user, not per claim
    return Token(number, digest[:8].hex(), user, False, "", 0, until, None)


def _signature(signed: str, key: bytes) -> str:
    return _plain(hmac.digest(key, signed.encode("ascii"), "sha256"))


def _encoded(values: dict[str, Any]) -> str:
    return _plain(json.dumps(values, separators=(",", ":"), sort_keys=True).encode())


def _plain(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decoded(part: str) -> dict[str, Any] | None:
    """Return the JSON object of one part, or None if it is no object or not written in the one allowed way."""
    try:
        data = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
        values = json.loads(data)
    except (binascii.Error, ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) and _plain(data) == part else None
