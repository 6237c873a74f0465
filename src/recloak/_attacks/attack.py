"""An attack as one value: what it does, what its success is compared with, and every word that is said about it.

An attack is built in one place, its own file, and everything else (the audit, gates, the terminal, pages, the
documentation) reads the value. `_attacks/registry.py` finds the values, those of other packages by entry points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from recloak._core.errors import OptionError
from recloak._ratings.value_kinds import COUNTS, PRESENCE, RATINGS, VALUE_KINDS

if TYPE_CHECKING:
    from recloak._attacks.attack_input import AttackInput, Findings

CRITERIA = ("singling-out", "linkability", "inference")  # of the Article 29 Working Party, opinion 05/2014 (WP216)

# Who attacks, and what that means in words.
ACTORS = {
    "public": "anybody",
    "recipient": "somebody who knows something about the person",
    "insider": "members of the same group",
    "owner": "the owner",
}

# What an attack may need, and why it is not measured without.
NEEDS = {
    "release": "there is no release to attack",
    "second release": "there is only one release of these people",
    "times": "these ratings carry no times",
    "attribute": "the owner gave no attribute of the people",
    "sensitive items": "the owner gave no sensitive items",
    "mentions": "the owner gave no public mentions",
    "later ratings": "the owner gave no ratings that are not in the source",
    "statistics": "there are no statistics beside the release",
    "sybils": "the owner did not publish again with copies of people planted",
}

DIRECTIONS = ("lower is safer",)  # every verdict is made that way round

WITH_NUMBERS = (RATINGS.name, COUNTS.name)  # the kinds of values for an attack on the numbers in cells
# Why an attack is not applicable to a kind of values that it does not take.
NO_NUMBERS = {
    RATINGS.name: "it is about sources without ratings",
    PRESENCE.name: "it reads how much or how often off a row, and these rows say only what was used",
    COUNTS.name: "it reads ratings, and these rows show how often items were used",
}

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_WORDS = ("title", "short", "attacker", "unit", "baseline", "remedy", "direction")


class Kind(StrEnum):
    """What the success of an attack is compared with.

    Only attacks that identify decide between *pass* and *fail*. An attack of any other kind than these can be built, so
    that a package for a later version loads, but it cannot be judged: it is not measured, and the audit does not pass.
    """

    IDENTIFIES = "identifies"  # names people: held against 1/k, as k-anonymity promises
    PINS_DOWN = "pins-down"  # narrows down a profile: held against a margin
    TELLS_CELLS = "tells-cells"  # reads something off cells: held against its own baseline plus a margin


class Varied(StrEnum):
    """How an attack is repeated within an audit."""

    ONCE = "once"
    KNOWN = "known"  # for each number of known items
    SETTINGS = "settings"  # likewise, and with each other kind of knowledge at one number of known items
    ONE_KNOWN = "one-known"  # at that one number of known items only
    DEEP = "deep"  # for 4, 8, 16 and 32 known items, and for all of them
    COLLUDERS = "colluders"  # with 1, 2 and k - 1 colluding members of the target's group


@dataclass(frozen=True, slots=True)
class DetailChart:
    """A bar chart of one of an attack's details, shares by label; ``{name}`` in the text is another detail."""

    detail: str
    title: str
    text: str
    x: str
    y: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False, slots=True)
class Attack:
    """An attack on a release of ratings.

    Parameters
    ----------
    name : str
        Short name for gates and JSON: lower-case letters, digits and hyphens.
    kind : str
        What its success is compared with: ``identifies`` (names people, against 1/k), ``pins-down`` (against a margin)
        or ``tells-cells`` (against its own baseline plus a margin).
    title, short : str
        Heading on pages, and label in charts.
    attacker : str
        What the adversary does, as the rest of the sentence "The attacker ...".
    unit : str
        What is counted; ``{link_cap}`` stands for the audit's cap on links.
    baseline : str
        What the attack is compared with, as the rest of the sentence "... % by ...".
    criterion : str
        The criterion of the European data protection authorities (WP216) that it tests: ``singling-out``,
        ``linkability`` or ``inference``.
    actor : str, default "recipient"
        Who can do it: ``public`` (anybody), ``recipient`` (somebody who knows something of the target), ``insider``
        (members of the target's group) or ``owner`` (a check that only the owner can make).
    run : callable
        Takes an `AttackInput` and returns `Findings`; ``given.found(right, tried)`` makes them.
    varied : str, default "once"
        How it is repeated: ``once``, ``known`` (for each number of known items), ``settings``, ``one-known``, ``deep``
        or ``colluders``.
    needs : tuple of str, default ("release",)
        What it cannot do without: ``release``, ``second release``, ``times``, ``attribute``, ``sensitive items``,
        ``mentions``, ``later ratings``, ``statistics``, ``sybils``.
    drawn_rows : bool, default False
        Whether it knows what rows are that were drawn for a group. One that takes them for rows that the group shares
        may find too little, so on a release of such rows it can breach but never bound.
    values : tuple of str, default ("ratings", "presence", "counts")
        The kinds of values that it takes. On a source of another kind it makes no sense: it is *not applicable*, which
        is neither safe nor not measured.
    details : mapping of str to str
        Words for the figures among its details; an empty text leaves a figure out of the table.
    charts : tuple of DetailChart
        Charts of its details.
    remedy : str
        What an owner can do about it, as the rest of the sentence "What to do: ...".
    direction : str
        Which way is good: every attack counts successes, so ``lower is safer`` is the only one.
    limit : float, optional
        The success above which it breaches a release, where its kind's own does not fit: an attack on the worst case is
        held against certainty, not against the mean of a guess.
    order : int, default 1000
        Attacks with smaller numbers come first.

    Raises
    ------
    OptionError
        If a word is missing, or a criterion, need or variation does not exist.

    Examples
    --------
    >>> def first_users(given):
    ...     return given.found(right=0, tried=10)
    >>> import recloak
    >>> recloak.Attack(
    ...     name="first-users", kind="identifies", title="First users", short="first users",
    ...     attacker="names the first ten users", unit="targets named correctly", baseline="naming somebody at random",
    ...     criterion="singling-out", run=first_users,
    ... )
    <Attack first-users: identifies>
    """

    name: str
    kind: Kind | str
    title: str
    short: str
    attacker: str
    unit: str
    baseline: str
    criterion: str
    run: Callable[[AttackInput], Findings]
    actor: str = "recipient"
    varied: Varied | str = Varied.ONCE
    needs: tuple[str, ...] = ("release",)
    drawn_rows: bool = False
    values: tuple[str, ...] = tuple(VALUE_KINDS)
    details: Mapping[str, str] = field(default_factory=dict)
    charts: tuple[DetailChart, ...] = ()
    remedy: str = "raise k; recloak frontier measures what each k costs."
    direction: str = "lower is safer"
    limit: float | None = None
    order: int = 1000

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise OptionError(f"an attack's name is lower-case letters, digits and hyphens, got {self.name!r}")
        for words in ("kind", *_WORDS):
            if not isinstance(text := getattr(self, words), str) or not text.strip():
                raise OptionError(f"the attack {self.name} must have a {words} in words, got {text!r}")
        if not callable(self.run):
            raise OptionError(f"the attack {self.name} must have a function to run, got {self.run!r}")
        if self.limit is not None and not 0 < self.limit < 1:
            raise OptionError(f"the attack {self.name}: limit must lie between 0 and 1, got {self.limit!r}")
        self._require("criterion", (self.criterion,), CRITERIA)
        self._require("direction", (self.direction,), DIRECTIONS)
        self._require("actor", (self.actor,), tuple(ACTORS))
        self._require("varied", (self.varied,), tuple(Varied))
        self._require("needs", self.needs, tuple(NEEDS))
        self._require("values", self.values, tuple(VALUE_KINDS))
        if self.kind in tuple(Kind):
            object.__setattr__(self, "kind", Kind(self.kind))
        object.__setattr__(self, "varied", Varied(self.varied))

    def _require(self, what: str, values: tuple[str, ...], allowed: tuple[str, ...]) -> None:
        for value in values:
            if value not in allowed:
                raise OptionError(f"the attack {self.name}: {what} must be one of {', '.join(allowed)}, got {value!r}")

    def __repr__(self) -> str:
        return f"<Attack {self.name}: {self.kind}>"
