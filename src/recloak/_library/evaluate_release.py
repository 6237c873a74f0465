"""Measure what a release is still good for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recloak._core.errors import OptionError
from recloak._core.spelling import suggests_keywords
from recloak._evaluation.options import EvaluateOptions
from recloak._library.arguments import diversity_text
from recloak._library.engines import on_spark, require_files, spark_session
from recloak._library.opened_releases import folder_of, manifest_of, open_release, private_of, require_folders
from recloak._library.sources import as_ratings, origin_of
from recloak._releases.options import PublishOptions

if TYPE_CHECKING:
    import polars as pl

    from recloak._core.randomness import Randomness, Rng
    from recloak._evaluation.holdout import TrialRelease
    from recloak._evaluation.model import Evaluation
    from recloak._library.opened_releases import ReleaseLike
    from recloak._library.pages import About
    from recloak._library.sources import PathLike, RatingsLike
    from recloak._ratings.model import Ratings
    from recloak._releases.model.release_format import Diversity
    from recloak._report.page import Page


@suggests_keywords
def evaluate(
    source: RatingsLike,
    release: ReleaseLike | None = None,
    *,
    probe: RatingsLike | None = None,
    holdout: float | None = None,
    private: PathLike | None = None,
    users: int = 2000,
    k: int = 5,
    mode: str = "padded",
    grid: float | str | None = None,
    labels: str | None = None,
    min_raters: int | None = None,
    diversity: Diversity | str | None = None,
    max_link: float | None = None,
    min_shown: int | None = None,
    decoys: float | None = None,
    boost: float | None = None,
    grouping_by: str | None = None,
    paper: bool = False,
    engine: str = "local",
    master: str | None = None,
    conf: Sequence[str] = (),
    seed: int | None = None,
    rng: Rng = None,
) -> Evaluation:
    """Measure what a release is still good for, on ratings that it was made without.

    Parameters
    ----------
    source
        The ratings that were published: anything that holds ratings, see `read`.
    release
        The public folder or a `Release`; it is verified first. Not with ``holdout``.
    probe
        Ratings that were left out of the source before it was published.
    holdout
        Instead of a release and a probe: hold this share out, publish the rest, and evaluate that.
    private
        The folder that says who is who; by default the one that `publish` makes.
    users
        How many users at most are compared with every profile and ranked for.
    k, mode, grid, labels, min_raters, diversity, max_link, min_shown, decoys, boost, grouping_by, paper
        As in `publish`, for the release that ``holdout`` makes.
    engine, master, conf
        ``"local"`` or ``"spark"``; on Spark the target deviation of a folder alone is measured, and of purchases and
        plays how many held-out uses stand in a row of the own group.
    seed, rng
        Make the run repeatable: a whole number, or a numpy generator; without one a secret seed is drawn.

    Returns
    -------
    Evaluation
        Deviations, recommenders trained on both sides, baselines and shape.

    Raises
    ------
    InputError
        If the source, the release, the probe or an option cannot be used.
    RefusedError
        If the release does not keep its promise or was changed.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> recloak.evaluate(ratings, holdout=0.1, k=3, seed=1)
    <Evaluation: 90 held-out ratings, target deviation over 100.0 % of them, 3 recommenders>
    """
    made = PublishOptions(
        k=k, mode=mode, grid=grid, labels=labels, min_raters=min_raters, max_link=max_link,
        min_shown=min_shown, decoys=decoys, boost=boost, grouping_by=grouping_by, paper=paper,
        diversity=diversity_text(diversity),
    )  # fmt: skip
    options = EvaluateOptions(users=users)
    _check_choice(release, probe, holdout, made)
    if release is not None:
        require_folders(release, private)
    if on_spark(engine, master, conf):
        return _on_spark(release, None if release is None else private_of(release, private), probe, master, conf)
    from recloak._core.randomness import seed_or_rng
    from recloak._evaluation.evaluating import evaluate as measure
    from recloak._library.pages import About, drawn_by

    generator = seed_or_rng(seed, rng)
    trial = trial_of(source, release, private, probe, holdout, made, generator)
    found = measure(trial.ratings, trial.release, trial.probe, options=options, rng=generator)
    folder = None if release is None else folder_of(release)
    about = About(origin_of(source), folder, None if probe is None else origin_of(probe))
    return replace(found, draw=drawn_by(_page, manifest=trial.release.manifest, about=about))


def hold_out(ratings: Ratings, share: float, *, rng: Rng = None) -> tuple[Ratings, pl.DataFrame]:
    """Split off a share of the ratings as a table that `evaluate` takes as a probe; return the rest and the table."""
    from recloak._evaluation.holdout import hold_out as split

    rest, probe = split(ratings, share, rng=rng)
    return rest, probe.to_polars(rest)


def _check_choice(
    release: ReleaseLike | None, probe: RatingsLike | None, holdout: float | None, made: PublishOptions
) -> None:
    if (probe is None) == (holdout is None):
        raise OptionError("give either probe=... with a release, or holdout=... without one")
    if (release is None) != (probe is None):
        raise OptionError("probe=... needs the release, and holdout=... makes its own; leave the release out with it")
    refuse_idle(holdout, made)


def refuse_idle(holdout: float | None, made: PublishOptions) -> None:
    """Raise OptionError for a wrong share, and for options of publishing where nothing is published."""
    if holdout is not None and not (hasattr(holdout, "__float__") and 0 < float(holdout) < 1):
        raise OptionError(f"holdout must lie between 0 and 1, got {holdout!r}")
    usual = PublishOptions().to_mapping()
    idle = [name for name, value in made.to_mapping().items() if value != usual[name]]
    if holdout is None and idle:
        raise OptionError(f"{idle[0]}=... is for the release that holdout=... makes; the one given is made")


def trial_of(
    source: RatingsLike, release: ReleaseLike | None, private: PathLike | None, probe: RatingsLike | None,
    holdout: float | None, made: PublishOptions, generator: Randomness,
) -> TrialRelease:  # fmt: skip
    """Hold ratings out and publish the rest, or open the release that was given with its probe."""
    from recloak._evaluation.holdout import Probe, TrialRelease, make_trial_release, probe_from

    ratings = as_ratings(source)
    if release is None:
        assert holdout is not None
        return make_trial_release(ratings, holdout, made, rng=generator)
    held_out = Probe.empty() if probe is None else probe_from(ratings, as_ratings(probe))
    from recloak._attacks.event_views import values_seen

    ratings = values_seen(ratings, manifest_of(release))
    return TrialRelease(ratings, held_out, open_release(release, private, ratings))


def _on_spark(release: Any, hidden: Any, probe: Any, master: str | None, conf: Sequence[str]) -> Evaluation:
    from recloak._evaluation.model import Evaluation, UseEvaluation
    from recloak._ratings.value_kinds import RATINGS

    folder = None if release is None else folder_of(release)
    if folder is None or probe is None:
        raise OptionError("engine='spark' measures the target deviation of a release in a folder on probe=...")
    files, manifest = require_files(probe), manifest_of(release)
    with spark_session(master, conf) as spark:
        from recloak._spark.deviations import target_deviation, uses_in_own_rows

        if (values := manifest.get("values", RATINGS.name)) == RATINGS.name:
            return Evaluation.of_target(target_deviation(spark, folder, hidden, files.paths[0], files.options))
        found = uses_in_own_rows(spark, folder, hidden, files.paths[0], manifest, files.options)
        return replace(UseEvaluation.of_target(found), values=values)


def _page(found: Evaluation, manifest: dict[str, Any], about: About) -> Page:
    from recloak._report.evaluate_page import evaluate_page

    return evaluate_page(found, manifest, source=about.source.name, provenance=about.rows(found.seed))
