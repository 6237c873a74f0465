"""The tables of statistics as columns to write."""

from __future__ import annotations

import numpy as np

from recloak._ratings.ids import IdMap
from recloak._releases.model.statistics import ACTIVITY_FROM
from recloak._releases.statistics.making import Statistics, Whole
from recloak._releases.table_writing import Column, Decimals, ItemColumn, Numbers

Table = tuple[dict[str, Column], int]  # columns and the number of rows


def statistics_columns(statistics: Statistics | None, item_ids: IdMap) -> dict[str, Table]:
    """Return the columns of each table there is, in the order of their names' table."""
    if statistics is None:
        return {}
    made, items = statistics, ItemColumn(item_ids)
    n_items, n_levels = made.ratings.shape
    of_items = items.of(made.items.astype(np.int32))
    by_level = items.of(np.repeat(made.items, n_levels).astype(np.int32))
    levels = Decimals(np.tile(made.levels, n_items).astype(np.float32))
    first, second = (items.of(side.astype(np.int32)) for side in made.pairs.T)
    tables: dict[str, Table] = {
        "statistics_items": ({"item": of_items, "raters": _whole(made.raters)}, n_items),
        "statistics_ratings": (
            {"item": by_level, "rating": levels, "raters": _whole(made.ratings.ravel())},
            n_items * n_levels,
        ),
        "statistics_activity": (
            {"at_least": _whole(np.array(ACTIVITY_FROM)), "people": _whole(made.people)},
            len(ACTIVITY_FROM),
        ),
        "statistics_pairs": (
            {"item": first, "other": second, "raters": _whole(made.pair_raters)},
            len(made.pairs),
        ),
    }
    return {name: tables[name] for name in made.facts.tables}


def _whole(numbers: Whole) -> Numbers:
    return Numbers(numbers.astype(np.int32))
