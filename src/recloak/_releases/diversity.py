"""Diversify: fake edges so that items rated together stand in the rows of several groups (section 5.1).

(b, l)-diversity asks that every b items that someone rated together in the source are contained in the item sets of at
least l groups. The paper gives the step for b = 1 with groups picked at random and leaves out the rest. Here:

- b = 1: an item short of groups goes to those nearest to the groups that have it;
- b >= 2: every set of b items that someone rated together is looked at, and a starved one goes to the groups that lack
  the fewest of its items, nearest first; feasible while there are not too many sets;
- all: bundles of l near groups share the union of their items, so that it holds for every b at once.

The label of a fake edge is the group's mean prediction, on the same grid as all others. In padded mode every group has
every item, so nothing needs to be added.
"""

import math

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError, OptionError
from recloak._core.progress import task
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings, Scale
from recloak._releases.diversity_kernels import added_bits, bits_of, bundle_gaps, feed_items, feed_sets, merge_cells
from recloak._releases.embed import root
from recloak._releases.grid import Grid
from recloak._releases.group import GroupOptions, group
from recloak._releases.homogenise import predicted_means
from recloak._releases.model.release_format import Diversity
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.profiles import GroupMeans, Profiles, SparseProfiles

_MOST_SETS = 4e9
_LABEL_BLOCK = 1_000_000
_GROUPS_AT_ONCE = 8  # a tick for every few groups, so that a long search shows its progress and can be stopped

Cells = tuple[NDArray[np.int32], NDArray[np.int32]]  # (groups, items) of cells to add


def diversify(
    profiles: Profiles,
    ratings: Ratings,
    grouping: Grouping,
    means: GroupMeans,
    grid: Grid,
    diversity: Diversity,
    *,
    rng: Rng = None,
) -> tuple[Profiles, int]:
    """Return profiles that are diverse, and how many cells were added to make them so."""
    n_groups = len(profiles.counts)
    if n_groups < diversity.l:
        raise InputError(f"diversity {diversity} needs at least {diversity.l} groups, got {n_groups}")
    if not isinstance(profiles, SparseProfiles):
        return profiles, 0
    if diversity.b is None:
        groups, items = _bundled(profiles, means, diversity.l, rng)
    elif diversity.b == 1:
        groups, items = _fed_items(profiles, ratings, means, diversity.l)
    else:
        groups, items = _fed_sets(profiles, ratings, grouping, means, diversity)
    return with_cells(profiles, groups, items, means, grid), len(items)


def _fed_items(profiles: SparseProfiles, ratings: Ratings, means: GroupMeans, l: int) -> Cells:  # noqa: E741
    """Return the groups that get an item which fewer than l groups have: the nearest to those that have it."""
    holders = np.bincount(profiles.items, minlength=profiles.n_items)
    starved = np.flatnonzero((holders > 0) & (holders < l)).astype(np.int32)
    wanted = np.concatenate(([0], np.cumsum(l - holders[starved])))
    groups = np.empty(wanted[-1], np.int32)
    bits = bits_of(profiles.indptr, profiles.items, profiles.n_items)
    feed_items(starved, bits, group_points_of(means, ratings.popularity), wanted, groups)
    return groups, np.repeat(starved, np.diff(wanted))


def _fed_sets(
    profiles: SparseProfiles, ratings: Ratings, grouping: Grouping, means: GroupMeans, diversity: Diversity
) -> Cells:
    """Return the cells that bring every set of b items rated together into l groups."""
    assert diversity.b is not None
    _require_feasible(ratings, diversity)
    bits = bits_of(profiles.indptr, profiles.items, profiles.n_items)
    before = bits.copy()
    starts, members = grouping.members()
    points = group_points_of(means, ratings.popularity)
    rows = (starts, members, ratings.indptr, ratings.items)
    with task("diversifying", grouping.n_groups) as advance:
        for first in range(0, grouping.n_groups, _GROUPS_AT_ONCE):
            last = min(first + _GROUPS_AT_ONCE, grouping.n_groups)
            feed_sets(first, last, *rows, bits, points, diversity.b, diversity.l)
            advance(last - first)
    return added_bits(before, bits)


def _require_feasible(ratings: Ratings, diversity: Diversity) -> None:
    assert diversity.b is not None
    activity, n_users = np.unique(ratings.activity, return_counts=True)
    pairs = zip(activity.tolist(), n_users.tolist(), strict=True)
    n_sets = float(sum(math.comb(n, diversity.b) * users for n, users in pairs))
    if n_sets > _MOST_SETS:
        raise OptionError(
            f"diversity {diversity} means {n_sets:.1e} sets of items rated together, more than the {_MOST_SETS:.0e} "
            f"that can be looked at; ask for all,{diversity.l}, which covers every B"
        )


def _bundled(profiles: SparseProfiles, means: GroupMeans, l: int, rng: Rng) -> Cells:  # noqa: E741
    """Return the cells that make every bundle of at least l near groups share one item set."""
    as_users = Padding(
        0.0, means.bias, means.base, means.factors, np.ascontiguousarray(means.item_factors.T), Scale(0.0, 0.0)
    )
    bundles = group(as_users, GroupOptions(k=l), rng=randomness(rng).child("bundles"))
    starts, groups = bundles.members()
    return bundle_gaps(starts, groups, profiles.indptr, profiles.items, profiles.n_items)


def group_points_of(means: GroupMeans, popularity: NDArray[np.int64]) -> NDArray[np.float32]:
    """Place the groups so that their squared distance is that of their predicted rows, weighted by item popularity."""
    factors = np.concatenate((means.item_factors, np.ones((1, len(means.base)), np.float32))).astype(np.float64)
    gram = np.einsum("fi,gi,i->fg", factors, factors, popularity / popularity.sum())
    return np.einsum("gf,fh->gh", np.column_stack((means.factors, means.bias)), root(gram)).astype(np.float32)


def with_cells(
    profiles: SparseProfiles, groups: NDArray[np.int32], items: NDArray[np.int32], means: GroupMeans, grid: Grid
) -> SparseProfiles:
    """Add cells, labelled with mean predictions, keeping items ascending inside a group."""
    order = np.lexsort((items, groups))
    groups, items = groups[order], items[order]
    labels = np.empty(len(items), np.float32)
    for start in range(0, len(items), _LABEL_BLOCK):
        part = slice(start, start + _LABEL_BLOCK)
        labels[part] = predicted_means(means, groups[part], items[part], grid)
    extra = np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=len(profiles.counts)))))
    indptr, items, labels = merge_cells(profiles.indptr, profiles.items, profiles.labels, extra, items, labels)
    return SparseProfiles(indptr, items, labels, profiles.n_items)
