"""Lists that keep within the bound: suppression and permutation, safe as a whole, keeping as much as possible.

The paper's steps (sections 5.1 and 5.2) handle one item after the other and can undo what they did before. Here every
step keeps the whole release safe against every earlier release of the window:

1. start from the true lists;
2. *permute*: if an entry that was in the list before would violate, rearrange its list quietly (`list_positions`);
   under *total*, where an entry that has left can hardly return, rearrange every list;
3. *suppress*: find the violating borders of all targets against all earlier releases and remove a hitting set; the
   rest is safe, since removing an entry moves no other (`leaks`);
4. *replace*: fill empty positions, one candidate per list and round: true entries that were removed, entries of earlier
   releases, then the next most similar; each is checked exactly together with all entries so far.

The result of `permute` never has less recall than that of `suppress`: the better of the two is used (a replacement is
never a true entry, so the recall of suppression is known before positions are filled).
"""

import numpy as np
from numpy.typing import NDArray

from recloak._related.leaks import Entries, Observer, admissible, entries_of, joined, sorted_entries, to_remove
from recloak._related.list_positions import propose, rearrange, stacked
from recloak._related.model import EMPTY, Lists

_ROUNDS = 6  # of rearranging; what still violates afterwards is suppressed
_CHEAP = 1e-3  # cost of an entry that can move to a quiet position, beside 1 for one that can only be removed
_HALF = 0.5  # cost of an entry that can move to where it tells less


def anonymise(observer: Observer, ranking: Lists, top: int, *, permute: bool = True) -> Lists:
    """Return the ``top`` positions of every list, safe against the earlier releases of the window.

    ``ranking`` holds the true order of related items, best first, and beyond ``top`` what may replace them. Without
    ``permute`` entries are only removed and replaced.
    """
    true = ranking.items[:, :top]
    if not observer.earlier:
        return Lists(true.copy())
    suppressed = true.copy()
    _suppress(observer, suppressed)
    if permute:
        permuted = _permuted(observer, ranking, top)
        if n_kept(permuted, true) >= n_kept(suppressed, true):
            return Lists(permuted)
    _replace(observer, suppressed, _candidates(observer, ranking, top, with_true=False))
    return Lists(suppressed)


def n_kept(published: NDArray[np.int32], true: NDArray[np.int32]) -> int:
    """Return the number of true entries that are still in their published list, at any position."""
    kept = np.zeros(true.shape, np.bool_)
    for position in range(published.shape[1]):
        kept |= (true == published[:, position, None]) & (true != EMPTY)
    return int(kept.sum())


def _permuted(observer: Observer, ranking: Lists, top: int) -> NDArray[np.int32]:
    lists = _rearranged(observer, ranking.items[:, :top])
    _suppress(observer, lists)
    _replace(observer, lists, _candidates(observer, ranking, top, with_true=True))
    return lists


def _rearranged(observer: Observer, true: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the lists with those rearranged in which an entry violates that could tell less; under *total* all.

    Under *total* an entry that sinks without need is lost sooner: it can never rise again, and two entries cannot share
    a position.
    """
    stack, true = stacked(observer.earlier), np.ascontiguousarray(true)
    lists, must = true.copy(), np.zeros(true.shape, np.bool_)
    if observer.bound.evidence == "total":
        rearrange(np.arange(len(true), dtype=np.int32), true, ~must, stack, lists)
        return lists
    touched = np.ones(len(true), np.bool_)  # targets of lists that were just rearranged
    for _ in range(_ROUNDS):
        entries = entries_of(observer, lists)
        revealing = _needlessly_revealing(observer, entries.where(touched[entries.targets]), stack)
        ranks = np.argmax(true[revealing.owners] == revealing.targets[:, None], axis=1)
        is_new = ~must[revealing.owners, ranks]
        if not is_new.any():
            break
        must[revealing.owners, ranks] = True
        changed = np.unique(revealing.owners[is_new])
        rearrange(changed, true, must, stack, lists)
        touched = np.isin(np.arange(len(true)), true[changed])
    return lists


def _needlessly_revealing(observer: Observer, entries: Entries, stack: NDArray[np.int32]) -> Entries:
    """Return the entries to be removed that rose above a position which they had in an earlier release."""
    was_there = (stack[:, entries.owners, :] == entries.targets[None, :, None]).any(axis=2).T
    rose = (was_there & entries.since).any(axis=1)
    costs = np.where(was_there.all(axis=1), _CHEAP, np.where(rose, _HALF, 1.0))
    return entries.where(to_remove(observer, entries, costs) & rose)


def _suppress(observer: Observer, lists: NDArray[np.int32]) -> None:
    """Remove entries until no set violates; among equals the one lower in its list goes first."""
    entries = entries_of(observer, lists)
    costs = 1.0 - entries.positions / (100.0 * lists.shape[1])
    removed = entries.where(to_remove(observer, entries, costs))
    lists[removed.owners, removed.positions] = EMPTY


def _candidates(observer: Observer, ranking: Lists, top: int, *, with_true: bool) -> NDArray[np.int32]:
    """Return for every list what may fill it, in order: true entries, earlier entries, the next most similar."""
    stack = stacked(observer.earlier)
    old = stack[::-1].transpose(1, 0, 2).reshape(stack.shape[1], -1)
    true, next_ones = ranking.items[:, :top], ranking.items[:, top:]
    if not with_true:
        old = np.where((old[:, :, None] == true[:, None, :]).any(axis=2), EMPTY, old).astype(np.int32)
    parts = [true, old, next_ones] if with_true else [old, next_ones]
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def _replace(observer: Observer, lists: NDArray[np.int32], candidates: NDArray[np.int32]) -> None:
    """Fill empty positions round by round with candidates that make no violating set."""
    stack, entries = stacked(observer.earlier), entries_of(observer, lists)
    pointers = np.zeros(len(lists), np.int64)
    owners = np.flatnonzero((lists == EMPTY).any(axis=1))
    while len(owners):
        items, places = np.empty(len(owners), np.int32), np.zeros(len(owners), np.int32)
        since = np.zeros((len(owners), len(stack)), np.bool_)
        propose(lists, candidates, pointers, stack, owners, items, places, since)
        named = items != EMPTY
        owners, items, places, since = owners[named], items[named], places[named], since[named]
        quiet = ~since.any(axis=1)
        lists[owners[quiet], places[quiet]] = items[quiet]
        revealing = sorted_entries(items[~quiet], owners[~quiet], places[~quiet], since[~quiet])
        added = revealing.where(admissible(observer, entries, revealing))
        entries = joined(entries, added)
        lists[added.owners, added.positions] = added.targets
        owners = owners[(lists[owners] == EMPTY).any(axis=1)]
