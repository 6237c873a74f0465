"""The values that pass between finding, identifying, defending and advising (Frankowski et al. 2006, paper 004).

Attackers in other packages may import this module and no other of `_mentions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import OptionError
from recloak._core.intervals import wilson
from recloak._core.results import Result, counted, plural

LEVELS = (1, 5, 10, 100)  # the values of k at which the paper reports
_ROUNDING = 1e-9
NO_TIME = np.iinfo(np.int64).min  # of a mention whose time is not known


@dataclass(frozen=True, slots=True)
class MentionIntake:
    """How many rows were read into a `Mentions`, and how many were left out."""

    n_rows: int = 0
    n_repeated: int = 0  # the same target mentioned the item before
    n_unknown_items: int = 0  # mentions of items that are not in the ratings
    n_unknown_users: int = 0  # targets who are not in the ratings: kept for the open-set decision
    n_without: int = 0  # users whose rows name no item: no targets


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Mentions:
    """What each target mentions in public, in the numbers of the ratings that are attacked.

    Target t mentions ``items[indptr[t]:indptr[t + 1]]``, each item once, ascending, and ``outside[t]`` items that are
    not in the ratings. ``users[t]`` is the truth: the number of the same person in the ratings, or -1 if absent.
    """

    target_ids: pl.Series  # (n_targets,)
    users: NDArray[np.int32]  # (n_targets,)
    indptr: NDArray[np.int64]  # (n_targets + 1,)
    items: NDArray[np.int32]  # (n_mentions,)
    ratings: NDArray[np.float32]  # (n_mentions,) the opinion in stars, else the target's own rating, nan without both
    opinions: NDArray[np.float32]  # (n_mentions,) the opinion that the mention itself voices, in stars, nan for none
    times: NDArray[np.int64]  # (n_mentions,) seconds, `NO_TIME` where not known
    outside: NDArray[np.int64]  # (n_targets,)
    intake: MentionIntake = field(default=MentionIntake())

    def __post_init__(self) -> None:
        for array in (self.users, self.indptr, self.items, self.ratings, self.opinions, self.times, self.outside):
            array.flags.writeable = False

    @property
    def n_targets(self) -> int:
        """Number of people who mention something."""
        return len(self.users)

    @property
    def n_mentions(self) -> int:
        """Number of mentions of items in the ratings."""
        return len(self.items)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of mentions of each target, of items in the ratings."""
        return np.diff(self.indptr)

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of mentions of each target, of any item."""
        return self.counts + self.outside

    @property
    def present(self) -> NDArray[np.bool_]:
        """True for targets who are in the ratings."""
        return self.users >= 0

    def owners(self) -> NDArray[np.int64]:
        """Return the target of each mention, in the order of ``items``."""
        return np.repeat(np.arange(self.n_targets), self.counts)

    def where(self, keep: NDArray[np.bool_]) -> Mentions:
        """Return the mentions whose mask is set, with the same targets, even those left with none."""
        ends = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
        kept = (self.items[keep], self.ratings[keep], self.opinions[keep], self.times[keep])
        return Mentions(self.target_ids, self.users, ends[self.indptr], *kept, self.outside, self.intake)


@dataclass(frozen=True, eq=False, slots=True)
class Standing:
    """The place of each target in the list of candidates that an algorithm makes.

    ``better`` candidates score above the target, ``tied`` score the same, including the target; ``tied`` is 0 if the
    target is not in the list (absent, left out as a heavy rater, or not possible).
    """

    better: NDArray[np.int64]  # (n_targets,)
    tied: NDArray[np.int64]  # (n_targets,)

    def expected(self, k: int) -> NDArray[np.float64]:
        """Return each target's probability of being among the first k when ties are broken at random."""
        share: NDArray[np.float64] = np.clip((k - self.better) / np.maximum(self.tied, 1), 0.0, 1.0)
        return np.where(self.tied > 0, share, 0.0)

    def optimistic(self, k: int) -> NDArray[np.bool_]:
        """Return who is among the first k when every tie is broken in the attacker's favour."""
        return (self.tied > 0) & (self.better < k)

    def pessimistic(self, k: int) -> NDArray[np.bool_]:
        """Return who is among the first k when every tie is broken against the attacker."""
        return (self.tied > 0) & (self.better + self.tied <= k)

    def rates(self, levels: tuple[int, ...] = LEVELS) -> Rates:
        """Return the share of targets k-identified at each level; there must be at least one target."""
        shares = [wilson(float(self.expected(k).sum()), len(self.better)) for k in levels]
        return Rates(
            k=levels,
            rate=tuple(one.rate for one in shares),
            low=tuple(one.low for one in shares),
            high=tuple(one.high for one in shares),
            optimistic=tuple(mean(self.optimistic(k)) for k in levels),
            pessimistic=tuple(mean(self.pessimistic(k)) for k in levels),
        )


def mean(values: NDArray[np.bool_] | NDArray[np.float64]) -> float:
    """Return the mean, or 0 if there are no values."""
    return float(values.mean()) if len(values) else 0.0


@dataclass(frozen=True, slots=True)
class Rates:
    """The share of targets k-identified, for each k: ties at random with Wilson's 95 % interval, at best, at worst."""

    k: tuple[int, ...]
    rate: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    optimistic: tuple[float, ...]
    pessimistic: tuple[float, ...]

    def __iter__(self) -> Iterator[dict[str, float]]:
        """Yield a row per k."""
        for place in range(len(self.k)):
            yield {name: getattr(self, name)[place] for name in self.__slots__}

    def to_json(self) -> dict[str, list[float]]:
        """Return a list per figure, ready for JSON."""
        return {name: [round(value, 6) for value in getattr(self, name)] for name in self.__slots__}

    def at(self, k: int) -> float:
        """Return the rate at one of the levels."""
        if k not in self.k:
            raise OptionError(f"k must be one of {', '.join(map(str, self.k))}, got {k!r}")
        return self.rate[self.k.index(k)]


@dataclass(frozen=True, slots=True)
class Bin:
    """The targets with ``low`` to ``high`` mentions (``high`` None: no end) and how many of them are identified."""

    low: int
    high: int | None
    n_targets: int
    rates: dict[str, float]  # by algorithm, 1-identified
    reasons: dict[str, float]  # of Set Intersection at k = 1, shares that sum to 1
    predicted: float | None = None  # 1-identified by the likelihood ratio, as `prediction.py` says beforehand

    @property
    def label(self) -> str:
        """The range of mentions, as charts show it."""
        if self.high is None:
            return f"{self.low}+"
        return str(self.low) if self.high == self.low else f"{self.low}-{self.high}"

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return {
            "mentions": self.label,
            "n_targets": self.n_targets,
            "rates": {name: round(rate, 6) for name, rate in self.rates.items()},
            "reasons": {name: round(share, 6) for name, share in self.reasons.items()},
            "predicted": None if self.predicted is None else round(self.predicted, 6),
        }


@dataclass(frozen=True, slots=True)
class OpenSet:
    """How well the attacker decides whom to name, where some targets are not in the data.

    A target is named if the best candidate is the target with a probability of at least ``threshold``. Precision is the
    share of the named who are named rightly, recall the share of the present targets who are.
    """

    n_present: int
    n_absent: int
    threshold: float
    precision: float | None  # None: nobody was named
    recall: float | None  # None: nobody is present
    n_named: int
    calibration_error: float  # mean distance between probability and frequency, over ten bins
    curve: tuple[tuple[float, float | None, float | None], ...]  # threshold, precision, recall

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "curve"}
        points = [{"threshold": t, "precision": p, "recall": r} for t, p, r in self.curve]
        return {**plain, "curve": points}


@dataclass(frozen=True, slots=True)
class Panel:
    """What all attackers together reach: for each target the strongest of them, and the combination that learned.

    No attacker knows beforehand which of them is the strongest for a target, so ``strongest`` is a bound for all of
    them. The learned one is an attacker: its weights come from other people.
    """

    uses: tuple[str, ...]  # what is known of a mention: titles, opinions, times
    strongest: Rates
    members: dict[str, Rates]
    weights: dict[str, float]  # of the clues in the learned attacker
    open_set: OpenSet | None  # of the learned attacker

    @property
    def best(self) -> str:
        """The member that names most people outright."""
        return max(self.members, key=lambda name: self.members[name].rate[0])

    def to_json(self) -> dict[str, Any]:
        """Return the rates of the strongest, and everything else by name, ready for JSON."""
        return {
            **self.strongest.to_json(),
            "uses": list(self.uses),
            "members": {name: rates.to_json() for name, rates in self.members.items()},
            "learned": self.members["learned"].to_json(),
            "weights": self.weights,
            "open_set": None if self.open_set is None else self.open_set.to_json(),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Identification(Result):
    """How many targets every algorithm identifies, by k and by number of mentions, and why the others are not."""

    algorithms: dict[str, Rates]
    n_targets: int
    n_candidates: int
    n_heavy: int
    rated_share: float | None  # share of the mentions by present targets whose item the mentioner rated
    bins: tuple[Bin, ...]
    reasons: dict[str, dict[str, float]]  # k -> reason -> share, for Set Intersection
    open_set: OpenSet | None
    intake: MentionIntake
    panel: Panel
    predicted: dict[str, float]  # k -> rate of the likelihood ratio, as `prediction.py` says beforehand
    not_applicable: tuple[str, ...] = ()  # algorithms that need ratings, where the data have none

    @property
    def above_panel(self) -> tuple[str, ...]:
        """The algorithms that find more than the panel at some k: they are told ratings that no mention voices."""
        bound = self.panel.strongest.rate
        return tuple(
            name
            for name, rates in self.algorithms.items()
            if any(rate > most + _ROUNDING for rate, most in zip(rates.rate, bound, strict=True))
        )

    def __repr__(self) -> str:
        absent = self.intake.n_unknown_users
        present = [f"{self.n_targets - absent:,} of them in the ratings"] if absent else []
        return counted(self, plural(self.n_targets, "target"), *present, plural(self.n_candidates, "user"))

    def to_polars(self) -> pl.DataFrame:
        """Return a row per algorithm and k."""
        return pl.DataFrame([{"algorithm": name, **row} for name, rates in self.algorithms.items() for row in rates])

    def to_json(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "algorithms": {name: rates.to_json() for name, rates in self.algorithms.items()},
            "panel": self.panel.to_json(),
            "predicted": self.predicted,
            "n_targets": self.n_targets,
            "n_candidates": self.n_candidates,
            "n_heavy": self.n_heavy,
            "rated_share": self.rated_share,
            "by_mentions": [each.to_json() for each in self.bins],
            "set_intersection_reasons": self.reasons,
            "open_set": None if self.open_set is None else self.open_set.to_json(),
            "intake": {name: getattr(self.intake, name) for name in self.intake.__slots__},
            "not_applicable": list(self.not_applicable),
            "above_panel": list(self.above_panel),
        }
