"""The values of an attack: what the adversary knows, what is public, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind
from recloak._core.frozen import make_read_only
from recloak._core.intervals import Share, wilson
from recloak._core.options import Options, option
from recloak._core.results import counted, sizes_only
from recloak._ratings.assemble import distinct_values
from recloak._ratings.model import Scale
from recloak._releases.model.factor_tables import FactorTables

_BLOCK = 4_000_000
RISK_QUANTILES = (0.5, 0.9, 0.99)
PERSONAL_RISKS = ("membership", "group-8", "group-16")  # what a frontier measures also where there are no groups
MARGIN = 0.05  # an attack that does not identify has breached a release when it beats its baseline by more than this

ROUNDING = 1e-9  # of shares that equal their bound, as one in k does

Verdict = Literal["breached", "bounded", "not measured", "not applicable"]


@dataclass(frozen=True, kw_only=True)
class Knowledge(Options):
    """What the adversary knows of a target before looking at the release."""

    known: int = option(8, "number of the target's items that are known", at_least=1)
    drawn: str = option(
        "random",
        "which of the target's items: any, those among the 100 most rated, or those outside the top 100 or 500",
        choices=("random", "popular", "rare-100", "rare-500"),
    )
    noise: int = option(0, "known ratings are off by up to this many steps of the scale", at_least=0)
    days: int | None = option(None, "known times are off by up to this many days; without it no times", at_least=0)
    wrong_ratings: int = option(
        0, "how many of the known ratings are worthless: drawn evenly from the scale", at_least=0
    )
    wrong_items: int = option(0, "how many of the known items the target never rated", at_least=0)

    def sentence(self) -> str:
        """Say it in words."""
        which = {
            "random": "any of the target's items",
            "popular": "items among the 100 most rated",
            "rare-100": "items outside the 100 most rated",
            "rare-500": "items outside the 500 most rated",
        }[self.drawn]
        parts = [f"knows {self.known} of the target's ratings ({which})"]
        if self.noise:
            parts.append(f"each off by up to {self.noise} step{'s' * (self.noise > 1)}")
        if self.wrong_ratings:
            parts.append(f"{self.wrong_ratings} of the ratings wrong")
        if self.wrong_items:
            parts.append(f"{self.wrong_items} of the items wrong")
        if self.days is not None:
            parts.append("with exact times" if self.days == 0 else f"with times within {self.days} days")
        return ", ".join(parts)


@dataclass(frozen=True, eq=False, slots=True)
class Clues:
    """The knowledge drawn for each target: target t is known for ``items[indptr[t]:indptr[t + 1]]``."""

    knowledge: Knowledge
    targets: NDArray[np.int32]  # (n_targets,) users of the original
    indptr: NDArray[np.int64]  # (n_targets + 1,)
    items: NDArray[np.int32]  # (n_clues,) items of the original
    ratings: NDArray[np.float32]  # (n_clues,)
    times: NDArray[np.int64] | None = None  # (n_clues,) seconds, where times are known

    __repr__ = sizes_only

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.targets)


class DrawnCells(NamedTuple):
    """Of a release of drawn rows: in how many rows of its group the item of each cell stands."""

    counts: NDArray[np.unsignedinteger]  # (n_cells,)
    boost: float  # as published: the part of near groups in what is drawn


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Public:
    """What is public, by columns: the profiles that have an item, and their labels for it.

    In original data every user is a profile of weight 1. In a release all members of a group share a profile, whose
    weight is their number. ``owner`` is the truth against which an attack is scored; no attack reads it.

    Labels are codes of the values there are, and where every profile has every item the columns share one list of
    holders, so that a cell of a padded release takes a byte. Where factors are published there may be too many cells
    to hold: ``codes`` is then empty, and `public_columns.columns_for` computes the columns that are asked for.
    """

    n_items: int
    indptr: NDArray[np.int64]  # (n_items + 1,)
    holders: NDArray[np.int32]  # (n_cells,) profiles, ascending inside a column; (n_profiles,) where complete
    codes: NDArray[np.unsignedinteger]  # (n_cells,)
    values: NDArray[np.float32]  # the label of each code
    weights: NDArray[np.int64]  # (n_profiles,) users behind each profile
    owner: NDArray[np.int32]  # (n_users,) the profile of each user of the original
    scale: Scale
    times: NDArray[np.int64] | None = None  # (n_cells,)
    factors: FactorTables | None = None  # where these are published, and cells follow from them
    drawn: DrawnCells | None = None  # where a profile is what several drawn rows hold together

    __repr__ = sizes_only

    def __post_init__(self) -> None:
        columns = self.indptr, self.holders, self.codes, self.values, self.times
        make_read_only(*columns, self.weights, self.owner)  # else one attack could change what the next is given

    @classmethod
    def of(
        cls,
        indptr: NDArray[np.int64],
        profiles: NDArray[np.int32],
        labels: NDArray[np.float32],
        weights: NDArray[np.int64],
        owner: NDArray[np.int32],
        scale: Scale,
        times: NDArray[np.int64] | None = None,
    ) -> Public:
        """Take columns that list the profile and the label of each cell."""
        n_items, codes_and_values = len(indptr) - 1, coded(labels)
        complete = len(profiles) == n_items * len(weights)
        holders = np.arange(len(weights), dtype=np.int32) if complete else profiles
        return cls(n_items, indptr, holders, *codes_and_values, weights, owner, scale, times)

    @property
    def is_complete(self) -> bool:
        """Whether every profile has every item, as in a padded release."""
        return self.n_cells == self.n_profiles * self.n_items

    @property
    def n_cells(self) -> int:
        """Number of cells, held or not."""
        return int(self.indptr[-1])

    @property
    def holds_cells(self) -> bool:
        """Whether the codes of all cells are held."""
        return len(self.codes) == self.n_cells

    @property
    def profiles(self) -> NDArray[np.int32]:
        """The profile of each cell, written down: (n_cells,)."""
        return np.tile(self.holders, self.n_items) if self.is_complete else self.holders

    @property
    def labels(self) -> NDArray[np.float32]:
        """The label of each cell, written down: (n_cells,)."""
        return self.values[self.codes]

    @property
    def n_profiles(self) -> int:
        """Number of profiles that differ in name."""
        return len(self.weights)

    @property
    def n_users(self) -> int:
        """Number of users behind the profiles."""
        return int(self.weights.sum())


def step_of(scale: Scale) -> float:
    """Return the step of a scale, a tenth of it where it has none."""
    return scale.step or scale.span / 10 or 1.0


def coded(labels: NDArray[np.float32]) -> tuple[NDArray[np.unsignedinteger], NDArray[np.float32]]:
    """Write labels as codes in as few bytes as do, and the value of each code."""
    values = distinct_values(labels)
    codes = np.empty(len(labels), np.min_scalar_type(max(len(values) - 1, 0)))
    for first in range(0, len(labels), _BLOCK):
        codes[first : first + _BLOCK] = np.searchsorted(values, labels[first : first + _BLOCK])
    return codes, values.astype(np.float32)


def at_baseline(share: Share, baseline: float, bound: float) -> tuple[Share, Verdict, str]:
    """Return what is reported of an attack that does worse than its own baseline: the baseline, the verdict and why.

    Somebody who guesses without the release does better. If that is no chance the attack shows nothing at all.
    """
    shown = Share(baseline, min(share.low, baseline), max(share.high, baseline), share.n)
    reason = f"the attack got {share.rate:.4f}, less than its own baseline, which is reported instead"
    return shown, "not measured" if share.high < baseline else judge(shown, bound), reason


@dataclass(frozen=True, slots=True)
class Line:
    """A further figure of an attack, held like its success against its own baseline."""

    name: str
    share: Share
    baseline: float

    def to_json(self, bound: float) -> dict[str, Any]:
        """Return the line as plain values, judged by a bound; one below its baseline says so and bounds nothing."""
        share, verdict, reason = self.share, judge(self.share, bound), ""
        if share.rate < self.baseline:
            share, verdict, reason = at_baseline(share, self.baseline, bound)
        told = {**share.to_json(), "baseline": self.baseline, "bound": bound, "verdict": verdict}
        return {**told, "reason": reason} if reason else told


@dataclass(frozen=True, eq=False, slots=True)
class PersonRisks:
    """The risk of each person attacked, from 0 to 1."""

    users: NDArray[np.integer]  # (n_people,)
    risks: NDArray[np.floating]  # (n_people,)

    __repr__ = sizes_only

    def to_json(self) -> dict[str, Any]:
        """Return the largest risk of a person and quantiles, never who it is."""
        at = {f"{100 * q:g} %": float(np.quantile(self.risks, q)) for q in RISK_QUANTILES}
        return {"max": float(self.risks.max()), "quantiles": at, "people": len(self.users)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one attack with one kind of knowledge, on the original and on the release."""

    attack: Attack
    attacker: str  # the adversary in one sentence, with what is known
    unit: str  # what is counted
    known: int | None  # number of known items, where the attack has one
    baseline: float  # success of an attacker who ignores the release
    original: Share | None = None
    release: Share | None = None
    group: Share | None = None  # success at the level of the group, where users are hidden in groups
    control: Share | None = None  # the same on people who are not in the data
    bound: float | None = None  # what was promised, or the most that is still called bounded
    verdict: Verdict = "not measured"
    reason: str = ""  # why it was not measured
    seed: int | None = None
    setting: str = "plain"  # which variation of the knowledge
    details: dict[str, Any] = field(default_factory=dict)
    undecided: bool = False  # whether it was tried and cannot tell: too few targets, or the bound lies in its interval
    failed: bool = False  # whether it should have been measured and could not: then nothing is called bounded
    lines: tuple[Line, ...] = ()  # further figures, each of which can breach the release
    people: PersonRisks | None = None  # the risk of each person attacked

    @property
    def name(self) -> str:
        """The name of the attack."""
        return self.attack.name

    @property
    def identifies(self) -> bool:
        """Whether the attack names people, which k-anonymity bounds by 1/k."""
        return self.attack.kind is Kind.IDENTIFIES

    def __repr__(self) -> str:
        known = [] if self.known is None else [f"{self.known} known"]
        return counted(self, self.name, *known, self.setting, self.in_words)

    @property
    def in_words(self) -> str:
        """The verdict in words: ``breached``, ``bounded by x`` (the upper end of the interval), or that nothing is."""
        if self.verdict == "bounded" and self.release is not None:
            return f"bounded by {self.release.high:.4f}"
        return self.verdict

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain values."""
        shares = {"original": self.original, "release": self.release, "group": self.group, "control": self.control}
        return {
            "name": self.name,
            "known": self.known,
            "setting": self.setting,
            "attacker": self.attacker,
            "unit": self.unit,
            "direction": self.attack.direction,
            "criterion": self.attack.criterion,
            "actor": self.attack.actor,
            **{name: None if share is None else share.to_json() for name, share in shares.items()},
            "baseline": self.baseline,
            "bound": self.bound,
            "verdict": self.in_words,
            "undecided": self.undecided,
            "reason": self.reason,
            "seed": self.seed,
            "details": self.details,
            "also": {line.name: line.to_json(line.baseline + MARGIN) for line in self.lines},
            "worst": None if self.people is None or not len(self.people.users) else self.people.to_json(),
        }


def judge(release: Share | None, bound: float) -> Verdict:
    """Call a release breached when even the lower end exceeds the bound, and bounded when even the upper end does not.

    In between, and where nothing was measured, nothing can be said.
    """
    if release is None:
        return "not measured"
    if release.low > bound + ROUNDING:
        return "breached"
    return "bounded" if release.high <= bound + ROUNDING else "not measured"


@dataclass(frozen=True, slots=True)
class Hits:
    """What one attack reached on one public thing."""

    user: Share  # success in naming the user
    group: Share | None = None  # success in naming the group (the profile) of the user
    control: Share | None = None  # claims about people who are not in the data
    details: dict[str, Any] = field(default_factory=dict)
    people: PersonRisks | None = None


def expected_share(probabilities: NDArray[np.float64], most: float = 1.0) -> Share:
    """Return the share of targets hit, where each is hit with its own probability (ties are broken at random).

    Nobody is hit with more than ``most``, such as one in k where k people share a row. The interval is then that of the
    chances divided by it, which lie between 0 and 1 (Wilson's holds for these too, as they vary less than 0 and 1 do).
    """
    return share_of_chances(float(probabilities.sum()), len(probabilities), most)


def share_of_chances(total: float, n: int, most: float) -> Share:
    """Return the same of chances that were added up; a most that they exceed is not believed."""
    most = most if total <= n * most * (1 + ROUNDING) else 1.0
    part = wilson(min(total / most, n) if total <= n * (1 + ROUNDING) else total, n)
    return Share(part.rate * most, part.low * most, part.high * most, part.n)


def most_named(public: Public) -> float:
    """Return the chance with which a member of the smallest group is named by somebody who knows the group."""
    return 1.0 / max(int(public.weights.min()), 1) if len(public.weights) else 1.0
