"""Proof that published lists keep within the bound: exact, and independent of the code that makes the lists.

For a release at time T, every start s of its horizon (a release at time s, `model.starts_of`), every item i and every
non-empty set B of items whose lists i moves in (i is new or higher than in some release from s on, `model.Sight`):

    |holders of B at s who added i in (s, T]| / |holders of B at s without i at s|  <=  delta

Under *total* supports are counted at T, as in theorem 1 of paper 003. The same must hold for B = {j, k} where i is new
or higher in the list of j than in the last release and has moved in that of k in some release since s: evidence joined
over several releases. With a window, every two releases that it covers are compared instead (definition 1 of the
paper).

Lists are judged as a page shows them, without gaps. Every entry must also rest on enough people (`support`).
`set_search` and `pair_search` find the largest breach; the tests compare them with a brute-force search in plain sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recloak._core.progress import task
from recloak._related.model import Holders, ListRelease, Sight, asked_of, distinguishes, seen_after
from recloak._related.options import BoundOptions
from recloak._related.verifier.comparisons import Comparison, check, first_seen
from recloak._related.verifier.findings import Coverage, Finding, HistoryVerdict, Unsupported
from recloak._related.verifier.support import unsupported

__all__ = ["Coverage", "Finding", "HistoryVerdict", "Unsupported", "verify", "verify_next"]

_BUDGET = 10**10


def verify(
    releases: Sequence[ListRelease],
    holders: Holders,
    bound: BoundOptions | Sequence[BoundOptions],
    *,
    every: bool = True,
    after: int = 0,
    budget: int = _BUDGET,
) -> HistoryVerdict:
    """Check every release of a history against those before it.

    ``bound`` is the promise of all releases, or one per release. Releases up to the number ``after`` are compared with
    and not judged themselves. ``every`` lists all minimal violating sets, of which
    unprotected lists can have very many; without it the verdict and the largest breach are as exact, and only the worst
    set of a pair is named.
    """
    bounds = [bound] * len(releases) if isinstance(bound, BoundOptions) else list(bound)
    shown = [_as_shown(release) for release in releases]
    sights: tuple[Sight, ...] = ()
    verdicts = []
    with task("verifying releases", len(shown)) as advance:
        for number, (release, one) in enumerate(zip(shown, bounds, strict=True)):
            earlier = shown[number - one.span(number + 1) : number] if one.window else ()
            if release.number > after:
                verdicts.append(verify_next(earlier or sights, release, holders, one, every=every, budget=budget))
            sights = seen_after(sights, release)
            advance(1)
    return _joined(verdicts, bounds[-1])


def verify_next(
    before: Sequence[Sight] | Sequence[ListRelease],
    release: ListRelease,
    holders: Holders,
    bound: BoundOptions,
    *,
    every: bool = False,
    budget: int = _BUDGET,
) -> HistoryVerdict:
    """Check one release against what was seen before it, or with a window against each of the earlier releases."""
    release, active = _as_shown(release), first_seen(holders)
    worst: list[Finding] = []
    violations: list[Finding] = []
    n_pairs = n_unknown = 0
    for pair in _comparisons(before, release, holders, bound):
        found, bad, unknown = check(replace(pair, active=active), budget, every=every)
        worst, violations, n_unknown = worst + found, violations + bad, n_unknown + unknown
        n_pairs += 1
    largest = max(worst, key=lambda finding: finding.breach, default=None)
    few = unsupported(release, holders, bound.min_support)
    return HistoryVerdict(
        bound,
        n_pairs,
        largest,
        tuple(violations),
        n_unknown,
        unsupported=few,
        n_releases=1,
        n_entries=release.lists.n_entries,
        unpromising=(release.number,) if bound.promises_nothing else (),
    )


def _as_shown(release: ListRelease) -> ListRelease:
    return replace(release, lists=release.lists.closed())


def _comparisons(
    before: Sequence[Sight] | Sequence[ListRelease], release: ListRelease, holders: Holders, bound: BoundOptions
) -> Iterator[Comparison]:
    if bound.window:
        for one in before:
            assert isinstance(one, ListRelease)
            moving = distinguishes(one.lists, release.lists)
            yield Comparison(one.number, one.time, release, moving, moving, None, holders, bound)
        return
    sights = [one for one in before if isinstance(one, Sight)]
    asked = asked_of(bound, sights, release.time, holders)
    first = release.number - len(sights)  # the number of the release at the first start
    newly = sights[-1].moving(release.lists) if sights else None
    for sight in asked:
        number, moving = first + sights.index(sight), sight.moving(release.lists)
        assert newly is not None
        yield Comparison(number, sight.start, release, moving, newly, sight.past, holders, bound)


def _joined(verdicts: Sequence[HistoryVerdict], bound: BoundOptions) -> HistoryVerdict:
    worst = [one.worst for one in verdicts if one.worst is not None]
    return HistoryVerdict(
        bound,
        sum(one.n_pairs for one in verdicts),
        max(worst, key=lambda finding: finding.breach, default=None),
        tuple(finding for one in verdicts for finding in one.violations),
        sum(one.n_unknown for one in verdicts),
        unsupported=tuple(entry for one in verdicts for entry in one.unsupported),
        n_releases=len(verdicts),
        n_entries=sum(one.n_entries for one in verdicts),
        unpromising=tuple(number for one in verdicts for number in one.unpromising),
    )
