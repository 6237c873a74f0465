"""Proof that published lists keep within the bound: exact, and independent of the code that makes the lists.

For every two releases of a window, every target item i and every non-empty set B of items whose lists i distinguishes
(definition 1 of paper 003, supports as in theorem 1 or fresh), the breach probability must not exceed delta.

`set_search` finds the largest breach; the tests compare it with a brute-force search in plain sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.progress import task
from recloak._core.results import Tabular, counted, plural
from recloak._core.threads import in_shares
from recloak._ratings.ids import IdMap
from recloak._related.model import Holders, ListRelease, Residual, breach, distinguishes, pairs, populations
from recloak._related.options import BoundOptions
from recloak._related.verifier.set_search import NO_LIMIT, sets_of, worst_of_all


@dataclass(frozen=True, slots=True)
class Finding:
    """What somebody who knows the background items learns about a target item from two releases."""

    earlier: int  # release numbers
    later: int
    target: int | str  # inside numbers of items, or their ids after `HistoryVerdict.named`
    background: tuple[int | str, ...]
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

    def to_json(self) -> dict[str, Any]:
        """Return the finding, ready for JSON."""
        return {
            "earlier": self.earlier,
            "later": self.later,
            "item": self.target,
            "background": list(self.background),
            "above": self.above,
            "below": self.below,
            "breach": self.breach,
            "base_rate": self.base_rate,
            "lift": self.lift,
        }


@dataclass(frozen=True, slots=True, repr=False)
class HistoryVerdict(Tabular):
    """Whether every two releases that one window covers keep within the bound."""

    bound: BoundOptions
    n_pairs: int
    worst: Finding | None
    violations: tuple[Finding, ...]  # every minimal violating set, or the worst of each pair with ``every=False``
    n_unknown: int = 0  # searches that were cut off; they count as violations
    residual: Residual | None = None  # what an observer who knows further items learns, if measured

    def __repr__(self) -> str:
        largest = f"largest breach {self.max_breach:.4f} (delta {self.bound.delta:g})"
        return counted(self, "pass" if self.passed else "fail", plural(self.n_pairs, "pair") + " of releases", largest)

    @property
    def passed(self) -> bool:
        """Whether the bound holds."""
        return not self.violations and not self.n_unknown

    @property
    def max_breach(self) -> float:
        """The largest breach probability of any background."""
        return self.worst.breach if self.worst else 0.0

    def to_polars(self) -> pl.DataFrame:
        """Return a row per violation."""
        kind = pl.String if any(isinstance(one.target, str) for one in self.violations[:1]) else pl.Int64
        numbers = dict.fromkeys(("breach", "base_rate", "lift"), pl.Float64)
        counts = dict.fromkeys(("earlier", "later"), pl.Int64)
        schema = {**counts, "item": kind, "background": pl.List(kind), "above": pl.Int64, "below": pl.Int64, **numbers}
        return pl.DataFrame([one.to_json() for one in self.violations], schema=schema)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict and all findings, ready for JSON."""
        figures = {
            "verdict": "pass" if self.passed else "fail",
            "delta": self.bound.delta,
            "window": "all" if self.bound.window is None else self.bound.window,
            "evidence": self.bound.evidence,
            "pairs_checked": self.n_pairs,
            "max_breach": self.max_breach,
            "worst": None if self.worst is None else self.worst.to_json(),
            "not_measured": self.n_unknown,
            "violations": [finding.to_json() for finding in self.violations],
        }
        return figures if self.residual is None else {**figures, "residual": self.residual.to_json()}

    def named(self, item_ids: IdMap) -> HistoryVerdict:
        """Return the verdict with the ids of its items in place of their inside numbers."""

        def name(one: Finding) -> Finding:
            target, *background = item_ids.decode(np.array([one.target, *one.background]))
            return replace(one, target=target, background=tuple(background))

        worst = self.worst and name(self.worst)
        return replace(self, worst=worst, violations=tuple(map(name, self.violations)))


def verify(
    releases: Sequence[ListRelease],
    holders: Holders,
    bound: BoundOptions,
    *,
    newest_only: bool = False,
    every: bool = True,
    budget: int = 10**10,
) -> HistoryVerdict:
    """Check every two releases that one window covers, or only those that end at the newest release.

    ``every`` lists all minimal violating sets, of which unprotected lists can have very many; without it the verdict
    and the largest breach are as exact, and only the worst set of a pair is named.
    """
    chosen = [pair for pair in pairs(releases, bound) if not newest_only or pair[1] is releases[-1]]
    worst: list[Finding] = []
    violations: list[Finding] = []
    n_unknown = 0
    active = first_seen(holders)
    with task("verifying pairs of releases", len(chosen)) as advance:
        for earlier, later in chosen:
            found, bad, unknown = _check(ReleasePair(earlier, later, holders, bound, active), budget, every=every)
            worst += found
            violations += bad
            n_unknown += unknown
            advance(1)
    largest = max(worst, key=lambda finding: finding.breach, default=None)
    return HistoryVerdict(bound, len(chosen), largest, tuple(violations), n_unknown)


def first_seen(holders: Holders) -> NDArray[np.int64]:
    """Return the time of each user's first rating."""
    first = np.full(holders.n_users, np.iinfo(np.int64).max)
    np.minimum.at(first, holders.users, holders.times)
    return first


@dataclass(frozen=True, eq=False, slots=True)
class ReleasePair:
    """Two releases, the ratings behind them and the bound."""

    earlier: ListRelease
    later: ListRelease
    holders: Holders
    bound: BoundOptions
    active: NDArray[np.int64]  # time of each user's first rating

    def count(self, target: int, background: Sequence[int]) -> Finding:
        """Return what one background tells about a target, counted from the definition."""
        moments = (self.earlier.time, self.later.time, self.bound.evidence)
        above, below = breach(self.holders, background, target, *moments)
        raters, left_out, known_at = populations(self.holders, target, *moments)
        everyone = int((self.active <= known_at).sum()) - len(left_out or ())
        base_rate = len(raters) / everyone if everyone else 0.0
        return Finding(self.earlier.number, self.later.number, target, tuple(background), above, below, base_rate)

    def moved_by_target(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Return the targets that distinguish a list, where each one's S begins, and the items of all S."""
        owners, positions = np.nonzero(distinguishes(self.earlier.lists, self.later.lists))
        entries = self.later.lists.items[owners, positions]
        order = np.argsort(entries, kind="stable")
        targets, starts = np.unique(entries[order], return_index=True)
        return targets, np.append(starts, len(order)), owners[order]

    def arguments(self, budget: int) -> tuple[Any, ...]:
        """Return the arguments of the compiled kernels, in their order."""
        bound, holders = self.bound, self.holders
        largest = NO_LIMIT if bound.knowledge is None else np.int64(bound.knowledge)
        times = (np.int64(self.earlier.time), np.int64(self.later.time), bound.evidence == "fresh")
        limits = (bound.delta, largest, np.int64(budget))
        return times, limits, (holders.indptr, holders.users, holders.times), np.int64(holders.n_users)


def _check(pair: ReleasePair, budget: int, *, every: bool) -> tuple[list[Finding], list[Finding], int]:
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
    in_shares(worst_of_all, len(owners), *look, -1.0, breaches, known)
    floor = min(float(breaches.max()), delta if every else 1.0)
    if floor < 1.0:
        in_shares(worst_of_all, len(owners), *look, floor, breaches, known)
    most = int(np.argmax(breaches))
    worst, _ = _findings(pair, targets[most], owners[starts[most] : starts[most + 1]], arguments, minimal=False)
    if not every:
        return worst, [one for one in worst if one.breach > delta], int((~known).sum())
    violations: list[Finding] = []
    for t in np.flatnonzero((breaches > delta) & known):
        found, known[t] = _findings(pair, targets[t], owners[starts[t] : starts[t + 1]], arguments, minimal=True)
        violations += found
    return worst, violations, int((~known).sum())


def _findings(
    pair: ReleasePair, target: int, members: NDArray[np.int64], arguments: tuple[Any, ...], *, minimal: bool
) -> tuple[list[Finding], bool]:
    """Return the worst background of a target, or all minimal violating ones, counted again from the definition.

    Also return whether the budget was enough for all of them.
    """
    masks, enough = sets_of(target, members, arguments, minimal)
    sets = [[int(j) for m, j in enumerate(members) if int(mask[m >> 6]) >> (m & 63) & 1] for mask in masks]
    return [pair.count(int(target), background) for background in sets], bool(enough)
