"""The nightly job: true lists in, safe lists out, verified before they are stored."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError, OptionError, RefusedError
from recloak._ratings.model import Ratings
from recloak._related import history
from recloak._related.history import Store
from recloak._related.leaks import Watch
from recloak._related.lists import build
from recloak._related.measures import Cost, cost, reasons
from recloak._related.methods import METHODS
from recloak._related.model import Holders, ListRelease, Lists, require_proper, require_times
from recloak._related.options import BoundOptions, MethodOptions, SimilarityOptions
from recloak._related.verifier import HistoryVerdict, verify


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """One release that was made, with its proof and its price."""

    release: ListRelease
    true: Lists
    verdict: HistoryVerdict
    cost: Cost
    seconds: float  # of anonymising, on the clock
    cpu_seconds: float  # the same, of all threads together


def make_release(
    earlier: tuple[ListRelease, ...],
    ranking: Lists,
    holders: Holders,
    time: int,
    bound: BoundOptions,
    method: MethodOptions,
) -> Step:
    """Make the next release from a ranking, verify it against the window, and say what it cost."""
    if method.literal and bound.evidence != "total":
        raise OptionError("literal=True follows theorem 1 to the letter and needs evidence='total'")
    window = earlier[len(earlier) - bound.span(len(earlier) + 1) :]
    started, used = clock.perf_counter(), clock.process_time()
    lists = METHODS[method.method].make(Watch(window, time, holders, bound, method.budget), ranking, method)
    seconds, cpu_seconds = clock.perf_counter() - started, clock.process_time() - used
    require_proper(lists)
    release = ListRelease(earlier[-1].number + 1 if earlier else 1, time, lists)
    verdict = verify((*window, release), holders, bound.replace(window=None), newest_only=True, every=False)
    true = ranking.cut(method.top)
    return Step(release, true, verdict, cost(lists, true), seconds, cpu_seconds)


def publish(
    store: Store,
    ratings: Ratings,
    *,
    bound: BoundOptions,
    method: MethodOptions,
    similarity: SimilarityOptions | None = None,
    lists: Lists | None = None,
    until: int | None = None,
) -> Step:
    """Publish the next release: of lists made from the ratings, or of another recommender's ``lists``.

    Nothing is stored that the verifier refuses, or when somebody else has published meanwhile.
    """
    require_times(ratings)
    assert ratings.times is not None
    if not ratings.n_ratings:
        raise InputError("there are no ratings to publish lists from")
    time = _time(ratings.times, until)
    earlier = history.published(store, ratings.item_ids, last=None if bound.window is None else bound.window - 1)
    if earlier and time < earlier[-1].time:
        raise InputError(f"a release must not be older than the last one (time {earlier[-1].time}), got time {time}")
    ranking = build(ratings, method.depth, similarity, until=time) if lists is None else _padded(lists, method.top)
    step = make_release(earlier, ranking, Holders.of(ratings), time, bound, method)
    n_ratings = _n_ratings(ratings, time)
    more = {"n_ratings": n_ratings, "given": lists is not None}
    keep(store, step, ratings, {**settings_of(bound, method, similarity), **more})
    return step


def _time(times: NDArray[np.int64], until: int | None) -> int:
    """Give the time of a release; one ahead of us would count ratings as known that are yet to come."""
    last = int(times.max())
    if until is not None and until > max(last, clock.time()):
        raise InputError(f"a release must not be of a time that is yet to come, got time {until}")
    return last if until is None else until


def n_late(store: Store, ratings: Ratings) -> int:
    """Count the ratings that the last release should have known by their times, and did not: they came too late.

    The proof takes them for known at that release, so it says nothing about them.
    """
    last = history.newest(store)
    known = None if last is None else last.settings.get("n_ratings")
    return 0 if last is None or known is None else max(_n_ratings(ratings, last.time) - known, 0)


def _n_ratings(ratings: Ratings, time: int) -> int:
    require_times(ratings)
    assert ratings.times is not None
    return int((ratings.times <= time).sum())


def _padded(lists: Lists, top: int) -> Lists:
    """Give lists at least ``top`` positions."""
    missing = max(0, top - lists.top)
    return Lists(np.pad(lists.items, ((0, 0), (0, missing)), constant_values=-1)) if missing else lists


def keep(store: Store, step: Step, ratings: Ratings, settings: dict[str, Any]) -> None:
    """Store a release that was verified, with why its entries differ from the true ones."""
    if not step.verdict.passed:
        raise RefusedError(refusal(step.verdict, ratings))
    more = {"max_breach": step.verdict.max_breach, "cost": step.cost.to_json(), "seconds": step.seconds}
    history.append(store, step.release, ratings.item_ids, {**settings, **more}, reasons(step.release.lists, step.true))


def refusal(verdict: HistoryVerdict, ratings: Ratings) -> str:
    """Say in one sentence why a release cannot be stored."""
    if not verdict.violations:
        return f"the release was not stored: {verdict.n_unknown} items could not be verified within the budget"
    one = max(verdict.violations, key=lambda finding: finding.breach)
    ids = ratings.item_ids.ids
    background = ", ".join(str(ids[item]) for item in one.background)
    return (
        f"the release was not stored: whoever knows that somebody rated {background} learns of item {ids[one.target]} "
        f"with probability {one.breach:.3f}, more than delta {verdict.bound.delta}"
    )


def settings_of(bound: BoundOptions, method: MethodOptions, similarity: SimilarityOptions | None) -> dict[str, Any]:
    """Give what a release was made with, ready for JSON."""
    return {
        "bound": bound.to_mapping(),
        "method": method.to_mapping(),
        "similarity": (similarity or SimilarityOptions()).to_mapping(),
    }
