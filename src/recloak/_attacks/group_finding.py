"""The group that makes a person's known ratings most likely: presence and label together (`group_likelihood`)."""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.group_likelihood import GroupModel, group_model_of, score_groups
from recloak._attacks.model import Clues, Hits, PersonRisks, expected_share, most_named

PRESENCE = 0.5  # weight of the evidence of presence beside that of taste; best on MovieLens-1M in both modes
_MOST_SCORED = 500_000_000  # cells scored for one number of known items; beyond, fewer targets
_TIE = 1e-4


def find_group(model: GroupModel, clues: Clues) -> Hits:
    """Name the group that fits each target's clues best, ties by lot, and one of its members."""
    probabilities = np.array([_probability(model, clues, target) for target in range(clues.n_targets)])  # of the group
    sizes = model.public.weights[model.public.owner[clues.targets]]
    named = probabilities / np.maximum(sizes, 1)
    return Hits(
        expected_share(named, most_named(model.public)),
        expected_share(probabilities),
        people=PersonRisks(clues.targets, named),
    )


def _probability(model: GroupModel, clues: Clues, target: int) -> float:
    known = slice(clues.indptr[target], clues.indptr[target + 1])
    scores = total(*score_groups(model, clues.items[known], clues.ratings[known]))
    best = scores >= scores.max() - _TIE
    return float(best[model.public.owner[clues.targets[target]]] / best.sum())


def total(taste: NDArray[np.float32], presence: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how well each group fits, by both kinds of evidence."""
    return taste + np.float32(PRESENCE) * presence


def _run(given: AttackInput) -> Findings:
    model = group_model_of(given.public_release(), given.ratings)
    most = _MOST_SCORED // (max(given.known or 1, 1) * max(model.public.n_profiles, 1))
    return Findings(find_group(model, given.clues(most=max(most, 50))))


ATTACK = Attack(
    name="likelihood",
    remedy="raise k; recloak frontier measures what each k costs.",
    drawn_rows=True,
    kind=Kind.IDENTIFIES,
    title="The group that makes the known ratings most likely",
    short="likelihood",
    attacker="names a member of the group in which the known ratings are most likely, by presence and label together",
    unit="targets named correctly",
    baseline="naming somebody at random",
    criterion="singling-out",
    run=_run,
    varied=Varied.KNOWN,
    order=65,
)
