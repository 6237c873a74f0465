"""Lists that keep within the bound: suppression and permutation, safe as a whole, keeping as much as possible.

The paper's steps (sections 5.1 and 5.2) handle one item after the other and can undo what they did before. Here the
whole release is looked at again after every change, and lists never have gaps:

1. start from the true lists;
2. find the violating borders of all targets since every start, and a hitting set of entries (`leaks`);
3. *permute*: if such an entry was in the list before, rearrange its list quietly (`list_positions`); *suppress* the
   others, which moves the entries below them up; repeat from 2 until nothing violates. Under *total*, where an entry
   that has left can hardly return, every list is rearranged from the beginning;
4. *replace*: add to the end of lists that became short, one candidate per list and round: true entries that were
   removed, entries of the last release, then the next most similar; each is checked exactly together with all entries
   so far.

The result of `permute` never has less recall than that of `suppress`: the better of the two is used (a replacement is
never a true entry, so the recall of suppression is known before lists are filled).
"""

import numpy as np
from numpy.typing import NDArray

from recloak._related.leaks import (
    Entries,
    Observer,
    admissible,
    entries_of,
    joined,
    moves_more,
    sorted_entries,
    to_remove,
)
from recloak._related.list_positions import propose, rearrange
from recloak._related.min_support import has_support
from recloak._related.model import EMPTY, Lists

_CHEAP = 1e-3  # cost of an entry that can move to a quiet position, beside 1 for one that can only be removed
_HALF = 0.5  # cost of an entry that can move to where it tells less


def anonymise(observer: Observer, ranking: Lists, top: int, *, permute: bool = True) -> Lists:
    """Return the ``top`` positions of every list, safe against the earlier releases.

    ``ranking`` holds the true order of related items, best first, and beyond ``top`` what may replace them. Without
    ``permute`` entries are only removed and replaced.
    """
    true = np.ascontiguousarray(ranking.items[:, :top])
    suppressing = _Draft(observer, true, permute=False)
    if not permute:
        (suppressed,) = _without_violations([suppressing])
    else:
        permuting = _Draft(observer, true, permute=True)
        groups = [[suppressing], [permuting]] if permuting.must.any() else [[suppressing, permuting]]
        suppressed, permuted = (lists for group in groups for lists in _without_violations(group))
        _replace(observer, permuted, _candidates(observer, ranking, permuted, with_true=True))
        if n_kept(permuted, true) >= n_kept(suppressed, true):
            return Lists(permuted)
    _replace(observer, suppressed, _candidates(observer, ranking, suppressed, with_true=False))
    return Lists(suppressed)


def n_kept(published: NDArray[np.int32], true: NDArray[np.int32]) -> int:
    """Return the number of true entries that are still in their published list, at any position."""
    kept = np.zeros(true.shape, np.bool_)
    for position in range(published.shape[1]):
        kept |= (true == published[:, position, None]) & (true != EMPTY)
    return int(kept.sum())


class _Draft:
    """Lists while entries are removed from them: who is left in each, by rank, and which must be seated quietly."""

    def __init__(self, observer: Observer, true: NDArray[np.int32], *, permute: bool) -> None:
        self.observer, self.permute = observer, permute
        self.left, self.lists = true.copy(), true.copy()  # by rank, and as they are shown
        self.must = np.zeros(true.shape, np.bool_)
        if permute and observer.bound.evidence == "total":
            self.must[:] = True
            self.write_lists(np.arange(len(true), dtype=np.int32))

    def without_violations(self, entries: Entries, chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Give up the chosen ones of the entries, look again, and so on; return the lists once nothing violates.

        A target is looked at again only if an entry of it moves that did not move before, or was seated and not
        removed: what is left of entries that were safe together is safe.
        """
        looked_at = entries
        while chosen.any():
            given_up = looked_at.where(chosen)
            may_sink: NDArray[np.bool_] = np.asarray(self.could_sink(given_up).any(axis=1))
            self.change(given_up, may_sink)
            before, entries = entries, entries_of(self.observer, self.lists)
            is_open = np.zeros(len(self.lists), np.bool_)
            is_open[entries.targets[moves_more(before, entries)]] = True
            is_open[given_up.targets[may_sink]] = True
            looked_at = entries.where(is_open[entries.targets])
            chosen = to_remove(self.observer, looked_at, self.costs(looked_at)[None])[0]
        return self.lists

    def could_sink(self, entries: Entries) -> NDArray[np.bool_]:
        """Return per entry and view whether it was there and is now higher, and has not been seated quietly yet."""
        items, _ = self.observer.views
        was_there = (items[:, entries.owners, :] == entries.targets[None, :, None]).any(axis=2).T
        seated: NDArray[np.bool_] = self.must[entries.owners, self.ranks(entries)]
        sink: NDArray[np.bool_] = was_there & entries.since & ~seated[:, None] & self.permute
        return sink

    def ranks(self, entries: Entries) -> NDArray[np.intp]:
        """Return where each entry stands among those left in its list."""
        ranks: NDArray[np.intp] = np.argmax(self.left[entries.owners] == entries.targets[:, None], axis=1)
        return ranks

    def costs(self, entries: Entries) -> NDArray[np.float64]:
        """Return what it costs to give an entry up where it is; among equals the lower one goes first."""
        could_sink = self.could_sink(entries)
        costs = 1.0 - entries.positions / (100.0 * self.lists.shape[1])
        costs[could_sink.any(axis=1)] = _HALF
        costs[(could_sink == entries.since).all(axis=1) & could_sink.any(axis=1)] = _CHEAP
        return costs

    def change(self, entries: Entries, may_sink: NDArray[np.bool_]) -> None:
        """Place entries lower where that is allowed, remove the others, and order their lists again."""
        ranks, owners = self.ranks(entries), np.unique(entries.owners)
        self.must[entries.owners, ranks] |= may_sink
        self.left[entries.owners[~may_sink], ranks[~may_sink]] = EMPTY
        order = np.argsort(self.left[owners] == EMPTY, axis=1, kind="stable")
        self.left[owners] = np.take_along_axis(self.left[owners], order, axis=1)
        self.must[owners] = np.take_along_axis(self.must[owners], order, axis=1)
        self.write_lists(owners.astype(np.int32))

    def write_lists(self, owners: NDArray[np.int32]) -> None:
        """Write the lists of some owners as they are shown."""
        if self.permute:
            rearrange(owners, self.left, self.must, self.observer.views, self.lists)
        else:
            self.lists[owners] = self.left[owners]


def _without_violations(drafts: list[_Draft]) -> list[NDArray[np.int32]]:
    """Return the lists of drafts that begin with the same ones, once nothing violates.

    They share the first look at all targets, which takes most of the time.
    """
    observer = drafts[0].observer
    entries = entries_of(observer, drafts[0].lists)
    chosen = to_remove(observer, entries, np.stack([draft.costs(entries) for draft in drafts]))
    return [draft.without_violations(entries, mine) for draft, mine in zip(drafts, chosen, strict=True)]


def _candidates(observer: Observer, ranking: Lists, lists: NDArray[np.int32], *, with_true: bool) -> NDArray[np.int32]:
    """Return for every list what may be added to it, in order: true entries, old entries, the next most similar."""
    top = lists.shape[1]
    true, next_ones, old = ranking.items[:, :top], ranking.items[:, top:], _old_entries(observer, lists)
    if not with_true:
        old = np.where((old[:, :, None] == true[:, None, :]).any(axis=2), EMPTY, old).astype(np.int32)
    parts = [true, old, next_ones] if with_true else [old, next_ones]
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def _old_entries(observer: Observer, lists: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the entries of the last release that still rest on enough people, for the lists that are not full."""
    is_short, least = (lists == EMPTY).any(axis=1), observer.bound.min_support
    old = np.where(is_short[:, None], observer.latest.items, EMPTY).astype(np.int32)
    return np.where(has_support(old, observer.holders, observer.time, least), old, EMPTY).astype(np.int32)


def _replace(observer: Observer, lists: NDArray[np.int32], candidates: NDArray[np.int32]) -> None:
    """Fill the ends of lists round by round with candidates that make no violating set."""
    entries = entries_of(observer, lists)
    pointers = np.zeros(len(lists), np.int64)
    owners = np.flatnonzero((lists == EMPTY).any(axis=1))
    while len(owners):
        items, places = np.empty(len(owners), np.int32), np.zeros(len(owners), np.int32)
        since = np.zeros((len(owners), len(observer.views[0])), np.bool_)
        propose(lists, candidates, pointers, observer.views, owners, items, places, since)
        named = items != EMPTY
        owners, items, places, since = owners[named], items[named], places[named], since[named]
        quiet = ~since.any(axis=1)
        lists[owners[quiet], places[quiet]] = items[quiet]
        revealing = sorted_entries(items[~quiet], owners[~quiet], places[~quiet], since[~quiet])
        added = revealing.where(admissible(observer, entries, revealing))
        entries = joined(entries, added)
        lists[added.owners, added.positions] = added.targets
        owners = owners[(lists[owners] == EMPTY).any(axis=1)]
