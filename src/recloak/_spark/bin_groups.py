"""Group and homogenise inside a bin by the local engine's own functions: a bin is a set of ratings like any other.

A row comes out for every group: its members' ids and its profile. A pure profile holds its cells; a padded one the mean
of the members' factors and what their ratings add to it (`FullProfiles`), from which the cells are made only when
they are written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from recloak._core.randomness import Randomness
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.decoys import add_decoys
from recloak._releases.diversity import diversify
from recloak._releases.grid import Grid, make_grid
from recloak._releases.group import GroupOptions, group
from recloak._releases.group_fit import shown_factors
from recloak._releases.homogenise import group_rows, profiles_of, tally_for
from recloak._releases.model.modes import MODES
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.options import PublishOptions
from recloak._releases.profiles import FullProfiles, GroupMeans, Profiles, SparseProfiles
from recloak._releases.publishing import grouping_for, link_counts
from recloak._spark.array_cells import Row, array, batch, element_kind, joined, schema
from recloak._spark.padding import ItemPadding


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """What the task of every bin needs."""

    padding: ItemPadding
    item_ids: IdMap
    options: PublishOptions
    group_options: GroupOptions
    rng: Randomness
    popularity: NDArray[np.int64]  # (n_items,) over all bins

    @property
    def grid(self) -> Grid:
        """The published grid."""
        return make_grid(self.padding.scale, self.options.mode, self.options.homogenising.grid)

    @property
    def base(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The items' part of a mean prediction: ``mu + b_i``, and the factors by rows of (rank, n_items)."""
        mean, rank = self.padding.items.mean, self.padding.items.rank
        base, factors = mean[:, rank] + np.float32(self.padding.mu), mean[:, :rank]
        if self.options.homogenising.labels_of == "model":
            return base, shown_factors(factors, self.popularity, self.options.k)
        return base, np.ascontiguousarray(factors.T)


def group_kinds(user_id: pa.DataType) -> dict[str, pa.DataType]:
    """Return the columns of a group.

    The labels of a padded profile are its corrections, and its mean the members' mean factors and, last, their mean
    bias. The links, in the first group of a bin, are the bin's cells by raters and members.
    """
    numbers = {"bin": pa.int32(), "group": pa.int32(), "n_members": pa.int64(), "n_cells": pa.int64()}
    arrays = dict.fromkeys(("items", "labels", "mean", "links"), pa.binary())
    return {**numbers, "ids": pa.list_(user_id), **arrays, "n_fake": pa.int64()}


def group_bins(binned: DataFrame, plan: Plan) -> DataFrame:
    """Return the groups of every bin, one row each."""
    kinds = group_kinds(element_kind(binned))
    return binned.groupBy("bin").applyInArrow(_bin_grouper(plan, kinds), schema(kinds))


def _bin_grouper(plan: Plan, kinds: dict[str, pa.DataType]) -> Callable[[pa.Table], pa.Table]:
    def run(table: pa.Table) -> pa.Table:
        table = table.sort_by([("block", "ascending"), ("cell", "ascending")])
        number = table["bin"][0].as_py()
        ratings, padding = bin_values(table, plan)
        rows = grouped_rows(ratings, padding, plan, number)
        ids = table["ids"].combine_chunks().flatten()
        members = rows.pop("members")
        rows["ids"] = [ids.take(pa.array(one)).to_pylist() for one in members]
        return pa.Table.from_batches([batch({"bin": [number] * len(members), **rows}, kinds)])

    return run


def bin_values(table: pa.Table, plan: Plan) -> tuple[Ratings, Padding]:
    """Return the ratings of the users of a bin, and their padding."""
    counts = np.concatenate([np.diff(array(cell, np.int64)) for cell in table["indptr"]])
    items = joined(table, "items", np.int32)
    values, bias, factors = (joined(table, name, np.float32) for name in ("values", "user_bias", "user_factors"))
    ids = IdMap(pl.Series(np.arange(len(counts))))
    indptr, scale = np.concatenate(([0], np.cumsum(counts))), plan.padding.scale
    mean, rank = plan.padding.items.mean, plan.padding.items.rank
    ratings = Ratings(indptr, items, values, ids, plan.item_ids, scale)
    factors = factors.reshape(len(counts), rank)
    item_side = mean[:, rank].copy(), factors, mean[:, :rank].copy()
    return ratings, Padding(plan.padding.mu, bias, *item_side, scale)


def grouped_rows(ratings: Ratings, padding: Padding, plan: Plan, number: int) -> dict[str, list[Any]]:
    """Group the users of a bin and return the groups' profiles by column."""
    rng = plan.rng.child("bin", number)
    grouping = group(padding, grouping_for(plan.options, plan.group_options), ratings=ratings, rng=rng)
    return profile_rows(ratings, padding, grouping, plan, rng)


def profile_rows(
    ratings: Ratings, padding: Padding, grouping: Grouping, plan: Plan, rng: Randomness
) -> dict[str, list[Any]]:
    """Homogenise and diversify given groups, as `_releases.publishing.make_release` does; return them by column."""
    grid, wanted, n_fake = plan.grid, plan.options.wanted_diversity, 0
    homogenising = plan.options.homogenising
    cells = tally_for(ratings, padding, grouping, homogenising)
    means = group_rows(ratings, padding, grouping, homogenising)
    profiles = profiles_of(cells, means, grouping, homogenising, grid)
    if plan.options.decoys is not None and isinstance(profiles, SparseProfiles):
        decoys = plan.options.decoys
        profiles, n_fake = add_decoys(profiles, means, ratings.popularity, grid, decoys, rng=rng)
    if wanted is not None:
        profiles, n_more = diversify(profiles, ratings, grouping, means, grid, wanted, rng=rng)
        n_fake += n_more
    n_groups = grouping.n_groups
    starts, members = grouping.members()
    return {
        "group": list(range(n_groups)),
        "n_members": grouping.sizes.tolist(),
        "n_cells": profiles.counts.tolist(),
        "members": [members[starts[g] : starts[g + 1]] for g in range(n_groups)],
        **_profile_columns(profiles),
        "links": [link_counts(cells, grouping, 2 * plan.options.k), *[b""] * (n_groups - 1)],
        "n_fake": [n_fake, *[0] * (n_groups - 1)],
    }


def _profile_columns(profiles: Profiles) -> dict[str, list[Any]]:
    if isinstance(profiles, SparseProfiles):
        values, means = profiles.labels, [b""] * len(profiles.counts)
    else:
        assert isinstance(profiles, FullProfiles)
        values, means = profiles.corrections, list(np.column_stack((profiles.means.factors, profiles.means.bias)))
    cuts = profiles.indptr[1:-1]
    return {"items": np.split(profiles.items, cuts), "labels": np.split(values, cuts), "mean": means}


def profiles_from(rows: Sequence[Row], plan: Plan) -> Profiles:
    """Return the profiles that rows hold."""
    parts = [array(row["items"], np.int32) for row in rows]
    items, values = np.concatenate(parts), np.concatenate([array(row["labels"], np.float32) for row in rows])
    indptr = np.concatenate(([0], np.cumsum([len(part) for part in parts])))
    if not MODES[plan.options.mode].is_complete:
        return SparseProfiles(indptr, items, values, len(plan.item_ids))
    mean = np.stack([array(row["mean"], np.float32) for row in rows])
    bias, factors = np.ascontiguousarray(mean[:, -1]), np.ascontiguousarray(mean[:, :-1])
    return FullProfiles(GroupMeans(bias, factors, *plan.base), indptr, items, values, plan.grid)
