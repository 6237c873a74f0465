"""Lists that keep within the bound: suppression and permutation, safe as a whole, with as much kept as can be.

The paper's steps (sections 5.1 and 5.2) handle one item after the other and can undo what they did before. Here every
step keeps the whole release safe against every earlier release of the window:

1. start from the true lists;
2. *permute*: where an entry that stood there before would violate, seat its list quietly (`seats`); under *total*,
   where what has left can hardly return, seat every list so;
3. *suppress*: find the violating borders of all targets against all earlier releases and remove a hitting set; what is
   left is safe, since removing moves nothing (`leaks`);
4. *replace*: fill the holes, one candidate per list and round: true entries that were removed, entries that stood there
   before, then the next most similar; each is checked exactly together with all that is there.

The result of `permute` is never below that of `suppress` in recall: the better of the two is taken (a replacement is
never a true entry, so what suppressing keeps is known before its holes are filled).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._related.leaks import Entries, Watch, admissible, entries_of, joined, sorted_entries, to_remove
from recloak._related.list_positions import propose, reseat, stacked
from recloak._related.model import HOLE, Lists

_ROUNDS = 6  # of re-seating; what still violates afterwards is suppressed
_CHEAP = 1e-3  # cost of an entry that may be seated quietly, beside 1 for one that can only be removed
_HALF = 0.5  # cost of an entry that may be seated to tell less


def anonymise(watch: Watch, ranking: Lists, top: int, *, permute: bool = True) -> Lists:
    """Return the ``top`` positions of every list, safe against the earlier releases of the window.

    ``ranking`` holds the true order of related items, best first, and beyond ``top`` what may replace them. Without
    ``permute`` entries are only removed and replaced.
    """
    true = ranking.items[:, :top]
    if not watch.earlier:
        return Lists(true.copy())
    thinned = true.copy()
    _suppress(watch, thinned)
    if permute:
        permuted = _permuted(watch, ranking, top)
        if n_kept(permuted, true) >= n_kept(thinned, true):
            return Lists(permuted)
    _replace(watch, thinned, _candidates(watch, ranking, top, with_true=False))
    return Lists(thinned)


def n_kept(published: NDArray[np.int32], true: NDArray[np.int32]) -> int:
    """Count the true entries that were kept, wherever they sit."""
    return int(kept(published, true).sum())


def kept(published: NDArray[np.int32], true: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which true entries still stand in their published list."""
    found = np.zeros(true.shape, np.bool_)
    for position in range(published.shape[1]):
        found |= (true == published[:, position, None]) & (true != HOLE)
    return found


def _permuted(watch: Watch, ranking: Lists, top: int) -> NDArray[np.int32]:
    """Seat quietly what can be, remove what must be, fill what is left."""
    lists = _reseated(watch, ranking.items[:, :top])
    _suppress(watch, lists)
    _replace(watch, lists, _candidates(watch, ranking, top, with_true=True))
    return lists


def _reseated(watch: Watch, true: NDArray[np.int32]) -> NDArray[np.int32]:
    """Seat the lists quietly in which an entry violates that could tell less; under *total* all lists.

    There an entry that sinks without need is lost the sooner: it can never rise again, and two cannot share a seat.
    """
    stack, true = stacked(watch.earlier), np.ascontiguousarray(true)
    lists, must = true.copy(), np.zeros(true.shape, np.bool_)
    if watch.bound.evidence == "total":
        reseat(np.arange(len(true), dtype=np.int32), true, ~must, stack, lists)
        return lists
    touched = np.ones(len(true), np.bool_)  # targets that stand in a list that was just seated
    for _ in range(_ROUNDS):
        entries = entries_of(watch, lists)
        loud = _needlessly_loud(watch, entries.where(touched[entries.targets]), stack)
        ranks = np.argmax(true[loud.owners] == loud.targets[:, None], axis=1)
        fresh = ~must[loud.owners, ranks]
        if not fresh.any():
            break
        must[loud.owners, ranks] = True
        seated = np.unique(loud.owners[fresh])
        reseat(seated, true, must, stack, lists)
        touched = np.isin(np.arange(len(true)), true[seated])
    return lists


def _needlessly_loud(watch: Watch, entries: Entries, stack: NDArray[np.int32]) -> Entries:
    """Give the entries to be removed that rose above a position which they had in an earlier release."""
    stood = (stack[:, entries.owners, :] == entries.targets[None, :, None]).any(axis=2).T
    rose = (stood & entries.since).any(axis=1)
    costs = np.where(stood.all(axis=1), _CHEAP, np.where(rose, _HALF, 1.0))
    return entries.where(to_remove(watch, entries, costs) & rose)


def _suppress(watch: Watch, lists: NDArray[np.int32]) -> None:
    """Remove entries until no set violates; among equals the one lower in its list goes first."""
    entries = entries_of(watch, lists)
    costs = 1.0 - entries.positions / (100.0 * lists.shape[1])
    gone = entries.where(to_remove(watch, entries, costs))
    lists[gone.owners, gone.positions] = HOLE


def _candidates(watch: Watch, ranking: Lists, top: int, *, with_true: bool) -> NDArray[np.int32]:
    """Give for every list who may fill a hole, in order: true entries, earlier entries, the next most similar."""
    stack = stacked(watch.earlier)
    old = stack[::-1].transpose(1, 0, 2).reshape(stack.shape[1], -1)
    true, next_ones = ranking.items[:, :top], ranking.items[:, top:]
    if not with_true:
        old = np.where((old[:, :, None] == true[:, None, :]).any(axis=2), HOLE, old).astype(np.int32)
    parts = [true, old, next_ones] if with_true else [old, next_ones]
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def _replace(watch: Watch, lists: NDArray[np.int32], candidates: NDArray[np.int32]) -> None:
    """Fill holes round by round with candidates that make no violating set."""
    stack, entries = stacked(watch.earlier), entries_of(watch, lists)
    pointers = np.zeros(len(lists), np.int64)
    owners = np.flatnonzero((lists == HOLE).any(axis=1))
    while len(owners):
        items, places = np.empty(len(owners), np.int32), np.zeros(len(owners), np.int32)
        since = np.zeros((len(owners), len(stack)), np.bool_)
        propose(lists, candidates, pointers, stack, owners, items, places, since)
        named = items != HOLE
        owners, items, places, since = owners[named], items[named], places[named], since[named]
        silent = ~since.any(axis=1)
        lists[owners[silent], places[silent]] = items[silent]
        heard = sorted_entries(items[~silent], owners[~silent], places[~silent], since[~silent])
        taken = heard.where(admissible(watch, entries, heard))
        entries = joined(entries, taken)
        lists[taken.owners, taken.positions] = taken.targets
        owners = owners[(lists[owners] == HOLE).any(axis=1)]
