"""The bound straight from its definitions, in sets: slow, and what the exact verifier is compared with."""

import itertools
from collections.abc import Iterator, Sequence

from recloak._related.model import Holders, ListRelease, moved, pairs
from recloak._related.options import BoundOptions
from recloak._related.verifier import Finding, HistoryVerdict, ReleasePair, first_seen


def verify_naive(releases: Sequence[ListRelease], holders: Holders, bound: BoundOptions) -> HistoryVerdict:
    """Check every subset of every S_i; for small cases only."""
    active = first_seen(holders)
    findings, violations, n_pairs = [], [], 0
    for earlier, later in pairs(releases, bound):
        n_pairs += 1
        pair = ReleasePair(earlier, later, holders, bound, active)
        for target, members in moved(earlier.lists, later.lists).items():
            counts = list(_every_background(pair, target, members))
            findings += counts
            bad = [finding for finding in counts if finding.breach > bound.delta]
            sets = [set(finding.background) for finding in bad]
            violations += [finding for finding in bad if not any(other < set(finding.background) for other in sets)]
    worst = max(findings, key=lambda finding: finding.breach, default=None)
    return HistoryVerdict(bound, n_pairs, worst, tuple(violations))


def _every_background(pair: ReleasePair, target: int, members: Sequence[int]) -> Iterator[Finding]:
    knowledge = pair.bound.knowledge
    largest = len(members) if knowledge is None else min(knowledge, len(members))
    for size in range(1, largest + 1):
        for background in itertools.combinations(members, size):
            yield pair.count(target, background)
