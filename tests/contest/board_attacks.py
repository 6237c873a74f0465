"""Attacks that read hidden ratings off a board.

An attacker sends predictions and is told a root mean squared error. Moving cell j by d changes the sum of squared
errors by d^2 + 2 d (x_j - r_j), so that

- `one_cell`: two submissions that differ in one cell show its rating;
- `many_cells`: cells that are moved by amounts which shrink from one to the next are read off one score like digits;
- `random_designs`: every target cell is moved up or down at random in every submission, and the ratings are estimated
  from all scores together, with what was known before. It survives rounding and noise, and it does not matter who sends
  a submission, so that colluding teams (each told its first score) are as strong as one.

The attacker knows which questions are real, the predictions of a good model, and how ratings spread around them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_JITTER = 1e-9

Numbers = NDArray[np.float64]
Oracle = Callable[[Numbers], float]  # predictions of all real questions -> the score that is told


def one_cell(oracle: Oracle, start: Numbers, targets: NDArray[np.integer], levels: Numbers, n_scored: int) -> Numbers:
    """Return a guess for each target, from one submission for all and one for each."""
    before = oracle(start) ** 2 * n_scored
    guesses = np.empty(len(targets))
    for place, target in enumerate(targets):
        moved = start.copy()
        moved[target] = levels[-1] if start[target] < levels.mean() else levels[0]
        d = moved[target] - start[target]
        change = oracle(moved) ** 2 * n_scored - before
        guesses[place] = _nearest(start[target] - (change - d * d) / (2 * d), levels)
    return guesses


def many_cells(
    oracle: Oracle, start: Numbers, targets: NDArray[np.integer], levels: Numbers, n_scored: int, *, at_once: int = 8
) -> Numbers:
    """Return a guess for each target, ``at_once`` from each submission."""
    centre = start.copy()
    centre[targets] = levels[0]
    before = oracle(centre) ** 2 * n_scored
    guesses = np.empty(len(targets))
    steps = np.rint((levels - levels[0]) / (levels[1] - levels[0]))
    base = 2.0 * (steps[-1] + 1)
    for first in range(0, len(targets), at_once):
        some = targets[first : first + at_once]
        d = (levels[-1] - levels[0]) * base ** -np.arange(len(some), dtype=np.float64)
        moved = centre.copy()
        moved[some] += d
        left = (d * d).sum() - (oracle(moved) ** 2 * n_scored - before)  # = sum 2 d (r - low)
        for place, size in enumerate(d):
            above = float(np.clip(np.floor(left / (2 * size) / (levels[1] - levels[0]) + 1e-3), 0, steps[-1]))
            guesses[first + place] = levels[0] + above * (levels[1] - levels[0])
            left -= 2 * size * above * (levels[1] - levels[0])
    return guesses


def random_designs(
    oracle: Oracle, start: Numbers, targets: NDArray[np.integer], levels: Numbers, prior: Numbers, n_scored: int, *,
    n_submissions: int, noise: float, share: float, draw: np.random.Generator,
) -> Numbers:  # fmt: skip
    """Return the most likely rating of each target.

    ``prior`` has the chances of each level for each target, ``noise`` is the size of the noise of the sum of squared
    errors, and ``share`` the chance that a rating counts at all.
    """
    signs = draw.choice([-1.0, 1.0], (n_submissions, len(targets)))
    middle, reach = levels.mean(), (levels[-1] - levels[0]) / 2
    other = int(np.flatnonzero(~np.isin(np.arange(len(start)), targets))[0])
    told = np.empty(n_submissions)
    for n, row in enumerate(signs):
        moved = start.copy()
        moved[targets] = middle + reach * row
        moved[other] += n * _JITTER  # no submission equals another, so that each has noise of its own
        told[n] = oracle(moved) ** 2 * n_scored
    design = 2 * reach * (signs - signs.mean(axis=0))  # of (middle - rating), the sum of squared errors
    spread = float(share * (prior * (levels - middle) ** 2).sum(axis=1).mean())
    inner = spread * design @ design.T + max(noise, 1e-6) ** 2 * np.eye(n_submissions)
    estimate = spread * design.T @ np.linalg.solve(inner, told - told.mean())
    weight = np.clip(spread * np.einsum("nt,nt->t", design, np.linalg.solve(inner, design)), 1e-9, 1 - 1e-9)
    seen, variance = estimate / weight, spread * (1 - weight) / weight
    return levels[np.argmax(_posterior(seen, variance, levels - middle, prior, share), axis=1)]


def _posterior(seen: Numbers, variance: Numbers, offsets: Numbers, prior: Numbers, share: float) -> Numbers:
    """Return chances that are proportional to the prior times how well each level explains what was seen."""
    wide = 2 * variance[:, None]
    counts = np.exp(-((seen[:, None] + offsets[None, :]) ** 2) / wide)
    ignored = np.exp(-(seen[:, None] ** 2) / wide)
    likely: Numbers = prior * (share * counts + (1 - share) * ignored)
    return likely


def _nearest(value: float, levels: Numbers) -> float:
    return float(levels[np.argmin(np.abs(levels - value))])
