"""What an audit comes to: every outcome, the gates, and one verdict.

*fail*: a gate is closed, or an attack names people more often than the release promises. *not measured*: an attack that
names people could not be run, any attack broke down, or one is of a kind that cannot be judged, so nothing can be said.
*pass*: every attack that names people stayed within the promise; what cells tell about hidden people is reported, and
becomes a reason to fail only by a gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from recloak._attacks.attack import Kind
from recloak._attacks.gate import Passage
from recloak._attacks.model import Outcome
from recloak._core.results import Result, counted, plural, table_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Result):
    """Every attack of an audit, and how the gates stand.

    Attributes
    ----------
    outcomes : tuple of Outcome
        What came of each attack with each kind of knowledge.
    passages : tuple
        Each gate, whether it was passed, and why not.
    seed : int
        Gives the same figures again.
    evaluation : Evaluation or None
        What the release is good for, where a probe was given.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=30, items=20, ratings=200, seed=1)
    >>> found = recloak.audit(ratings, recloak.publish(ratings, k=3, seed=1), targets=9, known=[2], varied_at=2, seed=1)
    >>> found, len(found.to_polars())
    (<Audit: pass, 20 attacks, 0 breached, 1 not measured, 0 gates>, 20)
    """

    outcomes: tuple[Outcome, ...]
    passages: tuple[Passage, ...]
    seed: int
    evaluation: Result | None = None

    def __repr__(self) -> str:
        breached = sum(one.verdict == "breached" for one in self.outcomes)
        missing = sum(one.verdict == "not measured" for one in self.outcomes)
        counts = plural(len(self.outcomes), "attack"), f"{breached} breached", f"{missing} not measured"
        return counted(self, self.verdict, *counts, plural(len(self.passages), "gate"))

    def __len__(self) -> int:
        return len(self.outcomes)

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
        useful = {} if self.evaluation is None else {"evaluation": self.evaluation.to_json()}
        return {"verdict": self.verdict, "attacks": attacks, "gates": gates, "seed": self.seed, **useful}

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each attack: success on the original and on the release, with 95 % intervals."""
        return table_of(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for one in self.outcomes:
            sides = {"original": one.original, "release": one.release}
            rates = {
                name if part == "rate" else f"{name}_{part}": None if share is None else getattr(share, part)
                for name, share in sides.items()
                for part in ("rate", "low", "high")
            }
            about = {"attack": one.name, "known": one.known, "setting": one.setting}
            yield {**about, **rates, "baseline": one.baseline, "bound": one.bound, "verdict": one.verdict}
