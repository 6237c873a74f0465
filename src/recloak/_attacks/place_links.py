"""What people rate whose groups have a like row: taste and choice go together.

The row of a complete release is a place along the directions of its fit (`table_fit`). From people of other groups an
attacker learns, by one ridge regression for all items, how the share of members who rated an item goes with the place,
and how far out it lies: active people are known better and lie further out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.group_likelihood import GroupModel
from recloak._attacks.released_cells import count_raters
from recloak._ratings.model import Ratings

_MOST_GROUPS, _MOST_CELLS = 1000, 20_000_000
_RIDGE = 30.0
_LEAST_SHARE = 0.1  # of the popularity of an item
_LEAST, _MOST = 1e-4, 0.98

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class PlaceLinks:
    """How the share of members who rated goes with the place of a group."""

    given: Numbers  # (n_profiles, n_given)
    popularity: Numbers  # (n_items,)
    weights: Numbers  # (3, n_given, n_items): by all groups learned from, by those of part 0, by those of part 1
    is_crossed: bool = False  # whether groups are judged by the part that they do not belong to

    def crossed(self) -> PlaceLinks:
        """Return what judges each group that was learned from by the others."""
        return replace(self, is_crossed=True)

    def beyond_popularity(self, profiles: NDArray[np.integer]) -> Numbers:
        """Return the log odds of each item by the place, less those by popularity: (len(profiles), n_items)."""
        if not self.given.shape[1]:
            return np.zeros((len(profiles), len(self.popularity)))
        used = 2 - _part(profiles) if self.is_crossed else np.zeros(len(profiles), np.int64)
        moved = np.empty((len(profiles), len(self.popularity)))
        for one in np.unique(used):
            moved[used == one] = self.given[profiles[used == one]] @ self.weights[one]
        least = np.maximum(_LEAST_SHARE * self.popularity, _LEAST)
        return log_odds(np.clip(self.popularity + moved, least, _MOST)) - log_odds(self.popularity)


def log_odds(probability: NDArray[np.floating]) -> Numbers:
    """Return the logarithms of the odds, none of them endless."""
    probability = np.clip(probability.astype(np.float64), 1e-5, 1 - 1e-5)
    return np.asarray(np.log(probability) - np.log1p(-probability))


def learn_places(model: GroupModel, ratings: Ratings, half: int) -> PlaceLinks:
    """Learn from the people of every other profile; nothing where rows have no place, or there are few."""
    popularity, given = np.clip(model.popularity, _LEAST, _MOST), _given(model)
    groups = np.arange(half, model.public.n_profiles, 2)
    most = min(_MOST_GROUPS, max(_MOST_CELLS // max(ratings.n_items, 1), 1))
    groups = groups[:: -(-len(groups) // most) or 1]
    if len(groups) < 4 * given.shape[1] or not given.shape[1]:
        return PlaceLinks(given[:, :0], popularity, np.zeros((3, 0, ratings.n_items)))
    n_raters = count_raters(model.public, ratings, groups)  # (n_groups, n_items)
    shares, part = n_raters / model.public.weights[groups][:, None] - popularity, _part(groups)
    found = [_ridge(given[groups[used]], shares[used]) for used in (part >= 0, part == 0, part == 1)]
    return PlaceLinks(given, popularity, np.stack(found))


def _part(profiles: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return which of two parts each profile belongs to; neighbours in number, which one half has, differ."""
    return (profiles // 2 % 2).astype(np.int64)


def _given(model: GroupModel) -> Numbers:
    """Return the place of each profile in standard deviations, how far out it lies, and a one."""
    places: Numbers = model.places.astype(np.float64)
    if not places.shape[1]:
        return places
    scaled = (places - places.mean(axis=0)) / (places.std(axis=0) + 1e-9)
    out = np.log(np.square(scaled).sum(axis=1) + 1e-9)
    return np.column_stack((scaled, out - out.mean(), np.ones(len(scaled))))


def _ridge(given: Numbers, wanted: Numbers) -> Numbers:
    return np.asarray(np.linalg.solve(given.T @ given + _RIDGE * np.eye(given.shape[1]), given.T @ wanted))
