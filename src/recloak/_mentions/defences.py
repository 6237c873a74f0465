"""The defences against identification by mentions, and how well they work (paper 004, sections 5 and 6).

- *Suppressing data* (5): the owner drops every item rated fewer times than a threshold. The price is the share of items
  and of ratings lost.
- *Suppressing mentions* (6.1): every user leaves out the rarest of the items they both rated and mentioned.
- *Misdirection* (6.2): every user mentions items they have not rated, either from a popularity threshold upward, or the
  most popular first.

Each is also tried on an adaptive attacker, who ignores the most-rated items: the share of `IGNORED` that works best.
That choice is made in hindsight, so it is an upper bound for such an attacker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.progress import task
from recloak._core.results import Result, counted, plural
from recloak._mentions.algorithms import Candidates, ignoring_popular, rank_targets
from recloak._mentions.likelihood import rated_by_mentioner
from recloak._mentions.model import LEVELS, NO_TIME, Mentions, Rates
from recloak._mentions.options import IdentifyOptions
from recloak._ratings.model import Ratings

IGNORED = (0.0, 0.01, 0.02, 0.05)
EXTRA = (0, 1, 2, 3, 5, 8, 12, 16, 20)
FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
BY_POPULARITY = "most popular first"


@dataclass(frozen=True, slots=True)
class DefenceTrial:
    """A defence at one strength: its cost, and the rates that the two attackers still reach."""

    strength: float
    cost: dict[str, float]
    scoring: Rates
    adaptive: Rates

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return {
            "strength": self.strength,
            **{name: round(value, 6) for name, value in self.cost.items()},
            "scoring": self.scoring.to_json(),
            "adaptive": self.adaptive.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Defence:
    """One defence, at all its strengths."""

    name: str
    unit: str  # of the strength
    trials: tuple[DefenceTrial, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return {"name": self.name, "unit": self.unit, "trials": [trial.to_json() for trial in self.trials]}


@dataclass(frozen=True, slots=True, repr=False)
class Defences(Result):
    """Every defence that was tried, at all its strengths."""

    suppressed_data: Defence
    suppressed_mentions: Defence
    misdirections: tuple[Defence, ...]
    n_targets: int

    def __iter__(self) -> Iterator[Defence]:
        return iter((self.suppressed_data, self.suppressed_mentions, *self.misdirections))

    def __repr__(self) -> str:
        return counted(self, plural(self.n_targets, "target"), plural(2 + len(self.misdirections), "defence"))

    def to_polars(self) -> pl.DataFrame:
        """Return a row per defence, strength, attacker and k."""
        return pl.DataFrame(
            {"defence": one.name, "strength": trial.strength, "attacker": attacker, **row}
            for one in self
            for trial in one.trials
            for attacker, rates in (("scoring", trial.scoring), ("adaptive", trial.adaptive))
            for row in rates
        )

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return {
            "n_targets": self.n_targets,
            "suppressed_data": self.suppressed_data.to_json(),
            "suppressed_mentions": self.suppressed_mentions.to_json(),
            "misdirection": [one.to_json() for one in self.misdirections],
        }


def defend(ratings: Ratings, mentions: Mentions, options: IdentifyOptions | None = None) -> Defences:
    """Try every defence at every strength."""
    options = options or IdentifyOptions()
    candidates = Candidates.of(ratings, options)
    thresholds = powers_of_two(candidates.raters)
    with task("defences", len(thresholds) + 3) as advance:
        data = suppress_data(ratings, candidates, mentions, options)
        advance(1)
        fewer_mentions = suppress_mentions(ratings, candidates, mentions, options)
        advance(1)
        misdirections = []
        for threshold in (None, *thresholds):
            misdirections.append(misdirect(ratings, candidates, mentions, options, threshold))
            advance(1)
    return Defences(data, fewer_mentions, tuple(misdirections), mentions.n_targets)


def powers_of_two(raters: NDArray[np.int64]) -> list[int]:
    """Return 1, 2, 4, ... up to the popularity of the most-rated item."""
    return [2**power for power in range(int(np.log2(max(int(raters.max(initial=1)), 1))) + 1)]


def suppress_data(ratings: Ratings, candidates: Candidates, mentions: Mentions, options: IdentifyOptions) -> Defence:
    """Drop items rated fewer times than a threshold, and the mentions of them.

    The heavy raters stay those of the whole data: the limit is a number of items, fixed before anything is dropped.
    """
    raters = candidates.raters
    trials = []
    for threshold in (0, *powers_of_two(raters), int(raters.max(initial=0)) + 1):
        kept = raters >= max(threshold, 1)
        cost = {
            "items_lost": 1 - kept.sum() / max(np.count_nonzero(raters), 1),
            "ratings_lost": 1 - raters[kept].sum() / max(ratings.n_ratings, 1),
        }
        trials.append(_trial(candidates, mentions.where(kept[mentions.items]), options, float(threshold), cost))
    return Defence("suppressing data", "ratings an item needs to stay", tuple(trials))


def suppress_mentions(
    ratings: Ratings, candidates: Candidates, mentions: Mentions, options: IdentifyOptions
) -> Defence:
    """Drop a fraction of each target's rarest mentions among the items that they also rated."""
    rated = rated_by_mentioner(mentions, ratings)
    order = _rarity_order(mentions, rated, candidates.raters)
    n_rated = np.bincount(mentions.owners()[rated], minlength=mentions.n_targets)
    trials = []
    for fraction in FRACTIONS:
        keep = order >= np.floor(fraction * n_rated + 0.5)[mentions.owners()]
        left_out = 1 - keep.sum() / max(mentions.n_mentions, 1)
        trials.append(_trial(candidates, mentions.where(keep), options, fraction, {"mentions_lost": left_out}))
    return Defence("suppressing mentions", "share of the rated mentions left out, rarest first", tuple(trials))


def _rarity_order(mentions: Mentions, rated: NDArray[np.bool_], raters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each rated mention among its target's, rarest first; others are never left out."""
    owners = mentions.owners()
    order = np.full(mentions.n_mentions, np.iinfo(np.int64).max)
    by_rarity = np.lexsort((raters[mentions.items], owners))
    by_rarity = by_rarity[rated[by_rarity]]
    targets = owners[by_rarity]
    order[by_rarity] = np.arange(len(by_rarity)) - np.searchsorted(targets, targets)
    return order


def misdirect(
    ratings: Ratings, candidates: Candidates, mentions: Mentions, options: IdentifyOptions, threshold: int | None
) -> Defence:
    """Add mentions of items that a target has neither rated nor mentioned.

    With a threshold: items rated more often than it, the least popular first; without: the most popular first.
    """
    decoys = _decoys(candidates.raters, threshold)
    chosen = [_new_decoys(decoys, ratings, mentions, t, EXTRA[-1]) for t in range(mentions.n_targets)]
    trials = []
    for extra in EXTRA:
        more = with_extra(mentions, [one[:extra] for one in chosen])
        trials.append(_trial(candidates, more, options, float(extra), {}))
    name = BY_POPULARITY if threshold is None else f"rated more than {threshold:,} times, rarest first"
    return Defence(name, "extra mentions", tuple(trials))


def _decoys(raters: NDArray[np.int64], threshold: int | None) -> NDArray[np.int64]:
    """Return the misdirecting items in order; equally popular ones by item number."""
    if threshold is None:
        return np.argsort(-raters, kind="stable")
    ascending = np.argsort(raters, kind="stable")
    return ascending[raters[ascending] > threshold]


def _new_decoys(
    decoys: NDArray[np.int64], ratings: Ratings, mentions: Mentions, t: int, most: int
) -> NDArray[np.int64]:
    """Return the first decoys that target t has neither rated nor mentioned."""
    mentioned = mentions.items[mentions.indptr[t] : mentions.indptr[t + 1]]
    user = int(mentions.users[t])
    rated = ratings.items[ratings.row(user)] if user >= 0 else mentioned
    near = decoys[: most + len(rated) + len(mentioned)]  # enough, even if all that is rated or mentioned is skipped
    return near[~np.isin(near, rated) & ~np.isin(near, mentioned)][:most]


def with_extra(mentions: Mentions, extra: Sequence[NDArray[np.int64]]) -> Mentions:
    """Return the mentions with further items per target, without an opinion or a time."""
    counts = np.array([len(one) for one in extra], np.int64)
    owners = np.concatenate((mentions.owners(), np.repeat(np.arange(mentions.n_targets), counts)))
    items = np.concatenate((mentions.items, *extra)).astype(np.int32)
    order = np.lexsort((items, owners))
    unsaid = np.full(int(counts.sum()), np.nan, np.float32)
    ratings, opinions = (np.concatenate((said, unsaid))[order] for said in (mentions.ratings, mentions.opinions))
    times = np.concatenate((mentions.times, np.full(len(unsaid), NO_TIME)))[order]
    indptr = np.concatenate(([0], np.cumsum(mentions.counts + counts)))
    return replace(mentions, indptr=indptr, items=items[order], ratings=ratings, opinions=opinions, times=times)


def _trial(
    candidates: Candidates, mentions: Mentions, options: IdentifyOptions, strength: float, cost: dict[str, float]
) -> DefenceTrial:
    """Attack with each share of the items ignored; the first ignores none."""
    tried = []
    for share in IGNORED:
        used = ignoring_popular(mentions, candidates.raters, share) if share else mentions
        tried.append(rank_targets("scoring", candidates, used, options).rates())
    return DefenceTrial(strength, {name: float(value) for name, value in cost.items()}, tried[0], _best(tried))


def _best(tried: list[Rates]) -> Rates:
    best = [max(tried, key=lambda rates, n=n: rates.rate[n]) for n in range(len(LEVELS))]  # type: ignore[misc]
    names = ("rate", "low", "high", "optimistic", "pessimistic")
    return Rates(LEVELS, *(tuple(getattr(one, name)[n] for n, one in enumerate(best)) for name in names))
