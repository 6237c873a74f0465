"""Publish a release of lists: true lists in, safe lists out, verified before they are stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from recloak._core.errors import InputError, OptionError, RefusedError
from recloak._core.results import Tabular, counted
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._related.erased_people import EraseKey, are_erased, without_users
from recloak._related.history import History, ReleaseRecord, published, require_kind, table_of
from recloak._related.history_writing import append, ledger_of, seals_of
from recloak._related.ledger import Arrivals, Batch, Ledger, adopted, arrivals
from recloak._related.lists import RelatedLists, named_lists
from recloak._related.measures import Cost, reasons
from recloak._related.min_support import co_rated
from recloak._related.model import EMPTY, Holders, Lists, require_times, starts_of
from recloak._related.options import BoundOptions, MethodOptions, SimilarityOptions
from recloak._related.packed_lists import latest_releases
from recloak._related.release_making import Before, CheckedRelease, make_release
from recloak._related.release_time import release_time
from recloak._related.similarity import nearest
from recloak._related.source_check import require_continued
from recloak._related.verifier import HistoryVerdict


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class PublishedRelease(Tabular):
    """A release that was verified and stored: its lists, its proof and what it cost."""

    number: int
    time: int
    lists: RelatedLists
    verdict: HistoryVerdict
    cost: Cost
    seconds: float  # of anonymising
    late_ratings: int = 0  # dated before the last release, but new: they count from this release on
    loosened: tuple[str, ...] = ()  # what is promised less than before, in words
    is_new: bool = True  # False: nothing was new, so this is the last release and nothing was stored
    kept_out: int = 0  # people who were forgotten, are in the ratings all the same, and were left out

    def __repr__(self) -> str:
        entries = f"{len(self.lists):,} entries"
        return counted(self, f"number {self.number}", entries, f"recall {self.cost.recall:.3f}")

    def to_polars(self) -> pl.DataFrame:
        """Return the published entries: ``item``, ``position`` (from 1), ``related``."""
        return self.lists.to_polars()

    def to_json(self) -> dict[str, Any]:
        """Return the price and the proof, ready for JSON."""
        head = {"release": self.number, "time": self.time, **self.cost.to_json(), "seconds": self.seconds}
        more = {"late_ratings": self.late_ratings, "loosened": list(self.loosened), "unchanged": not self.is_new}
        return {**head, **more, "kept_out": self.kept_out, "verified": self.verdict.to_json()}


def publish(
    history: History,
    ratings: Ratings,
    *,
    bound: BoundOptions,
    method: MethodOptions,
    similarity: SimilarityOptions | None = None,
    lists: Lists | None = None,
    make_lists: Callable[[int, SimilarityOptions], Lists] | None = None,
    until: int | None = None,
    loosen: bool = False,
    accept_times: bool = False,
    accept_source: bool = False,
    key: EraseKey | None = None,
) -> PublishedRelease:
    """Publish the next release: of lists made from the ratings, or of another recommender's ``lists``.

    ``make_lists`` makes them elsewhere: it returns the lists of some length from the ratings up to ``until``.
    If nothing is new the last release is returned as it is. Nothing is stored if the verifier refuses it, or if
    somebody else has published meanwhile. People who were forgotten are left out; ``key`` knows them.
    """
    require_times(ratings)
    assert ratings.times is not None
    if not ratings.n_ratings:
        raise InputError("there are no ratings to publish lists from")
    require_kind(history, ratings.item_ids)
    records, n_seals = history.releases, len(seals_of(history))
    loosened = _loosened(records, bound, method, allowed=loosen)
    earlier = [one.time for one in records]
    time = release_time(ratings.times, until, earlier, accept_times=accept_times)
    kept = ledger_of(history)
    ledger = kept or adopted(ratings, [(one.number, one.time) for one in records])
    known, arrived, n_out = _arrived(history, ledger, ratings if until is None else ratings.until(until), key)
    if records and not accept_source:
        (last,) = latest_releases(history, ledger, records[-1:])
        require_continued(history, known, arrived, ledger, (records[-1], last.lists))
    if records and lists is None and _is_unchanged(records[-1], ledger, arrived, known, n_seals):
        return replace(_unchanged(history, records[-1], bound), kept_out=n_out)
    number = records[-1].number + 1 if records else 1
    entered, batch = arrived.entered(known, number, time)
    night = _Night(history, known, entered, time, bound, method)
    make = make_lists if make_lists and not n_out else partial(nearest, known)
    options = similarity or SimilarityOptions()
    ranking = make(method.depth, options) if lists is None else night.given(_padded(lists, method.top))
    made = night.made(records, ranking, is_supported=lists is None and _is_under_rule(similarity, bound))
    if lists is not None and not arrived.n_new and night.is_last(made.release.lists):
        return replace(_unchanged(history, records[-1], bound), kept_out=n_out)
    more = {"n_ratings": known.n_ratings, "given": lists is not None, "loosened": loosened, "n_seals": n_seals}
    more |= {"accepted_source": accept_source, "kept_out": n_out}
    new_batches = entered.batches if kept is None else (batch,)
    settings = {**settings_of(bound, method, similarity), **more}
    store_release(history, made, night.item_ids, settings, (entered, new_batches, n_seals))
    shown, verdict = named_lists(made.release.lists, night.item_ids), made.verdict.named(night.item_ids)
    late = _n_late(known, arrived, earlier)
    release = PublishedRelease(number, time, shown, verdict, made.cost, made.seconds, late, tuple(loosened))
    return replace(release, kept_out=n_out)


@dataclass(frozen=True, eq=False, slots=True)
class _Night:
    """What a release is made from, in the numbers of the ledger's items."""

    history: History
    ratings: Ratings
    ledger: Ledger
    time: int
    bound: BoundOptions
    method: MethodOptions
    item_ids: IdMap = field(init=False)
    holders: Holders = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "item_ids", self.ledger.items())
        object.__setattr__(self, "holders", self.ledger.holders())

    def given(self, lists: Lists) -> Lists:
        """Return lists under the static rule, counted over the ratings as they are now: the ledger forgets nothing."""
        return co_rated(lists, Holders.of(self.ratings), np.iinfo(np.int64).max, self.bound.min_support)

    def renumbered(self, ranking: Lists) -> Lists:
        """Return a ranking in the numbers of the ledger's items; items without ratings have empty lists."""
        places = self.item_ids.encode(self.ratings.item_ids.ids)
        items = np.full((len(self.item_ids), ranking.top), EMPTY, np.int32)
        items[places] = np.where(ranking.items == EMPTY, EMPTY, places[ranking.items])
        return Lists(items)

    def before(self, records: Sequence[ReleaseRecord]) -> Before:
        """Return what was seen of the releases that the promise compares with."""
        if self.bound.window:
            n_needed = self.bound.span(len(records) + 1)
        else:
            n_needed = len(starts_of(self.bound, [one.time for one in records], self.time, self.holders))
        before = Before(len(records) - n_needed)
        for release in latest_releases(self.history, self.ledger, tuple(records[len(records) - n_needed :])):
            before = before.after(replace(release, lists=release.lists.closed()), self.bound)
        return before

    def made(self, records: Sequence[ReleaseRecord], ranking: Lists, *, is_supported: bool) -> CheckedRelease:
        """Return the release of a ranking in the numbers of the ratings' items."""
        before = self.before(records)
        if before.latest is not None and self.ratings.n_ratings < self.ledger.n_holdings:
            before = replace(before, latest=replace(before.latest, lists=self.still_there(before.latest.lists)))
        given = (before, self.renumbered(ranking), self.holders, self.time, self.bound, self.method)
        return make_release(*given, is_supported=is_supported)

    def still_there(self, lists: Lists) -> Lists:
        """Return the entries of the last release that the ratings of tonight still support; others may not stay."""
        places = self.item_ids.encode(self.ratings.item_ids.ids)
        inside = np.full(len(self.item_ids) + 1, EMPTY, np.int32)  # the last place is that of `EMPTY`
        inside[places] = np.arange(len(places), dtype=np.int32)
        return self.renumbered(self.given(Lists(inside[lists.items[places]])))

    def is_last(self, lists: Lists) -> bool:
        """Return whether lists are those of the last release."""
        last = published(self.history, self.item_ids, last=1)
        return bool(last) and last[0].lists.top == lists.top and bool((last[0].lists.items == lists.items).all())


def _is_under_rule(similarity: SimilarityOptions | None, bound: BoundOptions) -> bool:
    """Return whether lists are made under the static rule; the ledger holds all ratings that they are made from."""
    return similarity is not None and similarity.min_support >= bound.min_support


def _loosened(
    records: Sequence[ReleaseRecord], bound: BoundOptions, method: MethodOptions, *, allowed: bool
) -> list[str]:
    """Return in words what is promised less than at the last release; raise OptionError unless that is allowed."""
    if not records:
        return []
    last = records[-1]
    if records[0].number > 1 and last.policy.reaches_less(bound):
        raise OptionError(
            "a longer horizon than the last release's cannot be proved: releases that it covers were pruned; "
            "keep the horizon, or begin a new history"
        )
    words = bound.loosened_from(last.policy)
    if method.top > last.top:
        words.append(f"top {last.top} to {method.top}")
    if words and not allowed:
        raise OptionError(f"this promises less than the last release ({', '.join(words)}); pass loosen=True to do so")
    return words


def _arrived(history: History, ledger: Ledger, ratings: Ratings, key: EraseKey | None) -> tuple[Ratings, Arrivals, int]:
    """Return the ratings without people who were forgotten, what is new in them, and how many people were left out.

    The ledger knows nobody who was forgotten, so only ids that are new to it are looked up.
    """
    arrived, is_out = arrivals(ledger, ratings), np.zeros(ratings.n_users, np.bool_)
    fresh = np.flatnonzero(arrived.users >= ledger.n_users)
    is_out[fresh] = are_erased(history, ratings.user_ids.ids.gather(fresh), key or EraseKey.of(history))
    if not is_out.any():
        return ratings, arrived, 0
    left = without_users(ratings, is_out)
    return left, arrivals(ledger, left), int(is_out.sum())


def _is_unchanged(last: ReleaseRecord, ledger: Ledger, arrived: Arrivals, ratings: Ratings, n_seals: int) -> bool:
    """Return whether no holding is new and none is gone since the last release, and nobody was forgotten."""
    same = last.settings.get("n_ratings") == ratings.n_ratings and last.settings.get("n_seals", 0) == n_seals
    return same and bool(ledger.n_holdings) and not arrived.n_new


def _unchanged(history: History, last: ReleaseRecord, bound: BoundOptions) -> PublishedRelease:
    """Return the last release, since nothing is new."""
    table = table_of(history, last.number).drop("release")
    lists = RelatedLists(table, table["item"].n_unique(), last.top)
    nothing, cost = HistoryVerdict(bound, 0, None, ()), Cost(**last.settings["cost"])
    return PublishedRelease(last.number, last.time, lists, nothing, cost, 0.0, is_new=False)


def _n_late(ratings: Ratings, arrived: Arrivals, earlier: Sequence[int]) -> int:
    """Count the new holdings whose ratings are dated before the last release; they count from now on."""
    assert ratings.times is not None
    return int((arrived.is_new & (ratings.times <= earlier[-1])).sum()) if earlier else 0


def _padded(lists: Lists, top: int) -> Lists:
    missing = max(0, top - lists.top)
    return Lists(np.pad(lists.items, ((0, 0), (0, missing)), constant_values=-1)) if missing else lists


def store_release(
    history: History,
    made: CheckedRelease,
    item_ids: IdMap,
    settings: dict[str, Any],
    entered: tuple[Ledger, tuple[Batch, ...], int] | None = None,
) -> None:
    """Store a release with the reason for every changed entry; raise RefusedError if it did not pass."""
    if not made.verdict.is_kept:
        raise RefusedError(_refusal(made.verdict.named(item_ids)))
    more = {"max_breach": made.verdict.max_breach, "cost": made.cost.to_json(), "seconds": made.seconds}
    why = reasons(made.release.lists, made.true)
    append(history, made.release, item_ids, {**settings, **more}, why, entered)


def _refusal(verdict: HistoryVerdict) -> str:
    if verdict.violations:
        one = max(verdict.violations, key=lambda finding: finding.breach)
        background = ", ".join(map(str, one.background))
        return (
            f"the release was not stored: whoever knows that somebody rated {background} learns of item {one.target} "
            f"with probability {one.breach:.3f}, more than delta {verdict.bound.delta}"
        )
    if verdict.unsupported:
        few, least = verdict.unsupported[0], verdict.bound.min_support
        return (
            f"the release was not stored: {few.co_raters} people rated both {few.item} and {few.related} of its list, "
            f"fewer than {least}"
        )
    return f"the release was not stored: {verdict.n_unknown} items could not be verified within the budget"


def settings_of(bound: BoundOptions, method: MethodOptions, similarity: SimilarityOptions | None) -> dict[str, Any]:
    """Return the settings of a release, ready for JSON."""
    settings = {"bound": bound, "method": method, "similarity": similarity or SimilarityOptions()}
    return {name: options.to_mapping() for name, options in settings.items()}
