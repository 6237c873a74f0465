"""One look of the verifier: what a later release tells about additions since a start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares, n_threads
from recloak._related.model import Holders, ListRelease, breach, populations
from recloak._related.options import BoundOptions
from recloak._related.verifier.findings import Finding
from recloak._related.verifier.pair_search import worst_with_past
from recloak._related.verifier.set_search import NO_LIMIT, sets_of, worst_of_all


def first_seen(holders: Holders) -> NDArray[np.int64]:
    """Return the time of each user's first rating."""
    first = np.full(holders.n_users, np.iinfo(np.int64).max)
    _first_seen(holders.users, holders.times, first)
    return first


@njit(cache=True)
def _first_seen(users, times, first):  # type: ignore[no-untyped-def]
    for p in range(len(users)):
        first[users[p]] = min(first[users[p]], times[p])


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """A start and a later release, what moved between them, the ratings behind them and the bound."""

    start_number: int  # of the release at the start
    start: int  # its time
    later: ListRelease
    moving: NDArray[np.bool_]  # (n_items, top) entries of the later release
    newly: NDArray[np.bool_]  # those of them that are new or higher than in the release before
    past: NDArray[np.int64] | None  # keys of the moves before the later release (`model.move_keys`)
    holders: Holders
    bound: BoundOptions
    active: NDArray[np.int64] | None = None  # time of each user's first rating

    def count(self, target: int, background: Sequence[int]) -> Finding:
        """Return what one background tells about a target, counted from the definition."""
        moments = (self.start, self.later.time, self.bound.evidence)
        above, below = breach(self.holders, background, target, *moments)
        raters, left_out, known_at = populations(self.holders, target, *moments)
        active = first_seen(self.holders) if self.active is None else self.active
        everyone = int((active <= known_at).sum()) - len(left_out or ())
        base_rate = len(raters) / everyone if everyone else 0.0
        return Finding(self.start_number, self.later.number, target, tuple(background), above, below, base_rate)

    def moved_by_target(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Return the targets that distinguish a list, where each one's S begins, and the items of all S."""
        owners, positions = np.nonzero(self.moving)
        entries = self.later.lists.items[owners, positions]
        order = np.argsort(entries, kind="stable")
        targets, starts = np.unique(entries[order], return_index=True)
        return targets, np.append(starts, len(order)), owners[order]

    def arguments(self, budget: int) -> tuple[Any, ...]:
        """Return the arguments of the compiled kernels, in their order."""
        bound, holders = self.bound, self.holders
        largest = NO_LIMIT if bound.knowledge is None else np.int64(bound.knowledge)
        times = (np.int64(self.start), np.int64(self.later.time), bound.evidence == "fresh")
        limits = (bound.delta, largest, np.int64(budget))
        return times, limits, (holders.indptr, holders.users, holders.times), np.int64(holders.n_users)


def check(pair: Comparison, budget: int, *, every: bool) -> tuple[list[Finding], list[Finding], int]:
    """Return the worst finding of a pair, its minimal violating sets, and how many searches were cut off.

    First a quick look at single items and at what each rater holds: the largest breach among these, or delta if that
    is less and every set is wanted, is a floor below which the search that follows need not look.
    """
    targets, starts, owners = pair.moved_by_target()
    if not len(targets):
        return [], [], 0
    arguments, delta = pair.arguments(budget), pair.bound.delta
    breaches, known = np.zeros(len(targets)), np.ones(len(targets), np.bool_)
    look = (targets, starts, owners, *arguments)
    in_shares(worst_of_all, len(owners), *look, -1.0, breaches, known, n_shares=n_threads())  # each notes all users
    floor = min(float(breaches.max()), delta if every else 1.0)
    if floor < 1.0:
        in_shares(worst_of_all, len(owners), *look, floor, breaches, known, n_shares=n_threads())
    most = int(np.argmax(breaches))
    worst, _ = _findings(pair, targets[most], owners[starts[most] : starts[most + 1]], arguments, minimal=False)
    joint = _with_past(pair)
    if not every:
        worst += joint
        return worst, [one for one in worst if one.breach > delta], int((~known).sum())
    violations = [one for one in joint if one.breach > delta]
    worst += joint
    for t in np.flatnonzero((breaches > delta) & known):
        found, known[t] = _findings(pair, targets[t], owners[starts[t] : starts[t + 1]], arguments, minimal=True)
        violations += found
    return worst, violations, int((~known).sum())


def _findings(
    pair: Comparison, target: int, members: NDArray[np.int64], arguments: tuple[Any, ...], *, minimal: bool
) -> tuple[list[Finding], bool]:
    """Return the worst background of a target, or all minimal violating ones, counted again from the definition.

    Also return whether the budget was enough for all of them.
    """
    masks, enough = sets_of(target, members, arguments, minimal)
    sets = [[int(j) for m, j in enumerate(members) if int(mask[m >> 6]) >> (m & 63) & 1] for mask in masks]
    return [pair.count(int(target), background) for background in sets], bool(enough)


def _with_past(pair: Comparison) -> list[Finding]:
    """Return the worst pair of a list that moves newly and one that has moved before, for every list that violates.

    If none does, return the worst of all.
    """
    bound, holders = pair.bound, pair.holders
    targets, starts, owners = replace(pair, moving=pair.newly).moved_by_target()
    if pair.past is None or not len(pair.past) or bound.knowledge == 1 or not len(targets):
        return []
    past_begins, past = _ranges(pair.past, targets, holders.n_items)
    worst, other = np.zeros(len(owners)), np.full(len(owners), -1, np.int64)
    moments = (np.int64(pair.start), np.int64(pair.later.time), bound.evidence == "fresh")
    data = (holders.indptr, holders.users, holders.times)
    given = (targets, starts, owners, past_begins, past, moments, data, np.int64(holders.n_users), worst, other)
    in_shares(worst_with_past, len(owners), *given, n_shares=n_threads())
    bad = np.flatnonzero(worst > bound.delta)
    chosen = bad if len(bad) else np.flatnonzero(worst == worst.max())[:1] if worst.max() > 0 else bad
    of_target = np.repeat(targets, np.diff(starts))
    return [pair.count(int(of_target[m]), sorted((int(owners[m]), int(other[m])))) for m in chosen]


def _ranges(
    keys: NDArray[np.int64], targets: NDArray[np.int32], n_items: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the past moves of each target begin, and their lists."""
    first = np.searchsorted(keys, targets.astype(np.int64) * n_items)
    last = np.searchsorted(keys, (targets.astype(np.int64) + 1) * n_items)
    ends = np.concatenate(([0], np.cumsum(last - first)))
    taken = np.repeat(first - ends[:-1], last - first) + np.arange(ends[-1])
    return ends, keys[taken] % n_items
