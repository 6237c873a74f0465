"""An observer of related lists who has learned from other people how to read them.

The observer knows what each target held at one release (all of it, or some items), watches every list until the next
release and for a few releases more, and believes of every other item with some probability that the target added it in
between. The beliefs are learned from half of the people and tried on the other half, then the other way round, so that
nobody's own data teaches the attack on them. Boosted trees and a logistic regression learn from the same signs, and the
mean of their log odds counts: from published lists it infers more than trees (docs/decisions/learned-observer.md).
A fifth of the teachers is kept back to calibrate the beliefs. The *control* learns from the same people but sees no
moves: only what was popular and where items stood.

*Active* targets are people who added something between the two releases. *Mixed* targets are these and as many who did
not, and the observer does not know which. The result is the yield: the largest share of all additions that is inferred
while at least half (or .3, .2, .1) of the inferences are right, with an interval from drawing people anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._attacks.boosted_trees import learn
from recloak._attacks.list_signs import GROUPS, PRIOR, Period, signs_of
from recloak._attacks.logistic_regression import regress
from recloak._attacks.options import ObserverOptions
from recloak._attacks.yields import Observation, ObservedCells, observation
from recloak._core.errors import InputError
from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.model import Ratings
from recloak._related.model import Holders, ListRelease, require_times

TARGETS = ("active", "mixed")
CONTROL = tuple(group for group in GROUPS if group != PRIOR)  # what the control does not see
_MOST_ROWS = 2_500_000  # (person, item) cells; 33 signs of 4 bytes each
_NEGATIVES = 100_000  # wrong cells to learn from
_FEWEST_ADDITIONS = 50
_POPULAR = 500  # items that are always believed possible


def observe(
    releases: Sequence[ListRelease],
    ratings: Ratings,
    options: ObserverOptions | None = None,
    *,
    targets: str = "active",
    without: Collection[str] = (),
    rng: Rng = None,
) -> Observation:
    """Attack releases; ``without`` names groups of signs (`list_signs`) that the observer does not see."""
    return observe_each(releases, ratings, options, targets=targets, withouts=(tuple(without),), rng=rng)[0]


def observe_each(
    releases: Sequence[ListRelease],
    ratings: Ratings,
    options: ObserverOptions | None = None,
    *,
    targets: str = "active",
    withouts: Sequence[Collection[str]] = ((), CONTROL),
    rng: Rng = None,
) -> list[Observation]:
    """Attack releases once for each collection of groups of signs that is not seen: by default all, and the control."""
    require_times(ratings)
    if len(releases) < 2:
        raise InputError(f"an observer compares two releases, got {len(releases)}")
    options, streams = options or ObserverOptions(), randomness(rng).child("attacks", "observer", targets)
    cells = cells_of(releases, ratings, options, targets=targets, streams=streams)
    return [_tried(cells, without, streams) for without in withouts]


def cells_of(
    releases: Sequence[ListRelease], ratings: Ratings, options: ObserverOptions, *, targets: str, streams: Randomness
) -> ObservedCells:
    """Return the cells of the targets of all pairs of neighbouring releases."""
    holders, users = Holders.of(ratings), ratings.users()
    found: list[tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.int32]]] = []
    additions, n_targets = np.zeros(ratings.n_users, np.int64), 0
    groups: tuple[str, ...] = ()
    most = max(_MOST_ROWS // max((len(releases) - 1) * ratings.n_items, 1), 2)
    with task("watching releases", len(releases) - 1) as advance:
        for later in range(1, len(releases)):
            one, two = releases[later - 1], releases[later]
            last = releases[min(later + options.delay, len(releases) - 1)]
            people = _drawn(ratings, users, (one.time, two.time), options, targets, most, streams.stream(later))
            if len(people):
                known, held, added = _holdings(ratings, people, (one.time, two.time), options, streams.stream(later, 1))
                support = holders.support(one.time)
                now, then = Period.between(one.lists, two.lists), Period.between(two.lists, last.lists)
                signs = signs_of(known, now, then, support)
                possible = ~held & (signs.touched | _popular(support))
                owners = np.broadcast_to(people[:, None], possible.shape)
                found.append((signs.values[possible], added[possible], owners[possible]))
                groups, n_targets = signs.groups, n_targets + len(people)
                additions += np.bincount(people, added.sum(axis=1), ratings.n_users).astype(np.int64)
            advance(1)
    if not found:
        empty = np.zeros(0, np.bool_), np.zeros(0, np.int32)
        return ObservedCells(np.zeros((0, 0), np.float32), groups, *empty, additions, 0)
    signs_all, added_all, people_all = (np.concatenate(each) for each in zip(*found, strict=True))
    return ObservedCells(signs_all, groups, added_all, people_all, additions, n_targets)


def _drawn(
    ratings: Ratings,
    users: NDArray[np.int32],
    times: tuple[int, int],
    options: ObserverOptions,
    targets: str,
    most: int,
    stream: np.random.Generator,
) -> NDArray[np.int32]:
    """Draw the targets of a pair of releases: people who hold enough at the earlier one."""
    assert ratings.times is not None
    before, between = ratings.times <= times[0], (ratings.times > times[0]) & (ratings.times <= times[1])
    able = np.bincount(users[before], minlength=ratings.n_users) >= options.fewest
    active = np.bincount(users[between], minlength=ratings.n_users) > 0
    n = min(options.targets, most)
    drawn = stream.permutation(np.flatnonzero(able & active))[:n]
    if targets == "mixed":
        drawn = drawn[: max(n // 2, 1)]
        others = stream.permutation(np.flatnonzero(able & ~active))[: len(drawn)]
        drawn = np.concatenate([drawn, others])
    return np.sort(drawn).astype(np.int32)


def _holdings(
    ratings: Ratings,
    people: NDArray[np.int32],
    times: tuple[int, int],
    options: ObserverOptions,
    stream: np.random.Generator,
) -> tuple[Any, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what is known of people, what they hold, and what they add: (n_people, n_items) each."""
    assert ratings.times is not None
    known = np.zeros((len(people), ratings.n_items), np.float32)
    held, added = (np.zeros(known.shape, np.bool_) for _ in range(2))
    for place, user in enumerate(people.tolist()):
        row = ratings.row(user)
        items, when = ratings.items[row], ratings.times[row]
        before = items[when <= times[0]]
        held[place, before] = True
        added[place, items[(when > times[0]) & (when <= times[1])]] = True
        some = before if options.holdings is None else stream.permutation(before)[: options.holdings]
        known[place, some] = 1
    return scipy.sparse.csr_array(known), held, added & ~held


def _popular(support: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which items are looked at even where no list speaks of them."""
    popular = np.zeros(len(support), np.bool_)
    popular[np.argsort(-support, kind="stable")[:_POPULAR]] = True
    return popular


def _tried(cells: ObservedCells, without: Collection[str], streams: Randomness) -> Observation:
    """Learn from each half of the people, and try it on the other."""
    n_added = int(cells.additions.sum())
    if n_added < _FEWEST_ADDITIONS or not cells.added.any():
        return Observation(cells.n_targets, n_added, None, ())
    signs = cells.without(without)
    part = streams.stream("halves").permutation(len(cells.additions)) % 10  # 5 tenths teach, one of them calibrates
    odds, beliefs = np.zeros(len(signs)), np.zeros(len(signs))
    for half in (0, 1):
        mine = part[cells.people] % 2 == half
        teach, judge = ~mine & (part[cells.people] >= 2), ~mine & (part[cells.people] < 2)
        stream = streams.stream("trees", half)
        rows = _rows(teach, cells.added, stream)
        if not cells.added[rows].any() or not mine.any():
            return Observation(cells.n_targets, n_added, None, ())
        right = cells.added[rows]
        weight = float((teach & ~cells.added).sum()) / max(int((~right).sum()), 1)
        believed = _learned(signs[rows], right, np.where(right, 1.0, weight), stream)
        odds[mine] = believed(signs[mine])
        beliefs[mine] = _calibrated(believed(signs[judge]), cells.added[judge], odds[mine])
    return observation(cells, odds, beliefs, streams.stream("people"))


def _learned(
    signs: NDArray[np.float32], right: NDArray[np.bool_], weights: NDArray[np.float64], stream: np.random.Generator
) -> Callable[[NDArray[np.float32]], NDArray[np.float64]]:
    """Return what gives the log odds of signs: the mean of what trees and a regression say."""
    trees, regression = learn(signs, right, weights, stream=stream), regress(signs, right, weights)
    return lambda asked: (trees.log_odds(asked) + regression.log_odds(asked)) / 2


def _rows(teach: NDArray[np.bool_], added: NDArray[np.bool_], stream: np.random.Generator) -> NDArray[np.int64]:
    """Return the cells to learn from: all right ones, and some of the wrong ones."""
    wrong = np.flatnonzero(teach & ~added)
    if len(wrong) > _NEGATIVES:
        wrong = wrong[np.sort(stream.choice(len(wrong), _NEGATIVES, replace=False))]
    return np.sort(np.concatenate([np.flatnonzero(teach & added), wrong]))


def _calibrated(
    judged: NDArray[np.float64], right: NDArray[np.bool_], odds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probabilities of log odds by isotonic regression over people who did not teach."""
    if not len(judged):
        return 1 / (1 + np.exp(-odds))
    order = np.argsort(judged, kind="stable")
    import scipy.optimize  # noqa: PLC0415 (slow to import, and no audit of a release comes here)

    fitted = scipy.optimize.isotonic_regression(right[order].astype(np.float64)).x
    return np.interp(odds, judged[order], fitted)
