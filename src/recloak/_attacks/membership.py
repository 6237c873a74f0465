"""Membership: whether a person whose ratings are known is among those who were published.

The attacker asks how well the best group fits the person (`group_likelihood`), by how much the best stands out, where
the evidence of presence lies, and, in a complete release, what the model behind it remembers of the person
(`member_signs`). From people of whom he knows the answer he learns how that looks for members and for others; everybody
is judged by what the others taught.

People who are not in the data are needed for that. The owner can give some (``held_out``: their ratings were never
published). Otherwise the same people serve without their own group, and in a complete release with items that forgot
them. This is an estimate that can err to either side; docs/audit.md has figures of both.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings, OutsideRatings
from recloak._attacks.group_finding import total
from recloak._attacks.group_likelihood import GroupModel, group_model_of, score_groups
from recloak._attacks.member_signs import ItemMemory, forgotten, item_memory, person_of, signs_by_model
from recloak._attacks.model import Hits, Line, PersonRisks
from recloak._attacks.table_fit import Floats
from recloak._attacks.two_samples import auc, auc_share, found_at, found_share
from recloak._core.errors import InputError
from recloak._core.intervals import Share
from recloak._ratings.model import Ratings

_MOST_TARGETS, _FEWEST_TARGETS = 1000, 300
_MOST_COMPARED = 40_000_000  # people times groups for one number of known items; beyond, fewer targets
_FEWEST_SCORED, _MOST_SCORED = 100, 80_000_000  # likewise where each known rating is looked up in each group
_RIDGE = 0.3
_WIDEST = 3.0  # a sign further out says no more, in standard deviations
_FOLDS = 5
_N_SIGNS = 11  # of presence and taste, see `signs_of`
_EVERYTHING = 1 << 30  # ratings known of a person: more than anybody has


def signs_of(taste: Floats, presence: Floats, n_known: int) -> NDArray[np.float64]:
    """Return the signs that a person whose ratings fit the groups like this is in the data."""
    scores = total(taste, presence)
    best, spread = int(scores.argmax()), float(scores.std()) + 1e-9
    gap = float(scores[best] - np.partition(scores, -2)[-2]) if len(scores) > 1 else 0.0
    standing_out = (float(scores[best]) - float(scores.mean())) / spread
    each = (presence[best], scores[best], taste.max(), taste[best])
    signs = [*signs_of_presence(presence, n_known), *(float(one) / n_known for one in each)]
    signs += [float(presence[best]), standing_out, gap / np.sqrt(n_known), gap / spread, np.log(n_known)]
    return np.array(signs, np.float64)


def _signs_of_labels(model: GroupModel, taste: Floats, presence: Floats, n_known: int) -> NDArray[np.float64]:
    """Return what the labels of a complete release say by themselves: nothing where no rating moved any."""
    return signs_of(taste, presence, n_known) if model.shows_presence else np.empty(0)


def signs_of_presence(presence: Floats, n_known: int) -> NDArray[np.float64]:
    """Return the signs that lie in the evidence of presence alone."""
    best, spread = float(presence.max()), float(presence.std()) + 1e-9
    return np.array([best / n_known, (best - float(presence.mean())) / spread], np.float64)


def learn(
    members: NDArray[np.float64], others: NDArray[np.float64], tested: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log odds of membership of the tested, by logistic regression on the others."""
    seen = np.vstack((members, others))
    truth = np.r_[np.ones(len(members)), np.zeros(len(others))]
    centre, scale = seen.mean(axis=0), seen.std(axis=0) + 1e-9
    given, weights = _with_one(_clipped(seen, centre, scale)), np.zeros(seen.shape[1] + 1)
    for _ in range(25):
        probability = 1 / (1 + np.exp(-np.clip(given @ weights, -30, 30)))
        slope = given.T @ (truth - probability) - _RIDGE * weights
        curve = (given * np.maximum(probability * (1 - probability), 1e-4)[:, None]).T @ given + _RIDGE * np.eye(
            len(weights)
        )
        weights = weights + np.linalg.solve(curve, slope)
    return np.asarray(_with_one(_clipped(tested, centre, scale)) @ weights)


def _clipped(x: NDArray[np.float64], centre: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip((x - centre) / scale, -_WIDEST, _WIDEST)


def _with_one(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack((x, np.ones(len(x))))


def membership(
    model: GroupModel, ratings: Ratings, targets: NDArray[np.integer], *, known: int, stream: np.random.Generator,
    held_out: OutsideRatings | None = None,
) -> tuple[Hits, tuple[Line, ...]]:  # fmt: skip
    """Separate members from people who are not in the data, knowing so many ratings of each."""
    if model.public.n_profiles < 2 or len(targets) < _FOLDS:
        raise InputError(f"membership needs two groups and {_FOLDS} people at least")
    memory = item_memory(model, ratings) if model.public.is_complete else None
    popularity = ratings.popularity
    seen = [_seen(model, memory, ratings, popularity, int(user), known, stream) for user in targets]
    members, absent = (np.array(signs) for signs in zip(*seen, strict=True))
    others = (
        absent if held_out is None else _strangers(model, memory, popularity, held_out, known, len(targets), stream)
    )
    first = _N_SIGNS if memory is not None and model.shows_presence else 0
    of_members, of_others = _judged(members, others, stream, paired=held_out is None, first=first)
    found = {f"found_at_{100 * alarms:g}_%": found_at(of_members, of_others, alarms) for alarms in (0.001, 0.01)}
    details = {**found, "groups": model.public.n_profiles, "people_held_out": 0 if held_out is None else len(others)}
    line = Line("found_at_1_%", found_share(of_members, of_others, 0.01), 0.01)
    risks = 1 / (1 + np.exp(-np.clip(of_members, -30, 30)))  # how sure the attacker is where half are members
    return Hits(auc_share(of_members, of_others), details=details, people=PersonRisks(targets, risks)), (line,)


def _judged(
    members: NDArray[np.float64], others: NDArray[np.float64], stream: np.random.Generator, *, paired: bool,
    first: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Return the log odds of each by what is learned from the other folds; the two of a pair lie in one fold.

    Where the ``first`` signs are a set of their own, each fold uses them alone if they tell more: many signs that say
    little drown a few that say much.
    """
    if len(others) < _FOLDS:
        raise InputError(f"membership needs {_FOLDS} people held out at least")
    fold = stream.permutation(len(members)) % _FOLDS
    other_fold = fold if paired else stream.permutation(len(others)) % _FOLDS
    of_members, of_others = np.zeros(len(members)), np.zeros(len(others))
    for one in range(_FOLDS):
        seen = members[fold != one], others[other_fold != one]
        used = _telling(*seen, first)
        learned = seen[0][:, used], seen[1][:, used]
        of_members[fold == one] = learn(*learned, members[fold == one][:, used])
        of_others[other_fold == one] = learn(*learned, others[other_fold == one][:, used])
    return of_members, of_others


def _telling(members: NDArray[np.float64], others: NDArray[np.float64], first: int) -> slice:
    """Return the signs that tell more about people not learned from: the first ones, or all."""
    if not first or min(len(members), len(others)) < 2 * _FOLDS:
        return slice(None)
    (learned, tested), (other, other_tested) = (members[::2], members[1::2]), (others[::2], others[1::2])
    told = [
        auc(learn(learned[:, used], other[:, used], tested[:, used]),
            learn(learned[:, used], other[:, used], other_tested[:, used]))
        for used in (slice(first), slice(None))
    ]  # fmt: skip
    return slice(first) if told[0] >= told[1] else slice(None)


def _seen(
    model: GroupModel, memory: ItemMemory | None, ratings: Ratings, popularity: NDArray[np.integer], user: int,
    known: int, stream: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Return the signs of a member, and of the same person as if not in the data.

    What the items remember comes from all ratings of the person, however few the attacker knows.
    """
    row, own = ratings.row(user), model.public.owner[user]
    items, values = ratings.items[row], ratings.values[row]
    some, kept = stream.permutation(len(items))[:known], np.arange(model.public.n_profiles) != own
    taste, presence = _scores(model, items[some], values[some])
    if memory is None:
        return signs_of(taste, presence, len(some)), signs_of(taste[kept], presence[kept], len(some))
    whole = person_of(memory, items, values, popularity[items] - 1)
    known_of, gone = whole.knowing(memory, some), forgotten(memory, whole).knowing(memory, some)
    inside = _signs_of_labels(model, taste, presence, len(some)), signs_by_model(memory, known_of, model.places)
    left = _signs_of_labels(model, taste[kept], presence[kept], len(some))
    return np.concatenate(inside), np.append(left, signs_by_model(memory, gone, model.places[kept]))


def _scores(model: GroupModel, items: NDArray[np.integer], values: Floats) -> tuple[Floats, Floats]:
    """Return how well each group fits and the evidence of presence, which there is none of where no label was moved."""
    if model.shows_presence:
        return score_groups(model, items, values)
    nothing = np.zeros(model.public.n_profiles, np.float32)
    return nothing, nothing


def _strangers(
    model: GroupModel, memory: ItemMemory | None, popularity: NDArray[np.integer], held_out: OutsideRatings,
    known: int, most: int, stream: np.random.Generator,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the signs of people held out."""
    found = []
    for user in stream.permutation(held_out.n_users)[:most]:
        row = held_out.row(int(user))
        some = stream.permutation(row.stop - row.start)[:known] + row.start
        items, values = held_out.items[some], held_out.values[some]
        if not len(items):
            continue
        taste, presence = _scores(model, items, values)
        if memory is None:
            found.append(signs_of(taste, presence, len(items)))
        else:
            person = person_of(memory, items, values, popularity[items])
            by_model = signs_by_model(memory, person, model.places)
            found.append(np.append(_signs_of_labels(model, taste, presence, len(items)), by_model))
    return np.array(found)


def membership_together(
    models: list[GroupModel], ratings: Ratings, targets: NDArray[np.integer], *, stream: np.random.Generator,
    held_out: OutsideRatings | None = None,
) -> tuple[Share, Share]:  # fmt: skip
    """Separate members from others by the first release alone and by all together, knowing all of their ratings."""
    seed, popularity = stream.integers(2**63), ratings.popularity
    members, others = [], []
    for model in models:
        same = np.random.default_rng(seed)  # the same people in the same order for every release
        seen = [_seen(model, None, ratings, popularity, int(user), _EVERYTHING, same) for user in targets]
        inside, absent = (np.array(signs) for signs in zip(*seen, strict=True))
        members.append(inside)
        if held_out is not None:
            strangers = np.random.default_rng(seed)
            absent = _strangers(model, None, popularity, held_out, _EVERYTHING, len(targets), strangers)
        others.append(absent)
    found = []
    for n in (1, len(models)):
        folds = np.random.default_rng(seed)
        judged = _judged(np.hstack(members[:n]), np.hstack(others[:n]), folds, paired=held_out is None)
        found.append(auc_share(*judged))
    return found[0], found[1]


def _run(given: AttackInput) -> Findings:
    assert given.knowledge is not None
    model = group_model_of(given.public_release(), given.ratings)
    known = given.knowledge.known
    most = _MOST_COMPARED / model.public.n_profiles
    most = int(np.clip(most, _FEWEST_TARGETS, _MOST_TARGETS))
    if model.shows_presence:
        each = min(known, given.ratings.n_ratings / given.ratings.n_users) * model.public.n_profiles
        most = min(most, int(np.clip(_MOST_SCORED / each, _FEWEST_SCORED, _MOST_TARGETS)))
    stream = given.randomness.stream("membership", known)
    targets = np.sort(stream.permutation(given.targets())[: given.most(most)])
    hits, lines = membership(model, given.ratings, targets, known=known, stream=stream, held_out=given.held_out)
    return Findings(hits, baseline=0.5, lines=lines)


ATTACK = Attack(
    name="membership",
    remedy="raise k, of padded rows lower --rank as well, or let recipients sign not to look for people.",
    drawn_rows=True,
    kind=Kind.TELLS_CELLS,
    title="Is this person in the data? (membership)",
    short="membership",
    attacker="looks how far the best group stands out and what the model remembers, and says whether the person was "
    "published at all",
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
