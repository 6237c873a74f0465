"""Digests of released rows, to count those that differ."""

import hashlib
from collections.abc import Iterator

from recloak._releases.profiles import ProfileCells


def row_digests(cells: ProfileCells) -> Iterator[bytes]:
    """Return a digest of the items and labels of each row."""
    for start, stop in zip(cells.indptr[:-1], cells.indptr[1:], strict=True):
        row = cells.items[start:stop].tobytes() + cells.labels[start:stop].tobytes()
        yield hashlib.blake2b(row, digest_size=16).digest()
