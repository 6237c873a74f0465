"""Homogenise: all members of a group get one row of items and labels (technical report, sections 4.3 and 5.2).

Of a group C, with N(C) the items that some member rated and k' the number of members who rated item o:

    pure    items N(C), label  = sum of the raters' ratings of o / k'
    padded  all items,  label  = sum over all members of the padded row at o / |C|

where the padded row holds the rating where there is one and the prediction elsewhere. The text divides by n or m; it
must be |C|. Three holes of the text are closed by default: a padded label is the group's prediction alone, for the
raters' own ratings stand out from it (docs/decisions/labels-and-grid.md); a pure one needs ``min_raters`` real raters
behind it; and both are rounded to a published grid (see `_releases.grid`).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.errors import InputError
from recloak._core.threads import in_shares
from recloak._ratings.event_values import shows_propensities
from recloak._ratings.model import Ratings
from recloak._releases.grid import Grid, make_grid
from recloak._releases.group_fit import fit_groups
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.options import HomogeniseOptions
from recloak._releases.profiles import FullProfiles, GroupMeans, Profiles, SparseProfiles, on_grid
from recloak._releases.propensity_rows import propensity_rows
from recloak._releases.rating_tally import Tally, tally

_COUNTED = 2048  # groups whose raters are counted where no label depends on them


def homogenise(
    ratings: Ratings, padding: Padding, grouping: Grouping, options: HomogeniseOptions | None = None
) -> Profiles:
    """Return the profile of each group; groups are numbered as in the grouping."""
    options = options or HomogeniseOptions()
    if not (ratings.n_users == padding.shape[0] == len(grouping.labels) and ratings.n_items == padding.shape[1]):
        raise InputError("the ratings, the padding and the grouping must be of the same users and items")
    grid = make_grid(ratings.scale, options.mode, options.grid)
    cells, means = tally_for(ratings, padding, grouping, options), group_rows(ratings, padding, grouping, options)
    return profiles_of(cells, means, grouping, options, grid)


def profiles_of(
    cells: Tally, means: GroupMeans, grouping: Grouping, options: HomogeniseOptions, grid: Grid
) -> Profiles:
    """Return the profile of each group, made as the mode says from its members' ratings and what is predicted."""
    return ROW_MAKERS[options.mode](cells, means, grouping, options, grid)


def tally_for(ratings: Ratings, padding: Padding, grouping: Grouping, options: HomogeniseOptions) -> Tally:
    """Count the raters of each cell; beside labels of the model alone some groups are enough, for the account."""
    if options.labels_of == "raters":
        return tally(ratings, padding, grouping)
    return tally(ratings, None, grouping, every=max(1, grouping.n_groups // _COUNTED))


def group_rows(ratings: Ratings, padding: Padding, grouping: Grouping, options: HomogeniseOptions) -> GroupMeans:
    """Return what is predicted for each group: fitted to its ratings, or, beside labels of the raters, the mean."""
    if shows_propensities(ratings):
        return propensity_rows(group_means(padding, grouping), ratings, grouping)
    if options.labels_of == "model":
        return fit_groups(ratings, padding, grouping)
    return group_means(padding, grouping)


def _pure_rows(
    cells: Tally, means: GroupMeans, grouping: Grouping, options: HomogeniseOptions, grid: Grid
) -> SparseProfiles:
    cells = cells if options.max_link is None else within_cap(cells, grouping, options.max_link)
    cells = cells if options.min_shown is None else with_raters(cells, options.min_shown)
    labels = _pure_labels(cells, means, grouping, options.min_raters, grid)
    return SparseProfiles(cells.indptr, cells.items, labels, len(means.base))


def _padded_rows(
    cells: Tally, means: GroupMeans, grouping: Grouping, options: HomogeniseOptions, grid: Grid
) -> FullProfiles:
    if options.labels_of == "model":
        nothing = np.zeros(grouping.n_groups + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
        return FullProfiles(means, *nothing, grid)
    return FullProfiles(means, *_corrections(cells, grouping, options.min_raters), grid)


RowMaker = Callable[[Tally, GroupMeans, Grouping, HomogeniseOptions, Grid], Profiles]

# How the rows of each mode are made: `FullProfiles` if the mode is complete, else `SparseProfiles`.
ROW_MAKERS: dict[str, RowMaker] = {"pure": _pure_rows, "padded": _padded_rows}


def within_cap(cells: Tally, grouping: Grouping, max_link: float) -> Tally:
    """Return the cells without those that more than a share of their group rated: k' / |C| > max_link.

    Whoever knows a person's group is sure of the person's link to a shown item to the degree k' / |C|.
    """
    kept = cells.raters / np.repeat(grouping.sizes, np.diff(cells.indptr)) <= max_link  # 3 / 5 is the float 0.6
    return _kept(cells, kept, f"max_link {max_link:g} leaves a group without a single item; raise it, or raise k")


def with_raters(cells: Tally, min_shown: int) -> Tally:
    """Return the cells that at least so many members rated."""
    sentence = f"min_shown {min_shown} leaves a group without a single item; lower it, or raise k"
    return _kept(cells, cells.raters >= min_shown, sentence)


def _kept(cells: Tally, kept: NDArray[np.bool_], sentence: str) -> Tally:
    """Return some of the cells; raise InputError with the sentence if a group has none of them."""
    counts = _count_by_group(cells.indptr, kept)
    if not counts.all():
        raise InputError(sentence)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return Tally(indptr, cells.items[kept], cells.raters[kept], cells.sums[kept], cells.surprises[kept])


def group_means(padding: Padding, grouping: Grouping) -> GroupMeans:
    """Return the mean biases and factors of each group; its mean prediction follows by linearity."""
    starts, members = grouping.members()
    sizes = grouping.sizes.astype(np.float32)
    bias = np.add.reduceat(padding.user_bias[members], starts[:-1]) / sizes
    factors = np.add.reduceat(padding.user_factors[members], starts[:-1], axis=0) / sizes[:, None]
    return GroupMeans(
        bias.astype(np.float32, copy=False),
        factors.astype(np.float32, copy=False),
        (padding.item_bias + np.float32(padding.mu)).astype(np.float32),
        np.ascontiguousarray(padding.item_factors.T),
    )


def predicted_means(
    means: GroupMeans, groups: NDArray[np.integer], items: NDArray[np.integer], grid: Grid
) -> NDArray[np.float32]:
    """Return the group's mean prediction for single (group, item) cells, on the grid: the label of a fake edge."""
    dots = np.einsum("cf,fc->c", means.factors[groups], means.item_factors[:, items])
    return grid.round(means.base[items] + means.bias[groups] + dots)


def _pure_labels(
    cells: Tally, means: GroupMeans, grouping: Grouping, min_raters: int, grid: Grid
) -> NDArray[np.float32]:
    labels = np.empty(len(cells.items), np.float32)
    by_item = means._replace(item_factors=np.ascontiguousarray(means.item_factors.T))
    in_shares(_label, grouping.n_groups, cells, grouping.sizes, min_raters, by_item, grid.bare, labels)
    return labels


def _corrections(
    cells: Tally, grouping: Grouping, min_raters: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Spread the raters' surprises over the group: sum(rating - prediction) / |C|, by group and item.

    A cell with fewer than ``min_raters`` raters keeps the bare mean prediction, so that no one person's rating stands
    alone behind a label.
    """
    kept = cells.raters >= min_raters
    counts = _count_by_group(cells.indptr, kept)
    sizes = np.repeat(grouping.sizes.astype(np.float32), counts)
    return np.concatenate(([0], np.cumsum(counts))), cells.items[kept], cells.surprises[kept] / sizes


def _count_by_group(indptr: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.diff(np.searchsorted(np.flatnonzero(kept), indptr))


@njit(cache=True, nogil=True)
def _label(share, n_shares, cells, sizes, min_raters, means, grid, labels):  # type: ignore[no-untyped-def]
    indptr, items, raters, sums, surprises = cells
    bias, factors, base, item_factors = means
    low, high, step, values = grid
    for group in range(share, len(indptr) - 1, n_shares):
        for c in range(indptr[group], indptr[group + 1]):
            if raters[c] >= min_raters:
                value = sums[c] / raters[c]
            else:
                value = base[items[c]] + bias[group] + surprises[c] / sizes[group]
                for f in range(factors.shape[1]):
                    value += factors[group, f] * item_factors[items[c], f]
            labels[c] = on_grid(value, low, high, step, values)
