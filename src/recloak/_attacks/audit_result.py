"""What an audit comes to: every outcome, the gates, a table of criteria by actors, and one verdict.

One vocabulary throughout. *breached*: an attack got further than promised, or than its baseline allows, or a gate is
closed. *not measured*: nothing can be said, because no attack looked, one that names people could not be run, any broke
down, or any was tried on too few people to tell. *bounded*: attacks looked and none got further. *not applicable*: an
attack makes no sense for what the source holds; it says nothing, good or bad.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from recloak._attacks.attack import ACTORS, CRITERIA, Kind
from recloak._attacks.gate import Passage
from recloak._attacks.model import Outcome, Verdict
from recloak._attacks.options import DEFAULT_TARGETS
from recloak._core.results import Result, counted, plural, table_of

if TYPE_CHECKING:
    import polars as pl


def seed_of_release(manifest_sha256: str) -> int:
    """Return the seed of an audit that nobody chose: it follows from the release.

    Whoever looks for targets that make a release look good would have to publish it again for each seed.
    """
    return int.from_bytes(hashlib.sha256(f"recloak audit {manifest_sha256}".encode()).digest()[:16], "big")


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
    accepted : tuple of str
        Attacks whose success the owner accepts; a breach by any other makes ``acceptable`` false.
    evaluation : Evaluation or None
        What the release is good for, where a probe was given.
    fidelity : Fidelity or None
        Whether who wins on the release wins on the original, by a few algorithms; where it was asked for.
    manifest_sha256 : str or None
        The hash of the manifest of the release that was attacked; None for a release in memory.
    targets : int
        How many targets were drawn for each attack, at most.
    seed_from : str
        ``manifest`` where the seed follows from the release, so that nobody chose it; else ``caller``.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=30, items=20, ratings=200, seed=1)
    >>> found = recloak.audit(ratings, recloak.publish(ratings, k=3, seed=1), known=[2], varied_at=2)
    >>> found.verdict, found.promise, len(found.to_polars())
    ('breached', 'pass', 40)
    """

    outcomes: tuple[Outcome, ...]
    passages: tuple[Passage, ...]
    seed: int
    evaluation: Result | None = None
    accepted: tuple[str, ...] = ()
    manifest_sha256: str | None = None
    targets: int = DEFAULT_TARGETS
    seed_from: Literal["manifest", "caller"] = "caller"
    fidelity: Result | None = None

    def __repr__(self) -> str:
        breached = sum(one.verdict == "breached" for one in self.outcomes)
        missing = sum(one.verdict == "not measured" for one in self.outcomes)
        idle = sum(one.verdict == "not applicable" for one in self.outcomes)
        counts = [plural(len(self.outcomes), "attack"), f"{breached} breached", f"{missing} not measured"]
        counts += [f"{idle} not applicable"] if idle else []
        return counted(self, self.verdict, *counts, plural(len(self.passages), "gate"))

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def failures(self) -> list[Outcome]:
        """The outcomes that should have been measured and could not be, for a defect of the attack."""
        return [one for one in self.outcomes if one.failed or not isinstance(one.attack.kind, Kind)]

    @property
    def promise(self) -> Literal["pass", "fail", "not measured"]:
        """Whether people are named at most as often as the release promises, and every gate is passed."""
        naming = [one for one in self.outcomes if one.identifies and one.verdict != "not applicable"]
        if any(one.verdict == "breached" for one in naming) or not all(one.passed for one in self.passages):
            return "fail"
        if not naming or self.failures or any(one.verdict == "not measured" for one in naming):
            return "not measured"
        return "pass"

    @property
    def passed(self) -> bool:
        """Whether the verdict is ``bounded``; ``not measured`` is not."""
        return self.verdict == "bounded"

    @property
    def not_accepted(self) -> list[str]:
        """The attacks that breached the release and that the owner did not accept."""
        return [name for name in self._breached() if name not in self.accepted]

    @property
    def accepted_breaches(self) -> list[str]:
        """The attacks that breached the release and whose success the owner accepts."""
        return [name for name in self._breached() if name in self.accepted]

    def _breached(self) -> list[str]:
        return list(dict.fromkeys(one.name for one in self.outcomes if one.verdict == "breached"))

    @property
    def acceptable(self) -> bool:
        """Whether the promise is kept and nothing is breached but what the owner accepts: exit code 0."""
        return self.promise == "pass" and not self.not_accepted

    @property
    def verdict(self) -> Verdict:
        """The worst of all: *breached* before *not measured* before *bounded*."""
        gates: list[Verdict] = ["bounded" if one.passed else "breached" for one in self.passages]
        return _worst([*gates, *(self.verdict_on(criterion) for criterion in CRITERIA)])

    def verdict_on(self, criterion: str, actor: str | None = None) -> Verdict:
        """Return the verdict on a criterion, by everybody or by one actor."""
        about = [one for one in self.outcomes if one.attack.criterion == criterion]
        about = [one for one in about if actor in (None, one.attack.actor)]
        taken = [one for one in about if one.verdict != "not applicable"]
        if about and not taken and actor is not None:
            return "not applicable"
        about = taken
        if any(one.verdict == "breached" for one in about):
            return "breached"
        broken = any(one in self.failures or _blocks(one) for one in about)
        return "not measured" if broken or all(one.verdict == "not measured" for one in about) else "bounded"

    @property
    def criteria(self) -> dict[str, dict[str, Any]]:
        """The verdict on each criterion, and on each by actor; actors of whom no attack is known are left out."""
        kinds = {(one.attack.criterion, one.attack.actor) for one in self.outcomes}
        return {
            criterion: {
                "verdict": self.verdict_on(criterion),
                "actors": {one: self.verdict_on(criterion, one) for one in ACTORS if (criterion, one) in kinds},
            }
            for criterion in CRITERIA
        }

    def worst_off(self, most: int = 100) -> list[tuple[int, float, str]]:
        """Return the people at the greatest risk: user number, by how much the baseline is exceeded, and the attack.

        For the owner alone. People are drawn for each attack, so somebody who was never drawn is not listed.
        """
        found: dict[int, tuple[float, str]] = {}
        for one in self.outcomes:
            if one.people is not None and one.release is not None:
                for user, risk in zip(one.people.users.tolist(), one.people.risks.tolist(), strict=True):
                    found[user] = max(found.get(user, (-1.0, "")), (risk - one.baseline, one.name))
        ranked = sorted(((user, *worst) for user, worst in found.items()), key=lambda each: (-each[1], each[0]))
        return ranked[:most]

    def to_json(self) -> dict[str, Any]:
        """Return the audit in the form of the command line's contract."""
        gates = [{"gate": str(one.gate), "passed": one.passed, "reason": one.reason} for one in self.passages]
        attacks = [outcome.to_json() for outcome in self.outcomes]
        useful = {} if self.evaluation is None else {"evaluation": self.evaluation.to_json()}
        useful |= {} if self.fidelity is None else {"fidelity": self.fidelity.to_json()["fidelity"]}
        overall: dict[str, Any] = {"verdict": self.verdict, "promise": self.promise, "criteria": self.criteria}
        overall |= {"acceptable": self.acceptable, "accepted": list(self.accepted), "not_accepted": self.not_accepted}
        overall |= {"manifest_sha256": self.manifest_sha256}
        return {**overall, "attacks": attacks, "gates": gates, **self._how(), **useful}

    def _how(self) -> dict[str, Any]:
        return {"seed": self.seed, "seed_from": self.seed_from, "targets": self.targets}

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
            about |= {"criterion": one.attack.criterion, "actor": one.attack.actor}
            yield {**about, **rates, "baseline": one.baseline, "bound": one.bound, "verdict": one.verdict}


def _blocks(one: Outcome) -> bool:
    """Return whether an outcome leaves a criterion open: it was tried and bounds nothing, or names people and was not.

    An attack that did worse than its own baseline was tried: a better one may succeed. One that lacks what the owner
    could give, such as a list of sensitive items, was not.
    """
    return one.undecided or (one.verdict == "not measured" and (one.identifies or one.release is not None))


def _worst(verdicts: list[Verdict]) -> Verdict:
    order: tuple[Verdict, ...] = ("breached", "not measured", "bounded")
    return next(one for one in order if one in verdicts)
