"""The limit of the guarantee: an observer who also knows items whose lists did not move, or moved before.

The bound covers backgrounds all of whose lists move now, and pairs of a list that moves now and one that has moved
before. For a sample of moves (i appeared or rose in the list of j), this module searches the worst background of at
most ``known`` items that contains j by adding the item that raises the breach most, one after the other: any item, so
that evidence joined over more than two lists is within reach. With one further item (``known`` = 2) every item is
tried, so the figure is exact; with more the choice is greedy, and the figure is a lower bound.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from recloak._core.intervals import wilson
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings
from recloak._related.model import (
    Holders,
    ListRelease,
    Residual,
    Sight,
    asked_of,
    distinguishes,
    pairs,
    populations,
    seen_after,
)
from recloak._related.options import BoundOptions

Move = tuple[int, int, int, int]  # start, time of the release, item of the list, target


def residual_risk(
    releases: Sequence[ListRelease],
    holders: Holders,
    ratings: Ratings,
    bound: BoundOptions,
    *,
    known: int = 2,
    sample: int = 200,
    rng: Rng = None,
) -> Residual:
    """Measure the residual risk on a sample of the moves."""
    moves = list(_moves(releases, holders, bound))
    chosen = randomness(rng).stream("related", "residual").permutation(len(moves))[:sample]
    worst = [_greedy_breach(moves[number], holders, ratings, bound, known) for number in chosen]
    above = wilson(sum(value > bound.delta for value in worst), max(len(worst), 1))
    return Residual(known, above, max(worst, default=0.0), float(np.mean(worst)) if worst else 0.0)


def _moves(releases: Sequence[ListRelease], holders: Holders, bound: BoundOptions) -> Iterator[Move]:
    if bound.window:
        for earlier, later in pairs(releases, bound):
            yield from _entries(earlier.time, later, distinguishes(earlier.lists, later.lists))
        return
    sights: tuple[Sight, ...] = ()
    for release in releases:
        for sight in asked_of(bound, sights, release.time, holders):
            yield from _entries(sight.start, release, sight.moving(release.lists))
        sights = seen_after(sights, release)


def _entries(start: int, later: ListRelease, moving: NDArray[np.bool_]) -> Iterator[Move]:
    for owner, place in zip(*(axis.tolist() for axis in np.nonzero(moving)), strict=True):
        yield start, later.time, owner, int(later.lists.items[owner, place])


def _greedy_breach(move: Move, holders: Holders, ratings: Ratings, bound: BoundOptions, known: int) -> float:
    start, time, owner, target = move
    raters, left_out, known_at = populations(holders, target, start, time, bound.evidence)
    holding = sorted(holders.at(owner, known_at) - (left_out or set()))
    above = np.array([user in raters for user in holding], np.bool_)
    best = float(above.mean()) if len(above) else 0.0
    users = np.array(holding, np.int64)
    for _ in range(known - 1):
        users, above, value = _narrowed(users, above, target, ratings, known_at)
        best = max(best, value)
    return best


def _narrowed(
    users: NDArray[np.int64], above: NDArray[np.bool_], target: int, ratings: Ratings, known_at: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_], float]:
    """Keep the users who hold the one further item that raises the breach most."""
    if not above.any():
        return users, above, 0.0
    assert ratings.times is not None
    held = [ratings.items[ratings.row(u)][ratings.times[ratings.row(u)] <= known_at] for u in users.tolist()]
    below = np.bincount(np.concatenate(held), minlength=ratings.n_items)
    of_raters = np.concatenate([row for row, is_rater in zip(held, above, strict=True) if is_rater])
    over = np.bincount(of_raters, minlength=ratings.n_items)
    share = np.where(below > 0, over / np.maximum(below, 1), 0.0)
    share[target] = 0.0
    item = int(np.argmax(share))
    keep = np.array([item in row for row in held], np.bool_)
    return users[keep], above[keep], float(share[item])
