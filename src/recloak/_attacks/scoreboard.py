"""Scoreboard-RH, the attack that broke the Netflix Prize data.

Narayanan and Shmatikov, *Robust De-anonymization of Large Sparse Datasets*, 2008 (doi:10.1109/SP.2008.33):

    score(r) = sum over known i of  w(i) (exp(-|rating - known| / 1.5) + exp(-|days| / 30)),   w(i) = 1 / log(1 + sup)

Accept the best r when (best - second) / std >= phi, 1.5 in the paper. `scoreboard_paper` does that. `scoreboard` is a
stronger attacker in two ways, each measured on MovieLens-1M (docs/benchmarks.md has the figures):

- a known item is one of a target's n items, so it speaks for short profiles: who rated everything fits everybody's
  clues. Each profile starts with c log(longest / its length), which mostly decides between profiles that fit alike:
  with 4 known ratings it names 0.98 of the targets where an even choice names 0.80;
- the number under the rating is 1.0: with 2 of 8 items wrong and no head start 1.5 names 0.71 and 1.0 names 0.81.

Both use log(1 + sup), so that an item with one rater has a weight, and stretch the number under the rating, which is
for a scale of four steps, with the scale. The forced choice of the best is reported beside the acceptance, whose
threshold does not carry over to other data.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Varied
from recloak._attacks.attack_input import naming_attack
from recloak._attacks.clue_matching import Kernel, Scores, score
from recloak._attacks.model import Clues, Hits, Public, expected_share, most_named
from recloak._attacks.public_columns import lengths, support

THRESHOLDS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
RATING_SCALE, PAPER_RATING_SCALE = 1.0, 1.5
SHORT = 0.05  # c above, in units of a score
_PAPER_PHI = 1.5
_PAPER_SPAN = 4.0


def scoreboard(public: Public, clues: Clues) -> Hits:
    """Attack by Scoreboard-RH made stronger; the control is the same attack on people taken out of the data."""
    return _attack(public, clues, _kernel(public, RATING_SCALE, SHORT))


def scoreboard_paper(public: Public, clues: Clues) -> Hits:
    """Attack by Scoreboard-RH with the constants of its paper."""
    return _attack(public, clues, _kernel(public, PAPER_RATING_SCALE, 0.0))


def _attack(public: Public, clues: Clues, kernel: Kernel) -> Hits:
    found = score(public, clues, kernel)
    absent = score(public, clues, kernel, without_own=True)
    return Hits(
        user=expected_share(_probability(found, found.users_at_best), most_named(public)),
        group=expected_share(_probability(found, found.profiles_at_best)),
        control=expected_share((_eccentricity(absent) >= _PAPER_PHI).astype(np.float64)),
        details={"acceptance": [_acceptance(found, absent, phi) for phi in THRESHOLDS]},
    )


def _kernel(public: Public, rating_scale: float, short: float) -> Kernel:
    weights = 1.0 / np.log1p(np.maximum(support(public), 1))
    stretch = (public.scale.span or _PAPER_SPAN) / _PAPER_SPAN
    return Kernel(weights, rating_scale * stretch, day_scale=30.0, head_start=short * _shortness(public))


def _shortness(public: Public) -> NDArray[np.float64]:
    """Return log(longest / length) of each profile: nothing where all are equally long, as in a padded release."""
    long = np.maximum(lengths(public), 1)
    return np.log(long.max(initial=1) / long)


def _probability(found: Scores, n_at_best: NDArray[np.float64]) -> NDArray[np.float64]:
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


SCOREBOARD = naming_attack(
    scoreboard,
    name="scoreboard",
    title="Best score over all known ratings (Scoreboard-RH)",
    short="Scoreboard-RH",
    attacker="scores every released user by the known ratings, rare items counting more, and names the best",
    varied=Varied.SETTINGS,
    order=50,
)
PAPER = naming_attack(
    scoreboard_paper,
    name="scoreboard-paper",
    title="Best score, with the constants of its paper (Scoreboard-RH)",
    short="Scoreboard-RH, paper",
    attacker="scores as the paper does, without favouring short profiles",
    varied=Varied.ONE_KNOWN,
    order=70,
)
ATTACKS = (SCOREBOARD, PAPER)
