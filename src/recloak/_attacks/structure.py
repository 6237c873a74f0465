"""The structure-based attack: the candidates have every item the target is known to have rated.

Definition 3.1 of Chang et al., *Predictive Anonymization*: with c candidates the target is identified with probability
1/c if it is one of them.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack_input import naming_attack
from recloak._attacks.clue_matching import ANY_LABEL, Matches, match
from recloak._attacks.model import Clues, Hits, Public, expected_share, most_named


def structure(public: Public, clues: Clues) -> Hits:
    """Attack by the known items alone."""
    return by_containment(match(public, clues, ANY_LABEL), most_named(public))


def by_containment(found: Matches, most: float) -> Hits:
    """Score an attack that guesses evenly among the candidates, each of them right with ``most`` at most."""
    return Hits(
        user=expected_share(_probabilities(found.has_own, found.n_users), most),
        group=expected_share(_probabilities(found.has_own, found.n_profiles)),
        details={
            "median_candidates": float(np.median(found.n_users)),
            "no_candidate": float((found.n_users == 0).mean()),
            "unique": float((found.has_own & (found.n_users == 1)).mean()),
        },
    )


def _probabilities(has_own: NDArray[np.bool_], n_candidates: NDArray[np.integer]) -> NDArray[np.float64]:
    return np.where(has_own, 1.0 / np.maximum(n_candidates, 1), 0.0)


ATTACK = naming_attack(
    structure,
    name="structure",
    title="Items only (structure-based)",
    short="items only",
    attacker="lists the released users who have every known item, and guesses among them",
    order=10,
)
