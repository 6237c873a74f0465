"""Run every attack on the original and on a release, side by side."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from recloak._attacks import registry
from recloak._attacks.attack import NEEDS, NO_NUMBERS, Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings, OwnerKnowledge
from recloak._attacks.audit_result import Audit
from recloak._attacks.gate import Gate, named_by, pass_gate, require_acceptable
from recloak._attacks.model import MARGIN, Hits, Knowledge, Line, Outcome, at_baseline, judge
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import ReleaseView, see_original
from recloak._core.errors import InputError, OptionError
from recloak._core.intervals import Share
from recloak._core.logger import log
from recloak._core.progress import task
from recloak._core.randomness import Rng, randomness
from recloak._core.threads import one_blas_thread
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS

DEEP = (4, 8, 16, 32)
_ROUNDING = 1e-9
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
    return Audit(tuple(outcomes), passages, source.seed, accepted=accepted)


def planned_runs(given: AttackInput, attacks: Sequence[Attack]) -> list[tuple[Outcome, AttackInput]]:
    """Return every run of an audit: its outcome while nothing is measured, and what the attack is given.

    First all attacks with the first number of known items, then all with the next; everything else comes last.
    """
    possible = [one for one in attacks if "release" not in given.missing(one.needs) and _is_planned(one, given)]
    runs = [(place, attack, each) for attack in possible for place, each in _variations(attack, given)]
    return [(_blank(attack, each), each) for _, attack, each in sorted(runs, key=lambda run: run[0])]


def _is_planned(attack: Attack, given: AttackInput) -> bool:
    """Return whether an attack has a place in the audit; what is for purchases and plays alone has none for ratings."""
    return given.ratings.kind is not RATINGS or RATINGS.name in attack.values


def _variations(attack: Attack, given: AttackInput) -> Iterator[tuple[int, AttackInput]]:
    """Yield what each run of an attack is given, with its place among the numbers of known items."""
    options, last = given.options, len(given.options.known)
    if attack.varied in (Varied.KNOWN, Varied.SETTINGS):
        for place, known in enumerate(options.known):
            yield place, replace(given, knowledge=Knowledge(known=known))
    if attack.varied is Varied.SETTINGS:
        for setting, knowledge in _settings(given):
            yield last, replace(given, knowledge=knowledge, setting=setting)
    if attack.varied is Varied.ONE_KNOWN:
        yield last, replace(given, knowledge=Knowledge(known=options.varied_at))
    if attack.varied is Varied.DEEP:
        everything = int(np.diff(given.ratings.indptr).max(initial=1))
        for place, known in enumerate(DEEP):
            yield place, replace(given, knowledge=Knowledge(known=known))
        yield last, replace(given, knowledge=Knowledge(known=max(everything, 1)), setting="all ratings known")
    if attack.varied is Varied.COLLUDERS:
        for colluders in sorted({1, 2, max(given.k - 1, 1)}):
            yield last, replace(given, colluders=colluders)
    if attack.varied is Varied.ONCE:
        yield last, given


def _settings(given: AttackInput) -> Iterator[tuple[str, Knowledge]]:
    """Vary one thing at a time about the adversary's knowledge."""
    known, wrong = given.options.varied_at, max(given.options.varied_at // 4, 1)
    yield "popular items", Knowledge(known=known, drawn="popular")
    if given.ratings.n_items > 100:
        yield "outside the top 100", Knowledge(known=known, drawn="rare-100")
    if given.ratings.n_items > 500:
        yield "outside the top 500", Knowledge(known=known, drawn="rare-500")
    plural = "s" if wrong > 1 else ""
    if given.ratings.kind.varies:
        yield "ratings off by a step", Knowledge(known=known, noise=1)
        yield f"{wrong} rating{plural} wrong", Knowledge(known=known, wrong_ratings=wrong)
    yield f"{wrong} item{plural} wrong", Knowledge(known=known, wrong_items=wrong)
    if given.ratings.times is not None:
        yield "exact times", Knowledge(known=known, days=0)
        yield "times within 3 days", Knowledge(known=known, days=3)
        yield "times within 14 days", Knowledge(known=known, days=14)


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
        return _judged(blank, given, blank.attack.run(given))
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
    judged = _with_verdict(replace(measured, release=release.user, group=release.group, control=release.control))
    if given.release.drawn is not None and not blank.attack.drawn_rows and judged.verdict == "bounded":
        return replace(judged, verdict="not measured", reason=_SHARED_ROWS)
    return judged


def _with_verdict(measured: Outcome) -> Outcome:
    """Judge an attack by its success and by its lines; one that does worse than its own baseline says nothing.

    Somebody who guesses without the release does better then, so the baseline is what is reported.
    """
    share, bound = measured.release, measured.bound
    assert share is not None
    assert bound is not None
    verdicts = {judge(share, bound), *(judge(line.share, line.baseline + MARGIN) for line in measured.lines)}
    if "breached" in verdicts:
        return replace(measured, verdict="breached")
    if measured.attack.kind is Kind.TELLS_CELLS and share.rate < measured.baseline:
        shown, verdict, reason = at_baseline(share, measured.baseline)
        return replace(measured, verdict=verdict, release=shown, reason=reason)
    return replace(measured, verdict="bounded")


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
    if not all(low <= high + _ROUNDING for low, high in itertools.pairwise(ends)):  # false where one is nan
        raise FindingError(f"a share must lie between 0 and 1 and inside its interval, got {hits.user}")
    return hits.user
