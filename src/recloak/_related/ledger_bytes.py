"""A ledger as bytes: compressed, a few bytes per holding."""

import json
import zlib

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.errors import InputError

_LEVEL = 1  # of compression: a higher one takes four times as long for a tenth less


def packed_holdings(users: NDArray[np.int32], items: NDArray[np.int32]) -> bytes:
    """Return holdings, sorted by user and item, as bytes: steps between users, then items by user as steps."""
    starts = np.flatnonzero(np.diff(users, prepend=-1))
    counts = np.diff(np.append(starts, len(users)))
    steps = np.diff(items, prepend=0)
    steps[starts] = items[starts]
    parts = (np.diff(users[starts], prepend=0), counts, steps)
    return zlib.compress(b"".join(_planes(part) for part in parts), _LEVEL) + _header(len(starts), len(items))


def _header(n_users: int, n_holdings: int) -> bytes:
    return np.array([n_users, n_holdings], "<i8").tobytes()


def _planes(values: NDArray[np.integer]) -> bytes:
    """Return numbers byte by byte, all lowest bytes first: what is mostly zero packs to nothing."""
    return np.ascontiguousarray(values.astype("<i4").view(np.uint8).reshape(-1, 4).T).tobytes()


def unpacked_holdings(data: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the users and items of `packed_holdings`."""
    try:
        n_users, n_holdings = (int(number) for number in np.frombuffer(data[-16:], "<i8"))
        raw = np.frombuffer(zlib.decompress(data[:-16]), np.uint8)
        first, second, third = np.split(raw, [4 * n_users, 8 * n_users])
        distinct, counts, planes = _numbers(first), _numbers(second), third.reshape(4, n_holdings)
        if counts.sum() != n_holdings or (counts < 0).any():
            raise ValueError(n_holdings)
        users, items = np.repeat(np.cumsum(distinct, dtype=np.int32), counts), np.empty(n_holdings, np.int32)
        _add_steps(planes, counts, items)
    except (zlib.error, ValueError, IndexError) as error:
        raise InputError("the ledger of the history cannot be read; it is damaged") from error
    return users, items


@njit(cache=True)
def _add_steps(planes, counts, items):  # type: ignore[no-untyped-def]
    """Write the items of every user from the bytes of their steps."""
    p = 0
    for count in counts:
        item = np.int64(0)
        for _ in range(count):
            bits = planes[0, p] | planes[1, p] << 8 | planes[2, p] << 16 | planes[3, p] << 24
            item += np.int32(bits)
            items[p] = item
            p += 1


def _numbers(planes: NDArray[np.uint8]) -> NDArray[np.int32]:
    return np.ascontiguousarray(planes.reshape(4, -1).T).view("<i4").reshape(-1)


def packed_ids(ids: pl.Series) -> bytes:
    """Return ids as bytes; None for somebody who was forgotten."""
    return zlib.compress(json.dumps(ids.to_list(), ensure_ascii=False, separators=(",", ":")).encode(), _LEVEL)


def unpacked_ids(data: bytes, *, is_text: bool) -> pl.Series:
    """Return the ids of `packed_ids`."""
    return pl.Series(json.loads(zlib.decompress(data)), dtype=pl.String if is_text else pl.Int64)
