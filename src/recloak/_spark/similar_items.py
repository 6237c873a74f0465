"""Related-item lists on a cluster: for every item the most similar others, by the measures of `related.similarity`.

The items are cut into strips. A task takes a strip, walks over all blocks of users, and adds up what the items of its
strip have in common with every item: only the lists are sent. What a task holds is its strip times all items, and
the width of a strip is chosen so that this stays within bounds.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from recloak._core.compiling import njit
from recloak._core.progress import task
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings, Scale
from recloak._related.model import EMPTY, Lists
from recloak._related.options import SimilarityOptions
from recloak._related.similarity import NOISE
from recloak._spark.array_cells import Row, array, joined, map_rows, rows_of
from recloak._spark.user_blocks import Blocks, ratings_in

_MOST_CELLS = 32_000_000  # of a strip times all items: 256 MB for each sum
_CORATED = ("pearson", "adjusted")
_COLUMNS = ["block", "n_users", "indptr", "items", "values"]
_LISTS = {"first": pa.int32(), "items": pa.binary(), "scores": pa.binary()}
_MEANS = {"block": pa.int32(), "sums": pa.binary(), "squares": pa.binary()}


class _Totals(NamedTuple):
    """What holds for each item over all users."""

    means: NDArray[np.float64]
    squares: NDArray[np.float64]  # of what its ratings count as


def nearest(spark: SparkSession, blocks: Blocks, top: int, options: SimilarityOptions | None = None) -> Lists:
    """List for every item the ``top`` most similar others."""
    options = options or SimilarityOptions()
    totals = _item_totals(blocks, options.similarity)
    width = max(1, min(_MOST_CELLS // blocks.n_items, -(-blocks.n_items // 8)))
    strips = [(first, min(first + width, blocks.n_items)) for first in range(0, blocks.n_items, width)]
    rows = spark.createDataFrame(strips, "first int, stop int").repartition(len(strips), "first")
    folder, item_ids = blocks.folder, blocks.item_ids

    def make_lists(row: Row) -> dict[str, Any]:
        first, stop = row["first"].as_py(), row["stop"].as_py()
        sums = _strip_sums(folder, item_ids, totals, (first, stop), options)
        items, scores = _top(sums, totals, first, top, options)
        return {"first": first, "items": items, "scores": scores}

    with task("comparing items", 1) as advance:
        found = map_rows(rows, make_lists, _LISTS).toArrow().sort_by("first")
        advance(1)
    items, scores = joined(found, "items", np.int32), joined(found, "scores", np.float64)
    return Lists(items.reshape(-1, top), scores.reshape(-1, top))


def _item_totals(blocks: Blocks, similarity: str) -> _Totals:
    """Add up each item's ratings and their squares, in the order of the blocks."""
    item_ids, scale = blocks.item_ids, blocks.scale

    def add(row: Row) -> dict[str, Any]:
        ratings, n_items = ratings_in(row, item_ids, scale), len(item_ids)
        values = np.ones(ratings.n_ratings) if _counts_only(similarity) else ratings.values.astype(np.float64)
        sums = np.bincount(ratings.items, ratings.values, minlength=n_items)
        squares = np.bincount(ratings.items, values**2, minlength=n_items)
        return {"block": row["block"].as_py(), "sums": sums, "squares": squares}

    found = map_rows(blocks.frame.select(*_COLUMNS), add, _MEANS).toArrow().sort_by("block")
    sums, squares = (np.sum([array(cell, np.float64) for cell in found[name]], axis=0) for name in ("sums", "squares"))
    return _Totals(sums / np.maximum(blocks.popularity, 1), squares)


def _counts_only(similarity: str) -> bool:
    return similarity in ("presence", "conditional")


def _strip_sums(
    folder: Path, item_ids: IdMap, totals: _Totals, strip: tuple[int, int], options: SimilarityOptions
) -> NDArray[np.float64]:
    """Add up x y, n and, where the measure needs them, x x and y y of a strip with all items: (k, width, n_items)."""
    corated = options.similarity in _CORATED
    sums = np.zeros((4 if corated else 2, strip[1] - strip[0], len(item_ids)))
    for ratings in _blocks_in(folder, item_ids):
        weights = _weights(ratings, totals, options.similarity)
        _add_common(ratings.indptr, ratings.items, weights, strip[0], strip[1], sums)
    return sums


def _blocks_in(folder: Path, item_ids: IdMap) -> Iterator[Ratings]:
    """Yield the blocks, read from their folder one after the other."""
    for file in sorted(folder.glob("*.parquet")):
        for part in pq.ParquetFile(file).iter_batches(batch_size=1, columns=_COLUMNS):
            for row in rows_of([part]):
                yield ratings_in(row, item_ids, Scale(0.0, 0.0))


def _weights(ratings: Ratings, totals: _Totals, similarity: str) -> NDArray[np.float64]:
    """Return what each rating counts as, as `_related.similarity` does."""
    if _counts_only(similarity):
        return np.ones(ratings.n_ratings)
    values = ratings.values.astype(np.float64)
    if similarity == "pearson":
        return values - totals.means[ratings.items]
    if similarity == "adjusted":
        users = ratings.users()
        sums = np.bincount(users, values, minlength=ratings.n_users)
        return values - (sums / np.maximum(ratings.activity, 1))[users]
    return values


@njit(cache=True, nogil=True)
def _add_common(indptr, items, weights, first, stop, sums):  # type: ignore[no-untyped-def]
    """Add a block's users to the sums of the items from ``first`` to before ``stop`` with all items."""
    for user in range(len(indptr) - 1):
        for p in range(indptr[user], indptr[user + 1]):
            j = items[p] - first
            if items[p] < first or items[p] >= stop:
                continue
            x = weights[p]
            for q in range(indptr[user], indptr[user + 1]):
                i, y = items[q], weights[q]
                sums[0, j, i] += x * y
                sums[1, j, i] += 1
                if len(sums) > 2:
                    sums[2, j, i] += x * x
                    sums[3, j, i] += y * y


def _top(
    sums: NDArray[np.float64], totals: _Totals, first: int, top: int, options: SimilarityOptions
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the best of each item of a strip; equal scores are ordered by item number."""
    width, n_items = sums.shape[1:]
    found, scores = np.full((width, top), EMPTY, np.int32), np.zeros((width, top))
    for j in range(width):
        keys = _keys(sums[:, j], totals.squares, first + j, options)
        keys[first + j] = 0.0
        best = np.argsort(-keys, kind="stable")[: min(top, n_items)]
        best = best[keys[best] > 0]
        found[j, : len(best)], scores[j, : len(best)] = best, keys[best]
    return found, scores if options.similarity in _CORATED else np.sqrt(scores)


def _keys(
    sums: NDArray[np.float64], squares: NDArray[np.float64], item: int, options: SimilarityOptions
) -> NDArray[np.float64]:
    """Score all items against one: the square of a cosine or, over common raters, the correlation; 0 where none."""
    dots, n = sums[0], sums[1]
    keys, fits = np.zeros(len(dots)), (dots > 0) & (n >= options.min_support)
    if options.similarity in _CORATED:
        below = sums[2] * sums[3]
        fits &= below > 0
    shrunk = n[fits] / (n[fits] + options.shrinkage)
    if options.similarity in _CORATED:
        keys[fits] = dots[fits] / np.sqrt(below[fits]) * shrunk
        keys[keys <= NOISE] = 0.0
    elif options.similarity == "conditional":
        keys[fits] = dots[fits] * dots[fits] / squares[item] ** 2 * shrunk**2
    else:
        keys[fits] = dots[fits] * dots[fits] / (squares[item] * squares[fits]) * shrunk**2
    return keys
