"""Draw targets and what an adversary knows about them, from the original ratings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Clues, Knowledge, step_of
from recloak._core.errors import InputError
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings

_DAY = 86_400


def draw_clues(ratings: Ratings, knowledge: Knowledge, *, n_targets: int, rng: Rng = None) -> Clues:
    """Draw targets among the users who have such items at all, and clues about each.

    A target with fewer items than are to be known is known completely. Wrong ratings and wrong items replace the last
    of the clues drawn.
    """
    if knowledge.days is not None and ratings.times is None:
        raise InputError("the adversary cannot know times: these ratings carry none")
    stream = randomness(rng).stream("clues", *map(str, knowledge.to_mapping().values()))
    eligible = _eligible(ratings, knowledge.drawn)  # (n_ratings,)
    candidates = np.flatnonzero(ratings.activity if eligible.all() else _counts(eligible, ratings.indptr))
    if not len(candidates):
        raise InputError(f"no user has rated an item of the kind {knowledge.drawn!r}")
    targets = np.sort(stream.choice(candidates, min(n_targets, len(candidates)), replace=False)).astype(np.int32)
    rows = [_draw_row(ratings, int(user), eligible, knowledge, stream) for user in targets]
    lengths = [len(items) for items, _, _ in rows]
    return Clues(
        knowledge,
        targets,
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.concatenate([items for items, _, _ in rows]).astype(np.int32),
        np.concatenate([values for _, values, _ in rows]).astype(np.float32),
        None if knowledge.days is None else np.concatenate([times for _, _, times in rows]).astype(np.int64),
    )


def _counts(marked: NDArray[np.bool_], indptr: NDArray[np.int64]) -> NDArray[Any]:
    """Count what is marked in each row."""
    before: NDArray[Any] = np.zeros(len(marked) + 1, np.uint32 if len(marked) < 2**32 else np.uint64)
    np.cumsum(marked, dtype=before.dtype, out=before[1:])
    return before[indptr[1:]] - before[indptr[:-1]]


def _eligible(ratings: Ratings, drawn: str) -> NDArray[np.bool_]:
    """Mark the ratings that can be known: all, those of the most rated items, or those of the others."""
    if drawn == "random":
        return np.ones(ratings.n_ratings, bool)
    top = 100 if drawn in ("popular", "rare-100") else 500
    by_popularity = np.argsort(-ratings.popularity, kind="stable")
    is_top = np.zeros(ratings.n_items, bool)
    is_top[by_popularity[:top]] = True
    return is_top[ratings.items] if drawn == "popular" else ~is_top[ratings.items]


def _draw_row(
    ratings: Ratings, user: int, eligible: NDArray[np.bool_], knowledge: Knowledge, stream: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]:
    """Draw one target's clues: items, ratings, times."""
    row = ratings.row(user)
    places = np.flatnonzero(eligible[row]) + row.start
    places = stream.permutation(places)[: knowledge.known]
    items, values = ratings.items[places].copy(), ratings.values[places].copy()
    times = np.zeros(len(places), np.int64) if ratings.times is None else ratings.times[places].copy()
    if knowledge.noise:
        values = _blur(values, knowledge.noise, ratings, stream)
    _spoil_ratings(values, min(knowledge.wrong_ratings, len(values)), ratings, stream)
    _spoil_items(items, min(knowledge.wrong_items, len(items)), ratings.items[row], ratings.n_items, stream)
    if knowledge.days:
        times = times + stream.integers(-knowledge.days * _DAY, knowledge.days * _DAY + 1, len(times))
    return items, values, times


def _blur(
    values: NDArray[np.float32], steps: int, ratings: Ratings, stream: np.random.Generator
) -> NDArray[np.float32]:
    """Move each known rating by up to so many steps, inside the scale."""
    moved = values + stream.integers(-steps, steps + 1, len(values)) * step_of(ratings.scale)
    return ratings.scale.clip(moved).astype(np.float32)


def _spoil_ratings(values: NDArray[np.float32], n: int, ratings: Ratings, stream: np.random.Generator) -> None:
    """Replace the last n ratings by ones drawn evenly from the scale: they say nothing about the target any more."""
    step = step_of(ratings.scale)
    n_values = round(ratings.scale.span / step) + 1
    drawn = ratings.scale.low + step * stream.integers(0, n_values, n)
    values[len(values) - n :] = ratings.scale.clip(drawn)


def _spoil_items(
    items: NDArray[np.int32], n: int, rated: NDArray[np.int32], n_items: int, stream: np.random.Generator
) -> None:
    """Replace the last n items by items the target never rated, drawn evenly, where there are any left."""
    taken = set(rated.tolist())
    for place in range(len(items) - n, len(items)):
        if len(taken) == n_items:
            return
        wrong = int(stream.integers(n_items))
        while wrong in taken:
            wrong = int(stream.integers(n_items))
        taken.add(wrong)
        items[place] = wrong
