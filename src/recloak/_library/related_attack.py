"""Attack a history of related-item lists: `recloak.related.attack`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from recloak._attacks import passive
from recloak._attacks.learned_observer import TARGETS, observe_each
from recloak._attacks.options import ObserverOptions, PassiveOptions
from recloak._attacks.passive import PassiveCurve
from recloak._attacks.yields import Observation
from recloak._core.randomness import Rng, seed_or_rng
from recloak._core.results import Tabular, counted, plural
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import at_least
from recloak._library.related_arguments import HistoryLike, opened
from recloak._library.sources import as_ratings
from recloak._ratings.model import Ratings
from recloak._related.history import ReleaseRecord, published
from recloak._related.history_writing import ledger_of
from recloak._related.model import ListRelease
from recloak._related.options import SimilarityOptions
from recloak._related.similarity import lists_by_period
from recloak._related.source_check import require_source

if TYPE_CHECKING:
    from recloak._library.sources import RatingsLike

_SEEN = ("moves", "no moves")


@dataclass(frozen=True, slots=True)
class ObserverResult:
    """What the learned observer infers from some lists about some targets."""

    lists: str  # original or published
    targets: str  # active or mixed
    sees: str  # moves, or no moves (the control)
    observation: Observation

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return {"lists": self.lists, "kind": self.targets, "sees": self.sees, **self.observation.to_json()}


@dataclass(frozen=True, slots=True, repr=False)
class PassiveAttack(Tabular):
    """What an observer infers from published lists, and from the true lists of the same times."""

    published: tuple[PassiveCurve, ...]
    original: tuple[PassiveCurve, ...] | None  # None: the lists came from elsewhere, so the true ones are not known
    observers: tuple[ObserverResult, ...] = ()

    def curves(self) -> dict[str, tuple[PassiveCurve, ...]]:
        """Return the curves by the lists that were attacked."""
        original = {} if self.original is None else {"original": self.original}
        return {**original, "published": self.published}

    def __repr__(self) -> str:
        known = "true lists not known" if self.original is None else "true lists attacked too"
        measured = any(one.observation.is_measured for one in self.observers)
        learned = "learned observer " + ("measured" if measured else "not measured")
        return counted(self, plural(len(self.published), "score"), learned, known)

    def to_polars(self) -> pl.DataFrame:
        """Return a row per score and threshold, with the share of right inferences and the yield."""
        return pl.DataFrame(
            [
                {"lists": name, "variant": curve.variant, "baseline": curve.baseline, "threshold": point.threshold,
                 "inferences": point.accuracy.n, "accuracy": point.accuracy.rate, "accuracy_low": point.accuracy.low,
                 "accuracy_high": point.accuracy.high, "yield": point.yielded.rate}
                for name, curves in self.curves().items() for curve in curves for point in curve.points
            ]
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the curves by the lists that were attacked, ready for JSON."""
        curves = {name: [curve.to_json() for curve in curves] for name, curves in self.curves().items()}
        return {**curves, "observers": [one.to_json() for one in self.observers]}


@suggests_keywords
def attack(
    history: HistoryLike,
    source: RatingsLike,
    *,
    known: int = 20,
    targets: int = 500,
    window: int = 4,
    holdings: int | None = None,
    fewest: int = 20,
    delay: int = 3,
    seed: int | None = None,
    rng: Rng = None,
) -> PassiveAttack:
    """Attack published lists, and the true lists of the same times, as a passive observer would.

    The observer knows items of each target at one release, watches the lists until the next, and infers what the target
    has added. Two observers try: the paper's, who adds up moves, and one who has learned from half of the people how to
    read them and is tried on the other half, beside a control who sees no moves.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.
    source
        Ratings with times: a path, several paths, a table or `Ratings`.
    known
        Items of a target that the paper's observer knows at the earlier release.
    targets
        Most users attacked at every release, drawn from those with enough items.
    window
        Releases that the paper's observer compares.
    holdings
        Items that the learned observer knows of a target at the earlier release; by default all.
    fewest
        Fewest items that a target of the learned observer holds.
    delay
        Releases after the later one that the learned observer waits for.
    seed, rng
        A seed or a numpy generator to draw targets with; with neither the system draws a seed.

    Returns
    -------
    PassiveAttack
        Accuracy against yield for every score and for the learned observer, with 95 % intervals.

    Raises
    ------
    InputError
        If the history holds fewer than two releases, or the source cannot be read or is not the one behind it.

    Examples
    --------
    >>> import recloak.related
    >>> _ = recloak.related.publish("lists.db", "ratings.csv", until=200)
    >>> _ = recloak.related.publish("lists.db", "ratings.csv")
    >>> recloak.related.attack("lists.db", "ratings.csv", known=2, seed=0)
    <PassiveAttack: 4 scores, learned observer not measured, true lists attacked too>
    """
    window = at_least(2, "window", window)
    generator, options = seed_or_rng(seed, rng), PassiveOptions(known=known, targets=targets)
    watching = ObserverOptions(holdings=holdings, fewest=fewest, targets=targets, delay=delay)
    ratings = as_ratings(source)
    with opened(history) as store:
        require_source(store, ratings, ledger_of(store), by_time=True)
        records, shown = store.releases, published(store, ratings.item_ids)
    attacked = {"published": [ListRelease(one.number, one.time, one.lists.closed()) for one in shown]}
    if not any(one.settings.get("given") for one in records):
        attacked = {"original": _true_releases(records, ratings), **attacked}
    curves = {
        name: tuple(passive.attack(lists, ratings, options, window=window, rng=generator))
        for name, lists in attacked.items()
    }
    observers: list[ObserverResult] = []
    for name, lists in attacked.items():
        observers += _observed(name, lists, ratings, watching, generator)
    return PassiveAttack(curves["published"], curves.get("original"), tuple(observers))


def _observed(
    name: str, lists: list[ListRelease], ratings: Ratings, options: ObserverOptions, rng: Rng
) -> list[ObserverResult]:
    """Return what the learned observer and the control infer from lists, of active and of mixed targets."""
    return [
        ObserverResult(name, targets, seen, one)
        for targets in TARGETS
        for seen, one in zip(_SEEN, observe_each(lists, ratings, options, targets=targets, rng=rng), strict=True)
    ]


def _true_releases(records: tuple[ReleaseRecord, ...], ratings: Ratings) -> list[ListRelease]:
    """Compute the true lists of stored releases again, under the static rule that held for each."""
    made: list[ListRelease] = []
    for (top, similarity), some in itertools.groupby(records, _made_by):
        same = list(some)
        lists = lists_by_period(ratings, [one.time for one in same], top, similarity)
        made.extend(ListRelease(one.number, one.time, each) for one, each in zip(same, lists, strict=True))
    return made


def _made_by(record: ReleaseRecord) -> tuple[int, SimilarityOptions]:
    similarity = SimilarityOptions.from_mapping(record.settings["similarity"])
    return record.top, similarity.replace(min_support=record.policy.min_support)
