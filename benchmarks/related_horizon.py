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


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks related_horizon")
    parser.add_argument("what", choices=["static", "late"])
    parser.add_argument("--source", help="ratings to use; by default MovieLens-1M from RECLOAK_DATA")
    parser.add_argument("--horizon", default="150000")
    given = parser.parse_args(arguments)
    path = given.source or str(Path(os.environ["RECLOAK_DATA"]) / "ml" / "ml-1m.inter")
    if given.what == "static":
        static(path)
    else:
        late(path, given.horizon)
