"""Intersection: two releases of the same people, grouped differently.

k-anonymity does not compose. An attacker who knows the target's group in both believes in an item as far as both
profiles speak for it: others' items are in one of them, the target's own are in both.
"""

from __future__ import annotations

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.link import beliefs, best_bets, score_bets
from recloak._attacks.model import Hits, Public
from recloak._ratings.model import Ratings


def intersection(one: Public, other: Public, ratings: Ratings, targets: NDArray[np.integer]) -> Hits:
    """Attack the links of each target with two releases; details hold what one release alone gives."""
    first, second = (beliefs(seen, seen.owner[targets], ratings.popularity) for seen in (one, other))
    alone = score_bets(best_bets(first), ratings, targets)
    both = score_bets(best_bets(_ranked(first) + _ranked(second)), ratings, targets)
    return Hits(user=both, details={"one_release": alone.rate})


def _ranked(believed: NDArray[np.float32]) -> NDArray[np.float32]:
    """Bring beliefs of two releases to one footing: ranks within a row, and never where a profile lacks the item."""
    ranks = scipy.stats.rankdata(believed, method="min", axis=1).astype(np.float32)  # equal beliefs stay equal
    return np.where(believed < 0, np.float32(-1e9), ranks)


def _run(given: AttackInput) -> Findings:
    assert given.second is not None  # as it needs
    hits = intersection(given.public_release(), given.second.public, given.ratings, given.targets())
    return Findings(hits, baseline=float(hits.details["one_release"]))


ATTACK = Attack(
    name="intersection",
    kind=Kind.TELLS_CELLS,
    title="Two releases of the same people (intersection)",
    short="intersection",
    attacker="knows the target's group in two releases and bets on ten items that both speak for",
    unit="bets won",
    baseline="one release alone",
    criterion="linkability",
    run=_run,
    needs=("release", "second release"),
    details={"one_release": ""},
    order=120,
)
