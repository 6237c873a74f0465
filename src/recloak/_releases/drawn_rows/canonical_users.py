"""Users in an order that their ratings alone decide, so that who carries which id changes nothing.

Two users who exchange their ids, as members of a group are exchanged in thought when rows are said to be exchangeable,
leave this order and with it every sum, draw and name of a release as they were.
"""

import hashlib
import itertools
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.profiles import SparseProfiles


def canonical_order(ratings: Ratings) -> NDArray[np.int64]:
    """Return the users in the order of a hash of their rows; users with the same row are alike."""
    items, values = ratings.items.view(np.uint8).data, ratings.values.view(np.uint8).data
    ends = (4 * ratings.indptr).tolist()
    digests = b"".join(
        hashlib.blake2b(values[start:stop], key=hashlib.blake2b(items[start:stop]).digest(), digest_size=16).digest()
        for start, stop in itertools.pairwise(ends)
    )
    words = np.frombuffer(digests, ">u8").reshape(-1, 2)
    return np.lexsort((words[:, 1], words[:, 0])).astype(np.int64)


def in_order(ratings: Ratings, order: NDArray[np.int64]) -> Ratings:
    """Return the ratings of users in an order, under numbers instead of ids and without times."""
    rows = SparseProfiles(ratings.indptr, ratings.items, ratings.values, ratings.n_items).rows(order)
    ids = IdMap(pl.Series(np.arange(len(order), dtype=np.int64)))
    return replace(ratings, indptr=rows.indptr, items=rows.items, values=rows.labels, user_ids=ids, times=None)


def row_places(indptr: NDArray[np.int64], rows: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the cells of some rows stand, row by row, and the starts of the rows among them."""
    counts = np.diff(indptr)[rows]
    starts = np.concatenate(([0], np.cumsum(counts)))
    return np.arange(starts[-1]) + np.repeat(indptr[rows] - starts[:-1], counts), starts
