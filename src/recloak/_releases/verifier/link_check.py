"""A cap on links against the source: no item stands in a row of whose members more than a share rated it.

Who is behind a row only the owner can tell, so this needs the private mapping. The members of a row are those whom an
outsider cannot tell apart: of the group where groups are published, else all users with the same items and labels.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import OptionError
from recloak._ratings.model import Ratings
from recloak._releases.model.release_format import TABLES
from recloak._releases.verifier.claims import Claims
from recloak._releases.verifier.contents import Contents
from recloak._releases.verifier.diversity_check import original_items
from recloak._releases.verifier.table_blocks import blocks

_NOWHERE = -1


def check_links(claims: Claims, contents: Contents, original: Ratings, mapping: pl.DataFrame | None) -> list[str]:
    """Say whether the cap that the release claims is broken."""
    if mapping is None:
        raise OptionError("the release caps links, which takes who is who to check; give private=... as well")
    published = _published_users(mapping, original, claims.n_users)
    if published is None:
        return ["max_link could not be measured: the mapping does not name every user of the source once"]
    assert claims.max_link is not None and contents.items is not None  # noqa: PT018 (one condition)
    rows = _rows_of_users(claims, contents)[published]  # (n_users,) of the original
    keys, shares = _shares(rows, _released_numbers(contents, original), original, len(contents.items))
    above = shares > claims.max_link
    shown = _shown(claims, contents, keys[above])
    if not shown.any():
        return []
    return [
        f"max_link {claims.max_link:g} does not hold: {np.count_nonzero(shown)} cells show an item that a larger share "
        f"of the row's members rated, up to {shares[above][shown].max():.0%}"
    ]


def _published_users(mapping: pl.DataFrame, original: Ratings, n_users: int) -> NDArray[np.int64] | None:
    """Give the published number (from 0 on) of each user of the original, or nothing where the two do not fit."""
    if not {"user_id", "user"} <= set(mapping.columns) or not len(mapping) == n_users == original.n_users:
        return None
    users, names = original.user_ids.encode(mapping["user_id"]), mapping["user"].to_numpy().astype(np.int64) - 1
    if not all(np.array_equal(np.sort(numbers), np.arange(n_users)) for numbers in (users, names)):
        return None
    return names[np.argsort(users)]


def _rows_of_users(claims: Claims, contents: Contents) -> NDArray[np.int64]:
    """Give the row of each published user: that of the group, or the distinct row."""
    if claims.layout == "long":
        assert contents.distinct is not None
        return contents.distinct
    path = claims.folder / f"members.{claims.file_format}"
    groups = [part[1].to_numpy() for part in blocks(path, TABLES["grouped"]["members"])]
    return np.concatenate(groups).astype(np.int64) - 1


def _released_numbers(contents: Contents, original: Ratings) -> NDArray[np.int64]:
    return original_items(contents, original).astype(np.int64)


def _shares(
    rows: NDArray[np.int64], numbers: NDArray[np.int64], original: Ratings, n_items: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the rated cells (row times items plus item) in order, and the share of the row's members who rated each."""
    raters = np.repeat(rows, np.diff(original.indptr))
    known = numbers != _NOWHERE
    keys, n_raters = np.unique(raters[known] * n_items + numbers[known], return_counts=True)
    return keys, n_raters / np.bincount(rows)[keys // n_items]


def _shown(claims: Claims, contents: Contents, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Read the release again and tell which cells, given in order, stand in it."""
    assert contents.items is not None and contents.firsts is not None  # noqa: PT018 (one condition)
    table, shown = "ratings" if claims.layout == "long" else "profiles", np.zeros(len(keys), np.bool_)
    row_of = np.arange(claims.n_groups)
    if claims.layout == "long":
        row_of = np.full(claims.n_users, _NOWHERE)
        row_of[contents.firsts] = np.arange(len(contents.firsts))
    for names, ids, _ in blocks(claims.folder / f"{table}.{claims.file_format}", TABLES[claims.layout][table]):
        rows, numbers = row_of[names.to_numpy() - 1], contents.items.encode(ids)[0]
        cells = (rows * len(contents.items) + numbers)[rows != _NOWHERE]
        shown |= np.isin(keys, cells)
    return shown
