"""How the shape of the data changed: histogram, density, popularity, edges added, similarity of users.

Table 2 and figures 3 and 4 of Chang et al. (the older report), computed on blocks or samples, so that nothing is as
large as users times items.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Public
from recloak._attacks.public_columns import support, users_by_label
from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Padding

METRICS = ("closeness-0.5", "closeness-1.0", "weighted", "weighted-squared")
_BINS = 20
_BLOCK = 256
_PAIR_USERS = 200  # users whose pairs are compared


def shape(ratings: Ratings, public: Public) -> dict[str, Any]:
    """Compare the released cells with the original ones."""
    popularity = support(public)
    edges = int(popularity.sum())
    return {
        "density": {"original": ratings.density, "release": edges / max(public.n_users * public.n_items, 1)},
        "edges_added": edges - ratings.n_ratings,
        "cells": public.n_cells,
        "group_sizes": _counts(public.weights),
        "histogram": {
            "original": histogram(ratings.values, ratings),
            "release": histogram(public.values, ratings, users_by_label(public)),
        },
        "popularity_distance": popularity_distance(ratings.popularity, popularity),
    }


def histogram(
    values: NDArray[np.floating], ratings: Ratings, weights: NDArray[np.integer] | None = None
) -> dict[str, float]:
    """Return the share of values nearest to each step of the scale (to each tenth of it if it has no steps)."""
    scale = ratings.scale
    step = scale.step if scale.step and scale.span / scale.step <= 100 else scale.span / 10 or 1.0
    n_steps = round(scale.span / step) + 1
    nearest = np.clip(np.rint((values - scale.low) / step), 0, n_steps - 1).astype(np.int64)
    counts = np.bincount(nearest, weights, minlength=n_steps)
    return {f"{scale.low + step * n:g}": float(count / max(counts.sum(), 1)) for n, count in enumerate(counts)}


def padded_histogram(ratings: Ratings, padding: Padding, *, most_users: int, rng: Randomness) -> dict[str, float]:
    """Return the histogram of the padded matrix (table 2 after padding) over a sample of its rows."""
    users = _sample(ratings.n_users, most_users, rng)
    total: dict[str, float] = {}
    for first in range(0, len(users), _BLOCK):
        block = users[first : first + _BLOCK]
        share = histogram(padded_rows(ratings, padding, block).ravel(), ratings)
        for place, value in share.items():
            total[place] = total.get(place, 0.0) + value * len(block) / len(users)
    return total


def padded_rows(ratings: Ratings, padding: Padding, users: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return padded rows: predictions inside the scale, and the ratings of rated cells."""
    rows = np.clip(padding.rows(users), ratings.scale.low, ratings.scale.high)
    for place, user in enumerate(users):
        row = ratings.row(int(user))
        rows[place, ratings.items[row]] = ratings.values[row]
    return rows


def popularity_distance(original: NDArray[np.integer], released: NDArray[np.integer]) -> float:
    """Return the total variation distance of the items' shares of all ratings: 0 equal, 1 nothing in common."""
    p, q = original / max(original.sum(), 1), released / max(released.sum(), 1)
    return float(np.abs(p - q).sum() / 2)


def _counts(numbers: NDArray[np.integer]) -> dict[int, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


Shares = dict[str, tuple[float, ...]]  # metric -> shares of the pairs by distance in twentieths


def pairwise(ratings: Ratings, padding: Padding, users: NDArray[np.integer]) -> Shares:
    """Return for each metric the shares of user pairs by distance in twentieths (figure 4)."""
    return _shares_of(ratings, padding, users, *np.triu_indices(len(users), 1))


def pairs_within(ratings: Ratings, padding: Padding, owner: NDArray[np.integer], users: NDArray[np.integer]) -> Shares:
    """Return the same for the pairs who are in one group."""
    one, two = np.triu_indices(len(users), 1)
    same = owner[users[one]] == owner[users[two]]
    return _shares_of(ratings, padding, users, one[same], two[same])


def compare_pairs(ratings: Ratings, padding: Padding, owner: NDArray[np.integer], rng: Randomness) -> dict[str, Shares]:
    """Compare pairs of any users with pairs inside whole groups drawn at random."""
    anyone = _sample(ratings.n_users, _PAIR_USERS, rng)
    order = rng.stream("groups").permutation(int(owner.max()) + 1)[owner]  # groups in random order
    by_group = np.argsort(order, kind="stable")[:_PAIR_USERS]
    pairs = {
        "any two people": pairwise(ratings, padding, anyone),
        "two of one group": pairs_within(ratings, padding, owner, by_group),
    }
    return {name: shares for name, shares in pairs.items() if shares}


def _shares_of(
    ratings: Ratings, padding: Padding, users: NDArray[np.integer], one: NDArray[np.intp], two: NDArray[np.intp]
) -> Shares:
    rows = padded_rows(ratings, padding, users)
    distances: dict[str, list[NDArray[np.float64]]] = {metric: [] for metric in METRICS}
    for first in range(0, len(one), _BLOCK):
        off = np.abs(rows[one[first : first + _BLOCK]] - rows[two[first : first + _BLOCK]])
        for metric, block in _distances(off, ratings.scale.span or 1.0).items():
            distances[metric].append(block)
    return {metric: _shares(np.concatenate(blocks)) for metric, blocks in distances.items() if blocks}


def _distances(off: NDArray[np.float32], span: float) -> dict[str, NDArray[np.float64]]:
    """Return the paper's four distances of pairs from absolute differences: (n_pairs, n_items) -> (n_pairs,)."""
    d = off / span
    return {
        "closeness-0.5": (off > 0.5).mean(axis=1),
        "closeness-1.0": (off > 1.0).mean(axis=1),
        "weighted": d.mean(axis=1, dtype=np.float64),
        "weighted-squared": 1 - ((1 - d) ** 2).mean(axis=1, dtype=np.float64),
    }


def _shares(distances: NDArray[np.float64]) -> tuple[float, ...]:
    counts, _ = np.histogram(distances, bins=_BINS, range=(0.0, 1.0))
    return tuple((counts / max(len(distances), 1)).tolist())


def _sample(n: int, most: int, rng: Randomness) -> NDArray[np.int64]:
    return np.arange(n) if n <= most else np.sort(rng.stream("sample").choice(n, most, replace=False))
