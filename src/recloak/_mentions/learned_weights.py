"""The weights of the learned attacker: a conditional logit over few features (McFadden 1974).

Of each person, the features of the poster (first row) and of rivals are known. The weights make the poster likeliest:

    P(first) = exp(w . x_first) / sum over rows of exp(w . x)

The logarithm, summed over people, is concave; Newton's method finds its maximum in a few steps. A normal prior around
the starting weights keeps weights near them where people are few. A weight below 0 is set to 0: a clue never speaks
against the candidate whom it fits.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_STEPS = 25
_PRECISION = 4.0  # of the prior
_CLOSE = 1e-9


def fit_weights(people: Sequence[NDArray[np.float64]], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the features; ``people`` hold a table (n_rows, n_features) each, the poster first."""
    weights = start.copy()
    for _ in range(_STEPS):
        slope, curvature = _derivatives(people, weights, start)
        step = _halved(people, weights, start, np.asarray(np.linalg.solve(curvature, slope), np.float64))
        weights = weights + step
        if np.abs(step).max() < _CLOSE:
            break
    return np.maximum(weights, 0.0)


def _derivatives(
    people: Sequence[NDArray[np.float64]], weights: NDArray[np.float64], start: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    slope, curvature = -_PRECISION * (weights - start), _PRECISION * np.eye(len(weights))
    for rows in people:
        probability = _probabilities(rows, weights)
        mean = probability @ rows
        slope = slope + rows[0] - mean
        curvature = curvature + (rows * probability[:, None]).T @ rows - np.outer(mean, mean)
    return slope, curvature


def _probabilities(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    score = rows @ weights
    raw: NDArray[np.float64] = np.exp(score - score.max())
    return raw / raw.sum()


def _halved(
    people: Sequence[NDArray[np.float64]],
    weights: NDArray[np.float64],
    start: NDArray[np.float64],
    step: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the step, halved until the posters do not become less likely."""
    before = _likelihood(people, weights, start)
    for halving in range(20):
        shorter: NDArray[np.float64] = step / 2**halving
        if _likelihood(people, weights + shorter, start) >= before:
            return shorter
    return np.zeros_like(step)


def _likelihood(
    people: Sequence[NDArray[np.float64]], weights: NDArray[np.float64], start: NDArray[np.float64]
) -> float:
    prior = -0.5 * _PRECISION * float(((weights - start) ** 2).sum())
    return prior + sum(float(np.log(max(_probabilities(rows, weights)[0], 1e-300))) for rows in people)
