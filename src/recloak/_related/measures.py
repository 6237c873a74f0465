"""What publishing safe lists costs: published against true lists of one release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._related.model import ABSENT, HOLE, Lists, positions_before


@dataclass(frozen=True, slots=True)
class Cost:
    """Usefulness of published lists beside the true ones."""

    recall: float  # share of all true entries that are still in their list (the paper's overall recall)
    targeted_recall: float | None  # the same over lists that differ from the true ones; None: no list differs
    changed_lists: int
    suppressed: int  # true entries that are missing
    permuted: int  # true entries that stand elsewhere
    replaced: int  # published entries that are not true ones
    holes: int  # positions left empty that the true list fills
    staleness: float  # share of the published entries that are not in the true list
    order_agreement: float | None  # share of pairs of kept entries that stand in the true order

    def to_json(self) -> dict[str, Any]:
        """Give the figures by name."""
        return asdict(self)


def cost(published: Lists, true: Lists) -> Cost:
    """Measure published lists against the true ones."""
    where = positions_before(published, true)  # of each true entry in the published list
    real, kept = true.items != HOLE, where != ABSENT
    shown = int((published.items != HOLE).sum())
    differs = (published.items != true.items[:, : published.top]).any(axis=1)
    permuted = kept & (where != np.arange(true.top))
    n_kept = int(kept.sum())
    return Cost(
        recall=_share(n_kept, int(real.sum()), 1.0),
        targeted_recall=_share(int(kept[differs].sum()), int(real[differs].sum()), None),  # type: ignore[arg-type]
        changed_lists=int(differs.sum()),
        suppressed=int((real & ~kept).sum()),
        permuted=int(permuted.sum()),
        replaced=shown - n_kept,
        holes=int((real & (published.items == HOLE)).sum()),
        staleness=_share(shown - n_kept, shown, 0.0),
        order_agreement=_order_agreement(where, kept),
    )


def _share(part: int, whole: int, none: float) -> float:
    return part / whole if whole else none


def _order_agreement(where: NDArray[np.int32], kept: NDArray[np.bool_]) -> float | None:
    agree = pairs = 0
    for first in range(where.shape[1]):
        for second in range(first + 1, where.shape[1]):
            both = kept[:, first] & kept[:, second]
            pairs += int(both.sum())
            agree += int((both & (where[:, first] < where[:, second])).sum())
    return agree / pairs if pairs else None


def reasons(published: Lists, true: Lists) -> Iterator[tuple[int, int, str]]:
    """Say of every entry that differs from the true lists what happened to it: owner, entry, reason."""
    where, source = positions_before(published, true), positions_before(true, published)
    here = np.arange(true.top)
    yield from _named(true, (true.items != HOLE) & (where == ABSENT), "suppressed")
    yield from _named(true, (where != ABSENT) & (where != here), "permuted")
    yield from _named(published, (published.items != HOLE) & (source == ABSENT), "replaced")


def _named(lists: Lists, chosen: NDArray[np.bool_], reason: str) -> Iterator[tuple[int, int, str]]:
    for owner, place in zip(*(axis.tolist() for axis in np.nonzero(chosen)), strict=True):
        yield owner, int(lists.items[owner, place]), reason
