"""Measure whether a contest can be held on a release."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recloak._core.errors import OptionError
from recloak._core.spelling import suggests_keywords
from recloak._evaluation.options import FidelityOptions
from recloak._library.arguments import diversity_text
from recloak._library.evaluate_release import refuse_idle, trial_of
from recloak._library.opened_releases import folder_of, require_folders
from recloak._library.sources import origin_of
from recloak._releases.options import PublishOptions

if TYPE_CHECKING:
    from recloak._core.randomness import Rng
    from recloak._evaluation.fidelity.model import Fidelity
    from recloak._library.opened_releases import ReleaseLike
    from recloak._library.pages import About
    from recloak._library.sources import PathLike, RatingsLike
    from recloak._releases.model.release_format import Diversity
    from recloak._report.page import Page


@suggests_keywords
def fidelity(
    source: RatingsLike,
    release: ReleaseLike | None = None,
    *,
    probe: RatingsLike | None = None,
    holdout: float | None = None,
    private: PathLike | None = None,
    splits: int = 3,
    quick: bool = False,
    most_people: int = 10_000,
    most_items: int = 4000,
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
    seed: int | None = None,
    rng: Rng = None,
) -> Fidelity:
    """Measure whether who compares algorithms on a release reaches the conclusions of the original.

    The same algorithms compete on the original and on the release, for the smallest error of predicted ratings (RMSE)
    and for the best rankings (nDCG@10). In protocol A the release is split by whoever downloads it, in protocol B the
    owner scores ratings that were held out before publishing.

    Parameters
    ----------
    source
        The ratings that were published: anything that holds ratings, see `read`.
    release
        The public folder or a `Release`; it is verified first. Not with ``holdout``.
    probe
        Ratings that were left out of the source before it was published; without them only protocol A is measured.
    holdout
        Instead of a release: hold this share out, publish the rest, and measure that.
    private
        The folder that says who is who; by default the one that `publish` makes.
    splits
        How many times both sides are split into training and test; with one the noise is not measured.
    quick
        Compare 5 + 5 algorithms instead of all.
    most_people, most_items
        How many people (drawn in whole groups) and items (the most rated) take part at most.
    k, mode, grid, labels, min_raters, diversity, max_link, min_shown, decoys, boost, grouping_by, paper
        As in `publish`, for the release that ``holdout`` makes.
    seed, rng
        Make the run repeatable: a whole number, or a numpy generator; without one a secret seed is drawn.

    Returns
    -------
    Fidelity
        Kendall's tau with its noise, the regret and the winner, for each protocol and contest, and the statistics.

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
    >>> found = recloak.fidelity(ratings, holdout=0.1, k=3, quick=True, splits=2, seed=1)
    >>> found.n_people, len(found.outsider["rmse"].entries), found.statistics["density"].ratio > 1
    (60, 5, True)
    """
    made = PublishOptions(
        k=k, mode=mode, grid=grid, labels=labels, min_raters=min_raters, max_link=max_link,
        min_shown=min_shown, decoys=decoys, boost=boost, grouping_by=grouping_by, paper=paper,
        diversity=diversity_text(diversity),
    )  # fmt: skip
    options = FidelityOptions(splits=splits, quick=quick, most_people=most_people, most_items=most_items)
    _check_choice(release, probe, holdout, made)
    if release is not None:
        require_folders(release, private)
    from recloak._core.randomness import seed_or_rng
    from recloak._evaluation.fidelity.measuring import measure_fidelity
    from recloak._evaluation.fidelity.training_rows import TrainingRows
    from recloak._library.pages import About, drawn_by

    generator = seed_or_rng(seed, rng)
    trial = trial_of(source, release, private, probe, holdout, made, generator)
    rows = TrainingRows.of_release(trial.release, trial.ratings)
    held_out = trial.probe if len(trial.probe) else None
    found = measure_fidelity(trial.ratings, rows, held_out, options=options, rng=generator.child("fidelity"))
    about = About(
        origin_of(source), None if release is None else folder_of(release), None if probe is None else origin_of(probe)
    )
    return replace(found, draw=drawn_by(_page, manifest=trial.release.manifest, about=about))


def _check_choice(
    release: ReleaseLike | None, probe: RatingsLike | None, holdout: float | None, made: PublishOptions
) -> None:
    if (release is None) == (holdout is None):
        raise OptionError("give either a release, or holdout=... without one")
    if release is None and probe is not None:
        raise OptionError("probe=... needs the release that was made without it; holdout=... makes its own")
    refuse_idle(holdout, made)


def _page(found: Fidelity, manifest: dict[str, Any], about: About) -> Page:
    from recloak._report.fidelity_page import fidelity_page

    return fidelity_page(found, manifest, source=about.source.name, provenance=about.rows(found.seed))
