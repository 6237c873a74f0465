"""Sensitive items: whether somebody who knows a person's group can tell that the person rated one of them."""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.group_likelihood import GroupModel, group_model_of
from recloak._attacks.link_beliefs import posteriors
from recloak._attacks.model import Hits, PersonRisks
from recloak._attacks.two_samples import auc_share
from recloak._core.errors import InputError
from recloak._ratings.model import Ratings


def sensitive(model: GroupModel, ratings: Ratings, items: NDArray[np.bool_], targets: NDArray[np.integer]) -> Hits:
    """Separate targets who rated any of the items from the others, knowing their groups."""
    rated = np.array([bool(items[ratings.items[ratings.row(int(user))]].any()) for user in targets])
    if rated.all() or not rated.any():
        raise InputError("all of the targets, or none, rated a sensitive item")
    profiles, place = np.unique(model.public.owner[targets], return_inverse=True)
    believed = np.clip(posteriors(model, profiles)[:, items], 0, 1 - 1e-6)
    risk = 1 - np.exp(np.log1p(-believed).sum(axis=1))[place]  # that at least one was rated
    details = {"rated_any": float(rated.mean()), "sensitive_items": int(items.sum())}
    users = targets[rated]
    return Hits(auc_share(risk[rated], risk[~rated]), details=details, people=PersonRisks(users, risk[rated]))


def _run(given: AttackInput) -> Findings:
    assert given.owner.sensitive is not None  # as it needs
    model = group_model_of(given.public_release(), given.ratings)
    return Findings(sensitive(model, given.ratings, given.owner.sensitive, given.targets()), baseline=0.5)


ATTACK = Attack(
    name="sensitive",
    remedy="leave the sensitive items out of the source before publishing.",
    kind=Kind.TELLS_CELLS,
    title="Did this person rate a sensitive item?",
    short="sensitive items",
    attacker="knows the target's group and guesses whether the target rated any of the owner's sensitive items",
    unit="chance that somebody who did looks more like it than somebody who did not (AUC)",
    baseline="a coin",
    criterion="inference",
    run=_run,
    needs=("release", "sensitive items"),
    details={"rated_any": "People who rated one", "sensitive_items": "Sensitive items"},
    order=97,
)
