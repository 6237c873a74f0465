"""The nearest-profile attack: the paper's own distance read as a risk.

Chang et al. call the rank of a user's own released profile, by similarity to the user, the *self-rank* and read a low
one as usefulness. It is also how well the nearest profile names the user's group. Over the known items, with
d = |x - y| / (max S - min S) and d = 1 where the profile lacks the item, the distance is 1 - mean (1 - d)^2.
"""

import numpy as np

from recloak._attacks.attack_input import naming_attack
from recloak._attacks.clue_matching import paper_kernel, score
from recloak._attacks.model import Clues, Hits, Public, expected_share, most_named

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def nearest(public: Public, clues: Clues) -> Hits:
    """Attack by the nearest profile; details hold quantiles of the self-rank among the profiles."""
    found = score(public, clues, paper_kernel(public))
    is_best = found.own == found.best
    return Hits(
        user=expected_share(np.where(is_best, 1.0 / np.maximum(found.users_at_best, 1), 0.0), most_named(public)),
        group=expected_share(np.where(is_best, 1.0 / np.maximum(found.profiles_at_best, 1), 0.0)),
        details={
            "self_rank": {f"{100 * q:g} %": float(np.quantile(found.self_rank, q)) for q in QUANTILES},
            "n_profiles": public.n_profiles,
        },
    )


ATTACK = naming_attack(
    nearest,
    name="nearest",
    title="Nearest profile",
    short="nearest profile",
    attacker="ranks the released profiles by the paper's distance to the known ratings, and names the nearest",
    order=60,
)
