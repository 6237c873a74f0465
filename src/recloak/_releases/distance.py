"""Distances between padded rows: the paper's metrics, item by item, in blocks of rows.

Each is the mean over the items of a function of ``d = |x - y|`` and lies in [0, 1]; s is the span of the scale:

- ``squared``           (d / s)^2
- ``weighted-squared``  1 - (1 - d / s)^2, the paper's own (002, section 4.2), which it calls a similarity; it is 0 for
                        equal rows and concave, so it does not punish large differences more than small ones
- ``weighted``          a weight per range of d / s. The paper (002, section 7.3) does not print its ranges; ours are
                        below 1/8: 0, below 1/4: 1/4, below 1/2: 1/2, below 3/4: 3/4, above: 1
- ``closeness-a``       the share of the items with d > a, a in stars (the complement of the paper's count)

A padded row is the prediction inside the scale, with the user's own ratings in their cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Padding
from recloak._releases.ordered_sums import LANES

METRICS = ("squared", "weighted-squared", "weighted", "closeness-0.5", "closeness-1.0")
_CELLS = 4_000_000  # cells of a block of rows: 16 MB


@dataclass(frozen=True, eq=False, slots=True)
class PaddedRows:
    """The padded rows, made when asked for."""

    padding: Padding
    ratings: Ratings | None = None

    def of(self, users: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the rows of a few users: (len(users), n_items)."""
        rows = self.padding.scale.clip(self.padding.rows(users)).astype(np.float32)
        if self.ratings is not None:
            for place, user in enumerate(users):
                rated = self.ratings.row(user)
                rows[place, self.ratings.items[rated]] = self.ratings.values[rated]
        return rows

    def blocks(self, users: NDArray[np.integer]) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Return the rows of many users, a block at a time, each with its place among the users."""
        step = max(1, _CELLS // max(1, self.padding.shape[1]))
        for start in range(0, len(users), step):
            part = slice(start, min(start + step, len(users)))
            yield part, self.of(users[part])

    def means(self, users: NDArray[np.integer], labels: NDArray[np.integer], n_means: int) -> NDArray[np.float32]:
        """Return the mean row of each label: (n_means, n_items); a label that nobody has gets zeros."""
        sums = np.zeros((n_means, self.padding.shape[1]))
        for part, rows in self.blocks(users):
            own = labels[part]
            pick = scipy.sparse.csr_array((np.ones(len(own)), (own, np.arange(len(own)))), shape=(n_means, len(own)))
            sums += pick @ rows
        sizes = np.bincount(labels, minlength=n_means)
        return (sums / np.maximum(sizes, 1)[:, None]).astype(np.float32)

    def distances(self, users: NDArray[np.integer], centres: NDArray[np.float32], metric: str) -> NDArray[np.float32]:
        """Return the distance of each user to each centre: (len(users), len(centres))."""
        table = np.empty((len(users), len(centres)), np.float32)
        for part, rows in self.blocks(users):
            table[part] = distances(rows, centres, metric, self.padding.scale.span)
        return table


def distances(rows: NDArray[np.float32], centres: NDArray[np.float32], metric: str, span: float) -> NDArray[np.float32]:
    """Return the distance of each row to each centre; a scale of one value has no distances but 0."""
    kind = METRICS.index(metric)
    threshold = float(metric.removeprefix("closeness-")) if kind >= _CLOSENESS else 0.0
    scale = np.float32(1.0 / span if span > 0 else 0.0)
    table = np.empty((len(rows), len(centres)), np.float32)
    in_shares(_distances, len(rows), rows, centres, kind, scale, np.float32(threshold), table, little=64)
    return table


_SQUARED, _WEIGHTED_SQUARED, _WEIGHTED, _CLOSENESS = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def _distances(share, n_shares, rows, centres, kind, scale, threshold, table):  # type: ignore[no-untyped-def]
    for r in range(share, len(rows), n_shares):
        for c in range(len(centres)):
            if kind == _SQUARED:
                table[r, c] = _squared(rows, r, centres, c, scale)
            elif kind == _WEIGHTED_SQUARED:
                table[r, c] = _weighted_squared(rows, r, centres, c, scale)
            elif kind == _WEIGHTED:
                table[r, c] = _weighted(rows, r, centres, c, scale)
            else:
                table[r, c] = _farther(rows, r, centres, c, threshold)


@njit(cache=True, nogil=True)
def _squared(rows, r, centres, c, scale):  # type: ignore[no-untyped-def]
    totals = np.zeros(LANES, np.float32)  # side by side, in an order that is the same everywhere
    for first in range(0, rows.shape[1], LANES):
        for lane in range(min(LANES, rows.shape[1] - first)):
            d = (rows[r, first + lane] - centres[c, first + lane]) * scale
            totals[lane] += d * d
    return totals.sum() / rows.shape[1]


@njit(cache=True, nogil=True)
def _weighted_squared(rows, r, centres, c, scale):  # type: ignore[no-untyped-def]
    totals = np.zeros(LANES, np.float32)
    for first in range(0, rows.shape[1], LANES):
        for lane in range(min(LANES, rows.shape[1] - first)):
            d = abs(rows[r, first + lane] - centres[c, first + lane]) * scale
            totals[lane] += d * (np.float32(2) - d)
    return totals.sum() / rows.shape[1]


@njit(cache=True, nogil=True)
def _weighted(rows, r, centres, c, scale):  # type: ignore[no-untyped-def]
    """Count a quarter for each of the bounds 1/8, 1/4, 1/2 and 3/4 that the difference reaches."""
    reached = 0
    for i in range(rows.shape[1]):
        d = abs(rows[r, i] - centres[c, i]) * scale
        reached += (d >= np.float32(0.125)) + (d >= np.float32(0.25)) + (d >= np.float32(0.5)) + (d >= np.float32(0.75))
    return reached / (4.0 * rows.shape[1])


@njit(cache=True, nogil=True)
def _farther(rows, r, centres, c, threshold):  # type: ignore[no-untyped-def]
    farther = 0
    for i in range(rows.shape[1]):
        farther += abs(rows[r, i] - centres[c, i]) > threshold
    return farther / rows.shape[1]
