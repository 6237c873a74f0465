"""A robust low-rank fit of a released table: what its model says, and how far each label lies from it.

A padded label is the mean prediction of a group, which is low rank, plus whatever real ratings added, which is not. The
fit sees the released labels only. Cells that do not fit are replaced by the fit and it is repeated, so that they do not
bend it; cells that are not released are treated likewise. The rank grows until what is left looks like noise.
"""

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Public
from recloak._attacks.released_cells import rows_of
from recloak._core.threads import in_thread
from recloak._releases.model.factor_tables import FactorTables

Floats = NDArray[np.floating[Any]]

FLAGGED = 3.2  # a label this many median absolute residuals from the fit was moved by ratings
_MOST_ROWS, _MOST_CELLS = 1_000, 40_000_000
_MOST_RANK, _SPARSE_RANK = 80, 5
_FIRST_RANK, _GROWTHS, _ROUNDS, _LAST_ROUNDS = 6, 8, 2, 6
_MANY_REPLACED = 0.3
_SAMPLED = 400_000  # cells looked at for a median or a spread
_LOOKED_AT = 200  # rows, to see how much the labels of an item differ
_ABOVE_NOISE = 1.8  # a direction counts if its singular value exceeds the largest of pure noise by this factor

_FITS: "WeakKeyDictionary[Public, TableFit]" = WeakKeyDictionary()


@dataclass(frozen=True, eq=False, slots=True)
class TableFit:
    """The means, the main directions (orthonormal rows) and the median absolute residual of a released table."""

    means: Floats  # (n_items,)
    basis: Floats  # (rank, n_items)
    spread: float
    low: float  # labels are cut off at the ends of the scale, so the model may lie beyond
    high: float

    @property
    def cut(self) -> float:
        """The residual above which a label was moved by ratings."""
        return FLAGGED * max(self.spread, 1e-4)

    def coefficients(self, rows: Floats) -> Floats:
        """Return the place of each row along the main directions, leaving out what does not fit: (n_rows, rank)."""
        filled = np.where(np.isnan(rows), self.means, rows)
        for _ in range(_ROUNDS + 1):
            found = (filled - self.means) @ self.basis.T
            filled = self.without_outliers(rows, self.means + found @ self.basis)
        return found

    def predict(self, coefficients: Floats) -> Floats:
        """Return what the model says of every item, inside the scale: (n_rows, n_items)."""
        return np.clip(self.means + coefficients @ self.basis, self.low, self.high)

    def residuals(self, rows: Floats) -> Floats:
        """Return how far each label lies from the model: (n_rows, n_items)."""
        return rows - self.predict(self.coefficients(rows))

    def without_outliers(self, rows: Floats, predicted: Floats) -> Floats:
        """Return the rows with the prediction where a label does not fit, is cut off, or is not released."""
        inside = (predicted > self.low) & (predicted < self.high)
        return np.where((np.abs(rows - predicted) <= self.cut) & inside, rows, predicted)  # nan compares as false


def fit_table(public: Public, rng: np.random.Generator) -> TableFit:
    """Return the fit of a released table, by a sample of its profiles where there are many.

    Where factors are published they are the fit: every cell follows from them.
    """
    if public.factors is not None:
        return fit_by_factors(public.factors)
    most = max(min(_MOST_ROWS, _MOST_CELLS // max(public.n_items, 1)), 2)
    n_rows = min(most, public.n_profiles)
    rows = rows_of(public, np.sort(rng.choice(public.n_profiles, n_rows, replace=False)))
    return in_thread(fit_rows, rows, rng)


def fit_by_factors(tables: FactorTables) -> TableFit:
    """Return the means and directions of a table that follows from factors, which leave nothing over."""
    sides = _sides(tables)
    centre = np.append(tables.group_bias.mean(dtype="f8"), tables.group_factors.mean(axis=0, dtype="f8"))
    means = tables.mean + tables.item_bias + sides @ centre
    return TableFit(means.astype(np.float32), _orthonormal(sides.T), 0.0, tables.low, tables.high)


def _sides(tables: FactorTables) -> Floats:
    """Return what each number of a group adds to each item: (n_items, rank + 1)."""
    return np.column_stack((np.ones(len(tables.item_bias)), tables.item_factors))


def fit_of(public: Public) -> TableFit:
    """Return the fit of a released table, made once for all attacks."""
    if public not in _FITS:
        _FITS[public] = fit_table(public, np.random.default_rng(1))
    return _FITS[public]


def places_of(public: Public, profiles: NDArray[np.integer] | slice = slice(None)) -> Floats:
    """Return the place of some profiles along the directions of the fit: (len(profiles), rank).

    Published factors say it without a row, and without an error where labels are cut off at the ends of the scale.
    """
    fit, tables = fit_of(public), public.factors
    if tables is None:
        return fit.coefficients(rows_of(public, np.arange(public.n_profiles)[profiles]))
    own = np.column_stack((tables.group_bias, tables.group_factors)).astype(np.float64)
    turned = _sides(tables).T @ fit.basis.T  # (rank + 1, rank)
    return np.asarray((own - own.mean(axis=0))[profiles] @ turned, np.float32)


def fit_rows(rows: Floats, rng: np.random.Generator) -> TableFit:
    """Return the robust low-rank fit of rows, nan where a label is not released."""
    complete = not np.isnan(rows).any()
    most = min(_MOST_RANK if complete else _SPARSE_RANK, max(min(rows.shape) // 3, 1))
    basis = _start(rng, min(_FIRST_RANK, most), rows.shape[1])
    filled = np.where(np.isnan(rows), _column_means(rows), rows)
    for _ in range(_GROWTHS):
        fit, filled = _refine(rows, filled, basis, _ROUNDS)
        basis = np.vstack((fit.basis, _more_directions(filled, fit, most - len(fit.basis), rng)))
        if len(basis) == len(fit.basis):
            break
    fit, filled = _refine(rows, filled, fit.basis, _LAST_ROUNDS)
    for _ in range(2):
        fit, filled = _refine(rows, _reweighted(rows, filled, fit), fit.basis, 1)
    return fit


def _reweighted(rows: Floats, filled: Floats, fit: TableFit) -> Floats:
    """Fit again the items of which many labels do not fit, by weights: replaced cells would only confirm the fit."""
    centred = (filled - fit.means) @ fit.basis.T
    given: Floats = np.column_stack((np.ones(len(rows), np.float32), centred))
    replaced = ((rows != filled) & ~np.isnan(rows)).mean(axis=0)
    filled = filled.copy()
    for item in np.flatnonzero(replaced > _MANY_REPLACED):
        held = (rows[:, item] > fit.low) & (rows[:, item] < fit.high)
        predicted = given @ _weighted_line(given[held], rows[held, item], filled[held, item], fit.cut)
        filled[:, item] = fit.without_outliers(rows[:, item], predicted)
    return filled


def _weighted_line(given: Floats, labels: Floats, start: Floats, cut: float) -> Floats:
    """Return the coefficients of a robust regression: labels far from the line count little (Cauchy weights)."""
    predicted, ridge = start, 1e-3 * np.eye(given.shape[1], dtype=np.float32)
    for _ in range(15):
        weights = 1 / (1 + np.square((labels - predicted) / cut))
        weighted = given * weights[:, None]
        line = np.linalg.solve(weighted.T @ given + ridge, weighted.T @ labels)
        predicted = given @ line
    return line


def _refine(rows: Floats, filled: Floats, basis: Floats, n_rounds: int) -> tuple[TableFit, Floats]:
    """Repeat: turn the directions towards the table, and replace what does not fit by the fit."""
    ends, lively = (float(np.nanmin(rows)), float(np.nanmax(rows))), _lively(rows)
    for _ in range(n_rounds):
        means = filled.mean(axis=0)
        centred = filled - means
        basis = _orthonormal((centred @ basis.T).T @ centred)
        predicted = means + (centred @ basis.T) @ basis
        fit = TableFit(means, basis, _spread(rows, predicted, lively), *ends)
        filled = fit.without_outliers(rows, predicted)
    return fit, filled


def _lively(rows: Floats) -> NDArray[np.bool_]:
    """Return the half of the items whose labels differ most: those of the others may fit for want of a difference."""
    some = rows[:: len(rows) // _LOOKED_AT + 1]
    deviations = np.nan_to_num(some - _column_means(some))
    spread = np.square(deviations).sum(axis=0) / np.maximum((~np.isnan(some)).sum(axis=0), 1)
    return np.asarray(spread >= np.median(spread))


def _spread(rows: Floats, predicted: Floats, lively: NDArray[np.bool_]) -> float:
    """Return the median absolute residual of all labels or of the lively items, whichever is larger.

    Where most items have next to the same label in every row, a median over all would be next to nothing, and whatever
    the other items show would be taken for outliers and replaced.
    """
    residuals = np.abs(_sample(rows) - _sample(predicted))
    of_lively = residuals[lively[_sample_places(rows.size) % rows.shape[1]]]
    return float(max(np.nanmedian(residuals), np.nanmedian(of_lively) if np.isfinite(of_lively).any() else 0.0))


def _more_directions(filled: Floats, fit: TableFit, room: int, rng: np.random.Generator) -> Floats:
    """Return the directions that stand out from the noise of what is left."""
    centred = filled - fit.means
    left = centred - (centred @ fit.basis.T) @ fit.basis
    wanted = min(room, 24)
    if wanted < 1:
        return fit.basis[:0]
    trial = _start(rng, wanted, left.shape[1])
    for _ in range(4):
        trial = _orthonormal((left @ trial.T).T @ left)
    sizes = np.linalg.norm(left @ trial.T, axis=0)
    noise = float(_sample(left).std()) * (math.sqrt(left.shape[0]) + math.sqrt(left.shape[1]))
    return trial[sizes > _ABOVE_NOISE * noise]


def _start(rng: np.random.Generator, rank: int, n_items: int) -> Floats:
    return _orthonormal(rng.standard_normal((rank, n_items), np.float32))


def _orthonormal(directions: Floats) -> Floats:
    return np.linalg.qr(directions.T)[0].T.astype(np.float32)


def _sample(table: Floats) -> Floats:
    """Return every so many cells of a table: enough for a median or a spread."""
    return table.ravel()[:: table.size // _SAMPLED + 1]


def _sample_places(size: int) -> NDArray[np.int64]:
    """Return which cells of a table `_sample` takes."""
    return np.arange(0, size, size // _SAMPLED + 1)


def _column_means(rows: Floats) -> Floats:
    held = ~np.isnan(rows)
    overall = float(np.nanmean(rows)) if held.any() else 0.0
    count = held.sum(axis=0)
    return np.where(count > 0, np.nansum(rows, axis=0) / np.maximum(count, 1), overall).astype(np.float32)
