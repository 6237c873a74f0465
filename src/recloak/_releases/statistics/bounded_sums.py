"""Sums over people to which each adds a bounded part, with noise.

A person of class b adds w (v - p_b) to the sums, where v is a row of zeros and ones, p_b what such people are expected
to have, and w at most 1 so that the part is no longer than a bound; what was expected is added again in the end, for
as many people as the noisy numbers of the classes say. People who are as expected add little, so that the bound,
and with it the noise, can be small; and where a part is cut, what is lost is a difference and no count.

All sums are of whole numbers, so that their sensitivity is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._releases.statistics.privacy_budget import deviation_for, with_noise

_UNIT = 1 << 12  # weights, and what is expected, are multiples of one in so many
_SLACK = 1 + 1e-9  # for the rounding of lengths
Floats = NDArray[np.float64]


class Classes(NamedTuple):
    """The people, put into classes of like activity."""

    of_people: NDArray[np.int64]  # (n_people,)
    sizes: Floats  # (n_classes,) with noise

    def rows(self, table: scipy.sparse.csr_array, number: int) -> scipy.sparse.csr_array:
        """Return the rows of the people in a class."""
        return table[np.flatnonzero(self.of_people == number)]


class NoisySums(NamedTuple):
    """Estimates of the sums, and the standard deviation of the noise in each."""

    sums: Floats
    deviation: Floats


def bounded_sums(
    table: scipy.sparse.csr_array, classes: Classes, expected: Floats, weights: Floats, bound: float, rho: float
) -> NoisySums:
    """Return the sums of the columns of a table of zeros and ones, at a price of rho.

    ``expected`` has a row for each class. ``weights`` say how much each column counts in the length of a person's part
    (``bound``): the noise of a column is the smaller the larger its weight.
    """
    scale = np.maximum(np.floor(weights * _UNIT), 1).astype(np.int64)
    wanted = np.rint(expected * scale).astype(np.int64)  # (n_classes, n_columns), in units of one in _UNIT
    total = np.zeros(table.shape[1], np.int64)
    for number in range(len(expected)):
        total += _class_part(classes.rows(table, number), scale, wanted[number], bound)
    units = _UNIT * scale
    noisy = with_noise(total, bound * _UNIT * _UNIT, rho)
    return NoisySums(
        noisy / units + classes.sizes @ (wanted / scale), deviation_for(bound * _UNIT * _UNIT, rho) / units
    )


def _class_part(
    rows: scipy.sparse.csr_array, scale: NDArray[np.int64], wanted: NDArray[np.int64], bound: float
) -> NDArray[np.int64]:
    """Return the sum of the bounded parts of some people, in units of one in _UNIT squared."""
    shares = np.floor(_UNIT * shares_kept(rows, scale / _UNIT, wanted / _UNIT, bound)).astype(np.int64)
    return scale * (rows.T @ shares) - wanted * shares.sum()


def shares_kept(rows: scipy.sparse.csr_array, scale: Floats, wanted: Floats, bound: float) -> Floats:
    """Return by how much each person's part must be shortened: 1 where it is within the bound."""
    squares = rows @ (scale * scale - 2 * scale * wanted) + wanted @ wanted
    return np.minimum(1.0, bound / np.maximum(np.sqrt(np.maximum(squares, 0.0)) * _SLACK, 1e-12))


def likely_bound(classes: Classes, expected: Floats, weights: Floats, share: float) -> float:
    """Return the length that about a share of the people do not exceed, by what is expected of them alone."""
    lengths = np.sqrt((expected * (1 - expected)) @ (weights * weights))
    order = np.argsort(lengths, kind="stable")
    sizes = np.maximum(classes.sizes, 0.0)[order]
    middles = np.cumsum(sizes) - sizes / 2
    length = float(np.interp(share * max(sizes.sum(), 1.0), middles, lengths[order]))
    return max(length, float(weights.max()), 1.0)
