"""True lists: from ratings by similarity, from noisy ratings (the baseline RP), or from another recommender's file."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import InputError, SourceError
from recloak._core.randomness import Rng, randomness
from recloak._ratings.ids import UNKNOWN, IdMap
from recloak._ratings.model import Ratings
from recloak._related.model import HOLE, Lists
from recloak._related.options import SimilarityOptions
from recloak._related.similarity import nearest

COLUMNS = ("item", "related", "score")


def build(ratings: Ratings, top: int, options: SimilarityOptions | None = None, *, until: int | None = None) -> Lists:
    """List for every item its ``top`` most similar others, from the ratings up to a time."""
    return nearest(ratings if until is None else ratings.until(until), top, options)


def perturbed(ratings: Ratings, rng: Rng = None, *, variance: float = 1.0) -> Ratings:
    """Add zero-mean uniform noise to every rating once, as when it arrives (Polat and Du 2003; RP in paper 003)."""
    reach = np.sqrt(3.0 * variance)
    noise = randomness(rng).stream("related", "rp").uniform(-reach, reach, ratings.n_ratings)
    values = (ratings.values + noise).astype(np.float32)
    return Ratings(
        ratings.indptr,
        ratings.items,
        values,
        ratings.user_ids,
        ratings.item_ids,
        ratings.scale,
        ratings.times,
        ratings.intake,
    )


def lists_from_table(table: pl.DataFrame, item_ids: IdMap, *, file: str | None = None) -> Lists:
    """Take another recommender's lists (``item``, ``related``, ``score``): best score first, ties by item number."""
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise SourceError(f"lists need the columns item, related and score, and {missing[0]} is missing", file=file)
    if table.select(pl.any_horizontal(pl.col(*COLUMNS).is_null()).any()).item():
        raise SourceError("every row of lists needs an item, a related item and a score", file=file)
    owners, entries = (_numbers(table[name], item_ids, file) for name in ("item", "related"))
    scores = table["score"].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    _require_plain(table, owners, entries, scores, file)
    return _ranked(owners, entries, scores, len(item_ids))


def _numbers(column: pl.Series, item_ids: IdMap, file: str | None) -> NDArray[np.int32]:
    wanted = _of_kind(column, item_ids)
    numbers = np.full(len(wanted), UNKNOWN, np.int32)
    numbers[wanted.is_not_null().to_numpy()] = item_ids.encode(wanted.drop_nulls())
    unknown = np.flatnonzero(numbers < 0)
    if len(unknown):
        raise SourceError(
            "an item of the lists must be in the ratings",
            file=file,
            line=int(unknown[0]) + 2,
            value=column[int(unknown[0])],
        )
    return numbers


def _of_kind(column: pl.Series, item_ids: IdMap) -> pl.Series:
    """Give ids as the ratings write them, as texts or whole numbers; nothing where that cannot be."""
    if item_ids.is_text:
        return column.cast(pl.String)
    return column.cast(pl.Int64, strict=False) if column.dtype == pl.String else column


def _require_plain(
    table: pl.DataFrame,
    owners: NDArray[np.int32],
    entries: NDArray[np.int32],
    scores: NDArray[np.float64],
    file: str | None,
) -> None:
    """Refuse an item in its own list, an entry that stands twice, and a score that is no number."""
    own, wrong = np.flatnonzero(owners == entries), np.flatnonzero(~np.isfinite(scores))
    if len(own):
        at = int(own[0])
        raise SourceError("an item must not stand in its own list", file=file, line=at + 2, value=table["item"][at])
    if len(wrong):
        at = int(wrong[0])
        raise SourceError("a score must be a finite number", file=file, line=at + 2, value=table["score"][at])
    pairs = pl.DataFrame({"owner": owners, "entry": entries})
    twice = np.flatnonzero(pairs.select(~pl.struct("owner", "entry").is_first_distinct()).to_series().to_numpy())
    if len(twice):
        at = int(twice[0])
        raise SourceError("an entry must not stand twice in a list", file=file, line=at + 2, value=table["related"][at])


def _ranked(owners: NDArray[np.int32], entries: NDArray[np.int32], scores: NDArray[np.float64], n_items: int) -> Lists:
    order = np.lexsort((entries, -scores, owners))
    counts = np.bincount(owners, minlength=n_items)
    first = np.concatenate(([0], np.cumsum(counts)))
    places = np.arange(len(order)) - np.repeat(first[:-1], counts)
    shape = (n_items, int(counts.max()) if len(counts) else 0)
    items, kept = np.full(shape, HOLE, np.int32), np.zeros(shape)
    items[owners[order], places], kept[owners[order], places] = entries[order], scores[order]
    return Lists(items, kept)


def read_lists(path: str, item_ids: IdMap) -> Lists:
    """Read another recommender's lists from a CSV or Parquet file."""
    try:
        table = pl.read_parquet(path) if path.endswith(".parquet") else pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read as lists ({reason})") from error
    return lists_from_table(table, item_ids, file=path)
