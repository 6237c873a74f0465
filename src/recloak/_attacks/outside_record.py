"""Records from elsewhere: find the group of ratings that are not exactly those of the source.

*outside-record* has ten ratings of a person as another site or a memory holds them: each off by up to a step.
*other-time* has ratings of the same people that are not in the source at all, where the owner gives some.
*public-mentions* has what people said in public. All three look for the group in which such ratings are most likely
(`group_likelihood`).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings, OutsideRatings
from recloak._attacks.group_finding import find_group, total
from recloak._attacks.group_likelihood import GroupModel, group_model_of, score_groups
from recloak._attacks.knowledge import draw_clues
from recloak._attacks.model import Hits, Knowledge, PersonRisks, expected_share
from recloak._core.errors import InputError

N_KNOWN = 10
_FIRST = 10  # the right group is looked for among so many
_MOST_TARGETS = 500


def _run_record(given: AttackInput) -> Findings:
    model = group_model_of(given.public_release(), given.ratings)
    knowledge = Knowledge(known=N_KNOWN, noise=1)
    n_targets = min(given.options.targets, given.most(_MOST_TARGETS))
    found = find_group(model, draw_clues(given.ratings, knowledge, n_targets=n_targets, rng=given.randomness))
    assert found.group is not None
    assert found.people is not None
    sizes = model.public.weights[model.public.owner[found.people.users]]
    people = PersonRisks(found.people.users, found.people.risks * sizes)
    return Findings(replace(found, user=found.group, people=people), baseline=1 / max(model.public.n_profiles, 1))


def among_first(
    model: GroupModel,
    others: OutsideRatings,
    stream: np.random.Generator,
    *,
    most_known: int,
    in_source: bool,
    first: int = _FIRST,
) -> Hits:
    """Look for the group of each person of another table, users and items numbered as in the source.

    Ratings that are not in the source moved no label, so they speak by taste alone.
    """
    users = np.flatnonzero(np.diff(others.indptr))
    if not len(users):
        raise InputError("the table from elsewhere has no ratings of these people and items")
    users = np.sort(stream.permutation(users)[:_MOST_TARGETS])
    probabilities = np.array(
        [_probability(model, others, int(user), stream, most_known, in_source, first) for user in users]
    )
    return Hits(expected_share(probabilities), people=PersonRisks(users, probabilities))


def _probability(
    model: GroupModel,
    others: OutsideRatings,
    user: int,
    stream: np.random.Generator,
    most_known: int,
    in_source: bool,
    first: int,
) -> float:
    row = others.row(user)
    places = stream.permutation(row.stop - row.start)[:most_known] + row.start
    taste, presence = score_groups(model, others.items[places], others.values[places])
    scores = total(taste, presence) if in_source else taste
    own = scores[model.public.owner[user]]
    above, level = int((scores > own).sum()), int((scores == own).sum())
    return float(np.clip((first - above) / level, 0.0, 1.0))


def _elsewhere(given: AttackInput, others: OutsideRatings | None, most_known: int, *, in_source: bool) -> Findings:
    assert others is not None  # as the attack needs
    model = group_model_of(given.public_release(), given.ratings)
    hits = among_first(model, others, given.randomness.stream("elsewhere"), most_known=most_known, in_source=in_source)
    return Findings(hits, baseline=min(_FIRST / max(model.public.n_profiles, 1), 1.0))


def _run_other_time(given: AttackInput) -> Findings:
    return _elsewhere(given, given.owner.later, N_KNOWN, in_source=False)


def _run_mentions(given: AttackInput) -> Findings:
    return _elsewhere(given, given.owner.mentions, 1000, in_source=True)


_COMMON: dict[str, Any] = {"kind": Kind.TELLS_CELLS, "criterion": "linkability"}
ATTACKS = (
    Attack(
        name="outside-record",
        remedy="raise k; recloak frontier measures what each k costs.",
        drawn_rows=True,
        title="A record of the person from elsewhere",
        short="outside record",
        attacker="has ten ratings of a person from elsewhere, each off by up to a step, and looks for the group",
        unit="records whose group is found",
        baseline="naming a group at random",
        run=_run_record,
        order=125,
        **_COMMON,
    ),
    Attack(
        name="other-time",
        remedy="raise k; recloak frontier measures what each k costs.",
        title="Ratings of another time, which are not in the source",
        short="other time",
        attacker="has ten ratings of a person that were never published, and looks for the group",
        unit="people whose group is among the first ten",
        baseline="naming ten groups at random",
        run=_run_other_time,
        needs=("release", "later ratings"),
        order=126,
        **_COMMON,
    ),
    Attack(
        name="public-mentions",
        remedy="raise k; ask people before you publish who write in public (recloak mentions).",
        title="Public mentions of the same people",
        short="mentions",
        attacker="has what a person said about items in public, and looks for the group",
        unit="people whose group is among the first ten",
        baseline="naming ten groups at random",
        run=_run_mentions,
        needs=("release", "mentions"),
        order=127,
        **_COMMON,
    ),
)
