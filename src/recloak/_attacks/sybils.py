"""Sybils: an attacker who can add people to the source before it is published plants copies of a person.

Copies with some known ratings of the target land near the target. If they fill the target's group, the row of the group
is the copies' own and the target's, and tells what the attacker did not know. Nothing of this shows in a release made
without them, so the owner publishes again with copies planted, in private, and this attack looks at the result.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings, SybilRelease
from recloak._attacks.model import Hits, Line, PersonRisks, Public, step_of
from recloak._attacks.released_cells import rows_of
from recloak._core.intervals import wilson
from recloak._ratings.model import Ratings


@dataclass(frozen=True, slots=True)
class _Read:
    """Ratings of the targets that the attacker did not know: how many, and how many a label gives exactly."""

    right: int
    tried: int


def alone_with_copies(planted: SybilRelease) -> NDArray[np.bool_]:
    """Return for each target whether all other members of the group are copies of it."""
    owner = planted.release.public.owner
    sizes = np.bincount(owner)
    with_target = (owner[planted.copies] == owner[planted.targets][:, None]).sum(axis=1)
    return np.asarray((with_target > 0) & (with_target + 1 == sizes[owner[planted.targets]]))


def _run(given: AttackInput) -> Findings:
    planted = given.owner.sybils
    assert planted is not None  # as it needs
    alone = alone_with_copies(planted)
    here = _read(planted.release.public, planted.targets, planted.people, planted.unknown, given.ratings)
    before = _read(given.public_release(), planted.people, planted.people, planted.unknown, given.ratings)
    baseline = before.right / max(before.tried, 1)
    line = Line("stars_read", wilson(here.right, max(here.tried, 1)), baseline)
    owner = planted.release.public.owner
    together = float((owner[planted.copies] == owner[planted.targets][:, None]).mean())
    details = {
        "copies_planted": planted.copies.shape[1],
        "copies_in_the_group": together,
        "stars_read": line.share.rate,
        "stars_read_without": baseline,
    }
    people = PersonRisks(planted.people, alone.astype(np.float64))
    hits = Hits(wilson(int(alone.sum()), len(alone)), details=details, people=people)
    return Findings(hits, baseline=0.0, lines=(line,))


def _read(
    public: Public, numbers: NDArray[np.integer], people: NDArray[np.integer], unknown: tuple[NDArray[np.integer], ...],
    ratings: Ratings,
) -> _Read:  # fmt: skip
    """Read the ratings that the attacker did not know off the rows of the targets' groups."""
    right = tried = 0
    step = step_of(ratings.scale)
    for number, user, items in zip(numbers, people, unknown, strict=True):
        row = ratings.row(int(user))
        truth = ratings.values[row][np.isin(ratings.items[row], items)]
        label = rows_of(public, public.owner[[number]])[0][np.sort(items)]
        rounded = np.clip(np.round(label / step) * step, ratings.scale.low, ratings.scale.high)
        right += int((np.abs(rounded - truth) < step / 2).sum())  # nan compares as false
        tried += len(items)
    return _Read(right, tried)


ATTACK = Attack(
    name="sybils",
    remedy="remove accounts that copy each other before publishing, or raise k.",
    kind=Kind.TELLS_CELLS,
    title="Copies of a person planted before publishing (sybils)",
    short="sybils",
    attacker="adds copies of the target, with the ratings that are known, to the source before it is published",
    unit="targets whose group holds nobody but them and their copies",
    baseline="planting nobody",
    criterion="inference",
    run=_run,
    needs=("sybils",),
    details={
        "copies_planted": "Copies of each target",
        "copies_in_the_group": "Share of the copies that share the target's group",
        "stars_read": "Unknown ratings read off the group's row exactly",
        "stars_read_without": "The same in the release as it is",
    },
    order=130,
)
