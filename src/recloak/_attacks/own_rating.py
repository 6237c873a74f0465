"""Values: what the label of the own group tells about a rating, beyond what it would tell about anybody alike.

Half of a target's ratings find the best group that is *not* the target's own. Its labels and those of the own group
then guess the other half: a model of taste alone guesses about as well by both, one that holds the target's own ratings
does better by the own group.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import WITH_NUMBERS, Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.group_finding import total
from recloak._attacks.group_likelihood import GroupModel, group_model_of, score_groups
from recloak._attacks.model import Hits, PersonRisks, step_of
from recloak._attacks.public_columns import labels_for
from recloak._core.errors import InputError
from recloak._core.intervals import wilson
from recloak._ratings.model import Ratings

_MOST_TARGETS = 300
_MOST_KNOWN = 64
_MOST_SCORED = 300_000_000  # cells; beyond, fewer targets


def own_rating(model: GroupModel, ratings: Ratings, targets: NDArray[np.integer], stream: np.random.Generator) -> Hits:
    """Guess half of each target's ratings by the own group; details hold the same by the best other group."""
    right, other_right, errors, other_errors, people = 0, 0, [], [], []
    for user in targets:
        row = ratings.row(int(user))
        places = stream.permutation(row.stop - row.start) + row.start
        known, asked = places[: min(len(places) // 2, _MOST_KNOWN)], places[len(places) // 2 :]
        if not len(known):
            continue
        own, truth = int(model.public.owner[user]), ratings.values[asked]
        other = _best_other(model, ratings.items[known], ratings.values[known], own)
        by_own, by_other = (_labels(model, group, ratings.items[asked]) for group in (own, other))
        hits = np.abs(by_own - truth) < step_of(ratings.scale) / 2
        right += int(hits.sum())
        other_right += int((np.abs(by_other - truth) < step_of(ratings.scale) / 2).sum())
        errors.append(np.square(by_own - truth))
        other_errors.append(np.square(by_other - truth))
        people.append((int(user), float(hits.mean())))
    if not people:
        raise InputError("no target has two ratings")
    n = sum(map(len, errors))
    users, risks = map(np.array, zip(*people, strict=True))
    details = {
        "rmse_own_group": float(np.sqrt(np.concatenate(errors).mean())),
        "rmse_best_other_group": float(np.sqrt(np.concatenate(other_errors).mean())),
        "best_other_group": other_right / n,
    }
    return Hits(wilson(right, n), details=details, people=PersonRisks(users, risks))


def _best_other(model: GroupModel, items: NDArray[np.integer], values: NDArray[np.float32], own: int) -> int:
    scores = total(*score_groups(model, items, values))
    scores[own] = -np.inf
    return int(scores.argmax())


def _labels(model: GroupModel, group: int, items: NDArray[np.integer]) -> NDArray[np.float64]:
    found = labels_for(model.public, np.full(len(items), group), items)
    return np.where(np.isnan(found), model.means[items], found)


def _run(given: AttackInput) -> Findings:
    model, stream = group_model_of(given.public_release(), given.ratings), given.randomness.stream("own rating")
    most = int(np.clip(_MOST_SCORED // (_MOST_KNOWN * model.public.n_profiles), 50, _MOST_TARGETS))
    targets = np.sort(stream.permutation(given.targets())[: given.most(most)])
    if model.public.n_profiles < 2:
        raise InputError("there is one group only, so there is no other to compare with")
    hits = own_rating(model, given.ratings, targets, stream)
    return Findings(hits, baseline=float(hits.details["best_other_group"]))


ATTACK = Attack(
    name="own-rating",
    remedy="leave --labels at model, use a coarser grid (--grid), or raise k.",
    kind=Kind.TELLS_CELLS,
    values=WITH_NUMBERS,
    title="What did this person give it? (own rating)",
    short="own rating",
    attacker="knows the target's group and reads the target's ratings off its labels",
    unit="ratings within half a step",
    baseline="the labels of the best group that the target is not in",
    criterion="inference",
    run=_run,
    details={
        "rmse_own_group": "",
        "rmse_best_other_group": "",
        "best_other_group": "The same by the best other group",
    },
    order=95,
)
