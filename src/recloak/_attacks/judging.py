"""How an outcome is judged: always by the end of the interval that is worse for the release.

*breached*: even the lower end lies above the limit. *bounded*: even the upper end does not. Where the limit lies inside
the interval nothing can be said: the outcome is *not measured*, and its reason says how many targets would tell.
Too few targets bound nothing at all, however narrow the interval of what they hold (a person has many cells).

Where people are few everybody is a target, so the choice of targets adds no error. What is left is the luck of what is
known of them, and `over_draws` measures it: the attack is repeated with other draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.model import MARGIN, Hits, Line, Outcome, at_baseline, judge
from recloak._core.intervals import Share

if TYPE_CHECKING:
    from recloak._attacks.attack_input import AttackInput, Findings

FEWEST_TARGETS = 100  # fewer, unless they are everybody, bound nothing
N_DRAWS = 5  # of what is known, where everybody is a target and the first draw does not tell
_SMALLEST_GAP = 0.002  # to the limit, for the number of targets that would tell


def with_verdict(measured: Outcome, given: AttackInput) -> Outcome:
    """Judge an attack by its success and by its lines; one that does worse than its own baseline says nothing.

    Somebody who guesses without the release does better then, so the baseline is what is reported.
    """
    share, bound = measured.release, measured.bound
    assert share is not None
    assert bound is not None
    if any(judge(each, limit) == "breached" for each, limit in _judged_shares(measured)):
        return replace(measured, verdict="breached")
    unclear, verdict, reason = _unclear(measured, given), judge(share, bound), ""
    if measured.attack.kind is Kind.TELLS_CELLS and share.rate < measured.baseline:
        share, verdict, reason = at_baseline(share, measured.baseline, bound)
    if unclear:
        verdict, reason = "not measured", unclear
    return replace(measured, verdict=verdict, release=share, reason=reason, undecided=bool(unclear))


def _judged_shares(measured: Outcome) -> Iterator[tuple[Share, float]]:
    """Yield the success of an attack and its further figures, each with its limit."""
    if measured.release is not None and measured.bound is not None:
        yield measured.release, measured.bound
    yield from ((line.share, line.baseline + MARGIN) for line in measured.lines)


def _unclear(measured: Outcome, given: AttackInput) -> str:
    """Return why an outcome without a breach is not bounded, nothing where it is."""
    open_ends = [(share, limit) for share, limit in _judged_shares(measured) if judge(share, limit) == "not measured"]
    if open_ends:
        share, limit = max(open_ends, key=lambda each: _needed(each[0], each[1], 1))
        return _too_wide(share, limit, given)
    n_targets, fewest = n_drawn(given), min(FEWEST_TARGETS, given.ratings.n_users)
    if n_targets < fewest and not _counts_all(measured.release):
        return f"only {n_targets} targets were drawn; at least {fewest} are needed to bound a risk (--targets)"
    return ""


def _counts_all(share: Share | None) -> bool:
    """Return whether a share counts everything there is, so that no target was drawn for it."""
    return share is not None and share.low == share.high


def n_drawn(given: AttackInput) -> int:
    """Return how many targets are drawn for an attack."""
    return given.n_targets if given.knowledge is None else min(given.options.targets, given.ratings.n_users)


def _too_wide(share: Share, limit: float, given: AttackInput) -> str:
    needed, n_users = _needed(share, limit, n_drawn(given)), given.ratings.n_users
    reached = f"the limit {limit:.4g} lies within the interval from {share.low:.4g} to {share.high:.4g}"
    if n_drawn(given) >= n_users:
        return f"{reached}: everybody was attacked, and {n_users} people are too few to tell"
    return f"{reached}: about {min(needed, n_users)} targets would tell (--targets)"


def _needed(share: Share, limit: float, n_targets: int) -> int:
    """Return how many targets would tell on which side of the limit a share lies."""
    gap = max(abs(limit - share.rate), _SMALLEST_GAP)
    reach = share.high - share.rate if share.rate < limit else share.rate - share.low
    return math.ceil(1.1 * n_targets * (reach / gap) ** 2)


def drawn_again(attack: Attack, given: AttackInput, first: Findings) -> Findings | None:
    """Return what an attack on everybody reaches over several draws; None where more draws cannot tell more."""
    n_users = given.ratings.n_users
    if n_drawn(given) < n_users:
        return None
    others = (attack.run(replace(given, randomness=given.randomness.child("draw", n))) for n in range(1, N_DRAWS))
    found = [first, *others]
    if _leaves_nothing_to_chance(found) and not _covers_everybody(first.release, n_users):
        return None  # the same part of the people each time
    return over_draws(found)


def over_draws(found: Sequence[Findings]) -> Findings:
    """Return what an attack on everybody reaches on average over draws of what is known.

    The interval is Student's, of the mean over the draws: where nothing is left to chance it has no width.
    """
    first, hits = found[0], [each.release for each in found if each.release is not None]
    user = _mean_share([each.user for each in hits])
    lines = tuple(_mean_line(line, [_named(each, line.name) for each in found]) for line in first.lines)
    baselines = [each.baseline for each in found if each.baseline is not None]
    baseline = float(np.mean(baselines)) if baselines else None
    shown = replace(hits[0], user=user, details={**hits[0].details, "draws": len(found)})
    return replace(first, release=shown, baseline=baseline, lines=lines)


def _named(found: Findings, name: str) -> Line:
    return next(line for line in found.lines if line.name == name)


def _mean_line(line: Line, draws: Sequence[Line]) -> Line:
    baseline = float(np.mean([each.baseline for each in draws]))
    return Line(line.name, _mean_share([each.share for each in draws]), baseline)


def _mean_share(shares: Sequence[Share]) -> Share:
    rates = np.array([share.rate for share in shares])
    rate, n = float(rates.mean()), len(rates)
    reach = float(stdtrit(n - 1, 0.975) * rates.std(ddof=1) / math.sqrt(n))
    return Share(rate, max(rate - reach, 0.0), min(rate + reach, 1.0), shares[0].n)


def _leaves_nothing_to_chance(found: Sequence[Findings]) -> bool:
    shares = [[each.release.user.rate, *(line.share.rate for line in each.lines)] for each in found if each.release]
    return all(one == shares[0] for one in shares)


def _covers_everybody(hits: Hits | None, n_users: int) -> bool:
    """Return whether an attack tells the risk of every person there is."""
    return hits is not None and hits.people is not None and len(np.unique(hits.people.users)) == n_users
