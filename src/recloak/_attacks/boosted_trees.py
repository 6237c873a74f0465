"""Boosted trees for yes-or-no questions: what the learned observer of related lists learns with.

J. H. Friedman, *Greedy Function Approximation: A Gradient Boosting Machine* (2001), with the second-order steps of
T. Chen and C. Guestrin, *XGBoost* (2016), equations 5 to 7. Signs are cut into at most `N_BINS` bins first. A tree has
`DEPTH` questions on the way to each leaf; the leaf adds -G / (H + ridge) to the log odds, where G and H are the sums of
the first and second derivatives of the logistic loss over the rows that end there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.progress import task
from recloak._core.threads import in_shares

N_BINS = 32
DEPTH = 4
_TREES = 60
_RATE = 0.2  # how much of each step is taken
_RIDGE = 8.0
_ROWS = 40_000  # drawn anew for every tree
_INNER = 2**DEPTH - 1  # questions of a tree
_MOST_ODDS = 12.0


@dataclass(frozen=True, eq=False, slots=True)
class Trees:
    """Trees whose answers add up to log odds; node n asks ``sign <= cut`` and goes on at 2n + 1 (yes) or 2n + 2."""

    edges: tuple[NDArray[np.float32], ...]  # of the bins of every sign
    signs: NDArray[np.int32]  # (n_trees, _INNER)
    cuts: NDArray[np.uint8]  # (n_trees, _INNER)
    leaves: NDArray[np.float64]  # (n_trees, 2**DEPTH)
    prior: float

    def log_odds(self, signs: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the log odds of yes for every row of signs."""
        return _log_odds(self, binned(signs, self.edges))


def learn(
    signs: NDArray[np.float32],
    answers: NDArray[np.bool_],
    weights: NDArray[np.float64],
    *,
    stream: np.random.Generator,
    n_trees: int = _TREES,
) -> Trees:
    """Learn yes or no from rows of signs; a row counts as often as its weight says."""
    edges = tuple(_edges(column) for column in signs.T)
    bins, n_signs = binned(signs, edges), signs.shape[1]
    share = float(np.clip(np.average(answers, weights=weights), 1e-9, 1 - 1e-9))
    prior = float(np.log(share) - np.log1p(-share))
    odds = np.full(len(signs), prior)
    grown = _empty(edges, n_trees, prior)
    sums = np.zeros((_INNER + 1, n_signs, N_BINS, 2))
    with task("learning", n_trees) as advance:
        for tree in range(n_trees):
            rows = np.sort(stream.integers(0, len(signs), min(_ROWS, len(signs))))
            believed = 1 / (1 + np.exp(-odds))
            slope, curve = (weights * (believed - answers)), weights * believed * (1 - believed)
            place = grown.signs[tree], grown.cuts[tree], grown.leaves[tree]
            _grow(bins, rows, slope, curve, sums, *place)
            in_shares(_add, len(bins), bins, *(one[None] for one in place), odds)
            np.clip(odds, -_MOST_ODDS, _MOST_ODDS, out=odds)
            advance(1)
    return grown


def _empty(edges: tuple[NDArray[np.float32], ...], n_trees: int, prior: float) -> Trees:
    shape = (n_trees, _INNER)
    signs, cuts = np.zeros(shape, np.int32), np.full(shape, N_BINS, np.uint8)
    return Trees(edges, signs, cuts, np.zeros((n_trees, _INNER + 1)), prior)


def _log_odds(trees: Trees, bins: NDArray[np.uint8]) -> NDArray[np.float64]:
    odds = np.full(len(bins), trees.prior)
    in_shares(_add, len(bins), bins, trees.signs, trees.cuts, trees.leaves, odds)
    return odds


def _edges(column: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the upper ends of all bins but the last: all values where few occur, else quantiles."""
    sample = column[:: max(len(column) // 100_000, 1)]
    values = np.unique(sample)
    if len(values) > N_BINS:
        values = np.unique(np.quantile(sample[sample > sample.min()], np.linspace(0, 1, N_BINS), method="lower"))
        values = np.union1d(values, sample.min())
    return values[:-1][: N_BINS - 1].astype(np.float32)


def binned(signs: NDArray[np.float32], edges: tuple[NDArray[np.float32], ...]) -> NDArray[np.uint8]:
    """Return the bin of every sign: (n_rows, n_signs)."""
    bins = np.empty(signs.shape, np.uint8)
    for sign, ends in enumerate(edges):
        bins[:, sign] = np.searchsorted(ends, signs[:, sign], side="left")
    return bins


@njit(cache=True, nogil=True)
def _add(share, n_shares, bins, signs, cuts, leaves, odds):  # type: ignore[no-untyped-def]
    """Add what every tree says of each row; a share is one stretch of rows, which lie side by side in memory."""
    n_inner = signs.shape[1]
    for x in range(share * len(bins) // n_shares, (share + 1) * len(bins) // n_shares):
        for tree in range(len(signs)):
            node = 0
            while node < n_inner:
                node = 2 * node + (1 if bins[x, signs[tree, node]] <= cuts[tree, node] else 2)
            odds[x] += leaves[tree, node - n_inner]


@njit(cache=True)
def _best_cut(sums, signs, cuts, node):  # type: ignore[no-untyped-def]
    """Write the question that lowers the loss most; where none does, everything goes on as yes."""
    best = 1e-6
    for f in range(sums.shape[0]):
        g_all, h_all = 0.0, 0.0
        for b in range(sums.shape[1]):
            g_all += sums[f, b, 0]
            h_all += sums[f, b, 1]
        g, h = 0.0, 0.0
        for b in range(sums.shape[1] - 1):
            g += sums[f, b, 0]
            h += sums[f, b, 1]
            rest = g_all - g
            gain = g * g / (h + _RIDGE) + rest * rest / (h_all - h + _RIDGE) - g_all * g_all / (h_all + _RIDGE)
            if gain > best:
                best, signs[node], cuts[node] = gain, f, b


@njit(cache=True)
def _grow(bins, rows, slope, curve, sums, signs, cuts, leaves):  # type: ignore[no-untyped-def]
    """Grow one tree, level by level, over some of the rows."""
    n_signs = sums.shape[1]
    nodes = np.zeros(len(rows), np.int32)
    first = 0
    while first < len(signs):
        sums[: first + 1] = 0.0
        for k in range(len(rows)):
            x, at = rows[k], nodes[k] - first
            for f in range(n_signs):
                sums[at, f, bins[x, f], 0] += slope[x]
                sums[at, f, bins[x, f], 1] += curve[x]
        for at in range(first + 1):
            _best_cut(sums[at], signs, cuts, first + at)
        for k in range(len(rows)):
            node = nodes[k]
            nodes[k] = 2 * node + (1 if bins[rows[k], signs[node]] <= cuts[node] else 2)
        first = 2 * first + 1
    below = np.full(len(leaves), _RIDGE)
    for k in range(len(rows)):
        leaves[nodes[k] - first] -= slope[rows[k]]
        below[nodes[k] - first] += curve[rows[k]]
    for leaf in range(len(leaves)):
        leaves[leaf] = _RATE * leaves[leaf] / below[leaf]
