"""Make the next release of lists from a ranking, and verify it: what publishing and simulating share."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass

from recloak._core.errors import OptionError
from recloak._related.leaks import Observer
from recloak._related.measures import Cost, cost
from recloak._related.methods import METHODS
from recloak._related.min_support import supported
from recloak._related.model import Holders, ListRelease, Lists, Sight, require_proper, seen_after
from recloak._related.options import BoundOptions, MethodOptions
from recloak._related.verifier import HistoryVerdict, verify_next


@dataclass(frozen=True, eq=False, slots=True)
class Before:
    """The releases before the one that is made: what was seen of them, and with a window the releases themselves."""

    n_releases: int = 0
    sights: tuple[Sight, ...] = ()
    latest: ListRelease | None = None
    window: tuple[ListRelease, ...] = ()

    def after(self, release: ListRelease, bound: BoundOptions) -> Before:
        """Return what is before the release that follows."""
        n_releases = self.n_releases + 1
        if bound.window:
            window = (*self.window, release)[-bound.span(n_releases + 1) :]
            return Before(n_releases, (), release, window)
        return Before(n_releases, seen_after(self.sights, release), release)


@dataclass(frozen=True, eq=False, slots=True)
class CheckedRelease:
    """A release that was made and verified, and what it cost; it may have failed."""

    release: ListRelease
    true: Lists
    verdict: HistoryVerdict
    cost: Cost
    seconds: float  # of anonymising, elapsed
    cpu_seconds: float  # of anonymising, all threads together


def make_release(
    before: Before,
    ranking: Lists,
    holders: Holders,
    time: int,
    bound: BoundOptions,
    method: MethodOptions,
    *,
    is_supported: bool = False,
) -> CheckedRelease:
    """Make the next release from a ranking, verify it against what was seen before, and measure what it cost.

    The true lists are those of the ranking under the static rule; ``is_supported`` says that the ranking was made under
    it, which the verifier checks again.
    """
    if method.literal and (bound.evidence != "total" or not bound.window):
        raise OptionError("literal=True follows theorem 1 to the letter and needs evidence='total'")
    if not is_supported:
        ranking = supported(ranking, holders, time, bound.min_support)
    started, used = clock.perf_counter(), clock.process_time()
    lists = _lists(before, ranking, holders, time, bound, method)
    seconds, cpu_seconds = clock.perf_counter() - started, clock.process_time() - used
    require_proper(lists)
    release = ListRelease(before.latest.number + 1 if before.latest else 1, time, lists)
    verdict = verify_next(before.window if bound.window else before.sights, release, holders, bound)
    true = ranking.cut(method.top)
    return CheckedRelease(release, true, verdict, cost(lists, true), seconds, cpu_seconds)


def _lists(
    before: Before, ranking: Lists, holders: Holders, time: int, bound: BoundOptions, method: MethodOptions
) -> Lists:
    observer = None
    if before.latest is not None and bound.window:
        observer = Observer.of_window(before.window, time, holders, bound, method.budget)
    elif before.latest is not None:
        observer = Observer.of_horizon(before.sights, before.latest.lists, time, holders, bound, method.budget)
    return METHODS[method.method].make(observer, ranking, method)
