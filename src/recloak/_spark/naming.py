"""New numbers for users and groups, without a sort of all of them: a random key each, drawn where the row is.

The key of a user is a keyed hash (BLAKE2b) of the id; the secret mixes the seed with a digest of the private ratings,
as on one machine. A bucket is a part of a released table. How many rows each holds follows from their number alone, so
that the borders of parts tell nothing; the keys at the borders are found by counting leading bits. Inside a bucket the
rows are put in the order of their keys. Keys travel between workers and are never written down: neither the work
folder nor the release nor the private folder holds one.
"""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType, StructField, StructType

from recloak._core.randomness import Randomness
from recloak._releases.pseudonyms import recipe_bytes
from recloak._spark.array_cells import row_batch, rows_of
from recloak._spark.user_blocks import Blocks, rows_in

_BITS = 64
_LEADING_BITS = 16  # by which rows are counted before any key is looked at
_DIGEST = 1 << 512
Map = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Bucket(NamedTuple):
    """A part of a released table."""

    part: int  # its number among the parts
    first: int  # the number before that of its first row
    n_rows: int


def secret_key(blocks: Blocks, recipe: Any, rng: Randomness) -> bytes:
    """Mix the seed's key with a digest of every user's ratings and of all options: 64 bytes.

    It is the same for any cut into blocks.
    """
    seed_key = rng.key("pseudonyms")

    def digest(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = sum(_digests(seed_key, batches)) % _DIGEST
        yield row_batch({"total": total.to_bytes(64, "little")}, {"total": pa.binary()})

    columns = blocks.frame.select("ids", "indptr", "items", "values")
    found = columns.mapInArrow(digest, "total binary").toArrow()["total"]
    total = sum(int.from_bytes(cell.as_py(), "little") for cell in found) % _DIGEST
    return hashlib.blake2b(total.to_bytes(64, "little") + recipe_bytes(recipe), key=seed_key).digest()


def _digests(key: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[int]:
    """Yield a number for each user: a keyed digest of id, items and ratings."""
    for row in rows_of(batches):
        indptr, items, values = rows_in(row)
        for user, one in enumerate(row["ids"].as_py()):
            own = slice(indptr[user], indptr[user + 1])
            text = b"".join((id_bytes(one), b"\0", items[own].tobytes(), values[own].tobytes()))
            yield int.from_bytes(hashlib.blake2b(text, key=key).digest(), "little")


def id_bytes(one: int | str) -> bytes:
    """Return the bytes of an id; a number and its text differ."""
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


def signed(key: int) -> int:
    """Return a key as a signed number of the same order (Spark knows no other)."""
    return key - (1 << (_BITS - 1))


def dealt(keyed: DataFrame, n_rows: int, n_parts: float) -> tuple[DataFrame, dict[int, Bucket]]:
    """Deal rows by their keys into about so many buckets; how many rows a bucket holds follows from their number alone.

    Bucket p has the rows from ``p * n_rows // n`` on, in the order of their keys, so that the borders of parts tell
    nothing about anybody.
    """
    n = min(max(1, int(np.ceil(n_parts))), n_rows)
    first_rows = [part * n_rows // n for part in range(n + 1)]
    borders = _keys_at(keyed, first_rows[1:-1])
    buckets = {part: Bucket(part, first_rows[part], first_rows[part + 1] - first_rows[part]) for part in range(n)}
    placed = StructType([*keyed.schema.fields, StructField("bucket", IntegerType())])
    return keyed.mapInArrow(_placer(borders), placed), buckets


def _placer(borders: list[int]) -> Map:
    """Return the function that finds the bucket of each key."""

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in batches:
            buckets = np.searchsorted(np.array(borders, np.int64), rows["key"].to_numpy(), side="right")
            columns = [*rows.columns, pa.array(buckets, pa.int32())]
            yield pa.RecordBatch.from_arrays(columns, names=[*rows.schema.names, "bucket"])

    return place


def _keys_at(keyed: DataFrame, ranks: list[int]) -> list[int]:
    """Return the keys that stand at some ranks: counted by leading bits first, so that few keys come to the driver."""
    if not ranks:
        return []
    leading = sf.shiftright("key", _BITS - _LEADING_BITS)
    counted = sorted((row[0], row[1]) for row in keyed.groupBy(leading.alias("cell")).count().collect())
    cells, starts = [cell for cell, _ in counted], np.cumsum([0, *(count for _, count in counted)])
    inside = np.searchsorted(starts, ranks, side="right") - 1
    wanted = sorted({cells[place] for place in inside})
    found: dict[int, list[int]] = {}
    for row in keyed.select(leading.alias("cell"), "key").where(sf.col("cell").isin(wanted)).collect():
        found.setdefault(row.cell, []).append(row.key)
    return [sorted(found[cells[place]])[rank - starts[place]] for rank, place in zip(ranks, inside, strict=True)]


def in_key_order(keyed: DataFrame, n_buckets: int) -> DataFrame:
    """Bring the rows of each bucket together, in the order of their keys."""
    return keyed.repartition(n_buckets, "bucket").sortWithinPartitions("bucket", "key")
