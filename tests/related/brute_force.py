"""The bound straight from its definitions, in sets: slow, and what the exact verifier is compared with.

It uses nothing of the room but the holders and the numbers of an options value: what moved is read off the lists.
"""

import itertools
from collections.abc import Iterator, Sequence

from recloak._related.model import EMPTY, Holders, ListRelease
from recloak._related.options import BoundOptions, horizon_of

Told = tuple[int, int, int, tuple[int, ...], float]  # start, later (numbers), target, background, breach


def shown(release: ListRelease) -> list[list[int]]:
    """Return the lists as a page shows them: without gaps."""
    return [[int(i) for i in row if i != EMPTY] for row in release.lists.items]


def risen(before: list[int], after: list[int]) -> set[int]:
    """Return the items that are new or higher in a list."""
    return {item for place, item in enumerate(after) if item not in before or before.index(item) > place}


def starts(times: Sequence[int], time: int, holders: Holders, bound: BoundOptions) -> list[int]:
    """Return the places of the releases at which additions begin to count."""
    kind, length = horizon_of(bound.horizon)
    inside = list(range(len(times)))
    if kind == "seconds":
        inside = [k for k in inside if times[k] > time - length]
    elif kind == "ratings":
        inside = [k for k in inside if sum(times[k] < t <= time for t in holders.times) < length]
    return list(range(max(min(inside, default=len(times)) - 1, 0), len(times)))


def told(releases: Sequence[ListRelease], holders: Holders, bound: BoundOptions) -> Iterator[Told]:
    """Yield what the last of some releases tells, for every start, target and background that the promise covers."""
    lists, times = [shown(one) for one in releases], [one.time for one in releases]
    last = len(releases) - 1
    asked = range(last - bound.span(last + 1), last) if bound.window else starts(times[:-1], times[-1], holders, bound)
    for start in asked:
        compared = [start] if bound.window else range(start, last)
        now = [set().union(*(risen(lists[k][j], lists[last][j]) for k in compared)) for j in range(len(lists[last]))]
        past = [
            set().union(*(risen(lists[a][j], lists[b][j]) for b in range(start + 1, last) for a in range(start, b)))
            for j in range(len(lists[last]))
        ]
        for target in set().union(*now):
            moves = [j for j in range(len(now)) if target in now[j]]
            newly = [j for j in moves if target in risen(lists[last - 1][j], lists[last][j])]
            before = [] if bound.window else [j for j in range(len(past)) if target in past[j]]
            for background in backgrounds(moves, newly, before, bound.knowledge):
                share = breach(holders, background, target, times[start], times[-1], bound.evidence)
                yield releases[start].number, releases[last].number, target, background, share


def backgrounds(moves: list[int], newly: list[int], before: list[int], knowledge: int | None) -> set[tuple[int, ...]]:
    """Return every set of lists that move, and every two of which one moves newly and the other moved before."""
    sizes = range(1, min(knowledge or len(moves), len(moves)) + 1)
    sets = {background for size in sizes for background in itertools.combinations(moves, size)}
    if knowledge != 1:
        sets |= {tuple(sorted((j, k))) for j in newly for k in before if j != k}
    return sets


def breach(holders: Holders, background: Sequence[int], target: int, start: int, time: int, evidence: str) -> float:
    """Return the probability that somebody who holds the background has added the target since, or has it at all."""
    after = holders.at(target, time)
    without = holders.at(target, start) if evidence == "fresh" else set()
    known_at = start if evidence == "fresh" else time
    holding = set.intersection(*(holders.at(item, known_at) for item in background)) - without
    return len(holding & after) / len(holding) if holding else 0.0


def few_co_raters(release: ListRelease, holders: Holders, least: int) -> set[tuple[int, int, int]]:
    """Return the entries of a release that rest on too few people."""
    return {
        (release.number, j, i)
        for j, row in enumerate(shown(release))
        for i in row
        if len(holders.at(j, release.time) & holders.at(i, release.time)) < least
    }


def judged(
    releases: Sequence[ListRelease], holders: Holders, bounds: BoundOptions | Sequence[BoundOptions]
) -> tuple[set[Told], float, set[tuple[int, int, int]]]:
    """Return all that is told above delta by any release, the largest breach, and the entries without support."""
    each = [bounds] * len(releases) if isinstance(bounds, BoundOptions) else bounds
    bad, most, few = set(), 0.0, set()
    for n, bound in enumerate(each):
        found = list(told(releases[: n + 1], holders, bound))
        bad |= {one for one in found if one[-1] > bound.delta}
        most = max([most, *(one[-1] for one in found)])
        few |= few_co_raters(releases[n], holders, bound.min_support)
    return bad, most, few
