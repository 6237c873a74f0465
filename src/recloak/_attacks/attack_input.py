"""What an attack is given by an audit, and what it returns."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.knowledge import draw_clues
from recloak._attacks.model import Clues, Hits, Knowledge, Line, Public, share_of_chances
from recloak._attacks.options import DEFAULT_TARGETS, AuditOptions
from recloak._attacks.public_view import ReleaseView
from recloak._core.randomness import Randomness
from recloak._core.results import sizes_only
from recloak._ratings.model import Ratings

LINK_CAP = 0.5
_MOST_SCORED = 600_000_000  # cells that an attack looks at for one kind of knowledge; beyond, fewer targets
_FEWEST_TARGETS = 200
_MOST_ROW_CELLS, _FEWEST_ROWS = 60_000_000, 100  # of the rows of all targets together; beyond, fewer targets


@dataclass(frozen=True, eq=False, slots=True)
class OutsideRatings:
    """Ratings that are not in the source, items numbered as there: user u has ``items[indptr[u]:indptr[u + 1]]``."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]

    __repr__ = sizes_only

    @property
    def n_users(self) -> int:
        """Number of users, also of those without ratings."""
        return len(self.indptr) - 1

    def row(self, user: int) -> slice:
        """Return where the ratings of a user stand."""
        return slice(int(self.indptr[user]), int(self.indptr[user + 1]))


@dataclass(frozen=True, eq=False, slots=True)
class SybilRelease:
    """A release of the same people with copies of some of them planted; nothing but the attack on it sees it."""

    release: ReleaseView
    targets: NDArray[np.integer]  # (n_targets,) numbers in that release
    copies: NDArray[np.integer]  # (n_targets, n_copies) likewise
    people: NDArray[np.integer]  # (n_targets,) the same targets as the source numbers them
    unknown: tuple[NDArray[np.integer], ...]  # items of each target that its copies do not have

    __repr__ = sizes_only


@dataclass(frozen=True, eq=False, slots=True)
class OwnerKnowledge:
    """What the owner gives to make an audit harder; items are numbered as in the source."""

    held_out: OutsideRatings | None = None  # people who are not in the release
    later: OutsideRatings | None = None  # of the same people and not in the source, users numbered likewise
    attribute: NDArray[np.integer] | None = None  # (n_users,) a class of each user, -1 where unknown
    sensitive: NDArray[np.bool_] | None = None  # (n_items,)
    mentions: OutsideRatings | None = None  # what the same people said in public, users numbered as in the source
    more_releases: tuple[ReleaseView, ...] = ()  # a third release of the same people, a fourth
    sybils: SybilRelease | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What an attack reached on the release and on the original, and without looking at either.

    A baseline of None is the one of the attack's kind: one in all users for an attack that identifies. Each line can
    breach the release by itself.
    """

    release: Hits | None = None
    original: Hits | None = None
    baseline: float | None = None
    lines: tuple[Line, ...] = ()


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
    owner: OwnerKnowledge = OwnerKnowledge()  # what only the owner can give

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
        there = {
            "release": self.release,
            "second release": self.second,
            "times": self.ratings.times,
            "attribute": self.owner.attribute,
            "sensitive items": self.owner.sensitive,
            "mentions": self.owner.mentions,
            "later ratings": self.owner.later,
            "statistics": self.release.statistics if self.release else None,
            "sybils": self.owner.sybils,
        }
        return [need for need in needs if there[need] is None]

    def public_release(self) -> Public:
        """Return the public side of the release, for attacks that need one."""
        if self.release is None:
            raise TypeError("an attack that reads the release must say that it needs one")
        return self.release.public

    @property
    def held_out(self) -> OutsideRatings | None:
        """People who are not in the release, where the owner gave some."""
        return self.owner.held_out

    def most(self, usual: int) -> int:
        """Return the most targets of a costly attack: the usual number, more where more targets are asked for."""
        return usual * max(self.options.targets, DEFAULT_TARGETS) // DEFAULT_TARGETS

    @property
    def n_targets(self) -> int:
        """How many targets the attacks have that need no clues: fewer than asked for where rows are very long."""
        by_memory = max(_MOST_ROW_CELLS // max(self.ratings.n_items, 1), _FEWEST_ROWS)
        return min(self.options.targets, self.ratings.n_users, by_memory)

    def targets(self) -> NDArray[np.int64]:
        """Draw the targets of the attacks that need no clues."""
        n = self.n_targets
        return np.sort(self.randomness.stream("targets").choice(self.ratings.n_users, n, replace=False))

    def clues(self, most: int | None = None) -> Clues:
        """Draw targets, at most so many, and what is known of them, for attacks that vary what is known."""
        if self.knowledge is None:
            raise TypeError("an attack that takes clues must be varied by known items")
        n_targets = self.options.targets if most is None else min(most, self.options.targets)
        return draw_clues(self.ratings, self.knowledge, n_targets=n_targets, rng=self.randomness)

    def found(
        self, right: float, tried: int, *, baseline: float | None = None, most: float = 1.0, **details: Any
    ) -> Findings:
        """Return findings on the release: so many of the tries were right.

        ``right`` may add up chances, none of them above ``most``: one in k where a guess falls on one of k people.
        """
        return Findings(Hits(user=share_of_chances(right, tried, most), details=details), baseline=baseline)


def on_both_sides(attack: Callable[[Public, Clues], Hits]) -> Callable[[AttackInput], Findings]:
    """Return a run that draws clues and attacks the original and, where there is one, the release."""
    return partial(_run_on_both, attack)  # which, unlike a function made here, can be pickled with an audit


def _run_on_both(attack: Callable[[Public, Clues], Hits], given: AttackInput) -> Findings:
    n_profiles = given.release.public.n_profiles if given.release else 1
    clues = given.clues(most=max(_MOST_SCORED // (n_profiles * (given.known or 1)), _FEWEST_TARGETS))
    release = attack(given.release.public, clues) if given.release else None
    return Findings(release, attack(given.original, clues))


def naming_attack(attack: Callable[[Public, Clues], Hits], *, varied: Varied = Varied.KNOWN, **more: Any) -> Attack:
    """Return an attack that knows some ratings of each target and names a profile, in the original and in a release."""
    return Attack(
        kind=Kind.IDENTIFIES,
        unit="targets named correctly",
        baseline="naming somebody at random",
        criterion="singling-out",
        run=on_both_sides(attack),
        varied=varied,
        needs=(),
        **more,
    )
