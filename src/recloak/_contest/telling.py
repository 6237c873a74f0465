"""What a board may tell: a noisy score on a secret half, and that only where it improves.

Exact scores are an oracle: two submissions that differ in one cell show its rating. So

1. predictions are brought inside the scale, and only a secret half of the hidden ratings counts;
2. the mean squared error gets normal noise of the size sigma = 1.5 max(span / 4, step) span sqrt(submissions) / n, with
   n ratings in the half and a step between two of the scale. Whoever spends all submissions of the board on one rating
   then knows it up to an error of three eighths of the span and of one and a half steps at least, which says next to
   nothing (docs/decisions/contest-board.md has the measured attacks);
3. the noise comes from a secret and the submission's predictions, so that sending the same twice tells nothing new;
4. the result is rounded, and told only if it beats the team's best by at least a step of the size of the noise, as on
   the Ladder (Blum & Hardt 2015), so that luck with the noise is not rewarded.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._contest.model import Rules, Score

NOISE = 1.5  # in units of a fourth of the span or of a step, per rating and for all submissions together


@dataclass(frozen=True, slots=True)
class BoardNoise:
    """The size of the noise and of a step, in units of the root mean squared error."""

    sigma: float  # of the mean squared error
    step: float
    decimals: int


def telling_of(rules: Rules, n_board: int, typical: float) -> BoardNoise:
    """Return how scores are told on a half of ``n_board`` ratings, at a typical root mean squared error."""
    sigma = NOISE * rules.unsure * rules.span * math.sqrt(rules.submissions) / max(n_board, 1)
    of_root = sigma / (2 * max(typical, 1e-9))
    # By the rules alone: places that followed the exact score would tell which side of a border it lies on.
    usual = sigma / (rules.span / 2)
    decimals = max(0, min(6, -math.floor(math.log10(max(usual, 1e-9)))))
    return BoardNoise(sigma, of_root, decimals)


def noisy_score(score: Score, predictions: NDArray[np.float64], rules: Rules) -> float:
    """Return the score that may be told of a submission."""
    telling = telling_of(rules, score.n, score.rmse)
    noise = float(_draw(predictions, rules).standard_normal())
    return round(math.sqrt(max(score.rmse**2 + telling.sigma * noise, 0.0)), telling.decimals)


def _draw(predictions: NDArray[np.float64], rules: Rules) -> np.random.Generator:
    """Return the generator of a submission's noise: equal predictions have equal noise, and no one can compute it."""
    content = np.ascontiguousarray(predictions, np.float64).tobytes()
    key = hmac.new(bytes.fromhex(rules.secret), content, hashlib.sha256).digest()
    return np.random.default_rng(np.frombuffer(key, np.uint32))


def improves(told: float, best: float | None, rules: Rules, n_board: int) -> bool:
    """Return whether a score is told: the first of a team, or one better by a step."""
    return best is None or told <= best - telling_of(rules, n_board, best).step
