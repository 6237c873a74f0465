"""What an audit comes to: every outcome, the gates, and one verdict.

*fail*: a gate is closed, or an attack names people more often than the release promises. *not measured*: an attack that
names people could not be run, any attack broke down, or one is of a kind that cannot be judged, so nothing can be said.
*pass*: every attack that names people stayed within the promise; what cells tell about hidden people is reported, and
becomes a reason to fail only by a gate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from recloak._attacks.attack import Kind
from recloak._attacks.gate import Passage
from recloak._attacks.model import Outcome


@dataclass(frozen=True, slots=True)
class Audit:
    """Every attack of an audit, and how the gates stand."""

    outcomes: tuple[Outcome, ...]
    passages: tuple[Passage, ...]
    seed: int

    @property
    def failures(self) -> list[Outcome]:
        """The outcomes that should have been measured and could not be, for a defect of the attack."""
        return [one for one in self.outcomes if one.failed or not isinstance(one.attack.kind, Kind)]

    @property
    def verdict(self) -> Literal["pass", "fail", "not measured"]:
        """The one word for all of it."""
        naming = [one for one in self.outcomes if one.identifies]
        if any(one.verdict == "breached" for one in naming) or not all(one.passed for one in self.passages):
            return "fail"
        if not naming or self.failures or any(one.verdict == "not measured" for one in naming):
            return "not measured"
        return "pass"

    def to_json(self) -> dict[str, Any]:
        """Return the audit in the form of the command line's contract."""
        gates = [{"gate": str(one.gate), "passed": one.passed, "reason": one.reason} for one in self.passages]
        attacks = [outcome.to_json() for outcome in self.outcomes]
        return {"verdict": self.verdict, "attacks": attacks, "gates": gates, "seed": self.seed}
