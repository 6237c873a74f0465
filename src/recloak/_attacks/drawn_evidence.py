"""What the rows drawn for a group say of its members, to somebody who knows how rows are drawn.

A member who rated item i adds one to the group's tally, of which as many ratings are drawn as it holds: the rows of the
group then hold i about ``1 - boost`` times more often than the ``mu = |C| p_i a_g`` times that its popularity p_i and
the group's activity a_g lead one to expect. So a count n is ``exp(-d) (1 + d / mu)^n`` times likelier, d = 1 - boost,
if a certain person is in the group and rated i. An item missing from all rows says little, unlike in a pure release.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Public
from recloak._attacks.released_cells import rows_of
from recloak._core.compiling import njit

_LEAST_EXPECTED = 1e-3
_SHRUNK = 4.0  # rows with the item's mean that are added to those of a group


def activity(public: Public) -> NDArray[np.float64]:
    """Return how many ratings a row of each profile has, 1 on average."""
    assert public.drawn is not None
    totals = np.bincount(public.holders, public.drawn.counts, public.n_profiles) / np.maximum(public.weights, 1)
    return np.maximum(totals, 1) / np.maximum(totals, 1).mean()


def added(public: Public) -> float:
    """Return how often an item that a member rated is drawn on top of what is expected."""
    assert public.drawn is not None
    return max(1.0 - public.drawn.boost, 0.02)


def counts_of(public: Public, profiles: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return in how many rows of each of some profiles each item stands: (len(profiles), n_items)."""
    assert public.drawn is not None
    counts = public.drawn.counts
    values = np.arange(int(counts.max(initial=0)) + 1, dtype=np.float32)
    return np.nan_to_num(rows_of(replace(public, codes=counts, values=values, drawn=None), profiles), nan=0.0)


def evidence(
    public: Public,
    counts: NDArray[np.floating],
    expected: NDArray[np.float64],
    already: NDArray[np.float64] | float = 0.0,
) -> NDArray[np.float64]:
    """Return the log of how much likelier counts are if one more member rated; ``already`` is known of others."""
    more = added(public)
    usual = np.maximum(expected + more * already, _LEAST_EXPECTED)
    return np.asarray(counts * np.log1p(more / usual) - more)


def member_odds(public: Public, profiles: NDArray[np.integer], probability: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the chance that a member of each profile rated each item; ``probability`` is that before looking."""
    expected = public.weights[profiles][:, None] * probability
    odds = np.log(probability) - np.log1p(-probability) + evidence(public, counts_of(public, profiles), expected)
    return (1 / (1 + np.exp(-np.clip(odds, -30, 30)))).astype(np.float32)


@njit(cache=True, nogil=True)
def score_drawn(columns, counts, items, ratings, probabilities, means, active, sizes, given, taste, presence):  # type: ignore[no-untyped-def]
    """Add what known ratings say for each group; presence counts double, for `total` halves what pure rows say."""
    more, noise = given
    for c in range(len(items)):
        item, before = items[c], (ratings[c] - means[c]) ** 2
        for g in range(len(presence)):
            presence[g] -= 2.0 * more
        for place in range(columns.indptr[item], columns.indptr[item + 1]):
            g, n = columns.holders[place - columns.shift[item]], counts[place]
            usual = max(sizes[g] * probabilities[c] * active[g], _LEAST_EXPECTED)
            presence[g] += 2.0 * n * np.log(1.0 + more / usual)
            label = columns.values[columns.codes[place]]
            liked = means[c] + n / (n + _SHRUNK) * (label - means[c])
            taste[g] += 0.5 * (before - (ratings[c] - liked) ** 2) / (noise * noise)
