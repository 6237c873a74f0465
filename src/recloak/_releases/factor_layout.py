"""A padded release as factors: the numbers of groups and items in one basis that nothing but the table decides.

Labels of the model alone are ``base_i + b_g + p_g . q_i``. The same table has many bases: any turn of the factors, any
shift between factors and biases. Which of them a fit ended in depends on its start and on every step it took. Here

- factors are centred, over groups and over items, and what that takes away goes into biases and mean;
- they are turned and scaled so that group factors and item factors have the same covariance, a diagonal one: then a
  step of rounding on either side moves a cell by equally little (docs/decisions/factors.md);
- columns are ordered by their size among the items, each with the sign that makes its items add up to 0 or more;
- all numbers are rounded to the published precision, and columns that vanish are left out.

Sums run in one order, so that the numbers are the same on every processor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.results import sizes_only
from recloak._ratings.model import Scale
from recloak._releases.embed import root, squares_of
from recloak._releases.grid import round_below
from recloak._releases.model.factor_tables import FactorTables, decimals_at
from recloak._releases.profiles import FullProfiles, GroupMeans, ProfileCells, every_item

_STEPS = 400  # of the precision fit into the scale; factors are of the size of its root
_ROOT_STEPS = 200
_MOST_CODE = 1_000_000  # multiples of the precision that a number may be: float32 tells them apart
_BLOCK = 100_000  # groups whose numbers are computed at once

Floats = NDArray[np.float64]


class Moments(NamedTuple):
    """Sums over groups of ``z`` and ``z z^T``, z = (factors, bias, 1); those of parts can be added up."""

    squares: Floats  # (rank + 2, rank + 2)

    @classmethod
    def of(cls, factors: NDArray[np.float32], bias: NDArray[np.float32]) -> Moments:
        """Return the sums over some rows."""
        squares = np.zeros((factors.shape[1] + 2,) * 2)
        for first in range(0, len(bias), _BLOCK):
            part = slice(first, first + _BLOCK)
            z = np.column_stack((factors[part], bias[part], np.ones(len(bias[part])))).astype(np.float64)
            squares += squares_of(z, np.ones(len(z)))
        return cls(squares)

    @property
    def means(self) -> Floats:
        """The mean of each factor and, last, of the bias."""
        return self.squares[-1, :-1] / self.squares[-1, -1]

    @property
    def covariance(self) -> Floats:
        """The covariance of the factors."""
        mean = self.means[:-1]
        return self.squares[:-2, :-2] / self.squares[-1, -1] - mean[:, None] * mean


@dataclass(frozen=True, eq=False, slots=True)
class FactorBasis:
    """How the rows of groups are written, and the rows of all items, as multiples of the precision."""

    mean: int
    step: float
    of_groups: Floats  # (rank + 2, 1 + kept) from (factors, bias, 1) to the published bias and factors
    items: NDArray[np.int64]  # (n_items, 1 + kept)

    __repr__ = sizes_only

    @property
    def rank(self) -> int:
        """Number of factors that are published."""
        return self.items.shape[1] - 1

    def group_codes(self, factors: NDArray[np.float32], bias: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the rows of some groups as multiples of the precision."""
        return _codes(factors, bias, self.of_groups, self.step)

    def values(self, codes: NDArray[np.int64] | int) -> NDArray[np.float32]:
        """Return the published numbers."""
        return (np.round(np.asarray(codes) * self.step, decimals_at(self.step)) + 0.0).astype(np.float32)

    @property
    def published_mean(self) -> float:
        """The mean as the manifest says it."""
        return round(self.mean * self.step, decimals_at(self.step)) + 0.0


def make_basis(
    groups: Moments, base: NDArray[np.float32], item_factors: NDArray[np.float32], scale: Scale
) -> FactorBasis:
    """Return the basis of a table with such groups; ``item_factors`` is (n_items, rank)."""
    step, items = precision_for(scale), Moments.of(item_factors, base)
    to_groups, to_items = _balanced(groups.covariance, items.covariance)
    p, q = groups.means[:-1], items.means[:-1]
    shift = float(_product(p[None, :], q[:, None])[0, 0])
    item_mean = items.means[-1] + shift  # of base_i + p . q_i
    of_groups = _affine(to_groups, p, q, -shift - groups.means[-1])
    codes = _codes(item_factors, base, _affine(to_items, q, p, -item_mean), step)
    kept, signs = _ordered(codes)
    mean = _rounded(np.array([[item_mean + groups.means[-1]]]), step)[0, 0]
    return FactorBasis(int(mean), step, of_groups[:, kept] * signs, codes[:, kept] * signs)


def _balanced(groups: Floats, items: Floats) -> tuple[Floats, Floats]:
    """Return the turns of group and item factors after which both have one diagonal covariance: (rank, kept) each.

    With A = R R^T of the groups and R^T B R = U S^2 U^T, they are ``R (R^T R)^-1 U S^1/2`` and ``R U S^-1/2``.
    """
    nothing = np.empty((len(groups), 0))
    if not groups.any() or not items.any():
        return nothing, nothing
    R = root(groups)
    inner = _product(R.T, _product(items, R))
    if not inner.any():
        return nothing, nothing
    US = root((inner + inner.T) / 2)
    S = np.sqrt(np.square(US).sum(axis=0))
    return _product(R / np.square(R).sum(axis=0), US) / np.sqrt(S), _product(R, US) / S**1.5


def _affine(turn: Floats, centre: Floats, other: Floats, constant: float) -> Floats:
    """Return the map from (factors, bias, 1) to the bias and the factors of one side: (rank + 2, 1 + kept)."""
    bias = np.concatenate((other, [1.0, constant]))
    shifted = -_product(centre[None, :], turn)
    return np.column_stack((bias, np.vstack((turn, np.zeros_like(shifted), shifted))))


def _codes(factors: NDArray[np.float32], bias: NDArray[np.float32], to: Floats, step: float) -> NDArray[np.int64]:
    codes = np.empty((len(bias), to.shape[1]), np.int64)
    for first in range(0, len(bias), _BLOCK):
        part = slice(first, first + _BLOCK)
        z = np.column_stack((factors[part], bias[part], np.ones(len(bias[part])))).astype(np.float64)
        codes[part] = _rounded(_product(z, to), step)
    return codes


def _rounded(values: Floats, step: float) -> NDArray[np.int64]:
    if not np.abs(values).max(initial=0.0) <= _MOST_CODE * step:
        raise InputError(
            f"the layout factors takes numbers up to {_MOST_CODE * step:g}, and this model has larger ones"
        )
    return np.floor(values / step + 0.5).astype(np.int64)


def _ordered(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns to keep, the bias first, then the factors, largest among the items first, and their signs."""
    factors = codes[:, 1:]
    sizes, sums = np.square(factors).sum(axis=0), factors.sum(axis=0)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    first_values = factors[(factors[:, order] != 0).argmax(axis=0), order]
    signs = np.where(np.where(sums[order] == 0, first_values, sums[order]) < 0, -1, 1)
    return np.append(0, order + 1), np.append(1, signs)


def precision_for(scale: Scale) -> float:
    """Return the precision of a scale: 1, 2 or 5 times a power of ten; on a scale from 1 to 5 it is 0.01."""
    if scale.span == 0:
        return 1.0
    return round_below(min(scale.span / _STEPS, math.sqrt(scale.span) / _ROOT_STEPS))


def _product(left: Floats, right: Floats) -> Floats:
    """Multiply two matrices, adding up in one order whatever the processor."""
    out = np.zeros((len(left), right.shape[1]))
    for f in range(len(right)):
        out += left[:, f, None] * right[f]
    return out


@dataclass(frozen=True, eq=False, slots=True)
class FactorProfiles:
    """Profiles whose labels follow from published factors; ``made_of`` are the same before they were rounded."""

    tables: FactorTables
    basis: FactorBasis
    made_of: FullProfiles

    __repr__ = sizes_only

    @property
    def n_items(self) -> int:
        """Number of items there are."""
        return self.tables.shape[1]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of items in each group's profile: all of them."""
        return np.full(self.tables.shape[0], self.n_items, np.int64)

    def rows(self, groups: NDArray[np.integer]) -> ProfileCells:
        """Return the profiles of some groups."""
        labels = self.tables.block(groups, slice(None))
        indptr = np.arange(len(groups) + 1, dtype=np.int64) * self.n_items
        return ProfileCells(indptr, every_item(len(groups), self.n_items), labels.reshape(-1))


def as_factors(profiles: FullProfiles) -> FactorProfiles:
    """Return full profiles as factors; raise InputError where labels are more than the model's."""
    if len(profiles.items):
        raise InputError("the layout factors takes labels of the model alone, and these are moved by raters")
    means, scale = profiles.means, profiles.grid.scale
    basis = basis_of(means, Moments.of(means.factors, means.bias), scale)
    groups, items = basis.values(basis.group_codes(means.factors, means.bias)), basis.values(basis.items)
    sides = groups[:, 0].copy(), groups[:, 1:].copy(), items[:, 0].copy(), items[:, 1:].copy()
    return FactorProfiles(FactorTables(basis.published_mean, *sides, scale.low, scale.high), basis, profiles)


def basis_of(means: GroupMeans, groups: Moments, scale: Scale) -> FactorBasis:
    """Return the basis of a table of groups and items."""
    return make_basis(groups, means.base, np.ascontiguousarray(means.item_factors.T), scale)
