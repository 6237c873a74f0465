"""Check a history of related-item lists against ratings: `recloak.related.verify`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recloak._core.errors import InputError
from recloak._core.randomness import Rng, seed_or_rng
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import at_least
from recloak._library.engines import on_spark, require_files, spark_session
from recloak._library.related_arguments import HistoryLike, Window, bound_of, opened
from recloak._library.sources import as_ratings
from recloak._ratings.model import Ratings
from recloak._related.history import ReleaseRecord, published
from recloak._related.history_checks import verify_history
from recloak._related.history_writing import ledger_of
from recloak._related.ledger import adopted
from recloak._related.model import Holders, require_window
from recloak._related.options import BoundOptions
from recloak._related.residual import residual_risk
from recloak._related.source_check import require_source
from recloak._related.verifier import HistoryVerdict

if TYPE_CHECKING:
    from recloak._library.sources import RatingsLike


@suggests_keywords
def verify(
    history: HistoryLike,
    source: RatingsLike,
    *,
    delta: float | None = None,
    horizon: str | None = None,
    min_support: int | None = None,
    evidence: str | None = None,
    knowledge: int | None = None,
    window: Window | None = None,
    residual: int | None = None,
    seed: int | None = None,
    rng: Rng = None,
    engine: str = "local",
    master: str | None = None,
    conf: Sequence[str] = (),
) -> HistoryVerdict:
    """Check every release of a history as it was shown: exactly, without the code that makes lists.

    Every release is judged by the promise that held when it was published, with the ledger of the history; ratings that
    do not fit it are refused.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.
    source
        Ratings with times: a path, several paths, a table or `Ratings`.
    delta, horizon, min_support, evidence, knowledge, window
        Judge all releases by this instead, as in `publish`; what is not given is each release's own.
    residual
        Also sample what an observer learns who knows this many items, only some of which moved.
    seed, rng
        A seed or a numpy generator for the sample; with neither the system draws a seed.
    engine, master, conf
        ``spark`` reads the ratings on a Spark cluster; the source must then be files. The proof is the same.

    Returns
    -------
    HistoryVerdict
        Whether the promise holds, the largest breach, every minimal set of items that breaks it, every entry that rests
        on too few people, and how well the ratings fit.

    Raises
    ------
    InputError
        If the history holds no release, or the source cannot be read or is not the one behind the history.

    Examples
    --------
    >>> import recloak.related
    >>> _ = recloak.related.publish("lists.db", "ratings.csv", until=200)
    >>> _ = recloak.related.publish("lists.db", "ratings.csv")
    >>> recloak.related.verify("lists.db", "ratings.csv").passed
    True
    """
    generator, ratings = seed_or_rng(seed, rng), _ratings_by(engine, source, master, conf)
    residual = None if residual is None else at_least(2, "residual", residual)
    named = {"delta": delta, "horizon": horizon, "min_support": min_support, "evidence": evidence}
    each = (*named.items(), ("knowledge", knowledge))
    given: dict[str, Any] = {name: value for name, value in each if value is not None}
    if window is not None:
        given["window"] = bound_of(window).window
    with opened(history) as store:
        records = store.releases
        if not records:
            raise InputError(f"{store.name}: there is no release to verify")
        bounds = [_claimed(one, given) for one in records]
        if window is not None:
            require_window(bounds[-1], len(records))
        kept = ledger_of(store)
        coverage = require_source(store, ratings, kept)
        ledger = kept or adopted(ratings, [(one.number, one.time) for one in records])
        verdict = replace(verify_history(store, ledger, bounds), coverage=coverage)
        lists = published(store, ratings.item_ids)
    if residual is None or len(lists) < 2:
        return verdict
    holders = Holders.of(ratings)
    return replace(verdict, residual=residual_risk(lists, holders, ratings, bounds[-1], known=residual, rng=generator))


def _ratings_by(engine: str, source: RatingsLike, master: str | None, conf: Sequence[str]) -> Ratings:
    """Return the ratings of a source, read by the engine that is asked for."""
    if not on_spark(engine, master, conf):
        return as_ratings(source)
    files = require_files(source)
    from recloak._spark.whole_ratings import opened_ratings

    with spark_session(master, conf) as spark, opened_ratings(spark, files.paths, files.options) as read:
        return read.ratings


def _claimed(record: ReleaseRecord, given: dict[str, Any]) -> BoundOptions:
    """Return the promise of a release, changed by the given options; a horizon takes the place of a window."""
    claimed = {**record.policy.to_mapping(), **given}
    if "horizon" in given and "window" not in given:
        claimed["window"] = None
    return BoundOptions.from_mapping(claimed)
