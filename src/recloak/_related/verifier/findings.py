"""What the verifier of related-item lists finds, as values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from recloak._core.results import Tabular, counted, plural
from recloak._ratings.ids import IdMap
from recloak._related.model import Residual
from recloak._related.options import BoundOptions


@dataclass(frozen=True, slots=True)
class Finding:
    """What somebody who knows the background items learns about a target item from releases."""

    earlier: int  # number of the release since which additions count
    later: int  # number of the release that was judged
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


@dataclass(frozen=True, slots=True)
class Unsupported:
    """An entry of a list that rests on fewer people than its release promised."""

    release: int
    item: int | str
    related: int | str
    co_raters: int

    def to_json(self) -> dict[str, Any]:
        """Return the entry, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what a history knows is in the ratings it is judged with."""

    items: int  # of the history's lists that have ratings
    items_of_history: int
    users: int  # of the ledger that have ratings
    users_of_history: int
    holdings: int  # of the ledger that are in the ratings
    holdings_of_history: int

    def to_json(self) -> dict[str, Any]:
        """Return the counts by name, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, repr=False)
class HistoryVerdict(Tabular):
    """Whether every release keeps within the bound and the static rule that held when it was published."""

    bound: BoundOptions  # of the last release
    n_pairs: int  # pairs of a start and a later release
    worst: Finding | None
    violations: tuple[Finding, ...]  # every minimal violating set, or the worst of each pair with ``every=False``
    n_unknown: int = 0  # searches that were cut off; they count as violations
    residual: Residual | None = None  # what an observer who knows further items learns, if measured
    unsupported: tuple[Unsupported, ...] = ()  # entries that rest on too few people, of all releases
    n_releases: int = 0  # whose lists were looked at
    coverage: Coverage | None = None  # how well ratings and history fit, if compared
    n_sealed: int = 0  # releases proved for the last time before somebody was forgotten, and not again
    n_entries: int = 0  # of all these releases; where there is none, nothing was checked
    unpromising: tuple[int, ...] = ()  # releases whose promise forbids nothing, so that none can be kept

    def __repr__(self) -> str:
        largest = f"surest inference {self.max_breach:.4f} (delta {self.bound.delta:g})"
        looked = (plural(self.n_releases, "release"), plural(self.n_pairs, "pair"))
        return counted(self, self.word, *looked, largest)

    @property
    def is_kept(self) -> bool:
        """Whether nothing was found that breaks the promise; a promise of nothing is always kept."""
        return not self.violations and not self.n_unknown and not self.unsupported

    @property
    def word(self) -> str:
        """The verdict: ``pass``, ``fail``, ``nothing promised`` or ``nothing checked``."""
        if not self.is_kept:
            return "fail"
        if self.unpromising:
            return "nothing promised"
        return "pass" if self.n_entries else "nothing checked"

    @property
    def passed(self) -> bool:
        """Whether something was promised and looked at, and the bound and the static rule hold."""
        return self.word == "pass"

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
            "verdict": self.word,
            **self.bound.to_json(),
            "releases_checked": self.n_releases,
            "releases_sealed": self.n_sealed,
            "pairs_checked": self.n_pairs,
            "entries": self.n_entries,
            "nothing_promised": list(self.unpromising),
            "max_breach": self.max_breach,
            "worst": None if self.worst is None else self.worst.to_json(),
            "not_measured": self.n_unknown,
            "violations": [finding.to_json() for finding in self.violations],
            "unsupported": [entry.to_json() for entry in self.unsupported],
        }
        further = {"residual": self.residual, "coverage": self.coverage}
        return {**figures, **{name: one.to_json() for name, one in further.items() if one is not None}}

    def named(self, item_ids: IdMap) -> HistoryVerdict:
        """Return the verdict with the ids of its items in place of their inside numbers."""

        def name(one: Finding) -> Finding:
            target, *background = item_ids.decode(np.array([one.target, *one.background]))
            return replace(one, target=target, background=tuple(background))

        def name_entry(one: Unsupported) -> Unsupported:
            item, related = item_ids.decode(np.array([one.item, one.related]))
            return replace(one, item=item, related=related)

        worst = self.worst and name(self.worst)
        unsupported = tuple(map(name_entry, self.unsupported))
        return replace(self, worst=worst, violations=tuple(map(name, self.violations)), unsupported=unsupported)
