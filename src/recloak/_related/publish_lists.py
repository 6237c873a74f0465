"""Publish a release of lists: true lists in, safe lists out, verified before they are stored."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import InputError, OptionError, RefusedError
from recloak._core.results import Tabular, counted
from recloak._ratings.model import Ratings
from recloak._related.history import History, append, newest, published
from recloak._related.leaks import Observer
from recloak._related.lists import RelatedLists, named_lists
from recloak._related.measures import Cost, cost, reasons
from recloak._related.methods import METHODS
from recloak._related.model import Holders, ListRelease, Lists, require_proper, require_times
from recloak._related.options import BoundOptions, MethodOptions, SimilarityOptions
from recloak._related.similarity import nearest
from recloak._related.verifier import HistoryVerdict, verify


@dataclass(frozen=True, eq=False, slots=True)
class CheckedRelease:
    """A release that was made and verified, and what it cost; it may have failed."""

    release: ListRelease
    true: Lists
    verdict: HistoryVerdict
    cost: Cost
    seconds: float  # of anonymising, elapsed
    cpu_seconds: float  # of anonymising, all threads together


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class PublishedRelease(Tabular):
    """A release that was verified and stored: its lists, its proof and what it cost."""

    number: int
    time: int
    lists: RelatedLists
    verdict: HistoryVerdict
    cost: Cost
    seconds: float  # of anonymising
    late_ratings: int  # ratings that arrived after the last release with times before it; the proof leaves them out

    def __repr__(self) -> str:
        entries = f"{len(self.lists):,} entries"
        return counted(self, f"number {self.number}", entries, f"recall {self.cost.recall:.3f}")

    def to_polars(self) -> pl.DataFrame:
        """Return the published entries: ``item``, ``position`` (from 1), ``related``."""
        return self.lists.to_polars()

    def to_json(self) -> dict[str, Any]:
        """Return the price and the proof, ready for JSON."""
        head = {"release": self.number, "time": self.time, **self.cost.to_json(), "seconds": self.seconds}
        return {**head, "late_ratings": self.late_ratings, "verified": self.verdict.to_json()}


def make_release(
    earlier: tuple[ListRelease, ...],
    ranking: Lists,
    holders: Holders,
    time: int,
    bound: BoundOptions,
    method: MethodOptions,
) -> CheckedRelease:
    """Make the next release from a ranking, verify it against the window, and measure what it cost."""
    if method.literal and bound.evidence != "total":
        raise OptionError("literal=True follows theorem 1 to the letter and needs evidence='total'")
    window = earlier[len(earlier) - bound.span(len(earlier) + 1) :]
    started, used = clock.perf_counter(), clock.process_time()
    lists = METHODS[method.method].make(Observer(window, time, holders, bound, method.budget), ranking, method)
    seconds, cpu_seconds = clock.perf_counter() - started, clock.process_time() - used
    require_proper(lists)
    release = ListRelease(earlier[-1].number + 1 if earlier else 1, time, lists)
    verdict = verify((*window, release), holders, bound.replace(window=None), newest_only=True, every=False)
    true = ranking.cut(method.top)
    return CheckedRelease(release, true, verdict, cost(lists, true), seconds, cpu_seconds)


def publish(
    history: History,
    ratings: Ratings,
    *,
    bound: BoundOptions,
    method: MethodOptions,
    similarity: SimilarityOptions | None = None,
    lists: Lists | None = None,
    until: int | None = None,
) -> PublishedRelease:
    """Publish the next release: of lists made from the ratings, or of another recommender's ``lists``.

    Nothing is stored if the verifier refuses it, or if somebody else has published meanwhile.
    """
    late = _n_late(history, ratings)
    require_times(ratings)
    assert ratings.times is not None
    if not ratings.n_ratings:
        raise InputError("there are no ratings to publish lists from")
    time = _time(ratings.times, until)
    earlier = published(history, ratings.item_ids, last=None if bound.window is None else bound.window - 1)
    if earlier and time < earlier[-1].time:
        raise InputError(f"a release must not be older than the last one (time {earlier[-1].time}), got time {time}")
    ranking = nearest(ratings.until(time), method.depth, similarity) if lists is None else _padded(lists, method.top)
    made = make_release(earlier, ranking, Holders.of(ratings), time, bound, method)
    more = {"n_ratings": _n_ratings(ratings, time), "given": lists is not None}
    store_release(history, made, ratings, {**settings_of(bound, method, similarity), **more})
    shown, verdict = named_lists(made.release.lists, ratings.item_ids), made.verdict.named(ratings.item_ids)
    return PublishedRelease(made.release.number, time, shown, verdict, made.cost, made.seconds, late)


def _time(times: NDArray[np.int64], until: int | None) -> int:
    """Return the time of a release; refuse one in the future, which would count ratings as known that do not exist."""
    last = int(times.max())
    if until is not None and until > max(last, clock.time()):
        raise InputError(f"a release must not be of a time that is yet to come, got time {until}")
    return last if until is None else until


def _n_late(history: History, ratings: Ratings) -> int:
    """Count the ratings that arrived after the last release with times before it: the proof does not cover them."""
    last = newest(history)
    known = None if last is None else last.settings.get("n_ratings")
    return 0 if last is None or known is None else max(_n_ratings(ratings, last.time) - known, 0)


def _n_ratings(ratings: Ratings, time: int) -> int:
    require_times(ratings)
    assert ratings.times is not None
    return int((ratings.times <= time).sum())


def _padded(lists: Lists, top: int) -> Lists:
    missing = max(0, top - lists.top)
    return Lists(np.pad(lists.items, ((0, 0), (0, missing)), constant_values=-1)) if missing else lists


def store_release(history: History, made: CheckedRelease, ratings: Ratings, settings: dict[str, Any]) -> None:
    """Store a release with the reason for every changed entry; raise RefusedError if it did not pass."""
    if not made.verdict.passed:
        raise RefusedError(_refusal(made.verdict, ratings))
    more = {"max_breach": made.verdict.max_breach, "cost": made.cost.to_json(), "seconds": made.seconds}
    append(history, made.release, ratings.item_ids, {**settings, **more}, reasons(made.release.lists, made.true))


def _refusal(verdict: HistoryVerdict, ratings: Ratings) -> str:
    if not verdict.violations:
        return f"the release was not stored: {verdict.n_unknown} items could not be verified within the budget"
    one = max(verdict.named(ratings.item_ids).violations, key=lambda finding: finding.breach)
    background = ", ".join(map(str, one.background))
    return (
        f"the release was not stored: whoever knows that somebody rated {background} learns of item {one.target} "
        f"with probability {one.breach:.3f}, more than delta {verdict.bound.delta}"
    )


def settings_of(bound: BoundOptions, method: MethodOptions, similarity: SimilarityOptions | None) -> dict[str, Any]:
    """Return the settings of a release, ready for JSON."""
    settings = {"bound": bound, "method": method, "similarity": similarity or SimilarityOptions()}
    return {name: options.to_mapping() for name, options in settings.items()}
