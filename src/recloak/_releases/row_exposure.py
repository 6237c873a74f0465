"""What the rows of this very release give away, measured on a sample of its people for the data card.

The attacker knows the method and compares likelihoods: an item stands in the row of somebody who rated it with
probability p, in any row with its frequency f, and its label lies near the person's rating. Counting items that stand
in a row would be far too kind: it finds 25 of 100 people where this finds 80. An audit has other attackers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.randomness import Rng, randomness
from recloak._ratings.assemble import transpose_rows
from recloak._ratings.model import Ratings
from recloak._releases.model.manifest import KNOWN_ITEMS, RowExposure
from recloak._releases.model.steps import Grouping
from recloak._releases.profiles import SparseProfiles

_SAMPLE = 300  # people looked at
_BUCKETS = 12  # of items by frequency, to estimate how often the item of a member is shown
_SURE = 0.999
_LOWEST = -1e6  # the score of a group that is not there
_BLOCK = 4_000_000  # cells that are looked at together, so that the cells of all rows are never copied


def measure_rows(profiles: SparseProfiles, ratings: Ratings, grouping: Grouping, rng: Rng = None) -> RowExposure:
    """Measure it on a sample; for somebody who is not in the data stands a person whose own group is left out."""
    stream = randomness(rng).stream("exposure")
    users = stream.choice(ratings.n_users, min(_SAMPLE, ratings.n_users), replace=False)
    clues = _Clues.of(profiles, ratings, grouping, users)
    whole = [np.arange(ratings.indptr[user], ratings.indptr[user + 1]) for user in users]
    known = [stream.permutation(places)[:KNOWN_ITEMS] for places in whole]
    few = np.empty((len(users), grouping.n_groups))
    own, others = np.empty(len(users)), np.full((len(users), 2), -np.inf)  # of all items: the own group, the best two
    for first, rows in _blocks(profiles):
        for n, mine in enumerate(grouping.labels[users] - first):
            few[n, first : first + rows.n_groups] = clues.scores(rows, ratings, known[n])
            full = clues.scores(rows, ratings, whole[n]) / len(whole[n])
            if 0 <= mine < rows.n_groups:
                own[n], full[mine] = full[mine], -np.inf
            others[n] = np.sort(np.append(others[n], full))[-2:]
    best = few >= few.max(axis=1, keepdims=True) - 1e-9
    found = (best[np.arange(len(users)), grouping.labels[users]] / best.sum(axis=1)).mean()
    inside = np.array([_signs(np.append(two, mine)) for two, mine in zip(others, own, strict=True)])
    outside = np.array([_signs(two) for two in others])
    return RowExposure(round(float(found), 2), round(_area(inside, outside), 2))


def _signs(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return what may tell a member: the best score, and how far it is ahead of the second."""
    first, second = np.sort(np.maximum(scores, _LOWEST))[:-3:-1]
    return float(first), float(first - second)


def _area(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    """Return the area under the curve of the best of the signs."""
    areas = 0.5 + np.sign(inside[:, None] - outside[None, :]).mean(axis=(0, 1)) / 2
    return float(areas.max())


class _Rows(NamedTuple):
    """The rows of some groups by item: item i stands in ``groups[indptr[i]:indptr[i + 1]]``, with its labels."""

    n_groups: int
    indptr: NDArray[np.int64]
    groups: NDArray[np.int32]
    labels: NDArray[np.float32]


def _blocks(profiles: SparseProfiles) -> Iterator[tuple[int, _Rows]]:
    """Yield the first group of each block and its rows."""
    first, n_groups = 0, len(profiles.indptr) - 1
    while first < n_groups:
        last = max(int(np.searchsorted(profiles.indptr, profiles.indptr[first] + _BLOCK, "right")) - 1, first + 1)
        start, stop = profiles.indptr[first], profiles.indptr[last]
        inside = profiles.indptr[first : last + 1] - start
        indptr, groups, order = transpose_rows(inside, profiles.items[start:stop], profiles.n_items)
        yield first, _Rows(last - first, indptr, groups, profiles.labels[start:stop][order])
        first = last


class _Clues(NamedTuple):
    """What the attacker knows of the method; chances and distances are measured on the sample."""

    present: NDArray[np.float64]  # (n_items,) log (p / f)
    absent: NDArray[np.float64]  # (n_items,) log ((1 - p) / (1 - f))
    item_means: NDArray[np.float64]
    near: float  # squared distance of a rating and the label of its own group
    far: float  # squared distance of a rating and its item's mean

    @classmethod
    def of(cls, profiles: SparseProfiles, ratings: Ratings, grouping: Grouping, users: NDArray[np.int64]) -> _Clues:
        """Look at the rows and at the sample."""
        places = np.concatenate([np.arange(ratings.indptr[u], ratings.indptr[u + 1]) for u in users])
        items, values = ratings.items[places], ratings.values[places].astype(np.float64)
        own = np.concatenate([_own_labels(profiles, ratings, int(u), int(grouping.labels[u])) for u in users])
        frequency = np.clip(_added(profiles.items, None, profiles.n_items) / grouping.n_groups, 1e-6, _SURE)
        probability = _probabilities(items, ~np.isnan(own), frequency)
        means = _added(ratings.items, ratings.values, ratings.n_items) / np.maximum(ratings.popularity, 1)
        near, far = np.square(own - values)[~np.isnan(own)], np.square(means[items] - values)
        return cls(
            np.log(probability / frequency), np.log((1 - probability) / (1 - frequency)), means,
            max(float(near.mean()) if len(near) else 1.0, 0.01), max(float(far.mean()), 0.01),
        )  # fmt: skip

    def scores(self, rows: _Rows, ratings: Ratings, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log-likelihood ratio of each group of a block for somebody with some of the ratings."""
        total = np.full(rows.n_groups, self.absent[ratings.items[places]].sum())
        for item, value in zip(ratings.items[places].tolist(), ratings.values[places].tolist(), strict=True):
            column = slice(rows.indptr[item], rows.indptr[item + 1])
            alike = (value - self.item_means[item]) ** 2 / (2 * self.far)
            alike = alike - (value - rows.labels[column]) ** 2 / (2 * self.near)
            total[rows.groups[column]] += self.present[item] - self.absent[item] + alike
        return total


def _own_labels(profiles: SparseProfiles, ratings: Ratings, user: int, group: int) -> NDArray[np.float64]:
    """Return the label of each of somebody's items in the row of the own group, NaN where it does not stand there."""
    items = ratings.items[ratings.indptr[user] : ratings.indptr[user + 1]]
    row = slice(profiles.indptr[group], profiles.indptr[group + 1])
    shown, labels = profiles.items[row], profiles.labels[row].astype(np.float64)
    if not len(shown):
        return np.full(len(items), np.nan)
    places = np.minimum(np.searchsorted(shown, items), len(shown) - 1)
    return np.where(shown[places] == items, labels[places], np.nan)


def _added(
    items: NDArray[np.int32], values: NDArray[np.float32] | None, n_items: int
) -> NDArray[np.float64]:  # fmt: skip
    """Add up values by item, or count items; in blocks, for bincount widens its input to 8 bytes."""
    total = np.zeros(n_items)
    for start in range(0, len(items), _BLOCK):
        part = slice(start, start + _BLOCK)
        total += np.bincount(items[part], None if values is None else values[part], n_items)
    return total


def _probabilities(
    items: NDArray[np.int32], shown: NDArray[np.bool_], frequency: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Estimate for each item how often it stands in the row of somebody who rated it, by items of like frequency."""
    edges = np.quantile(frequency[items], np.linspace(0, 1, _BUCKETS + 1)[1:-1])
    bucket = np.searchsorted(edges, frequency)
    rated = np.bincount(bucket[items], minlength=_BUCKETS)
    seen = np.bincount(bucket[items], shown, _BUCKETS)
    return np.clip(((seen + shown.mean()) / (rated + 1))[bucket], 1e-3, _SURE)
