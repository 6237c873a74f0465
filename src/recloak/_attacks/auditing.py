"""Run every attack on the original and on a release, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recloak._attacks import (
    fingerprint,
    homogeneity,
    insider,
    intersection,
    label,
    link,
    nearest,
    scoreboard,
    structure,
)
from recloak._attacks.audit_result import Audit
from recloak._attacks.gate import Gate, named_by, pass_gate
from recloak._attacks.knowledge import draw_clues
from recloak._attacks.model import Clues, Hits, Knowledge, Outcome, Public, judge
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import ReleaseView, see_original
from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.model import Ratings

MARGIN = 0.05  # an attack on cells that beats its baseline by more than this has breached them


@dataclass(frozen=True, eq=False, slots=True)
class _Stage:
    """What every attack of one audit shares."""

    ratings: Ratings
    original: Public
    release: ReleaseView | None
    second: ReleaseView | None
    options: AuditOptions
    source: Randomness

    @property
    def k(self) -> int:
        return int(self.release.manifest["k"]) if self.release else 1

    @property
    def link_cap(self) -> float:
        """The cap asked for, else the one that the release promises, else one half."""
        promised = self.release.manifest.get("max_link") if self.release else None
        return next(cap for cap in (self.options.link_cap, promised, link.CAP) if cap is not None)

    def targets(self) -> np.ndarray:
        """Draw the targets of the attacks that need no clues."""
        n = min(self.options.targets, self.ratings.n_users)
        return np.sort(self.source.stream("targets").choice(self.ratings.n_users, n, replace=False))


def audit(
    ratings: Ratings,
    release: ReleaseView | None = None,
    *,
    second: ReleaseView | None = None,
    options: AuditOptions | None = None,
    gates: Sequence[Gate] = (),
    rng: Rng = None,
) -> Audit:
    """Attack the original and, where there is one, the release; a second release of the same people is intersected."""
    stage = _Stage(ratings, see_original(ratings), release, second, options or AuditOptions(), randomness(rng))
    runs = list(_runs(stage))
    for gate in gates:
        named_by(gate, [blank for blank, _ in runs])  # a gate on nothing shows before the work, not after it
    outcomes = []
    with task("attacking", len(runs)) as advance:
        for blank, run in runs:
            outcomes.append(replace(_measured(blank, run), seed=stage.source.seed))
            advance(1)
    return Audit(tuple(outcomes), tuple(pass_gate(gate, outcomes) for gate in gates), stage.source.seed)


Run = Callable[[], Outcome]


def _measured(blank: Outcome, run: Run) -> Outcome:
    """Run one attack; whatever stops it, the risk is then not measured, never small."""
    try:
        return run()
    except Exception as error:  # noqa: BLE001,RUF100 (every failure must end as "not measured")
        return replace(blank, verdict="not measured", reason=f"{type(error).__name__}: {error}")


def _runs(stage: _Stage) -> Iterator[tuple[Outcome, Run]]:
    for known in stage.options.known:
        for name in _NAMED:
            yield _by_clues(stage, name, Knowledge(known=known), "plain")
    for setting, knowledge in _variations(stage):
        yield _by_clues(stage, "scoreboard", knowledge, setting)
    yield _by_clues(stage, "scoreboard-paper", Knowledge(known=stage.options.varied_at), "plain")
    yield from _cell_runs(stage)


def _variations(stage: _Stage) -> Iterator[tuple[str, Knowledge]]:
    """Vary one thing at a time about the adversary's knowledge."""
    known, wrong = stage.options.varied_at, max(stage.options.varied_at // 4, 1)
    yield "popular items", Knowledge(known=known, drawn="popular")
    if stage.ratings.n_items > 100:
        yield "outside the top 100", Knowledge(known=known, drawn="rare-100")
    if stage.ratings.n_items > 500:
        yield "outside the top 500", Knowledge(known=known, drawn="rare-500")
    yield "ratings off by a step", Knowledge(known=known, noise=1)
    plural = "s" if wrong > 1 else ""
    yield f"{wrong} rating{plural} wrong", Knowledge(known=known, wrong_ratings=wrong)
    yield f"{wrong} item{plural} wrong", Knowledge(known=known, wrong_items=wrong)
    if stage.ratings.times is not None:
        yield "exact times", Knowledge(known=known, days=0)
        yield "times within 3 days", Knowledge(known=known, days=3)
        yield "times within 14 days", Knowledge(known=known, days=14)


_NAMED: dict[str, tuple[str, Callable[[Public, Clues], Hits] | None]] = {
    "structure": (structure.ATTACKER, structure.structure),
    "label": (label.ATTACKER, label.label),
    "label-tolerant": (label.TOLERANT, label.label_tolerant),
    "homogeneity": (homogeneity.ATTACKER, None),
    "scoreboard": (scoreboard.ATTACKER, scoreboard.scoreboard),
    "nearest": (nearest.ATTACKER, nearest.nearest),
}
_PAPER = ("scores as the paper does, without favouring short profiles", scoreboard.scoreboard_paper)


def _by_clues(stage: _Stage, name: str, knowledge: Knowledge, setting: str) -> tuple[Outcome, Run]:
    """Prepare an attack that starts from clues about each target."""
    attacker, attack = _PAPER if name == "scoreboard-paper" else _NAMED[name]
    hidden = name == "homogeneity"
    blank = Outcome(
        name=name,
        attacker=f"{knowledge.sentence()}; {attacker}",
        unit="targets whose profile is pinned down" if hidden else "targets named rightly",
        known=knowledge.known,
        baseline=0.0 if hidden else 1 / stage.ratings.n_users,
        bound=MARGIN if hidden else 1 / stage.k,
        setting=setting,
    )

    def run() -> Outcome:
        clues = draw_clues(stage.ratings, knowledge, n_targets=stage.options.targets, rng=stage.source)
        chosen = attack or (lambda public, clues: homogeneity.homogeneity(public, clues, stage.ratings))
        return _concluded(blank, stage, lambda public: chosen(public, clues))

    return blank, run


def _concluded(blank: Outcome, stage: _Stage, attack: Callable[[Public], Hits]) -> Outcome:
    """Run one attack on both sides and judge the release."""
    original = attack(stage.original)
    if stage.release is None:
        return replace(
            blank, original=original.user, control=original.control, details={"original": original.details},
            reason="there is no release to attack",
        )  # fmt: skip
    found = attack(stage.release.public)
    return replace(
        blank,
        original=original.user,
        release=found.user,
        group=found.group,
        control=found.control,
        verdict=judge(found.user, blank.bound if blank.bound is not None else blank.baseline),
        details={"original": original.details, "release": found.details},
    )


def _cell_runs(stage: _Stage) -> Iterator[tuple[Outcome, Run]]:
    """Prepare the attacks on cells; they have a meaning only for a release."""
    if stage.release is None:
        return
    yield _cells(stage, "link", link.ATTACKER, "bets won", None, _link)
    unit = f"cells in which more than {100 * stage.link_cap:.4g} % of the group rated the item"
    yield _cells(stage, "link-cap", link.READER, unit, None, _link_cap)
    yield _cells(
        stage, "fingerprint", fingerprint.ATTACKER, "labels whose number of raters is guessed", None, _fingerprint
    )
    for colluders in sorted({1, 2, max(stage.k - 1, 1)}):
        yield _cells(stage, "insider", insider.ATTACKER, "ratings read off", colluders, _insider)
    yield _cells(stage, "intersection", intersection.ATTACKER, "bets won", None, _intersection)


CellAttack = Callable[[_Stage, ReleaseView, int], tuple[Hits, float, Hits | None]]


def _cells(
    stage: _Stage, name: str, attacker: str, unit: str, known: int | None, attack: CellAttack
) -> tuple[Outcome, Run]:
    blank = Outcome(name=name, attacker=attacker, unit=unit, known=known, baseline=0.0)

    def run() -> Outcome:
        if stage.release is None or (name == "intersection" and stage.second is None):
            return replace(blank, reason="there is only one release of these people")
        hits, baseline, original = attack(stage, stage.release, known or 0)
        bound = baseline + MARGIN
        return replace(
            blank, baseline=baseline, bound=bound, release=hits.user, original=original.user if original else None,
            verdict=judge(hits.user, bound), details={"release": hits.details},
        )  # fmt: skip

    return blank, run


def _link(stage: _Stage, release: ReleaseView, _: int) -> tuple[Hits, float, Hits | None]:
    targets = stage.targets()
    original = link.link(stage.original, stage.ratings, targets, k=1)
    hits = link.link(release.public, stage.ratings, targets, k=stage.k)
    return hits, link.betting_on_the_popular(stage.ratings, targets), original


def _link_cap(stage: _Stage, release: ReleaseView, _: int) -> tuple[Hits, float, Hits | None]:
    return *link.above_cap(release.public, stage.ratings, stage.link_cap), None


def _fingerprint(stage: _Stage, release: ReleaseView, _: int) -> tuple[Hits, float, Hits | None]:
    hits = fingerprint.fingerprint(release.public, stage.ratings, rng=stage.source)
    return hits, float(hits.details["baseline"]), None


def _insider(stage: _Stage, release: ReleaseView, colluders: int) -> tuple[Hits, float, Hits | None]:
    hits = insider.insider(release.public, stage.ratings, stage.targets(), colluders=colluders, rng=stage.source)
    outsider = max(hits.details["told_by_label"], hits.details["guessed_from_item_mean"])
    return hits, float(outsider), None


def _intersection(stage: _Stage, release: ReleaseView, _: int) -> tuple[Hits, float, Hits | None]:
    assert stage.second is not None
    hits = intersection.intersection(release.public, stage.second.public, stage.ratings, stage.targets())
    return hits, float(hits.details["one_release"]), None
