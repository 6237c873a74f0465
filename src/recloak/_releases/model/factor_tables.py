"""The tables of the layout `factors`: a few numbers for each group and item, from which every cell follows.

Of group g and item i, with the mean m, the biases b and the factors p and q, all of them published,

    r_gi = m + b_g + b_i + p_g . q_i

brought inside the scale. The numbers are multiples of a published precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.frozen import make_read_only
from recloak._core.results import sizes_only

_MOST_CELLS = 4_000_000  # that are computed at once, in double precision


@dataclass(frozen=True, eq=False, slots=True)
class FactorTables:
    """The published numbers of groups and items; cells are computed from them on demand."""

    mean: float
    group_bias: NDArray[np.float32]  # (n_groups,)
    group_factors: NDArray[np.float32]  # (n_groups, rank)
    item_bias: NDArray[np.float32]  # (n_items,)
    item_factors: NDArray[np.float32]  # (n_items, rank)
    low: float
    high: float

    __repr__ = sizes_only

    def __post_init__(self) -> None:
        make_read_only(self.group_bias, self.group_factors, self.item_bias, self.item_factors)

    @property
    def rank(self) -> int:
        """Number of factors."""
        return self.item_factors.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_groups, n_items)``."""
        return len(self.group_bias), len(self.item_bias)

    def cells(self, groups: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return one cell for each (group, item) pair."""
        found = np.empty(len(groups), np.float32)
        step = max(_MOST_CELLS // max(self.rank, 1), 1)
        for first in range(0, len(groups), step):
            g, i = groups[first : first + step], items[first : first + step]
            dots = np.einsum("cf,cf->c", self.group_factors[g], self.item_factors[i], dtype=np.float64)
            found[first : first + step] = self._inside(self.group_bias[g].astype(np.float64) + self.item_bias[i] + dots)
        return found

    def block(self, groups: NDArray[np.integer] | slice, items: NDArray[np.integer] | slice) -> NDArray[np.float32]:
        """Return the cells of some groups and items: (len(groups), len(items)). Ask for blocks, never for all."""
        factors, bias = self.item_factors[items].astype(np.float64), self.item_bias[items].astype(np.float64)
        rows, own = self.group_factors[groups], self.group_bias[groups]
        found = np.empty((len(own), len(bias)), np.float32)
        step = max(_MOST_CELLS // max(len(bias), 1), 1)
        for first in range(0, len(own), step):
            part = slice(first, first + step)
            dots = rows[part].astype(np.float64) @ factors.T
            found[part] = self._inside(dots + own[part, None] + bias)
        return found

    def column_means(self, weights: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the mean of the cells of each item, each group counting by its weight.

        Of an item none of whose cells reaches an end of the scale the mean is linear in the groups.
        """
        shares: NDArray[np.float64] = weights / max(int(weights.sum()), 1)
        bias, factors = self.item_bias.astype(np.float64), self.item_factors.astype(np.float64)
        means = self.mean + bias + shares @ self.group_bias + factors @ (shares @ self.group_factors)
        longest = float(np.linalg.norm(self.group_factors.astype(np.float64), axis=1).max(initial=0.0))
        reach = np.linalg.norm(factors, axis=1) * longest + float(np.abs(self.group_bias).max(initial=0.0))
        cut = np.flatnonzero((self.mean + bias - reach < self.low) | (self.mean + bias + reach > self.high))
        step, groups = max(_MOST_CELLS // max(len(shares), 1), 1), np.ascontiguousarray(self.group_factors.T)
        for first in range(0, len(cut), step):
            some = cut[first : first + step]
            cells = self.item_factors[some] @ groups  # single precision is enough for a mean
            cells += self.group_bias + (self.item_bias[some] + np.float32(self.mean))[:, None]
            means[some] = np.clip(cells, self.low, self.high, out=cells) @ shares.astype(np.float32)
        return means

    def _inside(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.clip(sums + self.mean, self.low, self.high)


def decimals_at(step: float) -> int:
    """Return how many decimals a multiple of a precision has."""
    return max(0, -math.floor(math.log10(step) + 1e-9))
