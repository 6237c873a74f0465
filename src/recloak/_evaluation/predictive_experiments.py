"""The experiments of *Predictive Anonymization* (paper 002: tables 1 to 3, figures 3 to 5) on other data.

Releases have the paper's literal labels (one rater is enough, no grid). Differences from the paper:

- groups come from our own grouping, which loses less than bounded t-means;
- a missing cell is no prediction and lowers the coverage; the paper scored it as 0, which is reported as well;
- pairs and bins are measured on samples, so that nothing is as large as users times items.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.model import Public
from recloak._attacks.public_columns import labels_for
from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._evaluation.deviation import similar_users, target_deviation
from recloak._evaluation.holdout import Probe, hold_out, read_back
from recloak._evaluation.model import Accuracy, SelfRank, accuracy_of
from recloak._evaluation.options import PredictiveOptions
from recloak._evaluation.shape import padded_histogram, pairwise
from recloak._ratings.model import Ratings
from recloak._releases.embed import embed
from recloak._releases.group import GroupOptions, group, group_points
from recloak._releases.model.steps import Padding
from recloak._releases.options import PublishOptions
from recloak._releases.pad import pad
from recloak._releases.publishing import make_release

PAPER_MODES = {"padded": "padded", "simple": "pure"}  # the older papers call pure "simple"


@dataclass(frozen=True, slots=True)
class ReleaseScores:
    """The scores of one release for tables 1 and 3 and figure 5."""

    target: Accuracy
    as_in_paper: float  # the target deviation with a missing cell scored as 0
    similar: Accuracy
    self_rank: SelfRank


@dataclass(frozen=True, slots=True)
class PredictiveReproduction:
    """The results of all experiments."""

    original: Accuracy  # of the predictor itself, the first line of table 1
    releases: dict[str, ReleaseScores]  # "padded 5", "simple 50", ...
    histogram: dict[str, dict[str, float]]  # table 2: before, after
    bins: dict[str, tuple[int, ...]]  # figure 3: sorted bin sizes by kind of centre
    pairs: dict[str, dict[str, tuple[float, ...]]]  # figure 4: everyone, one bin, groups
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def reproduce_predictive(
    ratings: Ratings, options: PredictiveOptions | None = None, *, rng: Rng = None
) -> PredictiveReproduction:
    """Run the paper's experiments."""
    options, rng = options or PredictiveOptions(), randomness(rng)
    rest, probe = hold_out(ratings, options.holdout, rng=rng.child("trial"))
    padding = pad(rest, rng=rng.child("pad"))
    experiments = _Experiments(rest, probe, padding, options, rng)
    with task("repeating", 6) as advance:
        releases = {}
        for k in sorted({options.k_small, options.k_large}):
            grouping = group(padding, GroupOptions(k=k), ratings=rest, rng=rng.child("group", k))
            for name, mode in PAPER_MODES.items():
                releases[f"{name} {k}"] = experiments.scores(grouping, k, mode)
                advance(1)
            labels = grouping.labels
        bins, one_bin = bin_sizes(rest, padding, rng)
        pairs = experiments.pairs(one_bin, labels)
        advance(1)
        original = accuracy_of(padding.predict(probe.users, probe.items), probe.values)
        after = padded_histogram(rest, padding, most_users=options.users, rng=rng)
        advance(1)
    histogram = {"before": _histogram_before(rest), "after": after}
    return PredictiveReproduction(original, releases, histogram, bins, pairs, rng.seed)


@dataclass(frozen=True, eq=False, slots=True)
class _Experiments:
    """The data and options that the experiments share."""

    ratings: Ratings
    probe: Probe
    padding: Padding
    options: PredictiveOptions
    rng: Randomness

    def scores(self, grouping: Any, k: int, mode: str) -> ReleaseScores:
        """Make a release with the paper's labels and score it."""
        options = PublishOptions(k=k, mode=mode, paper=True)
        release = make_release(self.ratings, self.padding, grouping, options, self.rng.child(mode, k))
        public = read_back(release, self.ratings).public
        target = target_deviation(public, self.probe)
        similar, ranks = similar_users(public, self.ratings, self.probe, most_users=self.options.users, rng=self.rng)
        return ReleaseScores(target, scored_with_zeros(public, self.probe), similar, ranks)

    def pairs(self, one_bin: NDArray[np.int64], labels: NDArray[np.int32]) -> dict[str, dict[str, tuple[float, ...]]]:
        """Measure the distances of pairs among all users, inside one bin, and inside one group."""
        stream, most = self.rng.stream("pairs"), self.options.pairs_of
        everyone = np.sort(stream.choice(self.ratings.n_users, min(most, self.ratings.n_users), replace=False))
        members = {
            "all users": everyone,
            "one bin": one_bin[:most],
            "one group": np.flatnonzero(labels == labels[everyone[0]]),
        }
        return {name: pairwise(self.ratings, self.padding, users) for name, users in members.items() if len(users) > 1}


def scored_with_zeros(public: Public, probe: Probe) -> float:
    """Return the error of the own profile as the paper counted it: a missing cell predicts 0."""
    labels = np.nan_to_num(labels_for(public, public.owner[probe.users], probe.items), nan=0.0)
    return float(np.sqrt(np.mean((labels.astype(np.float64) - probe.values) ** 2)))


def _histogram_before(ratings: Ratings) -> dict[str, float]:
    """Return table 2 before padding: shares of all cells of the matrix."""
    values, counts = np.unique(ratings.values, return_counts=True)
    cells = ratings.n_users * ratings.n_items
    shares = {f"{value:g}": float(n / cells) for value, n in zip(values, counts, strict=True)}
    return {"not rated": 1 - ratings.n_ratings / cells, **shares}


def bin_sizes(
    ratings: Ratings, padding: Padding, rng: Randomness
) -> tuple[dict[str, tuple[int, ...]], NDArray[np.int64]]:
    """Assign all users to the nearest of sqrt(m) centres; return sorted bin sizes and the users of a median bin.

    The centres come from an even grouping of a sample: a virtual one is the mean of a group, a real one the member
    nearest to the mean.
    """
    points = embed(padding, ratings.popularity).astype(np.float64)
    n_centres = max(int(np.sqrt(ratings.n_users)), 2)
    size = min(ratings.n_users, 20 * n_centres)
    sample = points[np.sort(rng.stream("sample").choice(ratings.n_users, size, replace=False))]
    labels = group_points(sample.astype(np.float32), max(size // n_centres, 1), rng=rng.child("centres"))
    virtual = np.stack([sample[labels == one].mean(axis=0) for one in range(labels.max() + 1)])
    real = np.stack([_medoid(sample[labels == one]) for one in range(labels.max() + 1)])
    bins = {name: nearest_centre(points, centres) for name, centres in (("virtual", virtual), ("real", real))}
    sizes = {name: np.bincount(one, minlength=len(virtual)) for name, one in bins.items()}
    median = int(np.argsort(sizes["virtual"])[len(virtual) // 2])
    members = np.flatnonzero(bins["virtual"] == median)
    return {name: tuple(sorted(one.tolist())) for name, one in sizes.items()}, members


def _medoid(points: NDArray[np.float64]) -> NDArray[np.float64]:
    nearest: NDArray[np.float64] = points[np.argmin(((points - points.mean(axis=0)) ** 2).sum(axis=1))]
    return nearest


def nearest_centre(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nearest centre of each point."""
    squares = (centres**2).sum(axis=1)
    blocks = [
        np.argmin(squares - 2 * points[first : first + 4096] @ centres.T, axis=1)
        for first in range(0, len(points), 4096)
    ]
    return np.concatenate(blocks)
