"""What differential privacy costs on the same ratings: two baselines beside the releases of a frontier.

*Laplace*: every rating with noise of scale (highest - lowest) / epsilon, cut off at the ends. Epsilon is about the
value of one rating; who rated what is plain to see. *Private items*: `private_items`, where epsilon is about a whole
person and no row of anybody is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.frontier_risks import Measure, risks_of
from recloak._attacks.membership import learn
from recloak._attacks.model import PERSONAL_RISKS
from recloak._attacks.public_view import ReleaseView, see_original
from recloak._attacks.two_samples import auc_share
from recloak._core.errors import MissingExtraError
from recloak._core.randomness import Randomness
from recloak._evaluation.holdout import Probe
from recloak._evaluation.model import Accuracy, accuracy_of
from recloak._evaluation.private_items import PrivateItems, train_private_items
from recloak._evaluation.recommenders import fit_factors
from recloak._ratings.model import Ratings, Scale

_STRANGERS = 0.1  # share of the people whose ratings teach no item, so that members have somebody to be told from
_FOLDS, _FEWEST = 5, 10

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PrivacyBaseline:
    """A baseline with its epsilon, its accuracy and the risks that were measured."""

    name: str
    epsilon: float
    protects: str  # what epsilon is about
    delta: float = 0.0
    trained: Accuracy | None = None
    measures: dict[str, Measure] = field(default_factory=dict)
    why: str = ""  # the reason where nothing was measured

    def to_json(self) -> dict[str, Any]:
        """Return the baseline as plain values."""
        return asdict(self)


def privacy_baselines(
    ratings: Ratings, probe: Probe, epsilons: Iterable[float], *, targets: int, rng: Randomness
) -> tuple[PrivacyBaseline, ...]:
    """Measure both baselines for each epsilon."""
    makers = (_laplace, _private_items)
    wanted = tuple(dict.fromkeys(epsilons))
    return tuple(make(ratings, probe, epsilon, targets, rng) for make in makers for epsilon in wanted)


def with_laplace_noise(ratings: Ratings, epsilon: float, rng: np.random.Generator) -> Ratings:
    """Return the ratings with noise, so that the value of one rating is epsilon-differentially private."""
    scale = ratings.scale
    noisy = ratings.values + rng.laplace(0, max(scale.span, 1e-9) / epsilon, ratings.n_ratings)
    values = np.round(scale.clip(noisy), 2).astype(np.float32)
    return replace(ratings, values=values, scale=Scale(scale.low, scale.high, None))


def _laplace(ratings: Ratings, probe: Probe, epsilon: float, targets: int, rng: Randomness) -> PrivacyBaseline:
    noisy = with_laplace_noise(ratings, epsilon, rng.stream("laplace", f"{epsilon:g}"))
    predicted = fit_factors(noisy, rng.child("train")).predict(probe.users, probe.items)
    shown = ReleaseView(see_original(noisy), {"k": 1, "mode": "laplace"})
    risks = risks_of(shown, ratings, see_original(ratings), targets=targets, rng=rng, only=PERSONAL_RISKS)
    return PrivacyBaseline(
        "ratings with Laplace noise", epsilon, "the value of one rating, not who rated what",
        trained=accuracy_of(predicted, probe.values), measures=risks,
    )  # fmt: skip


def _private_items(ratings: Ratings, probe: Probe, epsilon: float, targets: int, rng: Randomness) -> PrivacyBaseline:
    delta = 1 / (10 * max(ratings.n_users, 1))
    empty = PrivacyBaseline("private item factors", epsilon, "a whole person; no rows are shown", delta)
    stream = rng.stream("private items", f"{epsilon:g}")
    taught = stream.random(ratings.n_users) >= _STRANGERS
    try:
        items = train_private_items(ratings, epsilon=epsilon, delta=delta, rng=stream, taught=taught)
    except MissingExtraError as error:
        return replace(empty, why=str(error))
    predicted = items.predict(ratings, probe.users, probe.items)
    told = membership_by_items(items, ratings, taught, targets=targets, rng=stream)
    return replace(empty, trained=accuracy_of(predicted, probe.values), measures={PERSONAL_RISKS[0]: told})


def membership_by_items(
    items: PrivateItems, ratings: Ratings, taught: NDArray[np.bool_], *, targets: int, rng: np.random.Generator
) -> Measure:
    """Distinguish people whose ratings trained the items from others, by how well the items fit all their ratings."""
    members, others = (rng.permutation(np.flatnonzero(one))[:targets] for one in (taught, ~taught))
    if min(len(members), len(others)) < _FEWEST:
        return Measure(None, why=f"membership needs {_FEWEST} people who taught the items and {_FEWEST} who did not")
    signs = _signs(items, ratings)
    folds = [rng.permutation(len(some)) % _FOLDS for some in (members, others)]
    odds = [np.zeros(len(members)), np.zeros(len(others))]
    for one in range(_FOLDS):
        seen = [signs[some[fold != one]] for some, fold in zip((members, others), folds, strict=True)]
        for place, some in enumerate((members, others)):
            tested = folds[place] == one
            odds[place][tested] = learn(seen[0], seen[1], signs[some[tested]])
    return Measure.of(auc_share(*odds), baseline=0.5)


def _signs(items: PrivateItems, ratings: Ratings) -> Floats:
    """Return for each person how well the items fit, also weighted by how far one rating pulls its item."""
    users, wanted = ratings.users(), ratings.values.astype(np.float64)
    errors = np.square(wanted - items.predict(ratings, users, ratings.items))
    pull = 1 / (ratings.popularity[ratings.items] + 1.0)
    n = np.maximum(np.bincount(users, minlength=ratings.n_users), 1)
    own, pulls = _per_person(users, errors, n) / n, _per_person(users, pull, n)
    pulled = _per_person(users, pull * errors, n)
    near = _per_person(users, np.sqrt(errors), n) / n
    spread = max(float(errors.mean()), 1e-9)
    return np.column_stack((
        np.log(own + 0.01), near, pulls - pulled / spread, pulls - pulled / (own + 0.01), pulled / (pulls + 1e-9),
        np.log(pulls + 1e-9), np.log(n),
    ))  # fmt: skip


def _per_person(users: NDArray[np.integer], weights: Floats, n: NDArray[np.integer]) -> Floats:
    return np.asarray(np.bincount(users, weights, minlength=len(n)), np.float64)
