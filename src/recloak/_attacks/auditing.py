"""Run every attack on the original and on a release, side by side."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recloak._attacks import registry
from recloak._attacks.attack import NEEDS, Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.audit_result import Audit
from recloak._attacks.gate import Gate, named_by, pass_gate
from recloak._attacks.model import Hits, Knowledge, Outcome, judge
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import ReleaseView, see_original
from recloak._core.errors import InputError, OptionError
from recloak._core.intervals import Share
from recloak._core.logger import log
from recloak._core.progress import task
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings

MARGIN = 0.05  # an attack that does not identify has breached a release when it beats its baseline by more than this
_ROUNDING = 1e-9


def audit(
    ratings: Ratings,
    release: ReleaseView | None = None,
    *,
    second: ReleaseView | None = None,
    options: AuditOptions | None = None,
    gates: Sequence[Gate] = (),
    attacks: Sequence[Attack] | None = None,
    rng: Rng = None,
) -> Audit:
    """Attack the original and, where there is one, the release; a second release of the same people is intersected."""
    source = randomness(rng)
    given = AttackInput(ratings, see_original(ratings), release, second, options or AuditOptions(), source)
    runs = planned_runs(given, registry.attacks() if attacks is None else attacks)
    for gate in gates:
        named_by(gate, [blank for blank, _ in runs])  # a gate on nothing shows before the work, not after it
    outcomes = []
    with task("attacking", len(runs)) as advance:
        for blank, each in runs:
            outcomes.append(replace(_measured(blank, each), seed=source.seed))
            advance(1)
    return Audit(tuple(outcomes), tuple(pass_gate(gate, outcomes) for gate in gates), source.seed)


def planned_runs(given: AttackInput, attacks: Sequence[Attack]) -> list[tuple[Outcome, AttackInput]]:
    """Return every run of an audit: its outcome while nothing is measured, and what the attack is given.

    First all attacks with the first number of known items, then all with the next; everything else comes last.
    """
    possible = [one for one in attacks if "release" not in given.missing(one.needs)]
    runs = [(place, attack, each) for attack in possible for place, each in _variations(attack, given)]
    return [(_blank(attack, each), each) for _, attack, each in sorted(runs, key=lambda run: run[0])]


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
    yield "ratings off by a step", Knowledge(known=known, noise=1)
    plural = "s" if wrong > 1 else ""
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
            raise ValueError(f"this version of recloak cannot judge an attack of the kind {attack.kind!r}")


def _measured(blank: Outcome, given: AttackInput) -> Outcome:
    """Run one attack; whatever stops it, the risk is then not measured, never small.

    An attack may raise an `InputError` to say that these ratings cannot be attacked so. Everything else is a defect of
    the attack, and an audit with such a defect does not pass.
    """
    missing = given.missing(blank.attack.needs)
    if missing:
        return replace(blank, reason=NEEDS[missing[0]])
    try:
        return _judged(blank, given, blank.attack.run(given))
    except (Exception, SystemExit) as error:  # every failure must end as "not measured"
        failed = isinstance(error, OptionError) or not isinstance(error, InputError)
        reason = f"{type(error).__name__}: {error}"
        say = log.warning if failed else log.info
        say("the attack %s was not measured: %s", blank.name, reason, exc_info=error)
        return replace(blank, verdict="not measured", reason=reason, failed=failed)


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
        raise ValueError("the attack says nothing about the release")
    release = found.release
    verdict = judge(_checked(release), bound)
    return replace(measured, release=release.user, group=release.group, control=release.control, verdict=verdict)


def _checked_baseline(blank: Outcome, found: Findings) -> float:
    if found.baseline is None and blank.attack.kind is Kind.TELLS_CELLS:
        raise ValueError("an attack on cells must say what is guessed without the release")
    baseline = blank.baseline if found.baseline is None else found.baseline
    if not 0 <= baseline <= 1:
        raise ValueError(f"a baseline must lie between 0 and 1, got {baseline}")
    return baseline


def _checked(hits: Hits | None) -> Share | None:
    """Return the share of an attack's hits, refusing one that is no share: nan would exceed no bound."""
    if hits is None:
        return None
    ends = (0.0, hits.user.low, hits.user.rate, hits.user.high, 1.0)
    if not all(low <= high + _ROUNDING for low, high in itertools.pairwise(ends)):  # false where one is nan
        raise ValueError(f"a share must lie between 0 and 1 and inside its interval, got {hits.user}")
    return hits.user
