"""What each user says of what he rates: bias, taste and noise, cut into whole stars.

    score_ui = sqrt(v_i) b_i + sqrt(v_u) b_u + sqrt(v_f) p_u . q_i + sqrt(1 - v_i - v_u - v_f) e_ui

with b_i, b_u, p_u . q_i and e_ui of unit variance, so that the v are shares of variance (`Taste`). The stars are cut at
the scores that split a first part of the ratings by the wanted histogram.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._ratings.synthetic.item_catalogue import ItemCatalogue
from recloak._ratings.synthetic.item_choice import STAGE_NOISE, affinity, taste_of
from recloak._ratings.synthetic.kernel_random import normal, walk
from recloak._ratings.synthetic.presets import Taste


class Scorer(NamedTuple):
    """What scores are made of, in the form the kernel takes."""

    item_part: NDArray[np.float32]  # (n_items,) sqrt(v_i) b_i
    factors: NDArray[np.float32]  # (n_items, rank)
    user: float  # sqrt(v_u)
    affinity: float  # sqrt(v_f)
    noise: float
    severity: float
    themes: int  # numbers of a taste that come before p_u


def scorer(taste: Taste, catalogue: ItemCatalogue) -> Scorer:
    """Make the kernel's form of a taste."""
    return Scorer(
        (catalogue.bias * math.sqrt(taste.item)).astype(np.float32),
        catalogue.factors,
        math.sqrt(taste.user),
        math.sqrt(taste.factors),
        math.sqrt(1.0 - taste.item - taste.user - taste.factors),
        taste.severity,
        taste.themes,
    )


@njit(cache=True, nogil=True)
def score(scoring, key, first, eagerness, starts, items, scores):  # type: ignore[no-untyped-def]
    """Fill in the scores of users ``first``, ``first + 1``, ...; ``eagerness`` is their standardised log activity."""
    length = scoring.themes + scoring.factors.shape[1]
    for u in range(len(starts) - 1):
        state = walk(key, first + u, STAGE_NOISE)
        p = taste_of(key, first + u, length)[scoring.themes :]
        own = scoring.severity * eagerness[u] + math.sqrt(1.0 - scoring.severity**2) * normal(state)
        for r in range(starts[u], starts[u + 1]):
            i = items[r]
            liking = scoring.affinity * affinity(p, scoring.factors[i])
            scores[r] = scoring.item_part[i] + scoring.user * own + liking + scoring.noise * normal(state)


def cuts(scores: NDArray[np.float32], histogram: tuple[float, ...]) -> NDArray[np.float32]:
    """Return the scores between which the stars lie."""
    shares = np.cumsum(histogram)
    return np.quantile(scores, shares[:-1] / shares[-1]).astype(np.float32)
