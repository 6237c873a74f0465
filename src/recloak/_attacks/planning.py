"""Which runs an audit has: every attack, with each kind of knowledge that it is tried with.

A certificate asks the same question, so that a run that was taken out of an audit is missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recloak._attacks.attack import Attack, Varied
from recloak._attacks.model import Knowledge
from recloak._attacks.options import AuditOptions
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS, ValueKind

DEEP = (4, 8, 16, 32)
EVERYTHING = "all ratings known"
PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class AuditShape:
    """What of a source and its release decides which runs there are."""

    k: int
    n_items: int
    kind: ValueKind
    has_times: bool = False
    most_items: int = 1  # of one person

    @classmethod
    def of(cls, ratings: Ratings, k: int) -> AuditShape:
        """Return the shape of a source."""
        most = int(np.diff(ratings.indptr).max(initial=1))
        return cls(k, ratings.n_items, ratings.kind, ratings.times is not None, max(most, 1))


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of an attack: what is known of a target, or how many members of its group collude."""

    place: int  # among the numbers of known items
    knowledge: Knowledge | None = None
    colluders: int | None = None
    setting: str = PLAIN

    @property
    def known(self) -> int | None:
        """The number of known items, or of colluders."""
        return self.knowledge.known if self.knowledge else self.colluders


def variations(attack: Attack, shape: AuditShape, options: AuditOptions) -> Iterator[PlannedRun]:
    """Yield every run of an attack; what is for purchases and plays alone has none for ratings."""
    last = len(options.known)
    if shape.kind is RATINGS and RATINGS.name not in attack.values:
        return
    if attack.varied in (Varied.KNOWN, Varied.SETTINGS):
        for place, known in enumerate(options.known):
            yield PlannedRun(place, Knowledge(known=known))
    if attack.varied is Varied.SETTINGS:
        for setting, knowledge in _settings(shape, options.varied_at):
            yield PlannedRun(last, knowledge, setting=setting)
    if attack.varied is Varied.ONE_KNOWN:
        yield PlannedRun(last, Knowledge(known=options.varied_at))
    if attack.varied is Varied.DEEP:
        for place, known in enumerate(DEEP):
            yield PlannedRun(place, Knowledge(known=known))
        yield PlannedRun(last, Knowledge(known=shape.most_items), setting=EVERYTHING)
    if attack.varied is Varied.COLLUDERS:
        for colluders in sorted({1, 2, max(shape.k - 1, 1)}):
            yield PlannedRun(last, colluders=colluders)
    if attack.varied is Varied.ONCE:
        yield PlannedRun(last)


def _settings(shape: AuditShape, known: int) -> Iterator[tuple[str, Knowledge]]:
    """Vary one thing at a time about the adversary's knowledge."""
    wrong = max(known // 4, 1)
    yield "popular items", Knowledge(known=known, drawn="popular")
    if shape.n_items > 100:
        yield "outside the top 100", Knowledge(known=known, drawn="rare-100")
    if shape.n_items > 500:
        yield "outside the top 500", Knowledge(known=known, drawn="rare-500")
    plural = "s" if wrong > 1 else ""
    if shape.kind.varies:
        yield "ratings off by a step", Knowledge(known=known, noise=1)
        yield f"{wrong} rating{plural} wrong", Knowledge(known=known, wrong_ratings=wrong)
    yield f"{wrong} item{plural} wrong", Knowledge(known=known, wrong_items=wrong)
    if shape.has_times:
        yield "exact times", Knowledge(known=known, days=0)
        yield "times within 3 days", Knowledge(known=known, days=3)
        yield "times within 14 days", Knowledge(known=known, days=14)
