"""People who were forgotten stay out, even if the ratings of the next night still hold them.

The store keeps a mark of each id: a keyed hash. The key lies in a file outside of the store, so the store alone names
nobody, not even by trying every id. Whoever has the key as well can try an id, as anybody can who may publish: an id
that stays out was forgotten. Nothing links a mark to what its person held.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl
import sqlalchemy as sa
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._ratings.model import Ratings
from recloak._related.history import History
from recloak._related.history_database import ERASED

_KEY_BYTES = 32
_MARK_BYTES = 16


@dataclass(frozen=True, slots=True, repr=False)
class EraseKey:
    """The key of a store's marks: where it is kept; None if the store is no file and no place was named."""

    path: Path | None

    @classmethod
    def of(cls, history: History, path: str | os.PathLike[str] | None = None) -> EraseKey:
        """Return the key in a file, by default beside the store: its name with ``.key`` at the end."""
        if path is not None:
            return cls(Path(path))
        url = history._database.engine.url
        return cls(Path(f"{url.database}.key") if url.get_backend_name() == "sqlite" else None)

    def made(self) -> bytes:
        """Return the key; make one, readable by its owner only, where there is none."""
        assert self.path is not None
        if not self.path.exists():
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
        return self.read()

    def read(self) -> bytes:
        """Return the key; raise InputError if it is not there or is no key."""
        if self.path is None or not self.path.is_file():
            where = "no key was given" if self.path is None else f"there is no {self.path}"
            raise InputError(
                f"this history keeps out people who were forgotten, and {where}; name its file by key=..., or let them "
                "all in again by readmit with everybody=True"
            )
        key = self.path.read_bytes()
        if len(key) != _KEY_BYTES:
            raise InputError(f"{self.path}: not the key of a history, which has {_KEY_BYTES} bytes, got {len(key)}")
        return key


def mark_of(key: bytes, user: int | str) -> bytes:
    """Return the mark of a user's id."""
    return blake2b(str(user).encode(), key=key, digest_size=_MARK_BYTES).digest()


def marks_of(history: History) -> frozenset[bytes]:
    """Return the marks of everybody who was forgotten and stays out."""
    if not history._database.has(ERASED):
        return frozenset()
    return frozenset(bytes(row.mark) for row in history._database.rows(sa.select(ERASED)))


def are_erased(history: History, ids: pl.Series, key: EraseKey) -> NDArray[np.bool_]:
    """Return which of some ids belong to people who stay out."""
    marks = marks_of(history)
    if not marks:
        return np.zeros(len(ids), np.bool_)
    secret = key.read()
    return np.fromiter((mark_of(secret, one) in marks for one in ids), np.bool_, len(ids))


def without_users(ratings: Ratings, out: NDArray[np.bool_]) -> Ratings:
    """Return ratings without some users and their ids; items keep their numbers."""
    left = ratings.where(~out[ratings.users()])
    indptr = np.concatenate(([0], np.cumsum(ratings.activity[~out])))
    return replace(left, indptr=indptr, user_ids=ratings.user_ids.take(~out))


def readmit(history: History, user: int | str | None, key: EraseKey) -> int:
    """Let a user in again who was forgotten, or everybody (None); return how many.

    Raises
    ------
    InputError
        If the user was not forgotten, or the key is not there.
    """
    marks = marks_of(history)
    gone = marks if user is None else marks & {mark_of(key.read(), user)} if marks else frozenset()
    if user is not None and not gone:
        raise InputError(f"{history.name}: it does not keep this user out")
    if gone:
        with history._database.writing() as connection:
            connection.execute(sa.delete(ERASED).where(ERASED.c.mark.in_(gone)))
        history._database.vacuum()
    return len(gone)
