"""Proof that published lists keep within the bound: exact, and made without a line of the code that makes the lists.

For every two releases of a window, every target item i and every non-empty set B of items whose lists i distinguishes
(definition 1 of paper 003, supports as in theorem 1 or fresh), the breach probability must not exceed delta.

The users who hold something of S_i are grouped by what they hold of it; a group carries how many of its users count
above the line and how many below. The largest breach is found by branch and bound over these groups: a set B that keeps
a group g has at least c(g) users below the line, those who hold all that g holds. `brute` says the same in sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recloak.progress import task
from recloak.related.model import Holders, Release, breach, distinguishes, pairs, populations
from recloak.related.options import BoundOptions
from recloak.threads import in_shares

_ONE = np.uint64(1)
_NO_LIMIT = np.int64(2**31)


@dataclass(frozen=True, slots=True)
class Finding:
    """A background that tells something about a target between two releases."""

    earlier: int  # release numbers
    later: int
    target: int
    background: tuple[int, ...]
    above: int  # users who hold the background and count as having the target
    below: int  # users who hold the background
    base_rate: float  # probability of the target without any background

    @property
    def breach(self) -> float:
        """Probability of a right inference."""
        return self.above / self.below if self.below else 0.0

    @property
    def lift(self) -> float:
        """How much more an observer knows than without the background."""
        return self.breach / self.base_rate if self.base_rate else 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether every pair of releases of every window keeps within the bound."""

    bound: BoundOptions
    n_pairs: int
    worst: Finding | None
    violations: tuple[Finding, ...]  # every minimal violating set
    n_unknown: int = 0  # targets whose search was cut off; they count as violations

    @property
    def passed(self) -> bool:
        """Whether the bound holds."""
        return not self.violations and not self.n_unknown

    @property
    def max_breach(self) -> float:
        """The largest breach probability of any background."""
        return self.worst.breach if self.worst else 0.0


def verify(
    releases: Sequence[Release],
    holders: Holders,
    bound: BoundOptions,
    *,
    newest_only: bool = False,
    budget: int = 10**11,
) -> Verdict:
    """Check every two releases that one window covers, or only those that end at the newest release."""
    chosen = [pair for pair in pairs(releases, bound) if not newest_only or pair[1] is releases[-1]]
    worst: list[Finding] = []
    violations: list[Finding] = []
    n_unknown = 0
    active = first_seen(holders)
    with task("verifying pairs of releases", len(chosen)) as advance:
        for earlier, later in chosen:
            found, bad, unknown = _check_pair(earlier, later, holders, bound, active, budget)
            worst += found
            violations += bad
            n_unknown += unknown
            advance(1)
    largest = max(worst, key=lambda finding: finding.breach, default=None)
    return Verdict(bound, len(chosen), largest, tuple(violations), n_unknown)


def counted(
    earlier: Release,
    later: Release,
    target: int,
    background: Sequence[int],
    holders: Holders,
    bound: BoundOptions,
    active: NDArray[np.int64],
) -> Finding:
    """Count one background from the definition."""
    above, below = breach(holders, background, target, earlier.time, later.time, bound.evidence)
    raters, left_out, known_at = populations(holders, target, earlier.time, later.time, bound.evidence)
    everyone = int((active <= known_at).sum()) - len(left_out or ())
    base_rate = len(raters) / everyone if everyone else 0.0
    return Finding(earlier.number, later.number, target, tuple(background), above, below, base_rate)


def first_seen(holders: Holders) -> NDArray[np.int64]:
    """Give the time of each user's first rating."""
    first = np.full(holders.n_users, np.iinfo(np.int64).max)
    np.minimum.at(first, holders.users, holders.times)
    return first


def _check_pair(
    earlier: Release, later: Release, holders: Holders, bound: BoundOptions, active: NDArray[np.int64], budget: int
) -> tuple[list[Finding], list[Finding], int]:
    """Give the worst finding of a pair, all its minimal violating sets, and how many targets stayed unknown.

    First a quick look at single items and at what each rater holds: the largest breach among these, or delta if that
    is less, is a floor below which the search that follows need not look.
    """
    targets, starts, owners = _by_target(earlier, later)
    if not len(targets):
        return [], [], 0
    asked = _asked(earlier, later, holders, bound, budget)
    breaches, known = np.zeros(len(targets)), np.ones(len(targets), np.bool_)
    look = (targets, starts, owners, *asked)
    in_shares(_worst_of_all, len(owners), *look, -1.0, breaches, known)
    in_shares(_worst_of_all, len(owners), *look, min(float(breaches.max()), bound.delta), breaches, known)
    here = _Pair(earlier, later, holders, bound, active)
    most = int(np.argmax(breaches))
    under = float(np.nextafter(breaches[most], -1.0))
    worst = _named(targets[most], owners[starts[most] : starts[most + 1]], asked, under, here, minimal=False)
    violations: list[Finding] = []
    for t in np.flatnonzero((breaches > bound.delta) & known):
        violations += _named(targets[t], owners[starts[t] : starts[t + 1]], asked, under, here, minimal=True)
    return worst, violations, int((~known).sum())


def _by_target(earlier: Release, later: Release) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Give the targets that distinguish a list, where each one's S begins, and the items of all S."""
    owners, positions = np.nonzero(distinguishes(earlier.lists, later.lists))
    told = later.lists.items[owners, positions]
    order = np.argsort(told, kind="stable")
    targets, firsts = np.unique(told[order], return_index=True)
    return targets, np.append(firsts, len(order)), owners[order]


def _asked(earlier: Release, later: Release, holders: Holders, bound: BoundOptions, budget: int) -> tuple[object, ...]:
    """Give what the kernels need to know, in their order."""
    largest = _NO_LIMIT if bound.knowledge is None else np.int64(bound.knowledge)
    times = (np.int64(earlier.time), np.int64(later.time), bound.evidence == "fresh")
    limits = (bound.delta, largest, np.int64(budget))
    return times, limits, (holders.indptr, holders.users, holders.times), np.int64(holders.n_users)


@dataclass(frozen=True, eq=False, slots=True)
class _Pair:
    """Two releases and what is needed to count a background between them."""

    earlier: Release
    later: Release
    holders: Holders
    bound: BoundOptions
    active: NDArray[np.int64]

    def count(self, target: int, background: Sequence[int]) -> Finding:
        """Count one background from the definition."""
        return counted(self.earlier, self.later, target, background, self.holders, self.bound, self.active)


def _named(
    target: int, members: NDArray[np.int64], asked: tuple[Any, ...], floor: float, pair: _Pair, *, minimal: bool
) -> list[Finding]:
    """Give the worst background of a target, or all minimal violating ones, counted again from the definition."""
    masks = _sets_of(target, members, asked, floor, minimal)
    sets = [[int(j) for m, j in enumerate(members) if int(mask[m >> 6]) >> (m & 63) & 1] for mask in masks]
    return [pair.count(int(target), background) for background in sets]


@njit(cache=True)
def _grouped(target, members, moments, data, place):  # type: ignore[no-untyped-def]
    """Group the users by what they hold of S: masks, users above the line and below it. ``place`` (-1) is scratch."""
    (earlier, later, fresh), (starts, users, times) = moments, data
    known_at = earlier if fresh else later
    for p in range(starts[target], starts[target + 1]):
        if fresh and times[p] <= earlier:
            place[users[p]] = -2
    n = 0
    for j in members:
        for p in range(starts[j], starts[j + 1]):
            if times[p] <= known_at and place[users[p]] == -1:
                place[users[p]] = n
                n += 1
    masks, above = np.zeros((n, (len(members) + 63) // 64), np.uint64), np.zeros(n, np.int64)
    for m in range(len(members)):
        for p in range(starts[members[m]], starts[members[m] + 1]):
            if times[p] <= known_at and place[users[p]] >= 0:
                masks[place[users[p]], m >> 6] |= _ONE << np.uint64(m & 63)
    for p in range(starts[target], starts[target + 1]):
        if times[p] <= later and place[users[p]] >= 0:
            above[place[users[p]]] = 1
        place[users[p]] = -1
    _clear(members, starts, users, place)
    return _merged(masks, above)


@njit(cache=True)
def _clear(members, starts, users, place):  # type: ignore[no-untyped-def]
    for j in members:
        for p in range(starts[j], starts[j + 1]):
            place[users[p]] = -1


@njit(cache=True)
def _merged(masks, above):  # type: ignore[no-untyped-def]
    """Bring users with equal masks together."""
    order = np.arange(len(masks))
    for w in range(masks.shape[1]):
        order = order[np.argsort(masks[order, w], kind="mergesort")]
    kinds, over, under, n = np.zeros_like(masks), np.zeros(len(masks), np.int64), np.zeros(len(masks), np.int64), 0
    for u in order:
        if n == 0 or (kinds[n - 1] != masks[u]).any():
            for w in range(masks.shape[1]):
                kinds[n, w] = masks[u, w]
            n += 1
        over[n - 1] += above[u]
        under[n - 1] += 1
    return kinds[:n], over[:n], under[:n]


@njit(cache=True)
def _holding_all(kinds, over, under):  # type: ignore[no-untyped-def]
    """Give c(g): the users who hold all that group g holds, for groups with someone above the line."""
    c = np.zeros(len(kinds), np.int64)
    for g in range(len(kinds)):
        if over[g]:
            for h in range(len(kinds)):
                if not (kinds[g] & ~kinds[h]).any():
                    c[g] += under[h]
    return c


@njit(cache=True)
def _narrow(kinds, over, under, c, kept, n_kept, member, out):  # type: ignore[no-untyped-def]
    """Keep the groups that hold one more member: their number, users above and below, and the smallest c."""
    n = above = below = 0
    least = _NO_LIMIT
    for k in range(n_kept):
        g = kept[k]
        if (kinds[g, member >> 6] >> np.uint64(member & 63)) & _ONE:
            out[n] = g
            n += 1
            above += over[g]
            below += under[g]
            if over[g]:
                least = min(least, c[g])
    return n, above, below, least


@njit(cache=True)
def _contains_any(sets, mask):  # type: ignore[no-untyped-def]
    found = False
    for one in sets:
        found |= not (one & ~mask).any()
    return found


@njit(cache=True)
def _quick(kinds, over, under, n_members, largest):  # type: ignore[no-untyped-def]
    """Give the largest breach of a single member, or of all that somebody above the line holds."""
    best = 0.0
    for m in range(n_members):
        above = below = 0
        for g in range(len(kinds)):
            if (kinds[g, m >> 6] >> np.uint64(m & 63)) & _ONE:
                above += over[g]
                below += under[g]
        best = max(best, above / max(below, 1))
    if largest >= n_members:
        for g in range(len(kinds)):
            if over[g]:
                above = below = 0
                for h in range(len(kinds)):
                    if not (kinds[g] & ~kinds[h]).any():
                        above += over[h]
                        below += under[h]
                best = max(best, above / below)
    return best


@njit(cache=True)
def _walk(kinds, over, under, n_members, limits, floor, minimal):  # type: ignore[no-untyped-def]
    """Walk all sets that matter, subsets before supersets.

    With ``minimal`` gives every minimal violating set, else one set of largest breach if that is above ``floor``; and
    the largest breach; and whether the budget was enough.
    """
    delta, largest, budget = limits
    size = (n_members + 63) // 64
    sets = [np.zeros(size, np.uint64)]
    sets.pop()
    c = _holding_all(kinds, over, under)
    best, spent = floor, 0
    kept, counts = [np.arange(len(kinds))], [len(kinds)]
    path, trial = [n_members], [-1]
    mask = np.zeros(size, np.uint64)
    while len(path) > 0:
        trial[-1] += 1
        member = trial[-1]
        if member >= path[-1]:
            gone = path.pop()
            trial.pop()
            kept.pop()
            counts.pop()
            if len(path) > 0:
                mask[gone >> 6] ^= _ONE << np.uint64(gone & 63)
            continue
        spent += counts[-1]
        if spent > budget:
            return sets, best, False
        out = np.empty(counts[-1], np.int64)
        n, above, below, least = _narrow(kinds, over, under, c, kept[-1], counts[-1], member, out)
        if above == 0:
            continue
        mask[member >> 6] |= _ONE << np.uint64(member & 63)
        deeper = len(path) < largest
        if minimal:
            known = _contains_any(sets, mask)
            if not known and above / below > delta:
                sets.append(mask.copy())
            deeper = deeper and not known and above / below <= delta and above / least > delta
        else:
            if above / below > best:
                best = above / below
                sets.clear()
                sets.append(mask.copy())
            deeper = deeper and above / least > best
        if deeper:
            path.append(member)
            trial.append(-1)
            kept.append(out)
            counts.append(n)
        else:
            mask[member >> 6] ^= _ONE << np.uint64(member & 63)
    return sets, best, True


@njit(cache=True)
def _sets_of(target, members, asked, floor, minimal):  # type: ignore[no-untyped-def]
    moments, limits, data, n_users = asked
    kinds, over, under = _grouped(target, members, moments, data, np.full(n_users, -1, np.int64))
    return _walk(kinds, over, under, len(members), limits, floor, minimal)[0]


@njit(cache=True, nogil=True)
def _worst_of_all(  # type: ignore[no-untyped-def]
    share, n_shares, targets, firsts, owners, moments, limits, data, n_users, floor, breaches, known
):
    """Write the largest breach of every target, by a quick look where ``floor`` is negative, else only if above it."""
    place = np.full(n_users, -1, np.int64)
    for t in range(share, len(targets), n_shares):
        members = owners[firsts[t] : firsts[t + 1]]
        kinds, over, under = _grouped(targets[t], members, moments, data, place)
        if floor < 0:
            breaches[t] = _quick(kinds, over, under, len(members), limits[1])
        elif over.any():
            _, best, known[t] = _walk(kinds, over, under, len(members), limits, floor, False)
            breaches[t] = max(breaches[t], best if best > floor else 0.0)
