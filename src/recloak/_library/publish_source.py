"""Publish ratings: an anonymised release, in memory or written and verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from recloak._core import stopping
from recloak._core.errors import OptionError
from recloak._core.logger import log
from recloak._core.options import require_on_spark
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import as_path, diversity_text
from recloak._library.engines import on_spark, require_files, spark_session
from recloak._library.sources import as_ratings, as_source
from recloak._releases.folder_checks import check_folders
from recloak._releases.model.modes import MODES
from recloak._releases.options import FACTORS, PadOptions, PublishOptions, StatisticsOptions, WriteOptions

if TYPE_CHECKING:
    from recloak._core.randomness import Randomness, Rng
    from recloak._library.padders import Padder
    from recloak._library.sources import PathLike, RatingsLike, Source
    from recloak._policy.policy import Policy
    from recloak._ratings.model import Ratings
    from recloak._releases.model.release_format import Diversity
    from recloak._releases.release import Release


@suggests_keywords
def publish(
    source: RatingsLike,
    out: PathLike | None = None,
    *,
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
    statistics: float | None = None,
    paper: bool = False,
    predictor: str = "svd",
    rank: int | None = None,
    iterations: int = 8,
    tolerance: float = 0.0005,
    padder: Padder | None = None,
    private: PathLike | None = None,
    layout: str | None = None,
    format: str = "parquet",
    size_limit: str | None = None,
    engine: str = "local",
    master: str | None = None,
    conf: Sequence[str] = (),
    policy: Policy | PathLike | None = None,
    seed: int | None = None,
    rng: Rng = None,
) -> Release:
    """Publish ratings so that every user shares a whole row with at least k - 1 others.

    Parameters
    ----------
    source
        Anything that holds ratings, see `read`; on Spark paths or a `Source`.
    out
        The public folder. It appears only after it was verified; None makes the release in memory and writes nothing.
    k
        Every row is shared by at least this many users.
    mode
        ``"padded"``: a row has every item; ``"pure"``: the items that someone in the group rated; ``"sampled"``: rows
        are drawn for each group, as many as it has members and nobody's own.
    grid
        The step of the published grid of labels, or ``"none"``; by default chosen by mode.
    labels
        Padded: ``"model"`` (the default), labels of the model alone, or ``"raters"``, moved by the raters' own ratings,
        which shows where there are some.
    min_raters
        The fewest real raters behind a label of the raters, by default 2; with fewer it is a mean of predictions.
    diversity
        ``"B,L"``, ``"all,L"`` or a `Diversity`: any B items rated together stand in at least L groups.
    max_link
        Pure: leave out items that more than this share of a group rated.
    min_shown
        Pure: leave out items that fewer members than this rated.
    decoys
        Pure: for each item of a row add so many that nobody in the group rated, from the rows of near groups.
    boost
        Sampled: how much of the items drawn for a group comes from its nearest groups instead of its own members,
        from 0 to 1; by default 0.5.
    grouping_by
        Sampled: put people together by ``"taste"``, by the ``"items"`` they rate, or by ``"both"``, the default.
    statistics
        Publish counts of the source beside the rows (raters and ratings of each item, activity, pairs of the most rated
        items) with differential privacy for each person: this epsilon in all. Needs the extra ``statistics``; its noise
        has no seed. The scale of ratings counts as known: give ``scale`` when reading, or one rating can change it.
    paper
        The paper's literal behaviour: labels of the raters, one is enough, no grid.
    predictor, rank, iterations, tolerance
        How missing ratings are predicted: ``"svd"``, ``"bias"`` or ``"mean"``, and how the svd is computed.
    padder
        A predictor of your own instead: it takes `Ratings` and returns a `Padding`, or an object with
        ``user_factors`` and ``item_factors`` and, where it has them, ``mu``, ``user_bias`` and ``item_bias``.
    private, layout, format
        As in `Release.write`; only with ``out``.
    size_limit
        The largest padded table to write, such as ``"500MB"``; by default 2 GB, or 100 times the source, and
        ``"none"`` is no limit. Above it the layout is ``"factors"`` unless another was asked for, which is then refused
        before any work.
    engine, master, conf
        ``"local"`` or ``"spark"``, and Spark's master and settings (``"KEY=VALUE"``). Spark needs ``out``.
    policy
        A `Policy`, its file, or the name of a preset: everything from ``k`` to ``paper``, and ``layout``, ``format``
        and ``size_limit``, come from it and may not be given
        beside it; nor may ``statistics``. `run` holds the rest of it as well.
    seed, rng
        Make the run repeatable: a whole number, or a numpy generator; without one a secret seed is drawn.

    Returns
    -------
    Release
        With ``out`` its ``folder`` and ``private`` say where it lies; on Spark its rows lie there only.

    Raises
    ------
    InputError
        If the source or a folder cannot be used, or an option breaks its rule.
    RefusedError
        If what was written does not keep its promise; then nothing is published.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=30, items=20, ratings=200, seed=1)
    >>> recloak.publish(ratings, k=3, seed=1)
    <Release: 30 users in 10 groups of at least 3, 20 items, padded>
    >>> recloak.publish(ratings, "released", k=3, seed=1).folder
    PosixPath('released')
    """
    options = PublishOptions(
        k=k, mode=mode, grid=grid, labels=labels, min_raters=min_raters, max_link=max_link,
        min_shown=min_shown, decoys=decoys, boost=boost, grouping_by=grouping_by, paper=paper,
        diversity=diversity_text(diversity),
    )  # fmt: skip
    writing = WriteOptions(layout=layout, format=format, size_limit=size_limit)
    counting = StatisticsOptions(statistics=statistics)
    if policy is not None:
        options, writing, counting = _by_policy(policy, options, writing, counting)
    padding = PadOptions(predictor=predictor, rank=rank, iterations=iterations, tolerance=tolerance)
    if padder is not None and padding != PadOptions():
        idle = next(name for name, value in padding.to_mapping().items() if value != PadOptions().to_mapping()[name])
        raise OptionError(f"padder=... predicts by itself; leave {idle}=... out")
    spark = on_spark(engine, master, conf)
    writing.for_mode(options.mode)
    if out is None and (spark or private is not None or writing != WriteOptions()):
        names = "engine='spark', private=..., layout=..., format=... and size_limit=..."
        raise OptionError(f"{names} need out, the folder to write")
    folders = None if out is None else _folders(out, private)
    from recloak._core.randomness import seed_or_rng

    generator = seed_or_rng(seed, rng)
    making = _Making(folders, writing, options, padding, padder, counting, generator)
    if folders is not None and spark:
        return _on_spark(making, require_files(source), master, tuple(conf))
    return making.release(as_ratings(source), source)


@dataclass(frozen=True, slots=True)
class _Making:
    """Everything that is asked of one release."""

    folders: tuple[Path, Path] | None  # public and private; None: it stays in memory
    writing: WriteOptions
    options: PublishOptions
    padding: PadOptions
    padder: Padder | None
    counting: StatisticsOptions
    rng: Randomness

    def release(self, ratings: Ratings, source: RatingsLike) -> Release:
        """Make the release here, and write it where folders are given."""
        folders, options, writing = self.folders, self.options, self.writing
        layout = None if folders is None else _announced(ratings, options, writing.for_mode(options.mode), self.padding)
        if self.counting.statistics is not None:
            _warn_of_limits(source, ratings)
        made = _made(ratings, options, self.padding, self.padder, self.counting, self.rng)
        if folders is None:
            return made
        stopping.stop_at_checks_only()  # once the folders are in place it is too late to stop
        made = made.named(layout, writing.format)
        made.write(folders[0], private=folders[1], layout=layout, format=writing.format)
        return replace(made, folder=folders[0], private=folders[1])


def _by_policy(
    policy: Policy | PathLike, options: PublishOptions, writing: WriteOptions, counting: StatisticsOptions
) -> tuple[PublishOptions, WriteOptions, StatisticsOptions]:
    """Return the options of a policy; raise OptionError for one that was given beside it."""
    from recloak._policy.options import changed
    from recloak._policy.policy import Policy

    if idle := next(iter({**changed(options), **changed(writing), **changed(counting)}), None):
        raise OptionError(f"{idle}=... is set by policy=...; leave it out, or change the policy")
    rules = policy if isinstance(policy, Policy) else Policy.read(as_path("policy", policy))
    return rules.publish, rules.writing, rules.counting


def _folders(out: PathLike, private: PathLike | None) -> tuple[Path, Path]:
    return check_folders(as_path("out", out), None if private is None else as_path("private", private))


def _announced(ratings: Ratings, options: PublishOptions, writing: WriteOptions, padding: PadOptions) -> str:
    """Say what will be written, and return the layout."""
    from recloak._ratings.event_values import PROPENSITIES
    from recloak._ratings.value_kinds import RATINGS
    from recloak._releases.release_size import SourceSize, announce

    n_users, n_items = int((ratings.activity > 0).sum()), int((ratings.popularity > 0).sum())
    scale = ratings.scale if ratings.kind is RATINGS else PROPENSITIES
    counts = SourceSize(n_users, n_items, ratings.n_ratings, scale)
    return announce(counts, options, writing, padding.n_factors).layout


def _warn_of_limits(source: RatingsLike, ratings: Ratings) -> None:
    """Say what the promise of statistics leaves out; whether a scale was given is not known of ratings in memory."""
    files = as_source(source)
    if ratings.kind.varies and (files is None or files.options.scale is None):
        log.info(
            "Statistics take the scale of ratings as known, but without a given one (scale=...) one person's "
            "rating can change its ends and show there."
        )
    if ratings.kind.varies:
        log.info("The steps of the scale are those of the data: one rating between the steps shows.")
    log.info("Publishing statistics of the same people again spends epsilon again.")


def _made(
    ratings: Ratings, options: PublishOptions, padding: PadOptions, padder: Padder | None,
    counting: StatisticsOptions, generator: Randomness,
) -> Release:  # fmt: skip
    from recloak._library.padders import checked_padder
    from recloak._releases.publishing import publish as publish_here

    own = None if padder is None else checked_padder(padder)
    return publish_here(
        ratings, options=options, pad_options=padding, padder=own, rng=generator,
        statistics=counting.statistics,
    )  # fmt: skip


def _on_spark(making: _Making, files: Source, master: str | None, conf: tuple[str, ...]) -> Release:
    """Publish on a cluster; what is made in one place is made by the driver, of what the workers read."""
    making.writing.require_spark()
    require_on_spark("padder", making.padder, ())
    folders, options, reading = making.folders, making.options, files.options
    assert folders is not None
    in_one_place = (
        MODES[options.mode].is_drawn
        or making.counting.statistics is not None
        or making.writing.chosen_layout == FACTORS
    )
    with spark_session(master, conf) as spark:
        from recloak._spark.driver_ratings import holds_ratings, ratings_in_driver
        from recloak._spark.session import plain_errors
        from recloak._spark.source import open_source
        from recloak._spark.spark_publishing import publish as publish_there

        with plain_errors():
            opened = open_source(spark, list(files.paths), reading, any_values=True)
            here = in_one_place or not holds_ratings(opened, reading)
            ratings = ratings_in_driver(opened, reading) if here else None
        if ratings is not None:
            return making.release(ratings, files)
        return publish_there(
            spark, opened, folders[0], private=folders[1], writing=making.writing, options=options,
            reading=reading, rng=making.rng, pad_options=making.padding,
        )  # fmt: skip
