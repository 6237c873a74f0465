"""The functions of `recloak.related` that make and return lists: build, publish, export."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from recloak._core.spelling import suggests_keywords
from recloak._library.engines import on_spark, require_files, spark_session
from recloak._library.related_arguments import HistoryLike, Moment, Window, as_seconds, bound_of, opened
from recloak._library.sources import Source, as_ratings
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._ratings.table_input import as_polars
from recloak._related import publish_lists
from recloak._related.erased_people import EraseKey
from recloak._related.history import record_of, table_of, without_gaps
from recloak._related.lists import RelatedLists, lists_from_table, named_lists, read_lists
from recloak._related.model import Lists, require_times
from recloak._related.options import MethodOptions, SimilarityOptions
from recloak._related.publish_lists import PublishedRelease
from recloak._related.similarity import nearest

if TYPE_CHECKING:
    from recloak._library.sources import RatingsLike, Table


@suggests_keywords
def build(
    source: RatingsLike,
    *,
    top: int = 5,
    until: Moment | None = None,
    similarity: str = "cosine",
    shrinkage: float = 0.0,
    min_support: int = 1,
    engine: str = "local",
    master: str | None = None,
    conf: Sequence[str] = (),
) -> RelatedLists:
    """Return for every item its most similar others: the true lists, which are not safe to publish repeatedly.

    Parameters
    ----------
    source
        Ratings: a path, several paths, a table, a sparse matrix or `Ratings`.
    top
        Positions of a list.
    until
        Use the ratings up to this time: seconds since 1970, a date, or a text.
    similarity
        ``cosine``, ``presence``, ``pearson``, ``adjusted`` or ``conditional``.
    shrinkage
        Pulls scores that rest on few co-raters towards 0.
    min_support
        Fewest co-raters that two related items must have.
    engine, master, conf
        ``spark`` runs on a Spark cluster, with its master and settings; the source must then be files.

    Returns
    -------
    RelatedLists
        Lists with scores.

    Raises
    ------
    InputError
        If the source cannot be read, or an option breaks its rule.

    Examples
    --------
    >>> import recloak.related
    >>> recloak.related.build("ratings.csv", top=3)
    <RelatedLists: 6 items, 18 entries>
    """
    options = SimilarityOptions(similarity=similarity, shrinkage=shrinkage, min_support=min_support)
    top, seconds = MethodOptions(top=top).top, None if until is None else as_seconds(until)
    if on_spark(engine, master, conf):
        files = require_files(source)
        with spark_session(master, conf) as spark:
            return _build_on_spark(spark, files, top, options, seconds)
    ratings = as_ratings(source)
    return named_lists(nearest(ratings if seconds is None else ratings.until(seconds), top, options), ratings.item_ids)


def _build_on_spark(
    spark: Any, source: Source, top: int, options: SimilarityOptions, until: int | None
) -> RelatedLists:
    from recloak._spark import similar_items
    from recloak._spark.user_blocks import opened_blocks

    with opened_blocks(spark, source.paths, source.options, until=until) as blocks:
        return named_lists(similar_items.nearest(spark, blocks, top, options), blocks.item_ids)


@suggests_keywords
def publish(
    history: HistoryLike,
    source: RatingsLike,
    *,
    delta: float = 0.1,
    horizon: str = "30d",
    min_support: int = 5,
    evidence: str = "fresh",
    knowledge: int | None = None,
    window: Window | None = None,
    top: int = 5,
    method: str = "perm",
    literal: bool = False,
    candidates: int = 20,
    budget: int = 10**8,
    similarity: str = "cosine",
    shrinkage: float = 0.0,
    lists: Table | RelatedLists | str | os.PathLike[str] | None = None,
    until: Moment | None = None,
    loosen: bool = False,
    accept_times: bool = False,
    accept_source: bool = False,
    key: str | os.PathLike[str] | None = None,
    engine: str = "local",
    master: str | None = None,
    conf: Sequence[str] = (),
) -> PublishedRelease:
    """Add the next release of related-item lists to a history, safe as shown and safe for its horizon.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address; created if there is none.
    source
        Ratings with times: a path, several paths, a table or `Ratings`.
    delta
        Largest allowed probability of a right inference.
    horizon
        How long it is protected what somebody adds: a time such as ``30d``, a number of ratings, or ``all``.
    min_support
        Fewest people who rated both an item and an entry of its list, also for ``lists`` from elsewhere.
    evidence
        ``fresh``: the observer infers what was added since; ``total``: what is held at all.
    knowledge
        Most background items that an observer is believed to know; None: no limit.
    window
        The paper's literal bound instead of a horizon: releases that an observer compares, or ``"all"``.
    top
        Positions of a list.
    method
        ``perm`` moves or removes entries, ``supp`` only removes them, ``none`` leaves the true lists.
    literal
        Run the paper's algorithm as printed; releases with violations are refused.
    candidates
        How far down the ranking replacements are looked for.
    budget
        Most steps of one exact search; where they run out, entries are removed.
    similarity, shrinkage
        How similar items are found; see `build`.
    lists
        Lists of another recommender (``item``, ``related``, ``score``) as a file or table, instead of our own.
    until
        The time of the release; None: that of the last rating.
    loosen
        Allow to promise less than the last release did (delta, horizon, support, top); it is recorded.
    accept_times
        Allow a newest rating that is dated ahead of the clock or far beyond the last release.
    accept_source
        Allow ratings that do not go on from those of the last release; what they hold counts as added now.
    key
        File of the key that knows who was forgotten; None: beside the store (see `forget`).
    engine, master, conf
        ``spark`` reads the ratings and compares the items on a Spark cluster; the source must then be files.

    Returns
    -------
    PublishedRelease
        The lists, their proof and what they cost; the last release as it is if nothing is new (``is_new``).

    Raises
    ------
    RefusedError
        If the release would break or loosen the promise, or somebody else has published meanwhile; nothing is stored.
    InputError
        If the source cannot be read, carries no times, or an option breaks its rule.

    Examples
    --------
    >>> import recloak.related
    >>> with recloak.related.History("lists.db") as history:
    ...     recloak.related.publish(history, "ratings.csv", until=200, delta=0.3, min_support=1)
    ...     recloak.related.publish(history, "ratings.csv", delta=0.3, min_support=1).verdict.passed
    <PublishedRelease: number 1, 30 entries, recall 1.000>
    True
    """
    promise = {"delta": delta, "horizon": horizon, "min_support": min_support, "evidence": evidence}
    bound = bound_of(window, literal=literal, **promise, knowledge=knowledge)
    how = MethodOptions(top=top, method=method, literal=literal, candidates=candidates, budget=budget)
    how.require_publishable()
    options = SimilarityOptions(similarity=similarity, shrinkage=shrinkage, min_support=min_support)
    seconds = None if until is None else as_seconds(until)
    settings: dict[str, Any] = {"bound": bound, "method": how, "similarity": options, "until": seconds}
    settings |= {"loosen": loosen, "accept_times": accept_times, "accept_source": accept_source}
    if not on_spark(engine, master, conf):
        return _publish(history, as_ratings(source), lists, key, **settings)
    files = require_files(source)
    from recloak._spark.whole_ratings import opened_ratings

    with spark_session(master, conf) as spark, opened_ratings(spark, files.paths, files.options) as read:
        make = partial(read.nearest, seconds)
        return _publish(history, read.ratings, lists, key, make_lists=make, **settings)


def _publish(
    history: HistoryLike,
    ratings: Ratings,
    lists: Table | RelatedLists | str | os.PathLike[str] | None,
    key: str | os.PathLike[str] | None,
    **settings: Any,
) -> PublishedRelease:
    require_times(ratings)  # before a store is made for them
    given = None if lists is None else _given_lists(lists, ratings.item_ids)
    with opened(history, create=True) as store:
        return publish_lists.publish(store, ratings, lists=given, key=EraseKey.of(store, key), **settings)


def _given_lists(given: Table | RelatedLists | str | os.PathLike[str], item_ids: IdMap) -> Lists:
    if isinstance(given, str | os.PathLike):
        return read_lists(os.fspath(given), item_ids)
    return lists_from_table(as_polars(given), item_ids)


@suggests_keywords
def export(history: HistoryLike, *, release: int | str | None = None) -> RelatedLists:
    """Return the published lists of a history, and nothing that is not public.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.
    release
        The number of a release, ``"last"``, or None for all.

    Returns
    -------
    RelatedLists
        Lists with their release, without gaps: exactly as they were verified.

    Raises
    ------
    OptionError
        If there is no such release.

    Examples
    --------
    >>> import recloak.related
    >>> _ = recloak.related.publish("lists.db", "ratings.csv", top=3, min_support=1)
    >>> recloak.related.export("lists.db", release="last")
    <RelatedLists: 1 release, 6 items, 18 entries>
    """
    with opened(history) as store:
        chosen = store.releases
        if release is not None:
            chosen = chosen[-1:] if release == "last" and chosen else (record_of(store, release),)
        table = without_gaps(table_of(store, *(() if release is None else (chosen[0].number,))))
    return RelatedLists(table, table["item"].n_unique(), max((one.top for one in chosen), default=0))
