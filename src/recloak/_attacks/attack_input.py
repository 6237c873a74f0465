"""What an attack is given by an audit, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.knowledge import draw_clues
from recloak._attacks.model import Clues, Hits, Knowledge, Public
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import ReleaseView
from recloak._core.intervals import wilson
from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings

LINK_CAP = 0.5


@dataclass(frozen=True, slots=True)
class Findings:
    """What an attack reached on the release and on the original, and without looking at either.

    A baseline of None is the one of the attack's kind: one in all users for an attack that identifies.
    """

    release: Hits | None = None
    original: Hits | None = None
    baseline: float | None = None


@dataclass(frozen=True, eq=False, slots=True)
class AttackInput:
    """What one run of an attack is given.

    ``ratings`` and ``Public.owner`` are the truth against which an attack scores itself; an honest attack guesses
    without them.
    """

    ratings: Ratings
    original: Public
    release: ReleaseView | None
    second: ReleaseView | None
    options: AuditOptions
    randomness: Randomness
    knowledge: Knowledge | None = None  # where the attack knows some of the target's items
    colluders: int | None = None
    setting: str = "plain"  # which variation of the knowledge

    @property
    def k(self) -> int:
        """The k that the release promises, 1 without a release."""
        return int(self.release.manifest["k"]) if self.release else 1

    @property
    def link_cap(self) -> float:
        """The cap asked for, else the one that the release promises, else one half."""
        promised = self.release.manifest.get("max_link") if self.release else None
        return next(cap for cap in (self.options.link_cap, promised, LINK_CAP) if cap is not None)

    @property
    def known(self) -> int | None:
        """The number of known items, or of colluders."""
        return self.knowledge.known if self.knowledge else self.colluders

    def missing(self, needs: tuple[str, ...]) -> list[str]:
        """Return the needs that are not met."""
        there = {"release": self.release, "second release": self.second, "times": self.ratings.times}
        return [need for need in needs if there[need] is None]

    def public_release(self) -> Public:
        """Return the public side of the release, for attacks that need one."""
        if self.release is None:
            raise TypeError("an attack that reads the release must say that it needs one")
        return self.release.public

    def targets(self) -> NDArray[np.int64]:
        """Draw the targets of the attacks that need no clues."""
        n = min(self.options.targets, self.ratings.n_users)
        return np.sort(self.randomness.stream("targets").choice(self.ratings.n_users, n, replace=False))

    def clues(self) -> Clues:
        """Draw targets and what is known of them, for attacks that vary what is known."""
        if self.knowledge is None:
            raise TypeError("an attack that takes clues must be varied by known items")
        return draw_clues(self.ratings, self.knowledge, n_targets=self.options.targets, rng=self.randomness)

    def found(self, right: float, tried: int, *, baseline: float | None = None, **details: Any) -> Findings:
        """Return findings on the release: so many of the tries were right."""
        return Findings(Hits(user=wilson(right, tried), details=details), baseline=baseline)


def on_both_sides(attack: Callable[[Public, Clues], Hits]) -> Callable[[AttackInput], Findings]:
    """Return a run that draws clues and attacks the original and, where there is one, the release."""

    def run(given: AttackInput) -> Findings:
        clues = given.clues()
        release = attack(given.release.public, clues) if given.release else None
        return Findings(release, attack(given.original, clues))

    return run


def naming_attack(attack: Callable[[Public, Clues], Hits], *, varied: Varied = Varied.KNOWN, **more: Any) -> Attack:
    """Return an attack that knows some ratings of each target and names a profile, in the original and in a release."""
    return Attack(
        kind=Kind.IDENTIFIES,
        unit="targets named rightly",
        baseline="naming somebody at random",
        criterion="singling-out",
        run=on_both_sides(attack),
        varied=varied,
        needs=(),
        **more,
    )
