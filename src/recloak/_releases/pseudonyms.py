"""Fresh names for users and groups, which nobody without the private ratings can compute again.

A seed makes a run repeatable and may be as guessable as 0. So the order of the new names comes from a keyed hash whose
key mixes the seed with a digest of the ratings themselves, and without the ratings the seed is worth nothing. The
digest also holds all that makes the release: options, groups, layout. So the same run gives the same names, and two
releases of the same people that differ in anything share none, whatever their seeds.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.randomness import Randomness
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings

_WORDS = 8  # 64-bit words in one BLAKE2b digest


def secret_key(ratings: Ratings, groups: NDArray[np.int32], recipe: Any, rng: Randomness) -> bytes:
    """Mix the seed's key with a digest of the private ratings, of the groups and of all options: 64 bytes."""
    digest = hashlib.blake2b(recipe_bytes(recipe), key=rng.key("pseudonyms"))
    for array in (ratings.indptr, ratings.items, ratings.values, groups):
        digest.update(np.ascontiguousarray(array).data)
    for ids in (ratings.user_ids, ratings.item_ids):
        for part in _id_bytes(ids):
            digest.update(part)
    return digest.digest()


def recipe_bytes(recipe: Any) -> bytes:
    """Return what is known of how a release is made, as JSON behind its length: no two recipes look alike."""
    text = json.dumps(recipe, sort_keys=True, default=str).encode()
    return len(text).to_bytes(8, "little") + text


def key_of_copy(key: bytes, layout: str, file_format: str) -> bytes:
    """Return the key of a release as it is written: another layout or format gives other names."""
    return hashlib.blake2b(f"{layout} {file_format}".encode(), key=key).digest()


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
