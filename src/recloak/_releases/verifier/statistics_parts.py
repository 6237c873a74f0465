"""Tables of statistics, read and judged: order, ranges, and that they agree with each other and with the release.

What the noise was cannot be seen from outside, and nobody says that it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from recloak._releases.model.statistics import ACTIVITY_FROM, MOST_LEVELS, MOST_PAIRED, STATISTICS
from recloak._releases.verifier.arrow_arrays import as_numpy
from recloak._releases.verifier.claims import Claims, Part
from recloak._releases.verifier.item_numbers import ItemNumbers
from recloak._releases.verifier.table_blocks import row_blocks

ITEMS, RATINGS, ACTIVITY, PAIRS = STATISTICS
Columns = list[list[Any]]


def look_at_statistics(part: Part, claims: Claims, items: ItemNumbers) -> tuple[int, list[str]]:
    """Read a table to the byte; return its rows and what is wrong with it by itself.

    ``items`` learns its items, so that one that is not in the rows of the release is one too many.
    """
    n_rows, most = 0, claims.n_users
    problems = []
    for block in row_blocks(claims.path(part), claims.stored(part), canonical=not claims.content):
        columns = dict(zip(claims.columns(part), block, strict=True))
        for name in ("item", "other"):
            if name in columns:
                items.encode(columns[name])
        counts = as_numpy(block[-1])
        if not 0 <= int(counts.min()) <= int(counts.max()) <= most:
            problems.append(f"{part.label} has a count that is not in 0 to {most}")
        n_rows += len(counts)
    return n_rows, problems


def statistics_problems(claims: Claims) -> Iterator[str]:
    """Say where tables of statistics, each right by itself, do not agree or are not in their one order."""
    tables = {part.table: _columns(part, claims) for part in claims.parts if part.table in STATISTICS}
    if not tables:
        return
    ids, raters = tables[ITEMS]
    if len(ids) != claims.n_items or not _ascends(ids):
        yield f"{ITEMS} must name the items of the release in order, each once"
        return
    yield from _activity_problems(claims, *tables[ACTIVITY])
    if RATINGS in tables:
        yield from _rating_problems(ids, raters, *tables[RATINGS])
    if PAIRS in tables:
        yield from _pair_problems(dict(zip(ids, raters, strict=True)), *tables[PAIRS])


def _columns(part: Part, claims: Claims) -> Columns:
    """Return the whole columns of a table, as plain values."""
    read: Columns = [[] for _ in claims.columns(part)]
    for block in row_blocks(claims.path(part), claims.stored(part), canonical=not claims.content):
        for column, values in zip(read, block, strict=True):
            column.extend(values.tolist() if isinstance(values, np.ndarray) else values.to_pylist())
    return read


def _ascends(values: list[Any]) -> bool:
    return all(one < other for one, other in itertools.pairwise(values))


def _activity_problems(claims: Claims, least: list[int], people: list[int]) -> Iterator[str]:
    if least != list(ACTIVITY_FROM):
        yield f"{ACTIVITY} must have its classes in order"
    if sum(people) != claims.n_users:
        yield f"{ACTIVITY} must count {claims.n_users} people in all"


def _rating_problems(
    ids: list[Any], raters: list[int], items: list[Any], ratings: list[float], counts: list[int]
) -> Iterator[str]:
    n_levels = len(items) // len(ids)
    levels = ratings[:n_levels]
    if not 1 <= n_levels <= MOST_LEVELS or not _ascends(levels):
        yield f"{RATINGS} must have 1 to {MOST_LEVELS} ratings for each item, in order"
    elif items != [one for one in ids for _ in range(n_levels)] or ratings != levels * len(ids):
        yield f"{RATINGS} must have the same ratings for every item, in order"
    elif np.reshape(counts, (-1, n_levels)).sum(axis=1).tolist() != raters:
        yield f"{RATINGS} must have as many ratings of an item as {ITEMS} has raters"


def _pair_problems(raters: dict[Any, int], items: list[Any], others: list[Any], counts: list[int]) -> Iterator[str]:
    top = sorted({*items, *others})
    if not 2 <= len(top) <= MOST_PAIRED or list(zip(items, others, strict=True)) != list(
        itertools.combinations(top, 2)
    ):
        yield f"{PAIRS} must have all pairs of 2 to {MOST_PAIRED} items, in order"
    elif any(
        count > min(raters.get(one, 0), raters.get(other, 0))
        for one, other, count in zip(items, others, counts, strict=True)
    ):
        yield f"{PAIRS} has a pair with more raters than one of its items"
