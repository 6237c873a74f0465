"""Logistic regression for yes-or-no questions: the second opinion of the learned observer of related lists.

Signs are standardised, the coefficients (not the intercept) are held small by a ridge, and Newton's method finds the
one optimum; a step that does not lower the loss is halved. Sums are by `numpy.einsum`, whose result, other than that of
a library of linear algebra, is the same on any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

RIDGE = 1.0
_STEPS = 30
_HALVINGS = 20
_ENOUGH = 1e-9  # smallest share of the loss that is worth another step


@dataclass(frozen=True, eq=False, slots=True)
class Regression:
    """An intercept and a coefficient for every sign that add up to log odds."""

    intercept: float
    slopes: NDArray[np.float64]

    def log_odds(self, signs: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the log odds of yes for every row of signs."""
        odds = np.full(len(signs), self.intercept)
        for slope, column in zip(self.slopes, signs.T, strict=True):  # one by one: all at once would take a wide copy
            odds += slope * column
        return odds


def regress(signs: NDArray[np.float32], answers: NDArray[np.bool_], weights: NDArray[np.float64]) -> Regression:
    """Learn yes or no from rows of signs; a row counts as often as its weight says."""
    wide = signs.T.astype(np.float64)
    mean = np.average(wide, axis=1, weights=weights)
    wide -= mean[:, None]
    spread = np.sqrt(np.average(wide**2, axis=1, weights=weights))
    spread[spread < 1e-9] = 1.0  # a sign that never changes tells nothing
    problem = _Problem(np.vstack([np.ones(len(signs)), wide / spread[:, None]]), answers, weights)
    found = problem.optimum()
    slopes = found[1:] / spread
    return Regression(float(found[0] - slopes @ mean), slopes)


@dataclass(frozen=True, eq=False, slots=True)
class _Problem:
    signs: NDArray[np.float64]  # (1 + n_signs, n_rows), standardised; the first is the intercept's
    answers: NDArray[np.bool_]
    weights: NDArray[np.float64]

    @property
    def ridge(self) -> NDArray[np.float64]:
        return np.r_[1e-9, np.full(len(self.signs) - 1, RIDGE)]

    def odds(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.einsum("sn,s->n", self.signs, found)

    def loss(self, found: NDArray[np.float64]) -> float:
        odds = self.odds(found)
        misfit = self.weights * (np.logaddexp(0.0, odds) - self.answers * odds)
        return float(misfit.sum() + 0.5 * (self.ridge * found**2).sum())

    def step(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Newton's step: the slope of the loss divided by its curvature."""
        believed = expit(self.odds(found))
        slope = np.einsum("sn,n->s", self.signs, self.weights * (believed - self.answers)) + self.ridge * found
        curved = self.signs * (self.weights * believed * (1 - believed))
        return np.linalg.solve(np.einsum("sn,tn->st", curved, self.signs) + np.diag(self.ridge), slope)

    def optimum(self) -> NDArray[np.float64]:
        found = np.zeros(len(self.signs))
        loss = self.loss(found)
        for _ in range(_STEPS):
            step, before = self.step(found), loss
            for halving in range(_HALVINGS):
                tried = found - step / 2**halving
                loss = self.loss(tried)
                if loss <= before:
                    break
            else:
                return found
            found = tried
            if before - loss <= _ENOUGH * before:
                return found
        return found
