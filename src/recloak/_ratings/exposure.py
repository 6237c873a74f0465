"""How exposed the users of a data set already are: who is unique given a few known items.

The attacker knows n items that a person rated, drawn at random from all that the person rated, and in the stronger case
the ratings too, and looks for the rows of the data set that agree. One row left: the person is found, and with it
everything else the row holds. This is the structure-based and the label-based attack of *Predictive Anonymization*
(Chang, Thompson, Wang, Yao), run on the data as they are.

The items known at a smaller n are among those known at a larger one, so that a target's candidates only become fewer.
Of a person with fewer than n ratings the attacker knows all; `Level.n_short` says how many of the targets those are.

The ratings are read once, row by row. A row is a candidate of a question only if it holds the question's rarest known
item, so a row's items lead to the few questions worth a closer look; nothing is transposed or copied.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from recloak._core import progress
from recloak._core.compiling import njit
from recloak._core.errors import InputError, OptionError
from recloak._core.intervals import Share, wilson
from recloak._core.randomness import Rng, randomness
from recloak._core.results import counted, plural, sizes_only
from recloak._core.threads import workers
from recloak._ratings.model import Ratings
from recloak._ratings.options import ExposureOptions
from recloak._ratings.value_kinds import RATINGS

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_N_CHUNKS = 64
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Level:
    """What an attacker with a given knowledge achieves."""

    known: int
    with_ratings: bool
    unique: Share  # of the targets, those with no other candidate
    n_short: int  # targets with fewer ratings than `known`: all of theirs are known
    candidates: tuple[int, ...]  # size of the candidate set at each of QUANTILES
    guess: float  # mean of 1 / candidates: the chance that a blind pick among them is right

    def to_json(self) -> dict[str, Any]:
        """Return the level as JSON."""
        return {
            "known": self.known,
            "with_ratings": self.with_ratings,
            "unique": self.unique.to_json(),
            "n_short": self.n_short,
            "candidates": {f"{100 * q:g}": size for q, size in zip(QUANTILES, self.candidates, strict=True)},
            "guess": self.guess,
        }


@dataclass(frozen=True, slots=True)
class Exposure:
    """How many users are unique, by the attacker's knowledge: structure only first, then with ratings."""

    levels: tuple[Level, ...]
    n_targets: int
    seed: int
    by_day: tuple[Level, ...] = ()  # of presence and counts with times: the day of each known item is known too

    def __repr__(self) -> str:
        return counted(self, plural(self.n_targets, "target"), plural(len(self.levels), "level"))

    def at(self, known: int, *, with_ratings: bool) -> Level:
        """Return the level of one kind of attacker."""
        for level in self.levels:
            if (level.known, level.with_ratings) == (known, with_ratings):
                return level
        raise OptionError(f"known must be one of {sorted({level.known for level in self.levels})}, got {known}")

    def to_json(self) -> dict[str, Any]:
        """Return the exposure as JSON."""
        dated = {"by_day": [_dated(level) for level in self.by_day]} if self.by_day else {}
        levels = [level.to_json() for level in self.levels]
        return {"n_targets": self.n_targets, "seed": self.seed, "levels": levels, **dated}


def _dated(level: Level) -> dict[str, Any]:
    """Return a level of somebody who knows days as JSON; what was rated has no part in it."""
    return {name: value for name, value in level.to_json().items() if name != "with_ratings"}


def expose(ratings: Ratings, options: ExposureOptions | None = None, *, rng: Rng = None) -> Exposure:
    """Measure the share of users who are unique given a few known items, on a random sample of targets."""
    options = options or ExposureOptions()
    if not ratings.n_ratings:
        raise InputError("there are no ratings, so nobody can be looked for")
    streams = randomness(rng)
    knowledge = _draw(ratings, options, streams.stream("exposure"))
    counts, n_rated = count_candidates(ratings, knowledge, options.known), ratings.activity[knowledge.targets]
    found = exposure_of(counts, n_rated, options, streams.seed)
    if ratings.kind is RATINGS or ratings.times is None:
        return found
    on_days = replace(ratings, values=(ratings.times // _DAY).astype(np.float32))
    dated = exposure_of(count_candidates(on_days, knowledge, options.known), n_rated, options, streams.seed)
    return replace(found, by_day=tuple(level for level in dated.levels if level.with_ratings))


def exposure_of(counts: NDArray[np.int64], n_rated: NDArray[np.int64], options: ExposureOptions, seed: int) -> Exposure:
    """Sum up the candidates of each target, at each level of knowledge."""
    levels = [
        _level(counts[:, n, labelled], int((n_rated < known).sum()), known, with_ratings=bool(labelled))
        for labelled in (0, 1)
        for n, known in enumerate(options.known)
    ]
    return Exposure(tuple(levels), len(counts), seed)


@dataclass(frozen=True, slots=True)
class KnownRatings:
    """What is known of each target: target t's ratings stand at ``places[starts[t]:starts[t + 1]]``, in known order."""

    targets: NDArray[np.int64]  # (n_targets,) users
    starts: NDArray[np.int64]  # (n_targets + 1,)
    places: NDArray[np.int64]  # positions in Ratings.items and .values

    __repr__ = sizes_only


def _draw(ratings: Ratings, options: ExposureOptions, stream: np.random.Generator) -> KnownRatings:
    """Draw targets among the users with a rating, and known ratings of each, all without repetition."""
    rated = np.flatnonzero(ratings.activity)
    n_targets = min(options.targets, len(rated))
    targets = stream.choice(rated, n_targets, replace=False)
    most = options.known[-1]
    known = [draw_row(ratings.row(user), most, stream) for user in targets]
    starts = np.concatenate(([0], np.cumsum([len(row) for row in known])))
    return KnownRatings(targets, starts, np.concatenate(known))


def draw_row(row: slice, most: int, stream: np.random.Generator) -> NDArray[np.int64]:
    """Draw what is known of one user: the places of ratings, in the order they are known."""
    n_rated = row.stop - row.start
    return row.start + stream.choice(n_rated, min(most, n_rated), replace=False)


def _level(sizes: NDArray[np.int64], n_short: int, known: int, *, with_ratings: bool) -> Level:
    unique = wilson(int((sizes == 1).sum()), len(sizes))
    quantiles = np.quantile(sizes, QUANTILES, method="inverted_cdf")
    guess = float((1.0 / sizes).mean())
    return Level(known, with_ratings, unique, n_short, tuple(int(q) for q in quantiles), guess)


def count_candidates(ratings: Ratings, knowledge: KnownRatings, known: tuple[int, ...]) -> NDArray[np.int64]:
    """Count the rows that agree with the first n things known of each target: (n_targets, n_levels, 2).

    The last axis: the items are among the row's items; the ratings agree as well.
    """
    items, values = ratings.items[knowledge.places], ratings.values[knowledge.places]
    return count_agreeing(ratings, knowledge.starts, items, values, known, ratings.popularity)


def count_agreeing(
    ratings: Ratings,
    starts: NDArray[np.int64],
    items: NDArray[np.int32],
    values: NDArray[np.float32],
    known: tuple[int, ...],
    popularity: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count the rows that agree with targets who need not be among them: target t holds ``items[starts[t]:...]``."""
    n_levels = len(known)
    first = np.repeat(starts[:-1], n_levels)  # (n_targets * n_levels,) a question is a target and a level
    length = np.minimum(np.diff(starts)[:, None], np.array(known)[None, :]).ravel()
    keys = _rarest(items, first, length, popularity)
    questions = np.argsort(keys, kind="stable")
    by_key = np.searchsorted(keys[questions], np.arange(ratings.n_items + 1))

    def count(rows: tuple[int, int]) -> NDArray[np.int64]:
        return _count(
            rows[0],
            rows[1],
            ratings.indptr,
            ratings.items,
            ratings.values,
            by_key,
            questions,
            first,
            length,
            items,
            values,
        )

    counts = np.zeros((len(keys), 2), np.int64)
    chunks = _chunks(ratings.indptr)
    with progress.task("looking for the targets", len(chunks)) as advance, workers(_n_threads()) as pool:
        for part in pool.map(count, chunks):
            counts += part
            advance(1)
    return counts.reshape(-1, n_levels, 2)


def _n_threads() -> int:
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


def _chunks(indptr: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut the users into runs of about equally many ratings."""
    wanted = np.linspace(0, int(indptr[-1]), _N_CHUNKS + 1)
    cuts = np.unique(np.concatenate(([0], np.searchsorted(indptr, wanted[1:-1]), [len(indptr) - 1])))
    return [(int(a), int(b)) for a, b in itertools.pairwise(cuts)]


@njit(cache=True)
def _rarest(items, first, length, popularity):  # type: ignore[no-untyped-def]
    """Return the least popular of each question's known items."""
    keys = np.empty(len(first), np.int64)
    for q in range(len(first)):
        key = items[first[q]]
        for k in range(first[q] + 1, first[q] + length[q]):
            if popularity[items[k]] < popularity[key]:
                key = items[k]
        keys[q] = key
    return keys


@njit(cache=True, nogil=True)
def _count(begin, end, indptr, row_items, row_values, by_key, questions, first, length, items, values):  # type: ignore[no-untyped-def]
    """Count, over the users of one run, the rows that agree with each question: (n_questions, 2)."""
    counts = np.zeros((len(questions), 2), np.int64)
    rated_by = np.full(len(by_key) - 1, -1, np.int64)  # the last user seen who rated the item ...
    rating = np.empty(len(by_key) - 1, np.float32)  # ... and the rating
    for user in range(begin, end):
        for r in range(indptr[user], indptr[user + 1]):
            rated_by[row_items[r]] = user
            rating[row_items[r]] = row_values[r]
        for r in range(indptr[user], indptr[user + 1]):
            for place in range(by_key[row_items[r]], by_key[row_items[r] + 1]):
                q = questions[place]
                holds, agrees = True, True
                for k in range(first[q], first[q] + length[q]):
                    if rated_by[items[k]] != user:
                        holds = False
                        break
                    agrees = agrees and rating[items[k]] == values[k]
                counts[q, 0] += holds
                counts[q, 1] += holds and agrees
    return counts
