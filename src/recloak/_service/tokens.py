"""Access tokens, each bound to one user, stored as hashes in a file that only its owner can read.

A token has the form ``recloak_ID_SECRET``: ID finds the row, SECRET (256 random bits) proves it. The store holds the
SHA-256 of the secret; so many random bits need no slow hash. Every request reads the store, so a revoked token is
refused at once; while the store cannot be read, no token is valid.
"""

import hashlib
import hmac
import re
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from recloak._core.errors import InputError, OptionError
from recloak._service.secret_files import create_private, require_private

DAY = 86_400
_PATIENCE = 10  # seconds that a command waits for a store that another process has locked
_FORMAT = 1
_TOKEN = re.compile(r"recloak_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_DURATION = re.compile(r"([1-9]\d{0,5})([hdwy])")
_SECONDS = {"h": 3600, "d": DAY, "w": 7 * DAY, "y": 365 * DAY}
_LONGEST = 100 * _SECONDS["y"]
_NO_HASH = hashlib.sha256(b"").digest()
_TABLE = """
CREATE TABLE tokens (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user TEXT, admin INTEGER NOT NULL, label TEXT NOT NULL,
  created INTEGER NOT NULL, expires INTEGER NOT NULL, revoked INTEGER, hash BLOB NOT NULL
)
"""
_INSERT = "INSERT INTO tokens (id, hash, user, admin, label, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token; the store does not hold its secret."""

    number: int  # counts up within a store
    id: str
    user: str | None  # None for an administrator, who has no ratings
    admin: bool
    label: str
    created: int
    expires: int
    revoked: int | None

    def state(self, now: float) -> str:
        """Return valid, expired or revoked."""
        if self.revoked is not None:
            return "revoked"
        return "valid" if now < self.expires else "expired"


def create(
    store: str | Path, *, user: str | None, admin: bool = False, expires: str = "30d", label: str = ""
) -> tuple[Token, str]:
    """Add a token to a store, which is created if needed; return it and its secret text, which is not stored."""
    if (user is None) != admin:
        raise OptionError("a token is of one user (--user ID) or of an administrator (--admin)")
    if user == "":
        raise OptionError("a token's user must not be empty")
    now = int(time.time())
    id_, secret, until = secrets.token_hex(8), secrets.token_urlsafe(32), now + seconds_of(expires)
    with _explained(store):
        _create_store(Path(store))
    with _open(store) as connection, connection:
        row = (id_, _hashed(secret), user, int(admin), label, now, until)
        number = connection.execute(_INSERT, row).lastrowid
    return Token(number or 0, id_, user, admin, label, now, until, None), f"recloak_{id_}_{secret}"


def create_many(
    store: str | Path, users: Sequence[str], *, expires: str = "30d", label: str = ""
) -> list[tuple[str, str]]:
    """Add a token for each user, all or none; return each user with the secret text, which is not stored."""
    if not users or "" in users:
        raise OptionError("tokens need users, and none may be empty")
    if len(set(users)) < len(users):
        raise OptionError("a user is listed twice; each may have one token of a list")
    now = int(time.time())
    until = now + seconds_of(expires)
    made = [(secrets.token_hex(8), secrets.token_urlsafe(32)) for _ in users]
    with _explained(store):
        _create_store(Path(store))
    rows = [(id_, _hashed(secret), user, 0, label, now, until) for (id_, secret), user in zip(made, users, strict=True)]
    with _open(store) as connection, connection:
        connection.executemany(_INSERT, rows)
    return [(user, f"recloak_{id_}_{secret}") for (id_, secret), user in zip(made, users, strict=True)]


def seconds_of(span: str) -> int:
    """Return the seconds of a span of time such as 12h, 30d, 4w or 1y."""
    match = _DURATION.fullmatch(span)
    if match is None:
        raise OptionError(f"a span of time is a number and h, d, w or y (30d is thirty days), got {span!r}")
    seconds = int(match.group(1)) * _SECONDS[match.group(2)]
    if seconds > _LONGEST:
        raise OptionError(f"a span of time must be at most 100y, got {span!r}")
    return seconds


def tokens(store: str | Path) -> list[Token]:
    """Return the tokens of a store, oldest first."""
    with _open(store) as connection:
        return [_token(row) for row in connection.execute("SELECT * FROM tokens ORDER BY number")]


def revoke(store: str | Path, id_: str) -> Token:
    """Revoke a token by its id; a token that is already revoked stays as it is."""
    with _open(store) as connection, connection:
        connection.execute("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", (int(time.time()), id_))
    token = next((one for one in tokens(store) if one.id == id_), None)
    if token is None:
        raise InputError(f"{store}: has no token of this id; `token list` shows them")
    return token


class TokenChecker:
    """Checks tokens against an open store; one per process, used by one thread at a time.

    It never waits: sqlite3.DatabaseError is raised at once if the store is locked or cannot be read.
    """

    def __init__(self, store: str | Path) -> None:
        with _explained(store):
            self._connection = _connect(store)
            self._connection.execute("PRAGMA busy_timeout = 0")

    def require_readable(self) -> None:
        """Raise sqlite3.DatabaseError if the store cannot be read just now."""
        self._connection.execute("SELECT 1 FROM tokens LIMIT 1").fetchall()

    def check(self, text: str) -> Token | None:
        """Return the token that a text proves, or None if it proves none that is valid now."""
        match = _TOKEN.fullmatch(text)
        id_, secret = match.groups() if match else ("", "")
        row = self._connection.execute("SELECT * FROM tokens WHERE id = ?", (id_,)).fetchone()
        matches = hmac.compare_digest(_hashed(secret), _NO_HASH if row is None else row[-1])
        if row is None or not matches:
            return None
        token = _token(row)
        return token if token.state(time.time()) == "valid" else None

    def close(self) -> None:
        """Close the store."""
        self._connection.close()


def _hashed(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _token(row: tuple[int, str, str | None, int, str, int, int, int | None, bytes]) -> Token:
    number, id_, user, admin, label, created, expires, revoked, _ = row
    return Token(number, id_, user, bool(admin), label, created, expires, revoked)


def _create_store(store: Path) -> None:
    if store.exists():
        return
    if not store.absolute().parent.is_dir():
        raise InputError(f"{store}: there is no folder {store.absolute().parent} to write into")
    create_private(store, _create_table)


def _create_table(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA user_version = {_FORMAT}")


@contextmanager
def _open(store: str | Path) -> Iterator[sqlite3.Connection]:
    with _explained(store), closing(_connect(store)) as connection:
        yield connection


@contextmanager
def _explained(store: str | Path) -> Iterator[None]:
    """Turn an error of the database into one sentence."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_locked(error):
            raise InputError(f"{store}: another process has locked the token store; try again") from error
        if _code(error) == sqlite3.SQLITE_NOTADB:
            raise InputError(f"{store}: not a token store") from error
        raise InputError(f"{store}: the token store cannot be used ({error})") from error


def is_locked(error: sqlite3.Error) -> bool:
    """Return whether an error says that another process has locked the store."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what extended codes add


def _connect(store: str | Path) -> sqlite3.Connection:
    path = Path(store)
    if not path.is_file():
        raise InputError(f"{path}: there is no token store; `recloak token create` makes one")
    require_private(path)
    connection = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=False)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != _FORMAT:
            raise InputError(f"{path}: a token store of format {version}, this version reads format {_FORMAT}")
    except (sqlite3.DatabaseError, InputError):
        connection.close()
        raise
    return connection
