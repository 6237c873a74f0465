"""A cap on links against the source: no item stands in a row of whose members more than a share rated it.

Who is behind a row only the owner can tell, so this needs the private mapping. The members of a row are those whom an
outsider cannot tell apart: of the group where groups are published, else all users with the same items and labels.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._ratings.model import Ratings
from recloak._releases.verifier.claims import Claims, Part
from recloak._releases.verifier.part_findings import shown_cells
from recloak._releases.verifier.table_blocks import blocks


class Exceeded(NamedTuple):
    """How many cells lie above the cap, and the largest share of a row's members who rated one."""

    n_cells: int
    share: float

    def problems(self, max_link: float) -> list[str]:
        """Say whether the cap is broken."""
        if not self.n_cells:
            return []
        return [
            f"max_link {max_link:g} does not hold: {self.n_cells} cells show an item that a larger share "
            f"of the row's members rated, up to {self.share:.0%}"
        ]


def exceeded_links(claims: Claims, parts: Sequence[Part], rows: NDArray[np.int64], members: Ratings) -> Exceeded:
    """Count the shown cells above the cap in some parts of a release.

    ``rows`` names the row of each of the ``members``: the group, or one user of those who share it. All members of a
    row must be given, and the parts must hold the cells of every row.
    """
    assert claims.max_link is not None
    names, places, sizes = np.unique(rows, return_inverse=True, return_counts=True)
    rated = np.repeat(places, members.activity) * members.n_items + members.items
    cells, raters = np.unique(rated, return_counts=True)
    shares = raters / sizes[cells // members.n_items]
    above = shares > claims.max_link
    shown = _are_shown(claims, parts, names, members, cells[above])
    return Exceeded(int(np.count_nonzero(shown)), float(shares[above][shown].max(initial=0.0)))


def _are_shown(
    claims: Claims, parts: Sequence[Part], names: NDArray[np.int64], members: Ratings, cells: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which cells (row times items plus item), given in order, stand in the release."""
    shown = np.zeros(len(cells), np.bool_)
    place_of = np.full(claims.n_names + 1, -1)
    place_of[names] = np.arange(len(names))
    for holders, items in shown_cells(claims, parts if len(cells) else (), members.item_ids):
        rows = place_of[holders]
        seen = (rows * members.n_items + items)[(rows >= 0) & (items >= 0)]
        found = np.minimum(np.searchsorted(cells, seen), len(cells) - 1)
        shown[found[cells[found] == seen]] = True
    return shown


def published_users(mapping: pl.DataFrame, original: Ratings, n_users: int) -> NDArray[np.int64] | None:
    """Return the published number (from 1 on) of each user of the original, or None where the two do not fit."""
    if not {"user_id", "user"} <= set(mapping.columns) or not len(mapping) == n_users == original.n_users:
        return None
    users, names = original.user_ids.encode(mapping["user_id"]), mapping["user"].to_numpy().astype(np.int64)
    if not np.array_equal(np.sort(users), np.arange(n_users)):
        return None
    return names[np.argsort(users)] if np.array_equal(np.sort(names), np.arange(1, n_users + 1)) else None


def groups_of_users(claims: Claims) -> NDArray[np.int64]:
    """Return the group of each published user."""
    parts = [part for part in claims.parts if part.table == "members"]
    read = (block for part in parts for block in blocks(claims.path(part), claims.columns(part)))
    return np.concatenate([groups.to_numpy() for _, groups in read]).astype(np.int64)
