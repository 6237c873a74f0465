"""The frontier: risk against usefulness over several releases of one source, so that an owner can choose.

All points share one split, so that they are scored on the same held-out ratings and differ in the release alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recloak._attacks.knowledge import draw_clues
from recloak._attacks.link import betting_on_the_popular, link
from recloak._attacks.model import Knowledge
from recloak._attacks.public_view import see_original
from recloak._attacks.scoreboard import scoreboard
from recloak._core.errors import InputError, OptionError
from recloak._core.intervals import Share
from recloak._core.progress import task
from recloak._core.randomness import Randomness
from recloak._evaluation.deviation import target_deviation
from recloak._evaluation.model import Accuracy, accuracy_of
from recloak._evaluation.options import FrontierOptions
from recloak._evaluation.probe import Probe, hold_out
from recloak._evaluation.recommenders import Fit, as_training_set, fit_factors, fit_item_mean
from recloak._evaluation.trial_release import publish_aside
from recloak._ratings.model import Ratings
from recloak._releases.options import PublishOptions


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """One release: how risky, how useful. The original data is a point too, of mode ``original`` and k 1."""

    mode: str
    k: int
    named: Share  # targets named rightly by Scoreboard-RH
    group: Share | None  # targets whose group is named rightly
    bets: Share  # bets won on what a target rated, the group being known
    popular: float  # bets won by whoever bets on the most popular items
    trained: Accuracy  # factorisation trained on the release
    own: Accuracy  # the profile of a user's own group (target deviation)

    def to_json(self) -> dict[str, Any]:
        """Give plain values; `from_json` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> FrontierPoint:
        """Read a point again."""
        shares = {name: None if found[name] is None else Share(**found[name]) for name in ("named", "group", "bets")}
        errors = {name: Accuracy(**found[name]) for name in ("trained", "own")}
        return cls(**{**found, **shares, **errors})


@dataclass(frozen=True, slots=True)
class Frontier:
    """All points, and the trivial prediction that a useful release must beat."""

    original: FrontierPoint
    points: tuple[FrontierPoint, ...]
    item_mean: Accuracy
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        points = [point.to_json() for point in self.points]
        baselines = {"item-mean": self.item_mean.to_json()}
        return {"original": self.original.to_json(), "points": points, "baselines": baselines, "seed": self.seed}


Keep = Callable[[FrontierPoint], None]


def frontier(
    ratings: Ratings,
    wanted: Iterable[tuple[int, str]],
    *,
    options: FrontierOptions | None = None,
    kept: Iterable[FrontierPoint] = (),
    keep: Keep = lambda _: None,
    chance: Randomness,
) -> Frontier:
    """Measure the releases of (k, mode); ``kept`` are points of an earlier run, ``keep`` is told of every new one."""
    options, known = options or FrontierOptions(), {(point.k, point.mode): point for point in kept}
    wanted = list(dict.fromkeys(wanted))
    if not wanted:
        raise OptionError("a frontier needs at least one k and one mode")
    if (largest := max(k for k, _ in wanted)) > ratings.n_users:  # told before the first release, not after many
        raise InputError(f"there must be at least k = {largest} users with ratings, got {ratings.n_users}")
    rest, probe = hold_out(ratings, options.holdout, rng=chance.child("trial"))
    measurements = _Measurements(rest, probe, options, chance)
    with task("frontier", 1 + len(wanted)) as advance:
        for k, mode in ((1, "original"), *wanted):
            if (k, mode) not in known:
                known[k, mode] = measurements.original() if mode == "original" else measurements.release(k, mode)
                keep(known[k, mode])
            advance(1)
    mean = accuracy_of(fit_item_mean(rest, chance).predict(probe.users, probe.items), probe.values)
    return Frontier(known[1, "original"], tuple(known[one] for one in wanted), mean, chance.seed)


@dataclass(frozen=True, eq=False, slots=True)
class _Measurements:
    """What the points share."""

    ratings: Ratings
    probe: Probe
    options: FrontierOptions
    chance: Randomness

    def original(self) -> FrontierPoint:
        """Measure the original data as if it were a release."""
        public = see_original(self.ratings)
        return self._measured("original", 1, public, self._trained(fit_factors, self.ratings, public.owner))

    def release(self, k: int, mode: str) -> FrontierPoint:
        """Publish and measure one release."""
        public = publish_aside(self.ratings, PublishOptions(k=k, mode=mode), self.chance.child(mode, k)).public
        training = as_training_set(public, self.ratings.item_ids)
        return self._measured(mode, k, public, self._trained(fit_factors, training, public.owner))

    def _trained(self, fit: Fit, training: Ratings, owner: Any) -> Accuracy:
        model = fit(training, self.chance.child("train"))
        return accuracy_of(model.predict(owner[self.probe.users], self.probe.items), self.probe.values)

    def _measured(self, mode: str, k: int, public: Any, trained: Accuracy) -> FrontierPoint:
        clues = draw_clues(
            self.ratings, Knowledge(known=self.options.known), n_targets=self.options.targets, rng=self.chance
        )
        named = scoreboard(public, clues)
        bets = link(public, self.ratings, clues.targets, k=max(k, 1)).user
        popular = betting_on_the_popular(self.ratings, np.asarray(clues.targets))
        own = target_deviation(public, self.probe)
        return FrontierPoint(mode, k, named.user, named.group, bets, popular, trained, own)
