"""Compare several releases of one source: risk against usefulness."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recloak._core.errors import OptionError
from recloak._core.spelling import suggests_keywords
from recloak._evaluation.options import FrontierOptions
from recloak._library.arguments import several
from recloak._library.sources import Source, as_ratings, as_source, origin_of
from recloak._releases.options import PublishOptions

if TYPE_CHECKING:
    from recloak._core.randomness import Randomness, Rng
    from recloak._evaluation.frontier import Frontier, FrontierPoint
    from recloak._evaluation.kept_points import KeptPoints
    from recloak._library.sources import Origin, PathLike, RatingsLike
    from recloak._ratings.model import Ratings
    from recloak._report.page import Page

_LARGEST_BUDGET = 500.0  # beyond, the accountant's numbers overflow, and nothing is promised any more


@suggests_keywords
def frontier(
    source: RatingsLike,
    *,
    k: Iterable[int] = (2, 5, 10, 20, 50),
    mode: Iterable[str] = ("pure", "padded"),
    holdout: float = 0.1,
    targets: int = 1000,
    known: int = 8,
    no_fidelity: bool = False,
    epsilon: Iterable[float] = (1, 10),
    keep: PathLike | None = None,
    seed: int | None = None,
    rng: Rng = None,
) -> Frontier:
    """Publish ratings in several ways and measure how risky and how useful each release is.

    Purchases and plays have no ratings to predict: there, rankings tell how useful a release is (nDCG@10 of the best
    recommender trained on it), and what is about ratings is not applicable.

    Parameters
    ----------
    source
        Anything that holds ratings, see `read`.
    k, mode
        The values of k and the modes; every pair is a release.
    holdout
        The share of the ratings held out to measure usefulness.
    targets
        How many targets are drawn for each attack.
    known
        How many items of a target are known.
    no_fidelity
        Do not compare quick leaderboards (see `fidelity`) on each release with those on the original.
    epsilon
        Privacy budgets of the baselines beside the releases: ratings with Laplace noise, and item factors trained with
        differential privacy (needs the extra ``statistics``; without it the baseline says so). Empty for none.
    keep
        A file that keeps finished points: a run that was stopped goes on where it was, and a later one with more
        values of k computes only what is new. Needs a source of files. Points of another source, other options or
        another seed are measured afresh, with a warning.
    seed, rng
        Make the run repeatable: a whole number, or a numpy generator; without one a secret seed is drawn.

    Returns
    -------
    Frontier
        The points, the original as a point, and the trivial prediction to beat.

    Raises
    ------
    InputError
        If the source cannot be read or an option breaks its rule.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> recloak.frontier(ratings, k=[2, 3], mode=["padded"], targets=20, known=2, seed=1)
    <Frontier: 2 releases>
    """
    options = FrontierOptions(holdout=holdout, targets=targets, known=known, no_fidelity=no_fidelity)
    modes = several("mode", mode, '["pure", "padded"]')
    epsilons = [_budget(one) for one in epsilon]
    wanted = [(PublishOptions(k=one, mode=way).k, way) for way in modes for one in several("k", k, "[5, 10]")]
    from recloak._core.randomness import seed_or_rng
    from recloak._evaluation.frontier import frontier as measure
    from recloak._library.pages import drawn_by

    given, generator = seed is not None or rng is not None, seed_or_rng(seed, rng)
    files, ratings = as_source(source), as_ratings(source)
    if keep is None:
        found = measure(ratings, wanted, options=options, epsilons=epsilons, rng=generator)
    else:
        found = _kept(_opened(keep, files, options, given, generator), ratings, wanted, options, epsilons)
    return replace(found, draw=drawn_by(_page, options=options, origin=origin_of(source)))


def _opened(keep: PathLike, files: Source | None, options: FrontierOptions, given: bool, rng: Randomness) -> KeptPoints:
    """Return the points of an earlier run; warn with the reason if they do not belong to this one."""
    from recloak._evaluation.kept_points import SOURCE, open_kept_points
    from recloak._report.provenance import source_hash

    if files is None or len(files.paths) != 1 or not origin_of(files).paths:
        raise OptionError("keep=... needs a source of one file or folder, whose hash says what the points belong to")
    about = {SOURCE: source_hash(files.paths[0]), **options.to_mapping(), **files.options.to_mapping()}
    kept = open_kept_points(Path(keep), about, seed=rng.seed if given else None, fresh_seed=rng.seed)
    if kept.why_discarded:
        sentence = f"{kept.file}: the points kept there {kept.why_discarded}; all are measured again"
        warnings.warn(sentence, UserWarning, stacklevel=4)
    return kept


def _budget(epsilon: float) -> float:
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float) or not 0 < epsilon <= _LARGEST_BUDGET:
        raise OptionError(f"epsilon must be more than 0 and at most {_LARGEST_BUDGET:g}, got {epsilon!r}")
    return float(epsilon)


def _kept(
    kept: KeptPoints, ratings: Ratings, wanted: list[tuple[int, str]], options: FrontierOptions, epsilons: list[float]
) -> Frontier:
    from recloak._core.randomness import Randomness
    from recloak._evaluation.frontier import frontier as measure

    box = [kept]

    def keep(point: FrontierPoint) -> None:
        box.append(box[-1].add(point))

    return measure(
        ratings, wanted, options=options, epsilons=epsilons, kept=kept.points, keep=keep, rng=Randomness(kept.seed)
    )


def _page(found: Frontier, options: FrontierOptions, origin: Origin) -> Page:
    from recloak._report.frontier_page import frontier_page
    from recloak._report.provenance import hashes_of, versions

    provenance = (("Seed", str(found.seed)), *hashes_of(origin.paths, "the source"), ("Versions", versions()))
    return frontier_page(found, options, source=origin.name, provenance=provenance)
