"""Scoreboard-RH, the attack that broke the Netflix Prize data.

Narayanan and Shmatikov, *Robust De-anonymization of Large Sparse Datasets*, 2008 (doi:10.1109/SP.2008.33):

    score(r) = sum over known i of  w(i) (exp(-|rating - known| / 1.5) + exp(-|days| / 30)),   w(i) = 1 / log(1 + sup)

Accept the best r when (best - second) / std >= phi, 1.5 in the paper. Where we differ: log(1 + sup) so that an item
with one rater has a weight; the number under the rating is for a scale of four steps and is stretched with the scale;
it is 1.0 unless asked for, because that is the stronger attacker: on MovieLens-1M with 2 of 8 items wrong the paper's
1.5 names 0.71 of the targets and 1.0 names 0.82; and the forced choice of the best is reported beside the acceptance,
whose threshold does not carry over to other data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak.attacks.matching import Kernel, Scores, score
from recloak.attacks.model import Clues, Hits, Public, expected_share

ATTACKER = "scores every released user by the known ratings, rare items counting more, and names the best"
THRESHOLDS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
PAPER_RATING_SCALE = 1.5
_PAPER_SPAN = 4.0


def scoreboard(public: Public, clues: Clues, *, rating_scale: float = 1.0) -> Hits:
    """Attack by Scoreboard-RH; the control is the same attack on people taken out of the data."""
    kernel = _kernel(public, rating_scale)
    found = score(public, clues, kernel)
    absent = score(public, clues, kernel, without_own=True)
    return Hits(
        user=expected_share(_chance(found, found.users_at_best)),
        group=expected_share(_chance(found, found.profiles_at_best)),
        control=expected_share((_eccentricity(absent) >= 1.5).astype(np.float64)),
        details={"acceptance": [_acceptance(found, absent, phi) for phi in THRESHOLDS]},
    )


def _kernel(public: Public, rating_scale: float) -> Kernel:
    weights = 1.0 / np.log1p(np.maximum(public.support, 1))
    stretch = (public.scale.span or _PAPER_SPAN) / _PAPER_SPAN
    return Kernel(weights, rating_scale=rating_scale * stretch, day_scale=30.0)


def _chance(found: Scores, n_at_best: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(found.own == found.best, 1.0 / np.maximum(n_at_best, 1), 0.0)


def _eccentricity(found: Scores) -> NDArray[np.float64]:
    """How far the best profile stands from the next, in standard deviations; 0 where several share the best."""
    gap = np.where(found.profiles_at_best > 1, 0.0, found.best - found.second)
    return np.divide(gap, found.std, out=np.zeros_like(gap), where=found.std > 0)


def _acceptance(found: Scores, absent: Scores, phi: float) -> dict[str, float]:
    """Say what an attacker with threshold phi claims: how often, how often rightly, how often about nobody."""
    claims = _eccentricity(found) >= phi
    right = claims & (found.own == found.best) & (found.profiles_at_best == 1)
    return {
        "phi": phi,
        "claims": float(claims.mean()),
        "right": float(right.mean()),
        "precision": float(right.sum() / claims.sum()) if claims.any() else 0.0,
        "claims_about_absent": float((_eccentricity(absent) >= phi).mean()),
    }
