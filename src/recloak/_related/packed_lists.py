"""Published lists as bytes, in the ledger's numbers: a night reads those of its horizon at once.

The entries of the store are what was published, and what is verified. These bytes say the same and are written with
them; where they are missing, as in stores of older versions, the entries are read.
"""

from __future__ import annotations

import zlib

import numpy as np
import sqlalchemy as sa

from recloak._core.errors import InputError
from recloak._related.history import History, ReleaseRecord, published
from recloak._related.history_database import PACKED_LISTS
from recloak._related.ledger import Ledger
from recloak._related.model import EMPTY, ListRelease, Lists

_LEVEL = 1  # of compression


def packed_lists(lists: Lists, ledger: Ledger) -> bytes:
    """Return lists, numbered as in ``ledger.items()``, as bytes in the ledger's own numbers."""
    number_of = ledger.item_ids.arg_sort().to_numpy().astype(np.int32)
    items = np.full(lists.items.shape, EMPTY, np.int32)
    items[number_of] = np.where(lists.items == EMPTY, EMPTY, number_of[lists.items])
    return zlib.compress(items.astype("<i4").tobytes(), _LEVEL)


def unpacked_lists(data: bytes, top: int, ledger: Ledger) -> Lists:
    """Return the lists of `packed_lists`, numbered as in ``ledger.items()``; items that came later have empty lists."""
    ranks = ledger.ranks()
    try:
        found = np.frombuffer(zlib.decompress(data), "<i4").reshape(-1, top)
        if len(found) > len(ranks) or (found.size and (found.min() < EMPTY or found.max() >= len(found))):
            raise ValueError(len(found))
    except (zlib.error, ValueError) as error:
        raise InputError("the lists of the history cannot be read; they are damaged") from error
    items = np.full((len(ranks), top), EMPTY, np.int32)
    items[ranks[: len(found)]] = np.where(found == EMPTY, EMPTY, ranks[found])
    return Lists(items)


def latest_releases(history: History, ledger: Ledger, records: tuple[ReleaseRecord, ...]) -> tuple[ListRelease, ...]:
    """Return the last releases of a history, whose records are given, numbered as in ``ledger.items()``."""
    if not records:
        return ()
    query = sa.select(PACKED_LISTS).where(PACKED_LISTS.c.release >= records[0].number)
    packed = {row.release: row.lists for row in history._database.rows(query)}
    if any(one.number not in packed for one in records):
        return published(history, ledger.items(), last=len(records))
    return tuple(
        ListRelease(one.number, one.time, unpacked_lists(packed[one.number], one.top, ledger)) for one in records
    )
