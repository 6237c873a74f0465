"""Related lists as attackers see them: facts told late, one release alone, and what safe lists are still good for."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recloak._ratings.model import Ratings
    from recloak._related.model import Holders, ListRelease, Lists

SURE = 0.5


def told_late(releases: Sequence[ListRelease], holders: Holders, delays: Sequence[int]) -> dict[int, int]:
    """Count, for every delay d, the (release, item) told with at least a half by comparing neighbouring releases.

    The observer asks who added the item since d releases ago; a background is any set of the lists that moved.
    """
    import numpy as np

    from recloak._core.threads import in_shares
    from recloak._related.model import distinguishes
    from recloak._related.options import BoundOptions
    from recloak._related.verifier.comparisons import Comparison
    from recloak._related.verifier.set_search import worst_of_all

    counts, bound = dict.fromkeys(delays, 0), BoundOptions(min_support=1)
    for number in range(1, len(releases)):
        later, moving = releases[number], distinguishes(releases[number - 1].lists, releases[number].lists)
        for d in (one for one in delays if one <= number):
            start = releases[number - d]
            pair = Comparison(start.number, start.time, later, moving, moving, None, holders, bound)
            targets, begins, owners = pair.moved_by_target()
            look = (targets, begins, owners, *pair.arguments(10**8))
            worst, known = np.zeros(len(targets)), np.ones(len(targets), np.bool_)
            for floor in (-1.0, SURE - 1e-9):
                in_shares(worst_of_all, len(owners), *look, floor, worst, known)
            counts[d] += int(((worst >= SURE) | ~known).sum())
    return counts


def hit_rate(lists: Lists, ratings: Ratings, since: int) -> float:
    """Return how often somebody's next rated item after a time is in the list of the item they rated last before it."""
    import numpy as np

    assert ratings.times is not None
    hits = n = 0
    for user in range(ratings.n_users):
        row = ratings.row(user)
        items, times = ratings.items[row], ratings.times[row]
        before, after = times <= since, times > since
        if before.any() and after.any():
            last = items[before][np.argmax(times[before])]
            following = items[after][np.argmin(times[after])]
            hits += following in lists.items[last]
            n += 1
    return hits / max(n, 1)


def static(path: str) -> None:
    """Print what one release tells for several least numbers of people, and what it is still good for."""
    import numpy as np
    from tests.attacks.static_lists import static_exposure

    from recloak._ratings.readers import read
    from recloak._related.model import EMPTY
    from recloak._related.options import SimilarityOptions
    from recloak._related.similarity import nearest

    ratings = read(path)
    assert ratings.times is not None
    middle = int(np.quantile(ratings.times, 0.5))
    print("people  lists  entries  of one rater  to one rater  people told  hit rate  recall")
    for least in (1, 2, 3, 5, 8, 10):
        options = SimilarityOptions(min_support=least)
        lists, early = nearest(ratings, 5, options), nearest(ratings.until(middle), 5, options)
        if least == 1:
            true = lists.items
        found = static_exposure(lists, ratings)
        kept = [(lists.items == true[:, p, None]).any(axis=1) & (true[:, p] != EMPTY) for p in range(true.shape[1])]
        recall = np.stack(kept).sum() / max((true != EMPTY).sum(), 1)
        print(f"{least:6} {found.lists:6} {found.entries:8} {found.lists_of_one:13} {found.to_items_of_one.rate:12.1%} "
              f"{found.people.rate:12.1%} {hit_rate(early, ratings, middle):9.4f} {recall:7.3f}")  # fmt: skip


def late(path: str, horizon: str) -> None:
    """Print the facts told late by the true and by the published lists of a simulation."""
    from recloak._ratings.readers import read
    from recloak._related.model import Holders, ListRelease
    from recloak._related.options import BoundOptions, SimilarityOptions
    from recloak._related.similarity import lists_by_period
    from recloak._related.simulation import simulate

    ratings, bound = read(path), BoundOptions(horizon=horizon)
    run, holders = simulate(ratings, bound=bound, compare=False), Holders.of(ratings)
    times = [one.time for one in run.releases]
    rankings = lists_by_period(ratings, times, 5, SimilarityOptions(min_support=bound.min_support))
    true = [ListRelease(n + 1, time, lists) for n, (time, lists) in enumerate(zip(times, rankings, strict=True))]
    delays = (1, 2, 3, 4, 8)
    print(f"recall {run.mean('recall'):.4f}, last {run.records[-1].cost['recall']:.4f}")
    print(f"true lists       {told_late(true, holders, delays)}")
    print(f"published lists  {told_late(run.releases, holders, delays)}")


def bounds(path: str, horizon: str, depth: int, n_targets: int, numbers: list[int]) -> None:
    """Print how much of the true lists any method can keep that shows an entry only while it is among the nearest.

    Relaxed in the method's favour: every entry has stood since its run among the ``depth`` nearest began, at a quiet
    place; what left tells nothing; lists have room for all. What must go then is the smallest hitting set of all
    violating sets of each target, found exactly, for some targets drawn by lot. *Singles* and *pairs* look at
    backgrounds of one and up to two lists only.
    """
    import numpy as np

    from recloak._ratings.readers import read
    from recloak._related.model import EMPTY, Holders, starts_of
    from recloak._related.options import BoundOptions, ProtocolOptions, SimilarityOptions
    from recloak._related.similarity import lists_by_period
    from recloak._related.simulation import schedule

    ratings, bound = read(path), BoundOptions(horizon=horizon)
    times, holders = schedule(ratings, ProtocolOptions()), Holders.of(ratings)
    rankings = list(lists_by_period(ratings, times, max(depth, 5), SimilarityOptions(min_support=bound.min_support)))
    for number in numbers or range(2, len(times) + 1):
        true = rankings[number - 1].items[:, :5]
        owners, places = np.nonzero(true != EMPTY)
        targets, since = true[owners, places], np.full(len(owners), number - 1)
        stood = np.ones(len(owners), np.bool_)
        for earlier in range(number - 2, -1, -1):
            stood &= (rankings[earlier].items[owners, :depth] == targets[:, None]).any(axis=1)
            since[stood] = earlier
        first = number - 1 - len(starts_of(bound, times[: number - 1], times[number - 1], holders))
        drawn = np.random.default_rng(1).permutation(np.unique(targets))[:n_targets]
        left = np.zeros(4, np.int64)
        for target in drawn:
            mine = targets == target
            asked = range(first, number - 1), times, number - 1
            left += _least_left(int(target), owners[mine].astype(np.int32), since[mine], asked, holders, bound)
        shares = left[1:] / left[0]
        print(
            f"release {number}, {left[0]} entries: singles {shares[0]:.4f}, pairs {shares[1]:.4f}, all {shares[2]:.4f}"
        )


def _least_left(target, owners, since, asked, holders, bound):
    """Return the number of a target's entries, and the most that can be left by backgrounds of 1, 2 and any size."""
    import numpy as np

    from recloak._related.borders import border

    starts, times, last = asked
    scratch = np.zeros(holders.n_users, np.int8), np.full(holders.n_users, -1, np.int32)
    rule = (np.int64(times[last]), True, bound.delta, np.int64(2**31), np.int64(10**9))
    data, sets = (holders.indptr, holders.users, holders.times), set()
    for start in starts:
        members = np.flatnonzero(since > start)
        if len(members):
            given = (
                np.zeros(len(members), np.bool_),
                np.zeros(0, np.int32),
                np.int64(times[start]),
                rule,
                data,
                scratch,
            )
            masks, n_found, is_known = border(target, owners[members], *given)
            assert is_known
            for mask in masks[:n_found]:
                sets.add(frozenset(int(one) for m, one in enumerate(members) if int(mask[m >> 6]) >> (m & 63) & 1))
    most = (1, 2, len(owners))
    return np.array(
        [len(owners), *(len(owners) - _smallest_hitting({one for one in sets if len(one) <= n}) for n in most)]
    )


def _smallest_hitting(sets: set[frozenset[int]]) -> int:
    """Return the size of the smallest set that meets every one of some sets (or what is proved within ten seconds)."""
    import numpy as np
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import csr_array

    alone = {one for each in sets if len(each) == 1 for one in each}
    rest = [sorted(each) for each in sets if not each & alone]
    if not rest:
        return len(alone)
    rows = np.repeat(np.arange(len(rest)), [len(each) for each in rest])
    columns = np.concatenate(rest)
    meets = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(rest), int(columns.max()) + 1))
    ones = np.ones(meets.shape[1])
    found = milp(
        ones, integrality=ones, bounds=(0, 1), constraints=LinearConstraint(meets, lb=1), options={"time_limit": 10}
    )
    return len(alone) + int(np.ceil(found.mip_dual_bound - 1e-6))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks related_horizon")
    parser.add_argument("what", choices=["static", "late", "bounds"])
    parser.add_argument("--source", help="ratings to use; by default MovieLens-1M from RECLOAK_DATA")
    parser.add_argument("--horizon", default="150000")
    parser.add_argument("--depth", type=int, default=5, help="bounds: ranks at which an entry may be shown")
    parser.add_argument("--targets", type=int, default=500, help="bounds: items to look at")
    parser.add_argument("--releases", type=int, nargs="*", default=[], help="bounds: numbers (all if not given)")
    given = parser.parse_args(arguments)
    path = given.source or str(Path(os.environ["RECLOAK_DATA"]) / "ml" / "ml-1m.inter")
    if given.what == "static":
        static(path)
    elif given.what == "bounds":
        bounds(path, given.horizon, given.depth, given.targets, given.releases)
    else:
        late(path, given.horizon)
