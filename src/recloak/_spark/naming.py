"""Fresh names for users and groups, without a sort of everybody: a random key each, drawn where the row is.

The key of a user is a keyed hash (BLAKE2b) of the id; the secret mixes the seed with a digest of the private ratings,
as on one machine. Since keys are uniform, their leading bits deal the rows into equally large buckets without anything
being looked at first. A bucket is a part of a released table: counting gives each its first number, and inside a bucket
the rows are put in the order of their keys. Keys travel between workers and are never written down: neither the work
folder nor the release nor the private folder holds one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from recloak._core.randomness import Randomness
from recloak._spark.array_cells import array, batch, rows_of
from recloak._spark.user_blocks import Blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BITS = 64
_DIGEST = 1 << 512
Map = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Bucket(NamedTuple):
    """A part of a released table."""

    part: int  # its number among the parts
    first: int  # the number before that of its first row
    n_rows: int


def secret_key(blocks: Blocks, chance: Randomness) -> bytes:
    """Mix the seed's key with a digest of every user's ratings: 64 bytes; how users lie in blocks does not matter."""
    seed_key = chance.key("pseudonyms")

    def digest(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = sum(_digests(seed_key, batches)) % _DIGEST
        yield batch({"total": [np.frombuffer(total.to_bytes(64, "little"), np.uint8)]}, {"total": pa.binary()})

    columns = blocks.frame.select("ids", "indptr", "items", "values")
    found = columns.mapInArrow(digest, "total binary").toArrow()["total"]
    total = sum(int.from_bytes(cell.as_py(), "little") for cell in found) % _DIGEST
    return hashlib.blake2b(total.to_bytes(64, "little"), key=seed_key).digest()


def _digests(key: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[int]:
    """Give one number per user: a keyed digest of id, items and ratings."""
    for row in rows_of(batches):
        indptr, items = array(row["indptr"], np.int64), array(row["items"], np.int32)
        values = array(row["values"], np.float32)
        for user, one in enumerate(row["ids"].as_py()):
            own = slice(indptr[user], indptr[user + 1])
            text = b"".join((id_bytes(one), b"\0", items[own].tobytes(), values[own].tobytes()))
            yield int.from_bytes(hashlib.blake2b(text, key=key).digest(), "little")


def id_bytes(one: int | str) -> bytes:
    """Give the bytes of an id; a number and the text of it differ."""
    return b"t" + one.encode("utf-8", "surrogatepass") if isinstance(one, str) else b"n%d" % one


def user_key(secret: bytes, one: int | str) -> int:
    """Draw a user's key: 64 bits that only the owner of the ratings can compute."""
    digest = hashlib.blake2b(id_bytes(one), key=secret, person=b"users", digest_size=_BITS // 8).digest()
    return int.from_bytes(digest, "little")


def group_key(secret: bytes, ids: list[int] | list[str]) -> int:
    """Draw a group's key, from the key of one of its members."""
    first = min(user_key(secret, one) for one in ids).to_bytes(_BITS // 8, "little")
    digest = hashlib.blake2b(first, key=secret, person=b"groups", digest_size=_BITS // 8).digest()
    return int.from_bytes(digest, "little")


def dealt(key: int, n_buckets: int) -> tuple[int, int]:
    """Give the bucket of a key, and the key as a signed number of the same order (Spark knows no other)."""
    return key * n_buckets >> _BITS, key - (1 << (_BITS - 1))


def count_buckets(keyed: DataFrame) -> dict[int, Bucket]:
    """Count the rows of each bucket; give its part and where its numbers begin. Buckets without rows are left out."""
    counts = sorted((row.bucket, row["count"]) for row in keyed.groupBy("bucket").count().collect())
    starts = np.cumsum([0, *(n_rows for _, n_rows in counts)]).tolist()
    return {bucket: Bucket(part, starts[part], n_rows) for part, (bucket, n_rows) in enumerate(counts)}


def in_key_order(keyed: DataFrame, n_buckets: int) -> DataFrame:
    """Bring the rows of each bucket together, in the order of their keys."""
    return keyed.repartition(n_buckets, "bucket").sortWithinPartitions("bucket", "key")
