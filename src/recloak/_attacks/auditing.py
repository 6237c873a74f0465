"""Run every attack on the original and on a release, side by side."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from recloak._attacks import registry
from recloak._attacks.attack import NEEDS, NO_NUMBERS, Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings, OwnerKnowledge
from recloak._attacks.audit_result import Audit
from recloak._attacks.gate import Gate, named_by, pass_gate, require_acceptable
from recloak._attacks.judging import drawn_again, with_verdict
from recloak._attacks.model import MARGIN, ROUNDING, Hits, Line, Outcome
from recloak._attacks.options import AuditOptions
from recloak._attacks.planning import AuditShape, variations
from recloak._attacks.public_view import ReleaseView, see_original
from recloak._core.errors import InputError, OptionError
from recloak._core.intervals import Share
from recloak._core.logger import log
from recloak._core.progress import task
from recloak._core.randomness import Rng, randomness
from recloak._core.threads import one_blas_thread
from recloak._ratings.model import Ratings

_SHARED_ROWS = "the attack takes drawn rows for rows that a group shares, so what it does not find proves nothing"


class FindingError(ValueError):
    """What an attack returned cannot be judged; the words are ours."""


def audit(
    ratings: Ratings,
    release: ReleaseView | None = None,
    *,
    second: ReleaseView | None = None,
    owner: OwnerKnowledge | None = None,
    options: AuditOptions | None = None,
    gates: Sequence[Gate] = (),
    accept: Sequence[str] = (),
    attacks: Sequence[Attack] | None = None,
    rng: Rng = None,
) -> Audit:
    """Attack the original and, where there is one, the release.

    A second release of the same people is intersected; what the owner gives makes further attacks possible.
    """
    source = randomness(rng)
    given = AttackInput(
        ratings, see_original(ratings), release, second, options or AuditOptions(), source,
        owner=owner or OwnerKnowledge(),
    )  # fmt: skip
    runs = planned_runs(given, registry.attacks() if attacks is None else attacks)
    for gate in gates:
        named_by(gate, [blank for blank, _ in runs])  # a gate on nothing shows before the work, not after it
    accepted = require_acceptable(accept, [blank for blank, _ in runs])
    outcomes = []
    with task("attacking", len(runs)) as advance, one_blas_thread():
        for blank, each in runs:
            outcomes.append(replace(run_attack(blank, each), seed=source.seed))
            advance(1)
    passages = tuple(pass_gate(gate, outcomes) for gate in gates)
    return Audit(tuple(outcomes), passages, source.seed, accepted=accepted, targets=given.options.targets)


def planned_runs(given: AttackInput, attacks: Sequence[Attack]) -> list[tuple[Outcome, AttackInput]]:
    """Return every run of an audit: its outcome while nothing is measured, and what the attack is given.

    First all attacks with the first number of known items, then all with the next; everything else comes last.
    """
    possible = [one for one in attacks if "release" not in given.missing(one.needs)]
    shape = AuditShape.of(given.ratings, given.k)
    runs = [(attack, run) for attack in possible for run in variations(attack, shape, given.options)]
    each = [
        (attack, replace(given, knowledge=run.knowledge, colluders=run.colluders, setting=run.setting))
        for attack, run in sorted(runs, key=lambda one: one[1].place)
    ]
    return [(_blank(attack, one), one) for attack, one in each]


def _blank(attack: Attack, given: AttackInput) -> Outcome:
    """Return the outcome of a run of which nothing is measured yet."""
    baseline = 1 / given.ratings.n_users if attack.kind is Kind.IDENTIFIES else 0.0
    return Outcome(
        attack,
        attacker=f"{given.knowledge.sentence()}; {attack.attacker}" if given.knowledge else attack.attacker,
        unit=attack.unit.replace("{link_cap}", f"{100 * given.link_cap:.4g} %"),
        known=given.known,
        baseline=baseline,
        bound=_bound(attack, given.k, baseline) if attack.kind in (Kind.IDENTIFIES, Kind.PINS_DOWN) else None,
        setting=given.setting,
    )


def _bound(attack: Attack, k: int, baseline: float) -> float:
    """Return the success above which an attack has breached a release."""
    if attack.limit is not None and isinstance(attack.kind, Kind):
        return attack.limit
    match attack.kind:
        case Kind.IDENTIFIES:
            return 1 / k
        case Kind.PINS_DOWN:
            return MARGIN
        case Kind.TELLS_CELLS:
            return baseline + MARGIN
        case _:
            raise FindingError(f"this version of recloak cannot judge an attack of the kind {attack.kind!r}")


def run_attack(blank: Outcome, given: AttackInput) -> Outcome:
    """Run one attack; whatever stops it, the risk is then not measured, never small.

    An attack may raise an `InputError` to say that these ratings cannot be attacked so. Everything else is a defect of
    the attack, and an audit with such a defect does not pass.
    """
    if given.ratings.kind.name not in blank.attack.values:
        return replace(blank, verdict="not applicable", reason=NO_NUMBERS[given.ratings.kind.name])
    missing = given.missing(blank.attack.needs)
    if missing:
        return replace(blank, reason=NEEDS[missing[0]])
    try:
        found = blank.attack.run(given)
        outcome = _judged(blank, given, found)
        more = drawn_again(blank.attack, given, found) if outcome.undecided else None
        return outcome if more is None else _judged(blank, given, more)
    except (Exception, SystemExit) as error:  # every failure must end as "not measured"
        failed = isinstance(error, OptionError) or not isinstance(error, InputError)
        say = log.warning if failed else log.info
        say("the attack %s was not measured: %s: %s", blank.name, type(error).__name__, error, exc_info=error)
        return replace(blank, verdict="not measured", reason=_reason(blank.attack, error), failed=failed)


def _reason(attack: Attack, error: BaseException) -> str:
    """Return why an attack was not measured, for pages and JSON: words of ours only, for others' may hold an id."""
    ours = isinstance(error, FindingError | registry.EntryPointError)
    if ours or (isinstance(error, InputError) and attack in registry.own_attacks()):
        return str(error)
    return f"{type(error).__name__}; the log says more"


def _judged(blank: Outcome, given: AttackInput, found: Findings) -> Outcome:
    """Return the outcome of what an attack found."""
    baseline = _checked_baseline(blank, found)
    bound = _bound(blank.attack, given.k, baseline)
    sides = {"original": found.original, "release": found.release}
    measured = replace(
        blank, baseline=baseline, bound=bound, original=_checked(found.original),
        details={side: hits.details for side, hits in sides.items() if hits is not None and hits.details},
    )  # fmt: skip
    if given.release is None:
        control = found.original.control if found.original else None
        return replace(measured, control=control, reason=NEEDS["release"])
    if found.release is None:
        raise FindingError("the attack says nothing about the release")
    release = found.release
    measured = replace(measured, lines=_checked_lines(found), people=release.people)
    _require_possible(blank.attack, given, _checked(release))
    judged = with_verdict(replace(measured, release=release.user, group=release.group, control=release.control), given)
    if given.release.drawn is not None and not blank.attack.drawn_rows and judged.verdict == "bounded":
        return replace(judged, verdict="not measured", reason=_SHARED_ROWS)
    return judged


def _checked_lines(found: Findings) -> tuple[Line, ...]:
    for line in found.lines:
        _checked(Hits(line.share))
        if not 0 <= line.baseline <= 1:
            raise FindingError(f"a baseline must lie between 0 and 1, got {line.baseline}")
    return found.lines


def _require_possible(attack: Attack, given: AttackInput, share: Share | None) -> Share | None:
    """Refuse a share of more tries than there are people or cells: its interval would be narrower than it can be."""
    n_users, n_items = given.ratings.shape
    most = n_users if attack.kind is Kind.IDENTIFIES else n_users * n_items
    if share is not None and share.n > most:
        tried = "targets" if attack.kind is Kind.IDENTIFIES else "cells"
        raise FindingError(f"there are {most} {tried} at most, the attack says that it tried {share.n}")
    return share


def _checked_baseline(blank: Outcome, found: Findings) -> float:
    if found.baseline is None and blank.attack.kind is Kind.TELLS_CELLS:
        raise FindingError("an attack on cells must say what is guessed without the release")
    baseline = blank.baseline if found.baseline is None else found.baseline
    if not 0 <= baseline <= 1:
        raise FindingError(f"a baseline must lie between 0 and 1, got {baseline}")
    return baseline


def _checked(hits: Hits | None) -> Share | None:
    """Return the share of an attack's hits, refusing one that is no share: nan would exceed no bound."""
    if hits is None:
        return None
    ends = (0.0, hits.user.low, hits.user.rate, hits.user.high, 1.0)
    if not all(low <= high + ROUNDING for low, high in itertools.pairwise(ends)):  # false where one is nan
        raise FindingError(f"a share must lie between 0 and 1 and inside its interval, got {hits.user}")
    return hits.user
