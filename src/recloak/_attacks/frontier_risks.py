"""The risks of a point of a frontier, by the attackers of an audit, as named measures."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from recloak._attacks import registry
from recloak._attacks.attack_input import AttackInput
from recloak._attacks.auditing import planned_runs, run_attack
from recloak._attacks.model import Outcome, Public
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import ReleaseView
from recloak._core.intervals import Share
from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings

KNOWN = (8, 16)
ALL_KNOWN = "all ratings known"


@dataclass(frozen=True, slots=True)
class MeasureWords:
    """What a measure of a point is called, and which way is good."""

    title: str
    meaning: str
    lower_is_better: bool = True


MEASURES = {
    "membership": MeasureWords("Membership", f"a member told from others, {ALL_KNOWN} (AUC)"),
    "residual": MeasureWords("Residual", "cells with two or more raters told from others of the same item (AUC)"),
    "insider": MeasureWords("Insiders", "stars read by all other members of the group together"),
    "insider-items": MeasureWords("Insiders, items", "items of a member told by all other members together"),
    "rare-items": MeasureWords("Rare items", "items of a member that few people use, the group being known"),
    **{
        f"group-{known}": MeasureWords(f"Right group, {known} known", f"group found by {known} known ratings")
        for known in KNOWN
    },
}


_CHOSEN = ("membership", "residual", "insider", "insider-items", "rare-items", "likelihood")


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a point: its value with a 95 % interval, and what is reached without the release.

    Where nothing was measured the value is None and ``why`` says the reason. What makes no sense for a kind of values
    is not applicable, which is neither safe nor not measured.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    baseline: float | None = None
    why: str = ""
    is_applicable: bool = True

    @classmethod
    def of(cls, share: Share, baseline: float | None = None) -> Measure:
        """Return the measure of a share."""
        return cls(share.rate, share.low, share.high, share.n, baseline)

    def to_json(self) -> dict[str, Any]:
        """Return the measure as a dict whose values are those of the constructor."""
        return asdict(self)


def risks_of(
    release: ReleaseView, ratings: Ratings, original: Public, *, targets: int, rng: Randomness,
    only: Collection[str] = tuple(MEASURES),
) -> dict[str, Measure]:  # fmt: skip
    """Attack a release and return what each attacker reached, or why that was not measured."""
    options = AuditOptions(targets=targets, known=KNOWN, varied_at=KNOWN[0])
    given = AttackInput(ratings, original, release, None, options, rng)
    chosen = [one for one in registry.own_attacks() if one.name in _CHOSEN]
    found: dict[str, Measure] = {}
    for blank, each in planned_runs(given, chosen):
        name = _name_of(blank, given.k)
        if name is not None and name in only:
            found[name] = _measure_of(run_attack(blank, each), by_group=name.startswith("group-"))
    return {name: found[name] for name in MEASURES if name in found}


def risk_of(outcome: Outcome, k: int) -> str | None:
    """Return the risk of a frontier's point that an outcome of an audit is, None if it is none."""
    return "bets" if outcome.name == "link" else _name_of(outcome, k)


def _name_of(blank: Outcome, k: int) -> str | None:
    """Return the measure that a run of an attack gives; None if it gives none."""
    by_all_others = k > 1 and blank.known == k - 1
    wanted = {
        "membership": blank.setting == ALL_KNOWN,
        "insider": by_all_others,
        "insider-items": by_all_others,
        "likelihood": blank.known in KNOWN,
    }
    if not wanted.get(blank.name, True):
        return None
    return f"group-{blank.known}" if blank.name == "likelihood" else blank.name


def _measure_of(outcome: Outcome, *, by_group: bool) -> Measure:
    share = outcome.group if by_group else outcome.release
    if share is None:
        is_applicable = outcome.verdict != "not applicable"
        return Measure(None, why=outcome.reason or "not measured", is_applicable=is_applicable)
    return Measure.of(share, None if by_group else outcome.baseline)
