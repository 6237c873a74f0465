"""The bound straight from its definitions, in sets: slow, and what the exact verifier is held to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from recloak._related.model import Holders, ListRelease, moved, pairs
from recloak._related.options import BoundOptions
from recloak._related.verifier import Finding, HistoryVerdict, count_background, first_seen


def verify_naive(releases: Sequence[ListRelease], holders: Holders, bound: BoundOptions) -> HistoryVerdict:
    """Check every subset of every S_i, straight from the definitions; for small cases only."""
    active = first_seen(holders)
    findings, violations, n_pairs = [], [], 0
    for earlier, later in pairs(releases, bound):
        n_pairs += 1
        for target, members in moved(earlier.lists, later.lists).items():
            told = list(_told(earlier, later, target, members, holders, bound, active))
            findings += told
            bad = [finding for finding in told if finding.breach > bound.delta]
            sets = [set(finding.background) for finding in bad]
            violations += [finding for finding in bad if not any(other < set(finding.background) for other in sets)]
    worst = max(findings, key=lambda finding: finding.breach, default=None)
    return HistoryVerdict(bound, n_pairs, worst, tuple(violations))


def _told(
    earlier: ListRelease,
    later: ListRelease,
    target: int,
    members: Sequence[int],
    holders: Holders,
    bound: BoundOptions,
    active: NDArray[np.int64],
) -> Iterator[Finding]:
    """Give what every background inside S_i tells about a target."""
    largest = len(members) if bound.knowledge is None else min(bound.knowledge, len(members))
    for size in range(1, largest + 1):
        for background in itertools.combinations(members, size):
            yield count_background(earlier, later, target, background, holders, bound, active)
