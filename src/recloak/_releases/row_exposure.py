"""What the rows of this very release give away, measured on a sample of its people for the data card.

The attacker knows the method and compares likelihoods: an item stands in the row of somebody who rated it with
probability p, in any row with its frequency f, and its label lies near the person's rating. Counting items that stand
in a row would be far too kind: it finds 25 of 100 people where this finds 80. An audit has other attackers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings
from recloak._releases.model.manifest import KNOWN_ITEMS, RowExposure
from recloak._releases.model.steps import Grouping
from recloak._releases.profiles import SparseProfiles

_SAMPLE = 300  # people looked at
_BUCKETS = 12  # of items by frequency, to estimate how often the item of a member is shown
_SURE = 0.999


def measure_rows(profiles: SparseProfiles, ratings: Ratings, grouping: Grouping, rng: Rng = None) -> RowExposure:
    """Measure it on a sample; for somebody who is not in the data stands a person whose own group is left out."""
    stream = randomness(rng).stream("exposure")
    users = stream.choice(ratings.n_users, min(_SAMPLE, ratings.n_users), replace=False)
    rows = _Rows.of(profiles, ratings, grouping, users)
    found, inside, outside = 0.0, [], []
    for user in users:
        own, places = grouping.labels[user], np.arange(ratings.indptr[user], ratings.indptr[user + 1])
        scores = rows.scores(ratings, stream.permutation(places)[:KNOWN_ITEMS])
        best = scores >= scores.max() - 1e-9
        found += best[own] / np.count_nonzero(best)
        scores = rows.scores(ratings, places) / len(places)
        inside.append(_signs(scores))
        outside.append(_signs(np.delete(scores, own)))
    return RowExposure(round(float(found / len(users)), 2), round(_area(np.array(inside), np.array(outside)), 2))


def _signs(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return what may tell a member: the best score, and how far it is ahead of the second."""
    first, second = np.sort(np.append(scores, [-1e6, -1e6]))[:-3:-1]
    return float(first), float(first - second)


def _area(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    """Return the area under the curve of the best of the signs."""
    areas = 0.5 + np.sign(inside[:, None] - outside[None, :]).mean(axis=(0, 1)) / 2
    return float(areas.max())


class _Rows(NamedTuple):
    """The rows by item, as far as items of the sample go, and what the attacker knows of the method."""

    n_groups: int
    groups: dict[int, NDArray[np.int64]]  # groups in whose row an item stands
    labels: dict[int, NDArray[np.float32]]
    present: NDArray[np.float64]  # (n_items,) log (p / f)
    absent: NDArray[np.float64]  # (n_items,) log ((1 - p) / (1 - f))
    item_means: NDArray[np.float64]
    near: float  # squared distance of a rating and the label of its own group
    far: float  # squared distance of a rating and its item's mean

    @classmethod
    def of(cls, profiles: SparseProfiles, ratings: Ratings, grouping: Grouping, users: NDArray[np.int64]) -> _Rows:
        """Look at the rows; chances and distances are measured on the sample."""
        places = np.concatenate([np.arange(ratings.indptr[u], ratings.indptr[u + 1]) for u in users])
        owners = np.repeat(grouping.labels[users], np.diff(ratings.indptr)[users])
        items, values = ratings.items[places], ratings.values[places].astype(np.float64)
        groups, labels = _by_item(profiles, np.unique(items))
        shown = [_label_in(groups[i], labels[i], g) for i, g in zip(items.tolist(), owners.tolist(), strict=True)]
        own = np.array(shown, np.float64)  # NaN where the item does not stand in the own row
        frequency = np.clip(np.bincount(profiles.items, minlength=profiles.n_items) / grouping.n_groups, 1e-6, _SURE)
        probability = _probabilities(items, ~np.isnan(own), frequency)
        means = np.bincount(ratings.items, ratings.values, ratings.n_items) / np.maximum(ratings.popularity, 1)
        near, far = np.square(own - values)[~np.isnan(own)], np.square(means[items] - values)
        return cls(
            grouping.n_groups, groups, labels,
            np.log(probability / frequency), np.log((1 - probability) / (1 - frequency)), means,
            max(float(near.mean()) if len(near) else 1.0, 0.01), max(float(far.mean()), 0.01),
        )  # fmt: skip

    def scores(self, ratings: Ratings, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log-likelihood ratio of each group for somebody with some of the ratings."""
        total = np.full(self.n_groups, self.absent[ratings.items[places]].sum())
        for item, value in zip(ratings.items[places].tolist(), ratings.values[places].tolist(), strict=True):
            alike = (value - self.item_means[item]) ** 2 / (2 * self.far)
            alike = alike - (value - self.labels[item]) ** 2 / (2 * self.near)
            total[self.groups[item]] += self.present[item] - self.absent[item] + alike
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


def _by_item(
    profiles: SparseProfiles, items: NDArray[np.int32]
) -> tuple[dict[int, NDArray[np.int64]], dict[int, NDArray[np.float32]]]:
    """Return the groups in whose rows each of some items stands, ascending, and the labels there."""
    wanted = np.zeros(profiles.n_items, bool)
    wanted[items] = True
    places = np.flatnonzero(wanted[profiles.items])
    places = places[np.argsort(profiles.items[places], kind="stable")]
    groups = np.searchsorted(profiles.indptr, places, side="right") - 1
    cuts = np.searchsorted(profiles.items[places], items)[1:]
    names = items.tolist()
    return (
        dict(zip(names, np.split(groups, cuts), strict=True)),
        dict(zip(names, np.split(profiles.labels[places], cuts), strict=True)),
    )


def _label_in(groups: NDArray[np.int64], labels: NDArray[np.float32], group: int) -> float:
    place = int(np.searchsorted(groups, group))
    return float(labels[place]) if place < len(groups) and groups[place] == group else float("nan")
