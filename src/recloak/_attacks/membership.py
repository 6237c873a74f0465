"""Membership: whether a person whose ratings are known is among those who were published.

The attacker asks how well the best group fits the person (`group_likelihood`), by how much the best stands out, and
where the evidence of presence lies, and learns on half of the people how that looks for members and for others.

People who are not in the data are needed to test him. The owner can give some (``held_out``: their ratings were never
published). Otherwise the same people serve without their own group: what is left of the release is what it would be
without them, but for their four or more companions. This is an estimate that can err to either side. On MovieLens-1M,
k = 5, with 604 people really held out against it (AUC, all ratings known): padded with labels of the raters 0.977 and
0.980, with labels of the model 0.80 and 0.78; with 32 known and labels of the model 0.56 and 0.51. So where labels are
of the model it is the kinder of the two: give people held out.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings, OutsideRatings
from recloak._attacks.group_finding import total
from recloak._attacks.group_likelihood import GroupModel, group_model_of, score_groups
from recloak._attacks.model import Hits, Line, People
from recloak._attacks.table_fit import Floats
from recloak._attacks.two_samples import auc_share, found_at, found_share
from recloak._core.errors import InputError
from recloak._ratings.model import Ratings

_MOST_TARGETS = 600
_FEWEST_TARGETS = 100
_MOST_SCORED = 80_000_000  # cells scored for one number of known items; beyond, fewer targets
_RIDGE = 0.5

Known = tuple[NDArray[np.integer], NDArray[np.float32]]


def signs_of(taste: Floats, presence: Floats, n_known: int) -> NDArray[np.float64]:
    """Return the signs that a person whose ratings fit the groups like this is in the data."""
    scores = total(taste, presence)
    best, spread = int(scores.argmax()), float(scores.std()) + 1e-9
    gap = float(scores[best] - np.partition(scores, -2)[-2]) if len(scores) > 1 else 0.0
    standing_out = (float(scores[best]) - float(scores.mean())) / spread
    shown = (float(presence.max()) - float(presence.mean())) / (float(presence.std()) + 1e-9)
    each = (presence.max(), presence[best], scores[best], taste.max(), taste[best])
    signs = [float(one) / n_known for one in each]
    signs += [float(presence[best]), standing_out, gap / np.sqrt(n_known), gap / spread, shown, np.log(n_known)]
    return np.array(signs, np.float64)


def learn(
    members: NDArray[np.float64], others: NDArray[np.float64], tested: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log odds of membership of the tested, by logistic regression on the others."""
    seen = np.vstack((members, others))
    truth = np.r_[np.ones(len(members)), np.zeros(len(others))]
    centre, scale = seen.mean(axis=0), seen.std(axis=0) + 1e-9
    given, weights = _with_one((seen - centre) / scale), np.zeros(seen.shape[1] + 1)
    for _ in range(25):
        chance = 1 / (1 + np.exp(-np.clip(given @ weights, -30, 30)))
        slope = given.T @ (truth - chance) - _RIDGE * weights
        curve = (given * np.maximum(chance * (1 - chance), 1e-4)[:, None]).T @ given + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, slope)
    return np.asarray(_with_one((tested - centre) / scale) @ weights)


def _with_one(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack((x, np.ones(len(x))))


def membership(
    model: GroupModel, ratings: Ratings, targets: NDArray[np.integer], *, known: int, stream: np.random.Generator,
    held_out: OutsideRatings | None = None,
) -> tuple[Hits, tuple[Line, ...]]:  # fmt: skip
    """Tell members from people who are not in the data, knowing so many ratings of each."""
    if model.public.n_profiles < 2 or len(targets) < 4:
        raise InputError("membership needs two groups and four people at least")
    drawn = [_draw(ratings, int(user), known, stream) for user in targets]
    members, absent = (
        np.array(signs)
        for signs in zip(
            *(_both_signs(model, one, int(model.public.owner[user])) for one, user in zip(drawn, targets, strict=True)),
            strict=True,
        )
    )
    tested = stream.permutation(len(targets)) % 2 == 0
    others = absent[tested]
    if held_out is not None:
        strangers = _strangers(held_out, known, len(targets), stream)
        others = np.array([signs_of(*score_groups(model, *one), len(one[0])) for one in strangers])
    of_members = learn(members[~tested], absent[~tested], members[tested])
    of_others = learn(members[~tested], absent[~tested], others)
    found = {f"found_at_{100 * alarms:g}_%": found_at(of_members, of_others, alarms) for alarms in (0.001, 0.01)}
    details = {**found, "groups": model.public.n_profiles, "people_held_out": 0 if held_out is None else len(others)}
    line = Line("found_at_1_%", found_share(of_members, of_others, 0.01), 0.01)
    risks = 1 / (1 + np.exp(-np.clip(of_members, -30, 30)))  # how sure the attacker is where half are members
    return Hits(auc_share(of_members, of_others), details=details, people=People(targets[tested], risks)), (line,)


def _both_signs(model: GroupModel, known: Known, own: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the signs of a member, and of the same person without the own group."""
    taste, presence = score_groups(model, *known)
    kept = np.arange(len(taste)) != own
    return signs_of(taste, presence, len(known[0])), signs_of(taste[kept], presence[kept], len(known[0]))


def _draw(ratings: Ratings | OutsideRatings, user: int, known: int, stream: np.random.Generator) -> Known:
    row = ratings.row(user)
    places = stream.permutation(row.stop - row.start)[:known] + row.start
    return ratings.items[places], ratings.values[places]


def _strangers(held_out: OutsideRatings, known: int, most: int, stream: np.random.Generator) -> Iterator[Known]:
    for user in stream.permutation(held_out.n_users)[:most]:
        yield _draw(held_out, int(user), known, stream)


def _run(given: AttackInput) -> Findings:
    assert given.knowledge is not None
    model = group_model_of(given.public_release(), given.ratings)
    known = given.knowledge.known
    each = min(known, given.ratings.n_ratings / given.ratings.n_users) * model.public.n_profiles
    most = int(np.clip(_MOST_SCORED / each, _FEWEST_TARGETS, _MOST_TARGETS))
    stream = given.randomness.stream("membership", known)
    targets = np.sort(stream.permutation(given.targets())[:most])
    hits, lines = membership(model, given.ratings, targets, known=known, stream=stream, held_out=given.held_out)
    return Findings(hits, baseline=0.5, lines=lines)


ATTACK = Attack(
    name="membership",
    kind=Kind.TELLS_CELLS,
    title="Is this person in the data? (membership)",
    short="membership",
    attacker="looks how far the best group stands out, and says whether the person was published at all",
    unit="chance that a member looks more like one than somebody who is not in the data (AUC)",
    baseline="a coin",
    criterion="inference",
    run=_run,
    varied=Varied.DEEP,
    details={
        "found_at_0.1_%": "Members found at 0.1 % false alarms",
        "found_at_1_%": "Members found at 1 % false alarms",
        "groups": "Groups compared",
        "people_held_out": "People held out by the owner (0: everybody without the own group)",
    },
    order=72,
)
