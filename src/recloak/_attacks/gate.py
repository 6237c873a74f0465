"""Gates: a line that a release must stay below, so that an audit can stand in a build.

``scoreboard@8<0.05``: the success of Scoreboard-RH with 8 known items must lie below 0.05. What counts is the upper end
of the interval, and an attack that was not measured never passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from recloak._attacks.model import Outcome
from recloak._core.errors import OptionError
from recloak._core.spelling import did_you_mean

_SYNTAX = re.compile(r"^\s*([a-z][a-z0-9-]*)\s*(?:@\s*(\d+)\s*)?<\s*([0-9.]+)\s*$")


@dataclass(frozen=True, slots=True)
class Gate:
    """An attack, how many items it knows (None: any number), and the success it must stay below."""

    name: str
    known: int | None
    below: float

    def __str__(self) -> str:
        return f"{self.name}{'' if self.known is None else f'@{self.known}'}<{self.below:g}"


@dataclass(frozen=True, slots=True)
class Passage:
    """Whether a gate was passed, and why not."""

    gate: Gate
    passed: bool
    reason: str


def parse_gate(text: str) -> Gate:
    """Read a gate such as ``scoreboard@8<0.05``."""
    found = _SYNTAX.match(text)
    if found is None:
        raise OptionError(f"a gate reads NAME@KNOWN<SHARE, such as scoreboard@8<0.05, got {text!r}")
    name, known, below = found.groups()
    try:
        share = float(below)
    except ValueError:
        raise OptionError(f"a gate's share must be a number, got {below!r}") from None
    if not 0 < share <= 1:
        raise OptionError(f"a gate's share must lie between 0 and 1, got {below}")
    return Gate(name, None if known is None else int(known), share)


def named_by(gate: Gate, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes that a gate names; none at all is an error of the gate, not a pass."""
    outcomes = list(outcomes)
    named = [one for one in outcomes if one.name == gate.name and gate.known in (None, one.known)]
    if not named:
        names = list(dict.fromkeys(one.name for one in outcomes))
        hint = did_you_mean(gate.name, names) if gate.name not in names else ""
        raise OptionError(f"the gate {gate} names an attack that is not run; those that are: {', '.join(names)}{hint}")
    return named


def pass_gate(gate: Gate, outcomes: Iterable[Outcome]) -> Passage:
    """Compare a gate with every outcome it names."""
    named = named_by(gate, outcomes)
    for one in named:
        where = f"{one.name}{'' if one.known is None else f' with {one.known} known'}, {one.setting}"
        if one.release is None or _proves_nothing(one):
            return Passage(gate, passed=False, reason=f"{where}: {one.verdict} ({one.reason})")
        if one.release.high >= gate.below:
            return Passage(gate, passed=False, reason=f"{where}: up to {one.release.high:.3f}")
    return Passage(gate, passed=True, reason=f"at most {max(one.release.high for one in named if one.release):.3f}")


def _proves_nothing(one: Outcome) -> bool:
    """Return whether a figure is no bound; one that lies around the usual limit still has an upper end.

    An attack below its own baseline reports the baseline, which is a bound too.
    """
    if one.undecided:
        return False
    at_baseline = one.release is not None and one.release.rate == one.baseline and not one.identifies
    return one.verdict == "not measured" and not at_baseline


def require_acceptable(names: Iterable[str], outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Return the attacks whose success an owner accepts; raise OptionError for one that is not run, or names people."""
    by_name, accepted = {one.name: one for one in outcomes}, tuple(dict.fromkeys(names))
    for name in accepted:
        if name not in by_name:
            those = f"those that are: {', '.join(by_name)}{did_you_mean(name, by_name)}"
            raise OptionError(f"accept names an attack that is not run: {name}; {those}")
        if by_name[name].identifies:
            raise OptionError(f"accept cannot name {name}: that nobody is named above 1/k is what the release promises")
    return accepted
