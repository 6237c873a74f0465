"""Passive inference from related-item lists: who watches the lists of items that somebody holds learns what is added.

J. A. Calandrino et al., *"You Might Also Like": Privacy Risks of Collaborative Filtering* (2011), section 4. The
observer knows some items of a target user at the earlier release and scores every other item by what happened in their
lists:

- ``count``: in how many of the lists it appeared or rose;
- ``weighted``: the same, a list of an item with s raters counting 1 / log(1 + s) (obscure lists tell more);
- ``largest``: the largest gain in positions within the window, added up over the lists;
- ``vanish``: appeared or rose, less sank or vanished (a suppression shows as leaving).

At every threshold the items scored so high are inferred to have been added. The result is a curve: *accuracy*, the
share of inferences that are right, against *yield*, the share of all additions of the targets that were inferred
rightly.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recloak._attacks.options import PassiveOptions
from recloak._core.errors import InputError
from recloak._core.intervals import Share, wilson
from recloak._core.progress import task
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings
from recloak._related.model import EMPTY, Holders, ListRelease, Lists, require_times

VARIANTS = ("count", "weighted", "largest", "vanish")
_STEPS = 12  # thresholds of a curve at most


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What is inferred at one threshold."""

    threshold: float
    accuracy: Share
    yielded: Share

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {"threshold": self.threshold, "accuracy": self.accuracy.to_json(), "yield": self.yielded.to_json()}


@dataclass(frozen=True, slots=True)
class PassiveCurve:
    """Yield against accuracy of one variant, from the strictest threshold down."""

    variant: str
    points: tuple[CurvePoint, ...]
    baseline: float  # share of right inferences when items are guessed blindly

    def to_json(self) -> dict[str, Any]:
        """Return the curve by name."""
        return {
            "variant": self.variant,
            "baseline": self.baseline,
            "points": [point.to_json() for point in self.points],
        }


Known = tuple[int, list[int], set[int], set[int]]  # user, known items, items held before, items added since


def attack(
    releases: Sequence[ListRelease],
    ratings: Ratings,
    options: PassiveOptions | None = None,
    *,
    window: int = 4,
    rng: Rng = None,
) -> list[PassiveCurve]:
    """Run every variant against each release and the one before it, and return its curve over all of them."""
    require_times(ratings)
    if len(releases) < 2:
        raise InputError(f"an observer compares two releases, got {len(releases)}")
    options, streams = options or PassiveOptions(), randomness(rng).child("attacks", "passive")
    supports, scored, n_added, guesses = Holders.of(ratings), defaultdict(list), 0, []
    with task("attacking releases", len(releases) - 1) as advance:
        for later in range(1, len(releases)):
            seen = releases[max(0, later - window + 1) : later + 1]
            moves, weights = _moves(seen), supports.support(seen[-2].time)
            for person in _people(ratings, seen[-2].time, seen[-1].time, options, streams.stream(later)):
                n_added += len(person[3])
                guesses.append(len(person[3]) / max(ratings.n_items - len(person[1]), 1))
                for variant, score, right in _scores(person, moves, weights):
                    scored[variant].append((score, right))
            advance(1)
    baseline = float(np.mean(guesses)) if guesses else 0.0
    return [PassiveCurve(variant, tuple(_points(scored[variant], n_added)), baseline) for variant in VARIANTS]


def _people(
    ratings: Ratings, earlier: int, later: int, options: PassiveOptions, stream: np.random.Generator
) -> Iterator[Known]:
    """Draw targets that hold enough at the earlier release, and what is known of them."""
    assert ratings.times is not None
    held = np.add.reduceat(np.append(ratings.times <= earlier, False), ratings.indptr[:-1]) * (ratings.activity > 0)
    able = np.flatnonzero(held >= options.known)
    for user in np.sort(stream.permutation(able)[: options.targets]).tolist():
        row = ratings.row(user)
        items, times = ratings.items[row], ratings.times[row]
        before, added = items[times <= earlier], items[(times > earlier) & (times <= later)]
        known = stream.choice(before, options.known, replace=False).tolist()
        yield user, known, set(before.tolist()), set(added.tolist())


def _moves(releases: Sequence[ListRelease]) -> list[dict[int, tuple[int, int]]]:
    """Return for every list what happened in it: by item the gain since the last release, and the largest gain."""
    rows = [_positions(release.lists) for release in releases]
    depth = releases[-1].lists.top
    return [_gains([row[owner] for row in rows], depth) for owner in range(releases[-1].lists.n_items)]


def _positions(lists: Lists) -> list[dict[int, int]]:
    return [{int(item): place for place, item in enumerate(row) if item != EMPTY} for row in lists.items]


def _gains(rows: list[dict[int, int]], depth: int) -> dict[int, tuple[int, int]]:
    """Return gain and largest gain of every item of one list; an item outside stands just below the last position."""
    last, found = rows[-1], {}
    for item in set(last).union(rows[-2]):
        now = last.get(item, depth)
        gain = rows[-2].get(item, depth) - now
        largest = max(row.get(item, depth) for row in rows[:-1]) - now
        if gain or largest:
            found[item] = (gain, largest)
    return found


def _scores(person: Known, moves: list[dict[int, tuple[int, int]]], supports: Any) -> Iterator[tuple[str, float, bool]]:
    """Return for one target every item that some variant scores above 0, and whether it was added."""
    _, known, _, added = person
    scores: dict[str, dict[int, float]] = {variant: defaultdict(float) for variant in VARIANTS}
    for owner in known:
        weight = 1 / math.log(1 + max(int(supports[owner]), 1))
        for item, (gain, largest) in moves[owner].items():
            if gain > 0:
                scores["count"][item] += 1
                scores["weighted"][item] += weight
            scores["largest"][item] += max(largest, 0)
            scores["vanish"][item] += (gain > 0) - (gain < 0)
    for variant, found in scores.items():
        for item, score in found.items():
            if score > 0 and item not in known:
                yield variant, score, item in added


def _points(scored: list[tuple[float, bool]], n_added: int) -> Iterator[CurvePoint]:
    """Return accuracy and yield at a few thresholds, strictest first."""
    if not scored:
        return
    values = np.array([score for score, _ in scored])
    right = np.array([yes for _, yes in scored], np.bool_)
    levels = np.unique(values)[::-1]
    for threshold in levels[np.unique(np.linspace(0, len(levels) - 1, _STEPS).astype(int))]:
        chosen = values >= threshold
        n_right = int(right[chosen].sum())
        yield CurvePoint(
            float(threshold), wilson(n_right, int(chosen.sum())), wilson(n_right, max(n_added, n_right, 1))
        )
