"""Attributes: whether the row of a person's group tells something that was never published, such as gender.

The owner gives a class of each person. On half of the groups an attacker learns a ridge regression from rows to
classes, and tests it on the people of the other half.
"""

import math

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.model import Hits, Public
from recloak._attacks.released_cells import rows_of
from recloak._attacks.two_samples import auc_share, wider
from recloak._core.errors import InputError

_MOST_ROWS, _MOST_CELLS = 2_000, 30_000_000
_RIDGE = 0.03  # of the mean squared length of a row


def attribute(public: Public, classes: NDArray[np.integer], stream: np.random.Generator) -> Hits:
    """Separate the most frequent class from the others by the rows of groups that were not learned from."""
    known = classes >= 0
    if len(np.unique(classes[known])) < 2:
        raise InputError("the attribute has fewer than two values")
    is_first = classes == np.bincount(classes[known]).argmax()
    most = max(min(_MOST_ROWS, _MOST_CELLS // max(public.n_items, 1)), 4)
    profiles = np.sort(stream.permutation(public.n_profiles)[:most])
    place = np.full(public.n_profiles, -1)
    place[profiles] = np.arange(len(profiles))
    users = np.flatnonzero(known & (place[public.owner] >= 0))
    row_of, truth = place[public.owner[users]], is_first[users]
    learned = stream.permutation(len(profiles)) % 2 == 0
    guesses = _ridge(_features(rows_of(public, profiles)), row_of, truth, learned)
    tested = ~learned[row_of]
    yes, no = guesses[row_of[tested & truth]], guesses[row_of[tested & ~truth]]
    told = wider(auc_share(yes, no), math.sqrt(max(len(users) / len(profiles), 1)))  # members share their guess
    return Hits(told, details={"most_frequent_class": float(truth.mean()), "people": len(users)})


def _features(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows around the mean of each item, and which items are there; nothing where an item is not."""
    there = ~np.isnan(rows)
    means = np.nansum(rows, axis=0) / np.maximum(there.sum(axis=0), 1)
    labels = np.where(there, rows - means, 0).astype(np.float32)
    return labels if there.all() else np.hstack((labels, (there - there.mean(axis=0)).astype(np.float32)))


def _ridge(
    features: NDArray[np.float32], row_of: NDArray[np.int64], truth: NDArray[np.bool_], learned: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the guess for each row: ridge regression of the share of the class in the learned rows."""
    n_people = np.bincount(row_of, minlength=len(features))
    share = np.bincount(row_of, truth, len(features)) / np.maximum(n_people, 1)
    used = learned & (n_people > 0)
    if used.sum() < 2:
        raise InputError("too few groups have people whose attribute is known")
    alike = (features @ features[used].T).astype(np.float64)  # (n_rows, n_used)
    within = alike[used]
    weights = np.linalg.solve(
        within + _RIDGE * np.trace(within) * np.eye(len(within)) / 10 + 1e-9 * np.eye(len(within)),
        share[used] - share[used].mean(),
    )
    return np.asarray(alike @ weights)


def _run(given: AttackInput) -> Findings:
    assert given.owner.attribute is not None  # as it needs
    stream = given.randomness.stream("attribute")
    return Findings(attribute(given.public_release(), given.owner.attribute, stream), baseline=0.5)


ATTACK = Attack(
    name="attribute",
    remedy="raise k, or leave items out of the source that give the attribute away.",
    kind=Kind.TELLS_CELLS,
    title="What else is true of this person? (attribute)",
    short="attribute",
    attacker="knows the target's group and guesses from its row something that was never published",
    unit="chance that a person of the most frequent class looks more like it than another (AUC)",
    baseline="a coin",
    criterion="inference",
    run=_run,
    needs=("release", "attribute"),
    details={"most_frequent_class": "People of the most frequent class", "people": "People looked at"},
    order=96,
)
