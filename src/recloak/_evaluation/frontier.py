"""The frontier: risk against usefulness over several releases of one source, so that an owner can choose.

All points share one split: they are scored on the same held-out ratings and differ only in the release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recloak._attacks.frontier_risks import MEASURES, Measure, risks_of
from recloak._attacks.knowledge import draw_clues
from recloak._attacks.link import betting_on_the_popular, link
from recloak._attacks.model import Knowledge, Public
from recloak._attacks.public_view import see_original
from recloak._attacks.scoreboard import scoreboard
from recloak._core.errors import InputError, OptionError
from recloak._core.intervals import Share
from recloak._core.progress import task
from recloak._core.randomness import Randomness
from recloak._core.results import Result, counted, plural, table_of
from recloak._evaluation.deviation import target_deviation
from recloak._evaluation.holdout import Probe, hold_out, publish_temporarily
from recloak._evaluation.model import Accuracy, accuracy_of
from recloak._evaluation.options import FrontierOptions
from recloak._evaluation.private_baselines import PrivacyBaseline, privacy_baselines
from recloak._evaluation.recommenders import as_training_set, fit_factors, fit_item_mean
from recloak._ratings.model import Ratings
from recloak._releases.options import PublishOptions

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The risk and usefulness of one release; the original data is the point of mode ``original`` and k 1."""

    mode: str
    k: int
    named: Share  # targets identified by Scoreboard-RH
    group: Share | None  # targets whose group is identified
    bets: Share  # bets won on what a target rated, if the group is known
    popular: float  # bets won by betting on the most popular items
    trained: Accuracy  # of a factorisation trained on the release
    own: Accuracy  # of the profile of a user's own group (target deviation)
    measures: dict[str, Measure] = field(default_factory=dict)  # by name; `frontier_risks.MEASURES` has the words

    def to_json(self) -> dict[str, Any]:
        """Return the point as a dict that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> FrontierPoint:
        """Return the point that `to_json` wrote."""
        shares = {name: None if fields[name] is None else Share(**fields[name]) for name in ("named", "group", "bets")}
        errors = {name: Accuracy(**fields[name]) for name in ("trained", "own")}
        measures = {name: Measure(**one) for name, one in fields["measures"].items()}
        return cls(**{**fields, **shares, **errors, "measures": measures})


@dataclass(frozen=True, slots=True, repr=False)
class Frontier(Result):
    """The points of all releases, and the trivial prediction that a useful release must beat.

    Attributes
    ----------
    original : FrontierPoint
        The original data, measured as if it were a release.
    points : tuple of FrontierPoint
        One for each k and mode.
    item_mean : Accuracy
        The error of predicting the mean of each item.
    privacy_baselines : tuple of PrivacyBaseline
        Ratings with noise and items trained with differential privacy, each with its epsilon.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> recloak.frontier(ratings, k=[3], mode=["padded"], targets=9, known=2, seed=1).to_polars()["mode"].to_list()
    ['original', 'padded']
    """

    original: FrontierPoint
    points: tuple[FrontierPoint, ...]
    item_mean: Accuracy
    seed: int
    privacy_baselines: tuple[PrivacyBaseline, ...] = ()

    def __repr__(self) -> str:
        return counted(self, plural(len(self.points), "release"))

    def __len__(self) -> int:
        return len(self.points)

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each release, and one for the original."""
        return table_of(
            {
                "mode": one.mode, "k": one.k, "named": one.named.rate, "bets": one.bets.rate, "popular": one.popular,
                "rmse_trained": one.trained.rmse, "rmse_own": one.own.rmse, "coverage": one.own.coverage,
                **{name: one.measures[name].value if name in one.measures else None for name in MEASURES},
            }
            for one in (self.original, *self.points)
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the frontier as plain values."""
        points = [point.to_json() for point in self.points]
        baselines = {"item-mean": self.item_mean.to_json()}
        private = [one.to_json() for one in self.privacy_baselines]
        return {
            "original": self.original.to_json(), "points": points, "baselines": baselines,
            "privacy_baselines": private, "seed": self.seed,
        }  # fmt: skip


def frontier(
    ratings: Ratings,
    wanted: Iterable[tuple[int, str]],
    *,
    options: FrontierOptions | None = None,
    epsilons: Iterable[float] = (),
    kept: Iterable[FrontierPoint] = (),
    keep: Callable[[FrontierPoint], None] = lambda _: None,
    rng: Randomness,
) -> Frontier:
    """Measure the releases of (k, mode) except the ``kept`` points of an earlier run; ``keep`` gets every new point."""
    options, points = options or FrontierOptions(), {(point.k, point.mode): point for point in kept}
    wanted = list(dict.fromkeys(wanted))
    if not wanted:
        raise OptionError("a frontier needs at least one k and one mode")
    if (largest := max(k for k, _ in wanted)) > ratings.n_users:  # fail before the first release, not after many
        raise InputError(f"there must be at least k = {largest} users with ratings, got {ratings.n_users}")
    rest, probe = hold_out(ratings, options.holdout, rng=rng.child("trial"))
    measurements = _Measurements(rest, probe, options, rng)
    with task("frontier", 1 + len(wanted)) as advance:
        for k, mode in ((1, "original"), *wanted):
            if (k, mode) not in points:
                points[k, mode] = measurements.original() if mode == "original" else measurements.release(k, mode)
                keep(points[k, mode])
            advance(1)
    mean = accuracy_of(fit_item_mean(rest, rng).predict(probe.users, probe.items), probe.values)
    private = privacy_baselines(rest, probe, epsilons, targets=options.targets, rng=rng.child("privacy baselines"))
    return Frontier(points[1, "original"], tuple(points[one] for one in wanted), mean, rng.seed, private)


@dataclass(frozen=True, eq=False, slots=True)
class _Measurements:
    """The data and options that all points share, and how one point is measured."""

    ratings: Ratings
    probe: Probe
    options: FrontierOptions
    rng: Randomness

    def original(self) -> FrontierPoint:
        """Measure the original data as if it were a release."""
        return self._measure("original", 1, see_original(self.ratings), self.ratings, {})

    def release(self, k: int, mode: str) -> FrontierPoint:
        """Publish and measure one release."""
        options = PublishOptions(k=k, mode=mode)
        shown = publish_temporarily(self.ratings, options, rng=self.rng.child(mode, k))
        original = see_original(self.ratings)
        measures = risks_of(shown, self.ratings, original, targets=self.options.targets, rng=self.rng)
        return self._measure(mode, k, shown.public, as_training_set(shown.public, self.ratings.item_ids), measures)

    def _measure(
        self, mode: str, k: int, public: Public, training: Ratings, measures: dict[str, Measure]
    ) -> FrontierPoint:
        model = fit_factors(training, self.rng.child("train"))
        predicted = model.predict(public.owner[self.probe.users], self.probe.items)
        knowledge, n_targets = Knowledge(known=self.options.known), self.options.targets
        clues = draw_clues(self.ratings, knowledge, n_targets=n_targets, rng=self.rng)
        named = scoreboard(public, clues)
        bets = link(public, self.ratings, clues.targets, k=max(k, 1)).user
        popular = betting_on_the_popular(self.ratings, np.asarray(clues.targets))
        trained, own = accuracy_of(predicted, self.probe.values), target_deviation(public, self.probe)
        return FrontierPoint(mode, k, named.user, named.group, bets, popular, trained, own, measures)
