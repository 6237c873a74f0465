"""How surely the rows of this very release give away who used a rare item, for its data card.

Means over people hide the few. An attacker who picks the surest claims, "all members of this group used that rare
item", is right more often than any mean tells. In rows with every item the surest are the highest propensities, those
furthest above the item's mean, or those furthest ahead of every other group. Rows that show the items of their members
say it themselves: if 12 people used an item and 15 have rows with it, 12 of 15 did. An audit has other attackers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Grouping
from recloak._releases.profiles import FullProfiles, Profiles, SparseProfiles
from recloak._releases.propensity_rows import COMMON

_LEVELS = (20, 50, 100)  # people whom the surest claims speak of
_MOST_CELLS = 20_000_000  # beyond, items are drawn
_BLOCK = 2_000_000
_KEPT = 400  # cells of each block and way that may be among the surest

_Cells = tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]  # scores, groups, items


def surest_claim(profiles: Profiles, ratings: Ratings, grouping: Grouping, rng: Rng = None) -> float | None:
    """Return the share of people of whom the worst of the surest claims is right, in hundredths; None of no claim."""
    if grouping.n_groups < 2:
        return None
    rare = np.flatnonzero((ratings.popularity >= 2) & (ratings.popularity < COMMON * ratings.n_users))
    if isinstance(profiles, SparseProfiles):
        found = _by_rows(profiles, ratings, grouping)[rare]
    else:
        assert isinstance(profiles, FullProfiles)
        some = max(_MOST_CELLS // max(grouping.n_groups, 1), 1)
        rare = np.sort(randomness(rng).stream("rare items").permutation(rare)[:some])
        found = np.array(
            [_right(way, ratings, grouping, people) for way in _ways(profiles, rare) for people in _LEVELS]
        )
    return round(float(found.max()), 2) if len(found) else None


def _by_rows(profiles: SparseProfiles, ratings: Ratings, grouping: Grouping) -> NDArray[np.float64]:
    """Return the users of each item as a share of the people whose rows show it."""
    members = np.zeros(profiles.n_items)
    for first in range(0, grouping.n_groups, 1 << 12):
        part = slice(first, first + (1 << 12))
        cells = profiles.items[profiles.indptr[first] : profiles.indptr[min(part.stop, grouping.n_groups)]]
        members += np.bincount(cells, np.repeat(grouping.sizes[part], profiles.counts[part]), profiles.n_items)
    share: NDArray[np.float64] = ratings.popularity / np.maximum(members, 1)
    return share


def _ways(profiles: FullProfiles, items: NDArray[np.int64]) -> Iterator[_Cells]:
    """Yield the surest cells by each way to score them."""
    step = max(_BLOCK // max(len(profiles.counts), 1), 1)
    blocks = [_scored(profiles, items[first : first + step]) for first in range(0, len(items), step)]
    for ways in zip(*blocks, strict=True):
        scores, groups, columns = (np.concatenate(one) for one in zip(*ways, strict=True))
        order = np.argsort(-scores, kind="stable")[:_KEPT]
        yield scores[order], groups[order], columns[order]


def _scored(profiles: FullProfiles, items: NDArray[np.int64]) -> list[_Cells]:
    """Return the surest cells of some items: by propensity, above the item's mean, ahead of all other groups."""
    labels = profiles.columns(items)  # (n_groups, n_items)
    second, first = np.partition(labels, -2, axis=0)[-2:]
    lead = np.where(labels == first, first - second, np.float32(-1))
    found = []
    for scores in (labels, labels - labels.mean(axis=0), lead):
        place = np.argpartition(-scores.ravel(), min(_KEPT, scores.size - 1))[:_KEPT]
        groups, columns = np.unravel_index(np.sort(place), scores.shape)
        found.append((scores[groups, columns], groups, items[columns]))
    return found


def _right(cells: _Cells, ratings: Ratings, grouping: Grouping, people: int) -> float:
    """Return the share of members who used the item, in the surest cells that hold so many people; ties go together."""
    scores, groups, items = cells
    held = np.cumsum(grouping.sizes[groups])
    end = int(np.searchsorted(scores < scores[min(int(np.searchsorted(held, people)), len(scores) - 1)], True))
    starts, members = grouping.members()
    used = 0
    for group, item in zip(groups[:end].tolist(), items[:end].tolist(), strict=True):
        for user in members[starts[group] : starts[group + 1]].tolist():
            used += item in ratings.items[ratings.indptr[user] : ratings.indptr[user + 1]]
    return used / int(held[end - 1])
