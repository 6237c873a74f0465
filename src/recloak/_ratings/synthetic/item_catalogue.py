"""The items: how often each is to be rated, when it appears, how good it is and what it tastes like."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.randomness import Randomness
from recloak._ratings.synthetic.counts import balanced_weights, shaped_counts
from recloak._ratings.synthetic.presets import Preset, SessionHabits, Taste
from recloak._ratings.synthetic.rating_times import x_of

_BESIDES = 0.5  # how much of all themes an item has beside its main one
_PULLING = 10  # factors that are known before rating; with the themes they fill one line of the cache
_LATEST = 0.75  # no item appears after this share of the ratings, so that each can still find its raters


@dataclass(frozen=True, eq=False, slots=True)
class ItemCatalogue:
    """Per item: the wanted number of ratings, the weight that leads to it, its appearance, bias and factors."""

    popularity: NDArray[np.int64]  # (n_items,)
    weight: NDArray[np.float64]  # (n_items,)
    appears: NDArray[np.float64]  # (n_items,) as share of all ratings made before
    bias: NDArray[np.float32]  # (n_items,) mean 0 and variance 1 over the ratings
    factors: NDArray[np.float32]  # (n_items, rank) unit variance of the affinity to a standard normal user
    appeal: NDArray[np.float32]  # (n_items, themes + pulling factors) what draws users to it


def make_catalogue(shape: Preset, activity: NDArray[np.int64], n_items: int, rng: Randomness) -> ItemCatalogue:
    """Make the items for users of the given activity."""
    n_users, n_ratings = len(activity), int(activity.sum())
    popularity = shaped_counts(shape.popularity, n_items, n_ratings, at_most=n_users, rng=rng.stream("popularity"))
    appears = _appearances(shape.clock, n_items, rng.stream("appearances"))
    factors = _factors(shape.taste, n_items, rng.stream("item factors"))
    wanted = np.minimum(popularity / (1.0 - appears), 0.98 * n_users)
    return ItemCatalogue(
        popularity,
        balanced_weights(activity, np.maximum(wanted, popularity)),
        appears,
        _biases(shape.taste, popularity, rng.stream("item biases")),
        factors,
        _appeal(shape.taste, factors, popularity / n_users, rng.stream("item themes")),
    )


def _appearances(clock: SessionHabits, n_items: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw when items appear: most are there from the start, newcomers evenly over the years."""
    seconds = rng.uniform(clock.ticks[0], clock.ticks[-1], n_items)
    x = np.minimum(x_of(clock, seconds), _LATEST)
    return np.where(rng.random(n_items) < clock.newcomers, x, 0.0)


def _biases(taste: Taste, popularity: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float32]:
    """Draw item biases that correlate with log popularity, standardised over the ratings."""
    known = standardised(np.log(popularity), popularity)
    other = standardised(rng.standard_normal(len(popularity)), popularity)
    mixed = taste.quality * known + np.sqrt(1.0 - taste.quality**2) * other
    return standardised(mixed, popularity).astype(np.float32)


def _factors(taste: Taste, n_items: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Draw item factors whose k-th column has variance proportional to k^-decay, all columns together 1."""
    variance = np.arange(1, taste.rank + 1) ** -taste.decay
    spread = np.sqrt(variance / variance.sum())
    return (rng.standard_normal((n_items, taste.rank)) * spread).astype(np.float32)


def _appeal(
    taste: Taste, factors: NDArray[np.float32], reach: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float32]:
    """Put the pull of the first factors beside the themes: a main one and some of all, weaker where most users rate."""
    n_items = len(factors)
    themes = rng.standard_normal((n_items, taste.themes)) * (_BESIDES / np.sqrt(taste.themes))
    themes[np.arange(n_items), rng.integers(taste.themes, size=n_items)] += 1.0
    themes *= (taste.interest * (1.0 - reach) / np.linalg.norm(themes, axis=1))[:, None]
    return np.concatenate((themes, taste.pull * factors[:, :_PULLING]), axis=1).astype(np.float32)


def standardised(values: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Shift and scale to weighted mean 0 and variance 1; equal values become 0."""
    centred = values - np.average(values, weights=weights)
    spread = float(np.sqrt(np.average(centred**2, weights=weights)))
    return centred / spread if spread > 0 else centred
