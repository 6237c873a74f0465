"""The functions of `recloak.related` that compare a history with ratings: verify, attack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from recloak._attacks import passive
from recloak._attacks.options import PassiveOptions
from recloak._attacks.passive import PassiveCurve
from recloak._core.errors import InputError
from recloak._core.randomness import Rng, seed_or_rng
from recloak._core.results import Tabular, counted, plural
from recloak._library.arguments import at_least
from recloak._library.related_arguments import HistoryLike, Window, bound_of, opened
from recloak._library.sources import as_ratings
from recloak._ratings.model import Ratings
from recloak._related import verifier
from recloak._related.history import ReleaseRecord, published
from recloak._related.model import Holders, ListRelease, require_window
from recloak._related.options import BoundOptions, SimilarityOptions
from recloak._related.residual import residual_risk
from recloak._related.similarity import nearest
from recloak._related.source_check import require_source
from recloak._related.verifier import HistoryVerdict

if TYPE_CHECKING:
    from recloak._library.sources import RatingsLike


@dataclass(frozen=True, slots=True, repr=False)
class PassiveAttack(Tabular):
    """What an observer infers from published lists, and from the true lists of the same times."""

    published: tuple[PassiveCurve, ...]
    original: tuple[PassiveCurve, ...] | None  # None: the lists came from elsewhere, so the true ones are not known

    def curves(self) -> dict[str, tuple[PassiveCurve, ...]]:
        """Return the curves by the lists that were attacked."""
        original = {} if self.original is None else {"original": self.original}
        return {**original, "published": self.published}

    def __repr__(self) -> str:
        known = "true lists not known" if self.original is None else "true lists attacked too"
        return counted(self, plural(len(self.published), "score"), known)

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
        return {name: [curve.to_json() for curve in curves] for name, curves in self.curves().items()}


def verify(
    history: HistoryLike,
    source: RatingsLike,
    *,
    delta: float | None = None,
    window: Window | None = None,
    evidence: str | None = None,
    knowledge: int | None = None,
    residual: int | None = None,
    seed: int | None = None,
    rng: Rng = None,
) -> HistoryVerdict:
    """Check every two releases that one window covers against the ratings: exactly, without the code that makes lists.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.
    source
        Ratings with times: a path, several paths, a table or `Ratings`.
    delta, window, evidence, knowledge
        The bound, as in `publish`; what is not given is taken from the last release.
    residual
        Also sample what an observer learns who knows this many items, only some of which moved.
    seed, rng
        A seed or a numpy generator for the sample; with neither the system draws a seed.

    Returns
    -------
    HistoryVerdict
        Whether the bound holds, the largest breach, and every minimal set of items that breaks it.

    Raises
    ------
    InputError
        If the history holds no release, the source cannot be read or is not the one behind the history, or the window
        is longer than the history.

    Examples
    --------
    >>> import recloak.related
    >>> _ = recloak.related.publish("lists.db", "ratings.csv", until=200)
    >>> _ = recloak.related.publish("lists.db", "ratings.csv")
    >>> recloak.related.verify("lists.db", "ratings.csv").passed
    True
    """
    generator, ratings = seed_or_rng(seed, rng), as_ratings(source)
    residual = None if residual is None else at_least(2, "residual", residual)
    with opened(history) as store:
        records = store.releases
        if not records:
            raise InputError(f"{store.name}: there is no release to verify")
        require_source(store, ratings)
        lists = published(store, ratings.item_ids)
    named = {"delta": delta, "window": window, "evidence": evidence, "knowledge": knowledge}
    bound = _claimed(records, {name: value for name, value in named.items() if value is not None})
    if window is not None:
        require_window(bound, len(lists))
    holders = Holders.of(ratings)
    verdict = verifier.verify(lists, holders, bound).named(ratings.item_ids)
    if residual is None or len(lists) < 2:
        return verdict
    return replace(verdict, residual=residual_risk(lists, holders, ratings, bound, known=residual, rng=generator))


def _claimed(records: tuple[ReleaseRecord, ...], named: dict[str, Any]) -> BoundOptions:
    """Return the bound of the last release, changed by the given options."""
    claimed = records[-1].settings["bound"]
    if "window" in named:
        named["window"] = bound_of(named["window"]).window
    return BoundOptions.from_mapping({**claimed, **named})


def attack(
    history: HistoryLike,
    source: RatingsLike,
    *,
    known: int = 20,
    targets: int = 500,
    window: int = 4,
    seed: int | None = None,
    rng: Rng = None,
) -> PassiveAttack:
    """Attack published lists, and the true lists of the same times, as a passive observer would.

    The observer knows some items of each target at one release, watches their lists until the next, and infers what the
    target has added.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.
    source
        Ratings with times: a path, several paths, a table or `Ratings`.
    known
        Items of a target that the observer knows at the earlier release.
    targets
        Users attacked at every release, drawn from those with enough items.
    window
        Releases that the observer compares.
    seed, rng
        A seed or a numpy generator to draw targets with; with neither the system draws a seed.

    Returns
    -------
    PassiveAttack
        Accuracy against yield for every score, with 95 % intervals.

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
    <PassiveAttack: 4 scores, true lists attacked too>
    """
    window = at_least(2, "window", window)
    generator, options = seed_or_rng(seed, rng), PassiveOptions(known=known, targets=targets)
    ratings = as_ratings(source)
    with opened(history) as store:
        require_source(store, ratings)
        records, shown = store.releases, published(store, ratings.item_ids)
    original = None
    if not any(one.settings.get("given") for one in records):
        true = [_true_release(one, ratings) for one in records]
        original = tuple(passive.attack(true, ratings, options, window=window, rng=generator))
    return PassiveAttack(tuple(passive.attack(shown, ratings, options, window=window, rng=generator)), original)


def _true_release(record: ReleaseRecord, ratings: Ratings) -> ListRelease:
    """Compute the true lists of a stored release again."""
    similarity = SimilarityOptions.from_mapping(record.settings["similarity"])
    return ListRelease(record.number, record.time, nearest(ratings.until(record.time), record.top, similarity))
