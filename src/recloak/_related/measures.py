"""The cost of safe lists: published against true lists of one release, and the recall that no method can exceed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._related.model import ABSENT, EMPTY, Holders, Lists, positions_before


@dataclass(frozen=True, slots=True)
class Cost:
    """Usefulness of published lists compared with the true ones."""

    recall: float  # share of all true entries that are still in their list (the paper's overall recall); 0 of none
    targeted_recall: float | None  # the same over lists that differ from the true ones; None: no list differs
    changed_lists: int
    suppressed: int  # true entries that are missing
    permuted: int  # true entries at another position
    replaced: int  # published entries that are not true ones
    holes: int  # positions left empty that the true list fills
    staleness: float  # share of the published entries that are not in the true list
    order_agreement: float | None  # share of pairs of kept entries in the true order

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return asdict(self)


def cost(published: Lists, true: Lists) -> Cost:
    """Measure published lists against the true ones."""
    where = positions_before(published, true)  # of each true entry in the published list
    real, kept = true.items != EMPTY, where != ABSENT
    shown = int((published.items != EMPTY).sum())
    differs = (published.items != true.items[:, : published.top]).any(axis=1)
    permuted = kept & (where != np.arange(true.top))
    n_kept = int(kept.sum())
    return Cost(
        recall=_share(n_kept, int(real.sum()), 0.0),
        targeted_recall=_share(int(kept[differs].sum()), int(real[differs].sum()), None),  # type: ignore[arg-type]
        changed_lists=int(differs.sum()),
        suppressed=int((real & ~kept).sum()),
        permuted=int(permuted.sum()),
        replaced=shown - n_kept,
        holes=int((real & (published.items == EMPTY)).sum()),
        staleness=_share(shown - n_kept, shown, 0.0),
        order_agreement=_order_agreement(where, kept),
    )


def _share(part: int, whole: int, of_nothing: float) -> float:
    return part / whole if whole else of_nothing


def _order_agreement(where: NDArray[np.int32], kept: NDArray[np.bool_]) -> float | None:
    agree = pairs = 0
    for first in range(where.shape[1]):
        for second in range(first + 1, where.shape[1]):
            both = kept[:, first] & kept[:, second]
            pairs += int(both.sum())
            agree += int((both & (where[:, first] < where[:, second])).sum())
    return agree / pairs if pairs else None


def reasons(published: Lists, true: Lists) -> Iterator[tuple[int, int, str]]:
    """Yield what happened to every entry that differs from the true lists: owner, entry, reason."""
    where, source = positions_before(published, true), positions_before(true, published)
    here = np.arange(true.top)
    yield from _named(true, (true.items != EMPTY) & (where == ABSENT), "suppressed")
    yield from _named(true, (where != ABSENT) & (where != here), "permuted")
    yield from _named(published, (published.items != EMPTY) & (source == ABSENT), "replaced")


def _named(lists: Lists, chosen: NDArray[np.bool_], reason: str) -> Iterator[tuple[int, int, str]]:
    for owner, place in zip(*(axis.tolist() for axis in np.nonzero(chosen)), strict=True):
        yield owner, int(lists.items[owner, place]), reason


def ceiling(true: Sequence[Lists], times: Sequence[int], holders: Holders, delta: float) -> list[float]:
    """Return for every release after the first an upper bound of the recall of any method under *total*.

    A set {j} of one background item violates as long as P(i|j) = Sup(i, j) / Sup(j) > delta. So i can enter j's list
    only at a release at which P(i|j) <= delta, and can be in it later only if it entered then, or was in the first
    release. The bound counts the true entries for which there was such a release; it ignores larger backgrounds and the
    length of a list, so no method that shows only items with a common rater can reach more.
    """
    shares = []
    moments = np.array(times, np.int64)
    for number in range(1, len(true)):
        owners, places = np.nonzero(true[number].items != EMPTY)
        entries = true[number].items[owners, places]
        was_first = (true[0].items[owners] == entries[:, None]).any(axis=1)
        data = (holders.indptr, holders.users, holders.times, np.int64(holders.n_users))
        could = _could_enter(owners, entries, moments[: number + 1], delta, *data)
        shares.append(float((was_first | could).mean()) if len(owners) else 1.0)
    return shares


@njit(cache=True)
def _could_enter(owners, entries, moments, delta, starts, users, times, n_users):  # type: ignore[no-untyped-def]
    """Return which pairs had P(entry|owner) <= delta, with a common rater, at one of the moments; owners ascend."""
    found = np.zeros(len(owners), np.bool_)
    since = np.full(n_users, np.int64(2**62))
    for e in range(len(owners)):
        j, i = owners[e], entries[e]
        if e and owners[e - 1] != j:
            for p in range(starts[owners[e - 1]], starts[owners[e - 1] + 1]):
                since[users[p]] = np.int64(2**62)
        if e == 0 or owners[e - 1] != j:
            for p in range(starts[j], starts[j + 1]):
                since[users[p]] = times[p]
        for moment in moments:
            above = below = 0
            for p in range(starts[j], starts[j + 1]):
                below += times[p] <= moment
            for p in range(starts[i], starts[i + 1]):
                above += max(times[p], since[users[p]]) <= moment
            if above > 0 and above / below <= delta:
                found[e] = True
                break
    return found


def mean_ceiling(true: Sequence[Lists], times: Sequence[int], holders: Holders, delta: float) -> float:
    """Return the mean of `ceiling` over the later releases."""
    shares = ceiling(true, times, holders, delta)
    return float(np.mean(shares)) if shares else 1.0
