"""Bounded t-means: t = n // k clusters of at least k points each (Thompson and Yao 2009, as the paper uses it).

The pseudocode is not to be had, so this follows the description: every point goes to its nearest cluster; where that
makes more than k, the member that loses least moves to the nearest cluster with room; the last n mod k points stay
where they are nearest; centres are computed anew, and so on. The total distance need not fall from round to round (the
mean is not the centre of the paper's metric), so the best round is kept.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._releases.distance import PaddedRows

CENTRES = ("virtual", "real")


def bounded_means(
    rows: PaddedRows,
    users: NDArray[np.int64],
    n_clusters: int,
    k: int,
    *,
    metric: str,
    centres: str,
    rounds: int,
    stream: np.random.Generator,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Cluster users (at least k a cluster) by their rows: a label for each, and the centres of the best round."""
    shuffled = stream.permutation(len(users))
    middles = rows.of(users[shuffled[:n_clusters]])
    best, best_labels, best_middles = np.inf, np.zeros(len(users), np.int32), middles
    for _ in range(rounds):
        table = rows.distances(users, middles, metric)
        labels = assign(table, shuffled, k)
        middles = _centres(rows, users, labels, metric, centres)
        cost = float(table[np.arange(len(users)), labels].sum(dtype=np.float64))
        if cost >= best:
            break
        best, best_labels, best_middles = cost, labels, middles
    return best_labels, best_middles


def _centres(
    rows: PaddedRows, users: NDArray[np.int64], labels: NDArray[np.int32], metric: str, kind: str
) -> NDArray[np.float32]:
    """Return each cluster's mean row, or the row of the member nearest to it."""
    means = rows.means(users, labels, int(labels.max()) + 1)
    if kind == "virtual":
        return means
    table = rows.distances(users, means, metric)
    own = table[np.arange(len(users)), labels]
    by_label = np.lexsort((own, labels))
    first = np.concatenate(([0], np.cumsum(np.bincount(labels))[:-1]))
    return rows.of(users[by_label[first]])


@njit(cache=True)
def assign(table, order, k):  # type: ignore[no-untyped-def]
    """Return the cluster (column) of each point (row): k points each, and n mod k more where they are nearest."""
    n, n_clusters = table.shape
    labels, sizes = np.full(n, -1, np.int32), np.zeros(n_clusters, np.int64)
    for place in range(n):
        u = order[place]
        nearest = np.argmin(table[u])
        labels[u] = nearest
        sizes[nearest] += 1
        if place < n_clusters * k and sizes[nearest] > k:
            loser, to = _least_loss(table, labels, sizes, nearest, k)
            labels[loser] = to
            sizes[nearest] -= 1
            sizes[to] += 1
    return labels


@njit(cache=True)
def _least_loss(table, labels, sizes, full, k):  # type: ignore[no-untyped-def]
    """Find the member of a full cluster that loses least by moving to a cluster with room, and that cluster."""
    best, loser, to = np.inf, -1, -1
    for u in range(len(labels)):
        if labels[u] != full:
            continue
        for c in range(len(sizes)):
            loss = table[u, c] - table[u, full]
            if sizes[c] < k and loss < best:
                best, loser, to = loss, u, c
    return loser, to
