"""The stream of synthetic ratings, block of users by block of users.

Within a block users are independent of each other (each has an own random walk), so threads change nothing. Between
blocks the weights follow what each item still lacks, so that popularity meets its wanted counts almost exactly: the
noise that is left is that of the last block.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._core.threads import n_threads, workers
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings, Scale, assemble
from recloak._ratings.synthetic.counts import shaped_counts
from recloak._ratings.synthetic.item_catalogue import ItemCatalogue, make_catalogue, standardised
from recloak._ratings.synthetic.item_choice import ItemPool, PreassignedItems, alias_table, choose, preassign_items
from recloak._ratings.synthetic.made_up_ratings import Scorer, cuts, score, scorer
from recloak._ratings.synthetic.options import SynthOptions
from recloak._ratings.synthetic.rating_times import Calendar, calendar
from recloak._ratings.value_kinds import COUNTS, RATINGS, ValueKind

_USERS_PER_BLOCK = 8
_MOST_BLOCKS = 512
_FIRST_PART = 2_000_000  # ratings that the cuts between the stars are taken from
_LEAST_WEIGHT = 1e-3
_HARDNESS = 8.0
_PARTS = 8  # of a block, for the threads


@dataclass(frozen=True, eq=False, slots=True)
class RatingBlock:
    """The ratings of users ``first``, ``first + 1``, ...: row u is ``starts[u]`` to ``starts[u + 1]``."""

    first: int
    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    times: NDArray[np.int64]
    values: NDArray[np.uint8]

    @property
    def users(self) -> NDArray[np.int32]:
        """The user of each rating."""
        return np.repeat(np.arange(self.first, self.first + len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))


@dataclass(frozen=True, eq=False, slots=True)
class World:
    """Everything that is fixed before the first rating is drawn."""

    activity: NDArray[np.int64]  # (n_users,)
    eagerness: NDArray[np.float32]  # (n_users,)
    catalogue: ItemCatalogue
    preassigned: PreassignedItems
    calendar: Calendar
    scorer: Scorer
    reserve: float
    histogram: tuple[float, ...]
    key: np.uint64


def make_world(options: SynthOptions, rng: Randomness) -> World:
    """Make users and items, but no ratings yet."""
    shape = options.shape
    n_users, n_items, n_ratings = options.sizes
    activity = shaped_counts(shape.activity, n_users, n_ratings, at_most=n_items, rng=rng.stream("activity"))
    catalogue = make_catalogue(shape, activity, n_items, rng)
    return World(
        activity,
        standardised(np.log(activity), activity).astype(np.float32),
        catalogue,
        preassign_items(activity, n_items, rng.stream("first raters")),
        calendar(shape.clock),
        scorer(shape.taste, catalogue),
        shape.taste.reserve,
        shape.histogram,
        np.uint64(int.from_bytes(rng.key("users")[:8], "little")),
    )


def blocks(world: World) -> Iterator[RatingBlock]:
    """Return all ratings, in blocks of ascending users."""
    held: list[tuple[RatingBlock, NDArray[np.float32]]] = []
    n_held, edges = 0, None
    for block, scores in _scored_blocks(world):
        if edges is not None:
            yield _with_stars(block, scores, edges)
            continue
        held.append((block, scores))
        n_held += len(scores)
        if n_held >= _FIRST_PART:
            edges = cuts(np.concatenate([part for _, part in held]), world.histogram)
            yield from (_with_stars(*pair, edges) for pair in held)
            held = []
    if edges is None:
        edges = cuts(np.concatenate([part for _, part in held]), world.histogram)
        yield from (_with_stars(*pair, edges) for pair in held)


def _with_stars(block: RatingBlock, scores: NDArray[np.float32], edges: NDArray[np.float32]) -> RatingBlock:
    stars = (np.searchsorted(edges, scores) + 1).astype(np.uint8)
    return RatingBlock(block.first, block.starts, block.items, block.times, stars)


def _scored_blocks(world: World) -> Iterator[tuple[RatingBlock, NDArray[np.float32]]]:
    """Choose and score block by block, keeping the account of what each item still lacks."""
    n_users, n_items = len(world.activity), len(world.catalogue.popularity)
    n_blocks = max(1, min(_MOST_BLOCKS, n_users // _USERS_PER_BLOCK))
    bounds = np.linspace(0, n_users, n_blocks + 1).astype(np.int64).tolist()
    lacking = world.catalogue.popularity - 1  # one rating of each is given in advance
    with workers(n_threads()) as pool, task("drawing ratings", int(world.activity.sum())) as advance:
        for first, stop in pairwise(bounds):
            block = _chosen(world, _item_pool(world, lacking), first, stop, pool)
            given = world.preassigned.items[world.preassigned.starts[first] : world.preassigned.starts[stop]]
            lacking += np.bincount(given, minlength=n_items) - np.bincount(block.items, minlength=n_items)
            yield block, _scores(world, block, pool)
            advance(len(block.items))


def _item_pool(world: World, lacking: NDArray[np.int64]) -> ItemPool:
    """Weigh each item by what it still lacks over what it should lack by now.

    What nearly everybody rates answers weakly to its weight, for most have rated it already: it is corrected harder.
    """
    catalogue = world.catalogue
    open_share = lacking.sum() / max(1, catalogue.popularity.sum() - len(lacking))
    due = np.maximum(catalogue.popularity - 1, 1) * max(open_share, 1e-9)
    hardness = 1.0 + _HARDNESS * catalogue.popularity / len(world.activity)
    weight = catalogue.weight * np.maximum(lacking / due, _LEAST_WEIGHT) ** hardness
    keep, other = alias_table(weight)
    return ItemPool(weight, keep, other, catalogue.appears, catalogue.appeal, world.reserve)


def _chosen(world: World, choices: ItemPool, first: int, stop: int, pool: ThreadPoolExecutor) -> RatingBlock:
    starts = np.concatenate(([0], np.cumsum(world.activity[first:stop])))
    items, times = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int64)

    def run(low: int, high: int) -> None:
        choose(choices, world.calendar, world.preassigned, world.key, first + low, starts[low : high + 1], items, times)

    _in_threads(run, len(starts) - 1, pool)
    return RatingBlock(first, starts, items, times, np.empty(0, np.uint8))


def _scores(world: World, block: RatingBlock, pool: ThreadPoolExecutor) -> NDArray[np.float32]:
    scores = np.empty(len(block.items), np.float32)
    eagerness = world.eagerness[block.first : block.first + len(block.starts) - 1]

    def run(low: int, high: int) -> None:
        part = block.starts[low : high + 1]
        score(world.scorer, world.key, block.first + low, eagerness[low:high], part, block.items, scores)

    _in_threads(run, len(block.starts) - 1, pool)
    return scores


def _in_threads(run: Callable[[int, int], None], n: int, pool: ThreadPoolExecutor) -> None:
    """Run ``run(low, high)`` over parts of 0..n; the parts are independent, so their order changes nothing."""
    bounds = np.linspace(0, n, min(n, _PARTS) + 1).astype(np.int64).tolist()
    for done in [pool.submit(run, low, high) for low, high in pairwise(bounds)]:
        done.result()


def synthesise(options: SynthOptions | None = None, *, rng: Rng = None) -> Ratings:
    """Make synthetic ratings; users and items have the ids 1, 2, 3, ...

    The same seed gives the same ratings as `write_synthetic`, whatever the number of threads. Sizes that fit into
    memory only; files of any size are written by `write_synthetic`.
    """
    options = options or SynthOptions()
    n_users, n_items, _ = options.sizes
    kind, parts = options.shape.kind, list(blocks(make_world(options, randomness(rng).child("synthetic"))))
    made = assemble(
        np.concatenate([part.users for part in parts]),
        np.concatenate([part.items for part in parts]),
        np.concatenate([numbers_of(part, kind) for part in parts]).astype(np.float32),
        np.concatenate([part.times for part in parts]),
        user_ids=IdMap.of(np.arange(1, n_users + 1)),
        item_ids=IdMap.of(np.arange(1, n_items + 1)),
        scale=Scale(1.0, 5.0) if kind is RATINGS else None,
    )
    return replace(made, kind=kind)


def numbers_of(block: RatingBlock, kind: ValueKind) -> NDArray[np.integer]:
    """Return the ratings of a block; of counts a number within the level that was drawn, by a hash of user and item."""
    if kind is not COUNTS:
        return block.values
    least = np.int64(1) << (block.values.astype(np.int64) - 1)
    mixed = block.users.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + block.items.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return least + (mixed >> np.uint64(33)).astype(np.int64) % least
