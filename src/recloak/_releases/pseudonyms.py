"""Fresh names for users and groups, which nobody without the private ratings can compute again.

A seed makes a run repeatable and may be as guessable as 0. So the order of the new names comes from a keyed hash whose
key mixes the seed with a digest of the ratings themselves: same seed and same ratings give the same names, and without
the ratings the seed is worth nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.randomness import Randomness
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings

_WORDS = 8  # 64-bit words in one BLAKE2b digest


def secret_key(ratings: Ratings, rng: Randomness) -> bytes:
    """Mix the seed's key with a digest of the private ratings: 64 bytes."""
    digest = hashlib.blake2b(key=rng.key("pseudonyms"))
    for array in (ratings.indptr, ratings.items, ratings.values):
        digest.update(np.ascontiguousarray(array).data)
    for ids in (ratings.user_ids, ratings.item_ids):
        for part in _id_bytes(ids):
            digest.update(part)
    return digest.digest()


def keyed_order(key: bytes, purpose: str, n: int) -> NDArray[np.int64]:
    """Return a uniformly random order of 0..n-1 that only the key's owner can compute: sort by a keyed hash."""
    words = b"".join(
        hashlib.blake2b(block.to_bytes(8, "little"), key=key, person=purpose.encode()).digest()
        for block in range(-(-n // _WORDS))
    )
    return np.argsort(np.frombuffer(words, np.uint64)[:n], kind="stable")


def _id_bytes(ids: IdMap) -> Iterator[memoryview | bytes]:
    if not ids.is_text:
        yield ids.ids.to_numpy().data
        return
    yield ids.ids.str.len_bytes().cast(pl.UInt64).to_numpy().data
    yield "".join(ids.ids.to_list()).encode("utf-8", "surrogatepass")
