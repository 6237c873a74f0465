"""The frontier: risk against usefulness over several releases of one source, so that an owner can choose.

All points share one split: they are scored on the same held-out ratings and differ only in the release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recloak._attacks.event_views import values_seen
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
from recloak._evaluation.fidelity.measuring import OriginalBoards, measure_fidelity
from recloak._evaluation.fidelity.model import Agreement
from recloak._evaluation.fidelity.training_rows import TrainingRows
from recloak._evaluation.holdout import Probe, hold_out, publish_temporarily
from recloak._evaluation.model import Accuracy, Ranking, accuracy_of
from recloak._evaluation.options import FidelityOptions, FrontierOptions
from recloak._evaluation.private_baselines import PrivacyBaseline, privacy_baselines
from recloak._evaluation.recommenders import as_training_set, fit_factors, fit_item_mean
from recloak._evaluation.use_evaluation import NO_ERRORS, BestRanking, UseContest, best_of
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS
from recloak._releases.options import PublishOptions

if TYPE_CHECKING:
    import polars as pl

NOT_APPLICABLE_TO_USES = ("trained", "own", "item-mean", "privacy_baselines")
_MOST_RANKED = 2000  # people whom recommenders of uses rank for


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
    ranking: BestRanking | None = None  # of presence and counts, where there are no errors
    boards: dict[str, Agreement | None] = field(default_factory=dict)  # "A rmse", ... -> quick leaderboards

    def to_json(self) -> dict[str, Any]:
        """Return the point as a dict that `from_json` reads."""
        boards = {name: None if one is None else one.to_json() for name, one in self.boards.items()}
        return {**asdict(replace(self, boards={})), "boards": boards}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> FrontierPoint:
        """Return the point that `to_json` wrote."""
        shares = {name: None if fields[name] is None else Share(**fields[name]) for name in ("named", "group", "bets")}
        errors = {name: Accuracy(**fields[name]) for name in ("trained", "own")}
        measures = {name: Measure(**one) for name, one in fields["measures"].items()}
        boards = {name: one and Agreement.from_json(one) for name, one in fields["boards"].items()}
        ranking = fields["ranking"] and BestRanking(**fields["ranking"])
        return cls(**{**fields, **shares, **errors, "measures": measures, "ranking": ranking, "boards": boards})


@dataclass(frozen=True, slots=True, repr=False)
class Frontier(Result):
    """The points of all releases, and the trivial prediction that a useful release must beat.

    Of presence and counts there are no ratings to predict: rankings take the place of errors, popularity that of the
    item means, and what is about ratings is not applicable, which is neither safe nor not measured.

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
    popularity : Ranking or None
        Of presence and counts: how well popularity alone ranks.
    values : str
        What the source holds: ``ratings``, ``presence`` or ``counts``.

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
    popularity: Ranking | None = None
    values: str = RATINGS.name

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
                "ndcg": one.ranking.ndcg if one.ranking else None,
                **{name: one.measures[name].value if name in one.measures else None for name in MEASURES},
                **{f"tau {name}": board.tau if board else None for name, board in one.boards.items()},
            }
            for one in (self.original, *self.points)
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the frontier as plain values."""
        points = [point.to_json() for point in self.points]
        private = [one.to_json() for one in self.privacy_baselines]
        told = {
            "original": self.original.to_json(), "points": points, "privacy_baselines": private, "seed": self.seed
        }  # fmt: skip
        if self.popularity is None:
            return {**told, "baselines": {"item-mean": self.item_mean.to_json()}}
        baselines = {"popularity": self.popularity.to_json()}
        return {**told, "baselines": baselines, "values": self.values, "not_applicable": list(NOT_APPLICABLE_TO_USES)}


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
    measurements = _measurements(rest, probe, options, rng)
    with task("frontier", 1 + len(wanted)) as advance:
        for k, mode in ((1, "original"), *wanted):
            if (k, mode) not in points:
                points[k, mode] = measurements.original() if mode == "original" else measurements.release(k, mode)
                keep(points[k, mode])
            advance(1)
    found = Frontier(points[1, "original"], tuple(points[one] for one in wanted), NO_ERRORS, rng.seed)
    if measurements.uses is not None:
        return replace(found, popularity=measurements.uses.by_popularity().ranking, values=ratings.kind.name)
    mean = accuracy_of(fit_item_mean(rest, rng).predict(probe.users, probe.items), probe.values)
    private = privacy_baselines(rest, probe, epsilons, targets=options.targets, rng=rng.child("privacy baselines"))
    return replace(found, item_mean=mean, privacy_baselines=private)


@dataclass(frozen=True, eq=False, slots=True)
class _Measurements:
    """The data and options that all points share, and how one point is measured."""

    ratings: Ratings
    probe: Probe
    options: FrontierOptions
    rng: Randomness
    uses: UseContest | None  # where there are no ratings to predict
    boards: OriginalBoards = field(default_factory=dict)  # of the original, made for the first release

    def original(self) -> FrontierPoint:
        """Measure the original data as if it were a release."""
        shown = see_original(self.ratings)
        risks = self._risks(shown, self.ratings, 1)
        if self.uses is None:
            return FrontierPoint("original", 1, *risks, *self._errors(shown, self.ratings))
        found = best_of(self.uses.on_original())
        return FrontierPoint("original", 1, *risks, NO_ERRORS, NO_ERRORS, ranking=found)

    def release(self, k: int, mode: str) -> FrontierPoint:
        """Publish and measure one release."""
        shown = publish_temporarily(self.ratings, PublishOptions(k=k, mode=mode), rng=self.rng.child(mode, k))
        ratings = values_seen(self.ratings, shown.manifest)
        measures = risks_of(shown, ratings, see_original(ratings), targets=self.options.targets, rng=self.rng)
        risks, rows = self._risks(shown.public, ratings, k), TrainingRows.of_release(shown, ratings)
        boards = self._leaderboards(ratings, rows)
        if self.uses is None:
            errors = self._errors(shown.public, as_training_set(shown.public, ratings.item_ids))
            return FrontierPoint(mode, k, *risks, *errors, measures, None, boards)
        part = self.uses.part_of(rows)
        best = best_of(self.uses.on_release(part))
        return FrontierPoint(mode, k, *risks, NO_ERRORS, self.uses.covered(part), measures, best, boards)

    def _risks(self, public: Public, ratings: Ratings, k: int) -> tuple[Share, Share | None, Share, float]:
        """Name people by a few known items, and bet on what they have."""
        knowledge, n_targets = Knowledge(known=self.options.known), self.options.targets
        clues = draw_clues(ratings, knowledge, n_targets=n_targets, rng=self.rng)
        named = scoreboard(public, clues)
        bets = link(public, ratings, clues.targets, k=max(k, 1)).user
        return named.user, named.group, bets, betting_on_the_popular(ratings, np.asarray(clues.targets))

    def _errors(self, public: Public, training: Ratings) -> tuple[Accuracy, Accuracy]:
        """Predict what was held out, by a factorisation trained on the rows and by the own row."""
        model = fit_factors(training, self.rng.child("train"))
        predicted = model.predict(public.owner[self.probe.users], self.probe.items)
        return accuracy_of(predicted, self.probe.values), target_deviation(public, self.probe)

    def _leaderboards(self, ratings: Ratings, rows: TrainingRows) -> dict[str, Agreement | None]:
        """Compare a few algorithms on the release and on the original, by protocols A and B."""
        if self.options.no_fidelity:
            return {}
        options, rng = FidelityOptions(quick=True, splits=1), self.rng.child("fidelity")
        found = measure_fidelity(ratings, rows, self.probe, options=options, rng=rng, earlier=self.boards)
        return {f"{protocol} {contest}": one for protocol, contest, one in found.agreements()}


def _measurements(rest: Ratings, probe: Probe, options: FrontierOptions, rng: Randomness) -> _Measurements:
    uses = None if rest.kind is RATINGS else UseContest.of(rest, probe, users=_MOST_RANKED, rng=rng.child("evaluate"))
    return _Measurements(rest, probe, options, rng, uses)
