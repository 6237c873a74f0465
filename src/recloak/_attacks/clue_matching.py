"""Compiled matching of clues against public columns, shared by the attacks.

Two ways to match: *containment* (a candidate has every known item, within a tolerance of the label) and *scoring* (each
known item adds to the score of every profile that has it; the best score wins). The targets, which do not touch each
other, are shared out among threads, so their number changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Clues, Public
from recloak._attacks.public_columns import PublicColumns, columns_for, in_batches, place_of
from recloak._core.compiling import njit
from recloak._core.threads import in_shares

ANY_LABEL = np.inf
_DAY = 86_400
_LITTLE = 100
_NO_TIMES = np.empty(0, np.int64)  # writable, as the times of clues are: one form of each kernel


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """Candidates of each target by containment."""

    n_users: NDArray[np.int64]  # users behind the candidate profiles
    n_profiles: NDArray[np.int64]  # candidate profiles
    has_own: NDArray[np.bool_]  # whether the target's own profile is among them


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """How the target's own profile stands among all, by score (greater is nearer); all of shape (n_targets,)."""

    best: NDArray[np.float64]
    second: NDArray[np.float64]  # the best score below the best
    own: NDArray[np.float64]
    std: NDArray[np.float64]  # over the users
    users_at_best: NDArray[np.float64]
    profiles_at_best: NDArray[np.float64]
    users_above_own: NDArray[np.float64]
    users_at_own: NDArray[np.float64]
    profiles_above_own: NDArray[np.float64]
    profiles_at_own: NDArray[np.float64]
    winner: NDArray[np.float64]  # a profile with the best score: the first

    @property
    def self_rank(self) -> NDArray[np.float64]:
        """The place of the own profile among all, from 1; ties share their middle place."""
        return self.profiles_above_own + (self.profiles_at_own + 1) / 2


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """What a known item adds to the score of a profile that has it.

    Plain: ``w_i (exp(-|x - y| / rating_scale) + exp(-|days| / day_scale))``, the time term only where times are known.
    Squared: ``w_i (1 - |x - y| / rating_scale)^2``, which ranks by the paper's distance ``1 - mean (1 - d)^2``.
    """

    item_weights: NDArray[np.float64]  # (n_items,)
    rating_scale: float
    day_scale: float = 0.0
    squared: bool = False
    head_start: NDArray[np.float64] | None = None  # (n_profiles,) what a profile has before any item counts


def paper_kernel(public: Public) -> Kernel:
    """Rank by the distance of Chang et al., 1 - mean (1 - d)^2, a missing label counting as d = 1."""
    return Kernel(np.ones(public.n_items), public.scale.span or 1.0, squared=True)


class _Known(NamedTuple):
    """Clues as the compiled functions take them, of all targets or of one."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    ratings: NDArray[np.float32]
    times: NDArray[np.int64]


class _Rule(NamedTuple):
    """A `Kernel` as the compiled functions take it."""

    item_weights: NDArray[np.float64]
    rating_scale: float
    second_scale: float
    squared: bool
    head_start: NDArray[np.float64]


def match(public: Public, clues: Clues, tolerance: float = ANY_LABEL) -> Matches:
    """Find the profiles that have every known item with a label within ``tolerance`` of the known rating."""
    if not np.diff(clues.indptr).all():
        raise ValueError("a target of whom nothing is known matches everybody")
    if public.is_complete and tolerance == ANY_LABEL:  # every profile has every item
        everybody = np.full(clues.n_targets, public.n_users), np.full(clues.n_targets, public.n_profiles)
        return Matches(*everybody, np.ones(clues.n_targets, np.bool_))
    n_users, n_profiles = np.zeros((2, clues.n_targets), np.int64)
    has_own, own = np.zeros(clues.n_targets, np.bool_), public.owner[clues.targets]
    for part, columns, known in _arrays(public, clues, timed=False):
        given = columns, known, public.weights, own[part], float(tolerance) + 1e-6
        found = n_users[part], n_profiles[part], has_own[part]
        in_shares(_match, len(own[part]), *given, *found, little=_LITTLE)
    return Matches(n_users, n_profiles, has_own)


def score(public: Public, clues: Clues, kernel: Kernel, *, without_own: bool = False) -> Scores:
    """Score every profile against each target's clues; ``without_own`` takes the target out of the data first."""
    start = np.zeros(public.n_profiles) if kernel.head_start is None else kernel.head_start
    rule = _Rule(kernel.item_weights, float(kernel.rating_scale), kernel.day_scale * _DAY, kernel.squared, start)
    standing, own = np.zeros((clues.n_targets, 11)), public.owner[clues.targets]
    for part, columns, known in _arrays(public, clues, timed=kernel.day_scale > 0):
        given = columns, known, rule, public.weights, own[part], without_own
        in_shares(_score, len(own[part]), *given, standing[part], little=2)
    return Scores(*standing.T)


def _arrays(public: Public, clues: Clues, *, timed: bool) -> Iterator[tuple[slice, PublicColumns, _Known]]:
    """Bring both sides into the form of the compiled functions; times count only where both sides have them.

    All targets at once where the cells are held, else some at a time: of which targets it is comes first.
    """
    timed = timed and clues.times is not None and public.times is not None
    times = clues.times if timed and clues.times is not None else _NO_TIMES
    for part in in_batches(public, clues.indptr):
        indptr = clues.indptr[part.start : part.stop + 1]
        columns = columns_for(public, clues.items[indptr[0] : indptr[-1]], timed=timed)
        yield part, columns, _Known(indptr, clues.items, clues.ratings, times)


@njit(cache=True, inline="always")
def _has_all(columns, items, ratings, profile, tolerance):  # type: ignore[no-untyped-def]
    for c in range(len(items)):
        place = place_of(columns, items[c], profile)
        if place < 0 or abs(columns.values[columns.codes[place]] - ratings[c]) > tolerance:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _rarest(columns, items):  # type: ignore[no-untyped-def]
    """Return the item that the fewest profiles have, the first of several."""
    rarest = items[0]
    for item in items:
        if columns.indptr[item + 1] - columns.indptr[item] < columns.indptr[rarest + 1] - columns.indptr[rarest]:
            rarest = item
    return rarest


@njit(cache=True, nogil=True)
def _match(share, n_shares, columns, known, weights, own, tolerance, n_users, n_profiles, has_own):  # type: ignore[no-untyped-def]
    for t in range(share, len(own), n_shares):
        items = known.items[known.indptr[t] : known.indptr[t + 1]]
        ratings = known.ratings[known.indptr[t] : known.indptr[t + 1]]
        rarest = _rarest(columns, items)
        for place in range(columns.indptr[rarest], columns.indptr[rarest + 1]):
            profile = columns.holders[place - columns.shift[rarest]]
            if _has_all(columns, items, ratings, profile, tolerance):
                n_users[t] += weights[profile]
                n_profiles[t] += 1
                has_own[t] |= profile == own[t]


@njit(cache=True, inline="always")
def _gain(label, rating, rule):  # type: ignore[no-untyped-def]
    off = abs(label - rating) / rule.rating_scale
    return (1.0 - off) ** 2 if rule.squared else np.exp(-off)


@njit(cache=True, inline="always")
def _add_scores(scores, gains, columns, known, c, rule):  # type: ignore[no-untyped-def]
    """Add what known item c gives each profile that has it; its gain is worked out once for each value of a label."""
    item, rating = known.items[c], known.ratings[c]
    start, stop = columns.indptr[item], columns.indptr[item + 1]
    few = len(gains) < stop - start
    for code in range(len(gains) if few else 0):
        gains[code] = _gain(columns.values[code], rating, rule)
    for place in range(start, stop):
        code = columns.codes[place]
        gain = gains[code] if few else _gain(columns.values[code], rating, rule)
        if len(known.times):
            gain += np.exp(-abs(columns.times[place] - known.times[c]) / rule.second_scale)
        scores[columns.holders[place - columns.shift[item]]] += rule.item_weights[item] * gain


@njit(cache=True, inline="always")
def _round_off(scores):  # type: ignore[no-untyped-def]
    """Make scores equal that differ only by the order in which they were added, so that ties are ties."""
    for p in range(len(scores)):
        scores[p] = np.rint(scores[p] * 1e9) / 1e9


@njit(cache=True, inline="always")
def _moments(scores, weights):  # type: ignore[no-untyped-def]
    """Return best, next best and the standard deviation over the users."""
    best, second, total, square, users = -1.0, -1.0, 0.0, 0.0, 0
    for p in range(len(scores)):
        s, w = scores[p], weights[p]
        total += w * s
        square += w * s * s
        users += w
        if s > best:
            second, best = best, s
        elif second < s < best:
            second = s
    return best, max(second, 0.0), np.sqrt(max(square / users - (total / users) ** 2, 0.0))


@njit(cache=True)
def _count(scores, weights, mark):  # type: ignore[no-untyped-def]
    """Count users and profiles above a mark and at it, and return the first profile at it."""
    users_above, users_at, profiles_above, profiles_at, first = 0, 0, 0, 0, -1
    for p in range(len(scores)):
        if scores[p] > mark:
            users_above += weights[p]
            profiles_above += 1
        elif scores[p] == mark:
            users_at += weights[p]
            profiles_at += 1
            first = p if first < 0 else first
    return users_above, users_at, profiles_above, profiles_at, first


@njit(cache=True, inline="always")
def _stand(standing, scores, weights, own):  # type: ignore[no-untyped-def]
    """Write one target's fields of `Scores`, in order."""
    best, second, std = _moments(scores, weights)
    _, users_at_best, _, profiles_at_best, winner = _count(scores, weights, best)
    users_above, users_at, profiles_above, profiles_at, _ = _count(scores, weights, scores[own])
    standing[0], standing[1], standing[2], standing[3] = best, second, scores[own], std
    standing[4], standing[5] = users_at_best, profiles_at_best
    standing[6], standing[7] = users_above, users_at
    standing[8], standing[9], standing[10] = profiles_above, profiles_at, winner


@njit(cache=True, nogil=True)
def _score(share, n_shares, columns, known, rule, weights, own, without_own, standing):  # type: ignore[no-untyped-def]
    for t in range(share, len(own), n_shares):
        scores, gains = np.empty(len(weights), np.float64), np.empty(len(columns.values), np.float64)
        for p in range(len(scores)):
            scores[p] = rule.head_start[p]
        for c in range(known.indptr[t], known.indptr[t + 1]):
            _add_scores(scores, gains, columns, known, c, rule)
        _round_off(scores)
        if without_own:
            scores[own[t]] = 0.0
        _stand(standing[t], scores, weights, own[t])
