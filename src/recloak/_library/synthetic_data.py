"""Synthetic ratings with the shape of real data sets, in memory or in files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, overload

from recloak._core.errors import OptionError
from recloak._core.spelling import suggests_keywords
from recloak._ratings.synthetic.options import FileOptions, MentionOptions, SynthOptions

if TYPE_CHECKING:
    from recloak._core.randomness import Rng
    from recloak._library.sources import PathLike
    from recloak._ratings.model import Ratings
    from recloak._ratings.synthetic.synthetic_files import SyntheticFiles


@overload
def synth(
    out: None = None, *, preset: str | None = None, users: int | None = None, items: int | None = None,
    ratings: int | None = None, seed: int | None = None, rng: Rng = None,
) -> Ratings: ...  # fmt: skip
@overload
def synth(
    out: PathLike, *, preset: str | None = None, users: int | None = None, items: int | None = None,
    ratings: int | None = None, format: str | None = None, titles: bool = False, mentions: bool = False,
    mentioners: float = 0.05, rated: float = 0.82, exponent: float = 1.8, popularity_power: float = 0.5,
    lag: float = 7.0, linked: float = 1.0, seed: int | None = None, rng: Rng = None,
) -> SyntheticFiles: ...  # fmt: skip
@suggests_keywords
def synth(
    out: PathLike | None = None,
    *,
    preset: str | None = None,
    users: int | None = None,
    items: int | None = None,
    ratings: int | None = None,
    format: str | None = None,
    titles: bool = False,
    mentions: bool = False,
    mentioners: float = 0.05,
    rated: float = 0.82,
    exponent: float = 1.8,
    popularity_power: float = 0.5,
    lag: float = 7.0,
    linked: float = 1.0,
    seed: int | None = None,
    rng: Rng = None,
) -> Ratings | SyntheticFiles:
    """Make synthetic ratings with the shape of a real data set.

    Parameters
    ----------
    out
        A file (``.parquet``, ``.csv``, ``.csv.gz``, ``.csv.zst``) or a new folder to write; None returns the ratings.
    preset
        The data set whose shape is taken: ``tiny``, ``ml-1m``, ``netflix``; or ``music`` (a listening log, play counts)
        or ``shop`` (purchases, presence).
    users, items, ratings
        Sizes instead of the preset's.
    format
        ``parquet`` or ``csv``, where ``out`` is a folder.
    titles, mentions
        Write made-up titles and public mentions beside the ratings.
    mentioners, rated, exponent, popularity_power
        Share of users who mention, share of mentioned items they rated, power law of mentions, pull of popularity.
    lag, linked
        Mean days from a rating to its mention, and the share of mentions that follow the rating of their own item.
    seed, rng
        Make the run repeatable: a whole number, or a numpy generator; without one a secret seed is drawn.

    Returns
    -------
    Ratings or SyntheticFiles
        The ratings; with ``out`` what was written where, with counts and the seed.

    Raises
    ------
    InputError
        If an option breaks its rule or ``out`` cannot be written.

    Examples
    --------
    >>> import recloak
    >>> recloak.synth(users=30, items=20, ratings=200, seed=1)
    <Ratings: 30 users, 20 items, 200 ratings>
    """
    from recloak._core.randomness import seed_or_rng

    shape = SynthOptions(preset=preset, users=users, items=items, ratings=ratings)
    files = FileOptions(format=format, titles=titles, mentions=mentions)
    forum = MentionOptions(
        mentioners=mentioners, rated=rated, exponent=exponent, popularity_power=popularity_power, lag=lag, linked=linked
    )
    generator = seed_or_rng(seed, rng)
    if out is None:
        if files != FileOptions() or forum != MentionOptions():
            raise OptionError("titles, mentions and a format are for files: give out as well")
        from recloak._ratings.synthetic.rating_stream import synthesise

        return synthesise(shape, rng=generator)
    from recloak._ratings.synthetic.synthetic_files import write_synthetic

    return write_synthetic(os.fspath(out), shape, files, forum, rng=generator)
