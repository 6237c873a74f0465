"""What a release would give away: its distinguishing entries by target item, and which of them to remove.

Once every entry has its position, targets do not influence each other. So the violating borders of all targets are
found, and hit, in parallel. Lists have no gaps: what is removed moves entries up, and the maker looks again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._related.borders import border, breaks
from recloak._related.list_positions import Views, views_of_releases, views_of_sights
from recloak._related.model import EMPTY, Holders, ListRelease, Lists, Sight, asked_of
from recloak._related.options import BoundOptions

_ONE = np.uint64(1)
NO_LIMIT = np.int64(2**31)


@dataclass(frozen=True, eq=False, slots=True)
class Entries:
    """Entries of lists sorted by target, then by the item whose list it is."""

    targets: NDArray[np.int32]  # (n,)
    owners: NDArray[np.int32]  # (n,) the item whose list it is
    positions: NDArray[np.int32]  # (n,)
    since: NDArray[np.bool_]  # (n, n_views) whether it is new or higher in each view of the earlier releases

    def __len__(self) -> int:
        return len(self.targets)

    def where(self, keep: NDArray[np.bool_]) -> Entries:
        """Return the entries whose mask is set."""
        return Entries(self.targets[keep], self.owners[keep], self.positions[keep], self.since[keep])

    def starts(self) -> NDArray[np.int64]:
        """Return where each target's entries begin, and the end of the last."""
        first = np.flatnonzero(np.diff(self.targets, prepend=-1))
        return np.append(first, len(self.targets)).astype(np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class Observer:
    """An observer at one release: what earlier releases showed, the ratings behind them, and the bound.

    Every view is asked about what was added since its time. With a window a view is one earlier release; with a horizon
    it is what somebody saw who has looked at every release since one (`Sight`).
    """

    views: Views
    starts: NDArray[np.int64]  # (n_views,) since when additions are asked about
    past: tuple[NDArray[np.int64], NDArray[np.int32]]  # (n_views, n_items + 1) where past moves begin; whose lists
    latest: Lists  # the newest of the earlier releases
    time: int  # of the release that is being made
    holders: Holders
    bound: BoundOptions
    budget: int
    earlier: tuple[ListRelease, ...] = ()  # the releases of a window, for the printed algorithm

    @classmethod
    def of_window(
        cls, earlier: tuple[ListRelease, ...], time: int, holders: Holders, bound: BoundOptions, budget: int = 10**8
    ) -> Observer:
        """Return an observer who compares the release with each of some earlier ones."""
        starts, latest = np.array([release.time for release in earlier], np.int64), earlier[-1].lists
        none = np.zeros((len(earlier), holders.n_items + 1), np.int64), np.zeros(0, np.int32)
        return cls(views_of_releases(earlier), starts, none, latest, time, holders, bound, budget, earlier)

    @classmethod
    def of_horizon(
        cls,
        sights: Sequence[Sight],
        latest: Lists,
        time: int,
        holders: Holders,
        bound: BoundOptions,
        budget: int = 10**8,
    ) -> Observer:
        """Return an observer who has seen every earlier release and asks about each start of the horizon."""
        asked = asked_of(bound, sights, time, holders)
        starts = np.array([sight.start for sight in asked], np.int64)
        return cls(views_of_sights(asked), starts, _past_moves(asked), latest, time, holders, bound, budget)

    def arguments(self) -> tuple[object, ...]:
        """Return the arguments of the compiled kernels, in their order."""
        bound, holders = self.bound, self.holders
        largest = NO_LIMIT if bound.knowledge is None else np.int64(bound.knowledge)
        rule = (np.int64(self.time), bound.evidence == "fresh", bound.delta, largest, np.int64(self.budget))
        asked = (self.starts, *self.past)
        return asked, rule, (holders.indptr, holders.users, holders.times), np.int64(holders.n_users)


def _past_moves(sights: Sequence[Sight]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return for every sight and target where the lists of its past moves begin, and these lists."""
    n_items, begin, places, lists = len(sights[0].lasting), 0, [], []
    edges = np.arange(n_items + 1, dtype=np.int64) * n_items
    for sight in sights:
        places.append(begin + np.searchsorted(sight.past, edges))
        lists.append((sight.past % max(n_items, 1)).astype(np.int32))
        begin += len(sight.past)
    return np.stack(places).astype(np.int64), np.concatenate(lists)


def entries_of(observer: Observer, items: NDArray[np.int32]) -> Entries:
    """Return every entry that distinguishes its list from that of some earlier release."""
    quiet = np.zeros((*items.shape, len(observer.views[0])), np.bool_)
    here = np.arange(items.shape[1], dtype=np.int32)
    for view, (old, positions) in enumerate(zip(*observer.views, strict=True)):
        for column, lowest in zip(old.T, positions.T, strict=True):
            quiet[:, :, view] |= (items == column[:, None]) & (here >= lowest[:, None])
    since = ~quiet & (items != EMPTY)[:, :, None]
    owners, positions = np.nonzero(since.any(axis=-1))
    return sorted_entries(items[owners, positions], owners, positions, since[owners, positions])


def sorted_entries(
    targets: NDArray[np.int32], owners: NDArray[np.integer], positions: NDArray[np.integer], since: NDArray[np.bool_]
) -> Entries:
    """Return entries in the order of targets and owners."""
    order = np.lexsort((owners, targets))
    columns = (targets[order], owners[order].astype(np.int32), positions[order].astype(np.int32))
    return Entries(*columns, np.ascontiguousarray(since[order]))


def joined(first: Entries, second: Entries) -> Entries:
    """Return the union of two sets of entries."""
    columns = [(getattr(first, name), getattr(second, name)) for name in ("targets", "owners", "positions", "since")]
    return sorted_entries(*(np.concatenate(both) for both in columns))


def moves_more(before: Entries, entries: Entries) -> NDArray[np.bool_]:
    """Return which entries are new or higher in a view in which they were not before."""
    keys, known = (one.targets.astype(np.int64) << 32 | one.owners for one in (entries, before))
    places = np.searchsorted(known, keys)
    same = places < len(known)
    same[same] = known[places[same]] == keys[same]
    since = entries.since.copy()
    since[same] &= ~before.since[places[same]]
    more: NDArray[np.bool_] = np.asarray(since.any(axis=1))
    return more


def to_remove(observer: Observer, entries: Entries, costs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return masks of entries whose removal leaves no violating set since any start, at little cost: a row per row.

    A weighted greedy hitting set over the union of the borders (algorithm 2 of the paper), without the members that
    turn out to be needless. If the budget does not suffice to know a border, entries are removed until it does. The
    borders, which take the time, are the same for every row of ``costs``, (n_rows, n_entries).
    """
    removed = np.zeros(costs.shape, np.bool_)
    if len(entries):
        given = (entries.starts(), entries.targets, entries.owners, entries.since, costs)
        in_shares(_remove, len(entries), *given, *observer.arguments(), removed)
    return removed


def admissible(observer: Observer, entries: Entries, proposed: Entries) -> NDArray[np.bool_]:
    """Return a mask of the proposed entries that make no violating set with the present ones.

    Proposals for one target are checked one after the other, each together with those admitted before it.
    """
    admitted = np.zeros(len(proposed), np.bool_)
    if len(proposed):
        starts = proposed.starts()
        wanted = proposed.targets[starts[:-1]]
        first, past = (np.searchsorted(entries.targets, wanted, side) for side in ("left", "right"))
        joining = (proposed.targets, proposed.owners, proposed.since)
        present = (np.stack([first, past]), entries.owners, entries.since)
        in_shares(_admit, len(proposed), starts, joining, present, *observer.arguments(), admitted)
    return admitted


@njit(cache=True)
def _has(mask, m):  # type: ignore[no-untyped-def]
    return (mask[m >> 6] >> np.uint64(m & 63)) & _ONE != 0


@njit(cache=True)
def _hit(sets, n_sets, costs, chosen):  # type: ignore[no-untyped-def]
    """Mark in ``chosen`` members that together hit every set: most open sets per cost first, then drop the needless.

    Earlier marks stay.
    """
    n = len(costs)
    is_open, order, n_chosen = np.ones(n_sets, np.bool_), np.empty(n, np.int64), 0
    while is_open.any():
        best, best_score = -1, 0.0
        for m in range(n):
            hits = 0
            for s in range(n_sets):
                hits += is_open[s] and _has(sets[s], m)
            if hits / costs[m] > best_score:
                best, best_score = m, hits / costs[m]
        chosen[best] = True
        order[n_chosen] = best
        n_chosen += 1
        for s in range(n_sets):
            is_open[s] &= not _has(sets[s], best)
    for c in range(n_chosen - 2, -1, -1):
        chosen[order[c]] = False
        if not _all_hit(sets, n_sets, chosen):
            chosen[order[c]] = True


@njit(cache=True)
def _all_hit(sets, n_sets, chosen):  # type: ignore[no-untyped-def]
    for s in range(n_sets):
        hit = False
        for m in range(len(chosen)):
            hit |= chosen[m] and _has(sets[s], m)
        if not hit:
            return False
    return True


@njit(cache=True)
def _borders(target, owners, since, gone, asked, rule, data, scratch):  # type: ignore[no-untyped-def]
    """Return the union of a target's borders since every start, as masks over all its owners."""
    starts, places, past = asked
    sets, n_sets, enough = np.zeros((8, (len(owners) + 63) // 64), np.uint64), 0, True
    for a in range(len(starts)):
        members = np.flatnonzero(since[:, a] & ~gone)
        if len(members) == 0:
            continue
        companions = past[places[a, target] : places[a, target + 1]]
        newly = since[members, -1]  # the last view is the last release
        found, n_found, known = border(target, owners[members], newly, companions, starts[a], rule, data, scratch)
        enough &= known
        while n_sets + n_found > len(sets):
            sets = np.concatenate((sets, np.zeros_like(sets)))
        for f in range(n_found):
            for m in range(len(members)):
                if _has(found[f], m):
                    sets[n_sets, members[m] >> 6] |= _ONE << np.uint64(members[m] & 63)
            n_sets += 1
    return sets, n_sets, enough


@njit(cache=True)
def _busiest(target, owners, gone, data, code):  # type: ignore[no-untyped-def]
    """Return the owner that most raters of the target hold: it makes the search largest."""
    starts, users, _ = data
    for p in range(starts[target], starts[target + 1]):
        code[users[p]] = 1
    best, most = -1, -1
    for m in range(len(owners)):
        held = 0
        for p in range(starts[owners[m]], starts[owners[m] + 1]):
            held += code[users[p]]
        if not gone[m] and held > most:
            best, most = m, held
    for p in range(starts[target], starts[target + 1]):
        code[users[p]] = 0
    return best


@njit(cache=True)
def _remove_for(target, owners, since, costs, asked, rule, data, scratch, removed):  # type: ignore[no-untyped-def]
    """Mark what one target must lose; while the budget does not suffice to know its borders, mark entries unchecked.

    Each round marks twice as many, so that a target costs a few searches at most, however many lists show it.
    """
    n_unseen, gone = 1, np.zeros(len(owners), np.bool_)
    while True:
        sets, n_sets, enough = _borders(target, owners, since, gone, asked, rule, data, scratch)
        if enough:
            break
        for _ in range(min(n_unseen, int(np.sum(~gone)))):
            gone[_busiest(target, owners, gone, data, scratch[0])] = True
        n_unseen *= 2
    for row in range(len(costs)):
        for m in range(len(owners)):
            removed[row, m] = gone[m]
        if n_sets:
            _hit(sets, n_sets, costs[row], removed[row])


@njit(cache=True, nogil=True)
def _remove(  # type: ignore[no-untyped-def]
    share, n_shares, starts, targets, owners, since, costs, asked, rule, data, n_users, removed
):
    scratch = (np.zeros(n_users, np.int8), np.full(n_users, -1, np.int32))
    for t in range(share, len(starts) - 1, n_shares):
        mine = slice(starts[t], starts[t + 1])
        target = targets[starts[t]]
        _remove_for(target, owners[mine], since[mine], costs[:, mine], asked, rule, data, scratch, removed[:, mine])


@njit(cache=True)
def _admit_for(target, owners, since, present, asked, rule, data, scratch, admitted):  # type: ignore[no-untyped-def]
    old_owners, old_since = present
    starts, places, past = asked
    for e in range(len(owners)):
        safe = True
        for a in range(len(starts)):
            if safe and since[e, a]:
                new = owners[:e][admitted[:e] & since[:e, a]]
                members = np.concatenate((old_owners[old_since[:, a]], new))
                last = places[a, target + 1] if since[e, -1] else places[a, target]
                companions = past[places[a, target] : last]
                safe = not breaks(target, members, owners[e], companions, starts[a], rule, data, scratch)
        admitted[e] = safe


@njit(cache=True, nogil=True)
def _admit(  # type: ignore[no-untyped-def]
    share, n_shares, starts, proposed, present, asked, rule, data, n_users, admitted
):
    scratch = (np.zeros(n_users, np.int8), np.full(n_users, -1, np.int32))
    (targets, owners, since), (places, old_owners, old_since) = proposed, present
    for t in range(share, len(starts) - 1, n_shares):
        mine, here = slice(starts[t], starts[t + 1]), slice(places[0, t], places[1, t])
        old = (old_owners[here], old_since[here])
        _admit_for(targets[starts[t]], owners[mine], since[mine], old, asked, rule, data, scratch, admitted[mine])
