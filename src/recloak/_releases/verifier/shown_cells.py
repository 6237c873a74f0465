"""The cells that a release shows, by the owner's own item numbers; read again, after the release was found in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from recloak._ratings.ids import IdMap
from recloak._releases.verifier.claims import Claims, Part
from recloak._releases.verifier.item_numbers import ItemNumbers
from recloak._releases.verifier.table_blocks import blocks


def shown_cells(
    claims: Claims, parts: Iterable[Part], item_ids: IdMap
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Return users or groups and items block by block; an item that ``item_ids`` does not know is -1."""
    items, known = ItemNumbers(), np.empty(0, np.int32)
    for part in parts:
        for names, ids, _ in blocks(claims.path(part), claims.columns(part)):
            numbers = items.encode(ids)[0]
            if len(items) > len(known):
                known = item_ids.encode(items.ids())
            yield names.to_numpy(), known[numbers]
