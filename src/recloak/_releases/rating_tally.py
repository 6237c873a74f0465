"""What the raters of each group say about each item: how many, the sum of their ratings, the sum of their surprises.

The kernel walks group after group with one dense scratch row per thread; a group's numbers are added in the order of
its members, so the number of threads changes nothing.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.nearest_points import dot

_LITTLE = 32  # so few groups are not worth a thread


class Tally(NamedTuple):
    """By group (rows) and rated item (ascending): raters, sum of ratings, sum of (rating - prediction)."""

    indptr: NDArray[np.int64]  # (n_groups + 1,)
    items: NDArray[np.int32]  # (n_cells,)
    raters: NDArray[np.int32]  # (n_cells,) the paper's k'
    sums: NDArray[np.float32]  # (n_cells,)
    surprises: NDArray[np.float32]  # (n_cells,)


def tally(ratings: Ratings, padding: Padding | None, grouping: Grouping, *, every: int = 1) -> Tally:
    """Count and add up the ratings of each group by item; without a padding the surprises are the sums again.

    With ``every`` above 1 only each so-many-th group is looked at, and the others have no cells.
    """
    starts, members = _members(grouping, every)
    indptr = np.zeros(grouping.n_groups + 1, np.int64)
    rows = starts, members, ratings.indptr, ratings.items
    in_shares(_count_items_share, grouping.n_groups, *rows, ratings.n_items, indptr, little=_LITTLE)
    np.cumsum(indptr, out=indptr)
    n_cells = int(indptr[-1])
    cells = Tally(
        indptr,
        np.empty(n_cells, np.int32),
        np.empty(n_cells, np.int32),
        np.empty(n_cells, np.float32),
        np.empty(n_cells, np.float32),
    )
    guess = _Guess.of(padding) if padding is not None else _Guess.nothing(*ratings.shape)
    in_shares(_add_up_share, grouping.n_groups, *rows, ratings.values, guess, cells, little=_LITTLE)
    return cells


def _members(grouping: Grouping, every: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the members of each group, or of some groups only."""
    starts, members = grouping.members()
    if every == 1:
        return starts, members
    looked_at = np.arange(grouping.n_groups) % every == 0
    starts = np.concatenate(([0], np.cumsum(np.where(looked_at, grouping.sizes, 0))))
    return starts, members[looked_at[grouping.labels[members]]]


class _Guess(NamedTuple):
    """The prediction as compiled code takes it."""

    user_bias: NDArray[np.float32]
    base: NDArray[np.float32]  # mu + b_i
    user_factors: NDArray[np.float32]
    item_factors: NDArray[np.float32]

    @classmethod
    def of(cls, padding: Padding) -> Self:
        """Take a padding apart."""
        base = padding.item_bias + np.float32(padding.mu)
        return cls(padding.user_bias, base, padding.user_factors, padding.item_factors)

    @classmethod
    def nothing(cls, n_users: int, n_items: int) -> Self:
        """Predict 0 for every cell."""
        users, items = np.zeros((n_users, 1), np.float32), np.zeros((n_items, 1), np.float32)
        return cls(users[:, 0].copy(), items[:, 0].copy(), users[:, 1:].copy(), items[:, 1:].copy())


def _count_items_share(share: int, n_shares: int, *work: Any) -> None:
    *rows, n_items, counts = work
    _count_items(share, n_shares, *rows, np.full(n_items, -1, np.int32), counts)


@njit(cache=True, nogil=True)
def _count_items(share, n_shares, starts, members, row_starts, row_items, seen_by, counts):  # type: ignore[no-untyped-def]
    n_groups = len(starts) - 1
    for group in range(share, n_groups, n_shares):
        n = 0
        for m in range(starts[group], starts[group + 1]):
            user = members[m]
            for r in range(row_starts[user], row_starts[user + 1]):
                if seen_by[row_items[r]] != group:
                    seen_by[row_items[r]] = group
                    n += 1
        counts[group + 1] = n


def _add_up_share(share: int, n_shares: int, *work: Any) -> None:
    n_items = len(work[-2].base)
    _add_up(share, n_shares, *work, np.zeros(n_items, np.int32), np.zeros(n_items), np.zeros(n_items))


@njit(cache=True, nogil=True)
def _add_up(  # type: ignore[no-untyped-def]
    share, n_shares, starts, members, row_starts, row_items, row_values, guess, cells, count, total, surprise
):
    user_bias, base, user_factors, item_factors = guess
    n_groups, n_items = len(starts) - 1, len(base)
    for group in range(share, n_groups, n_shares):
        if starts[group] == starts[group + 1]:
            continue
        for m in range(starts[group], starts[group + 1]):
            user = np.int64(members[m])  # and its items, so that one form of `dot` is compiled
            for r in range(row_starts[user], row_starts[user + 1]):
                rated = np.int64(row_items[r])
                count[rated] += 1
                total[rated] += row_values[r]
                predicted = base[rated] + user_bias[user] + dot(user_factors, user, item_factors, rated)
                surprise[rated] += row_values[r] - predicted
        place = cells.indptr[group]
        for item in range(n_items):
            if count[item]:
                cells.items[place], cells.raters[place] = item, count[item]
                cells.sums[place], cells.surprises[place] = total[item], surprise[item]
                place += 1
                count[item], total[item], surprise[item] = 0, 0.0, 0.0


@njit(cache=True, nogil=True)
def count_raters(indptr, raters, sizes, n_cells):  # type: ignore[no-untyped-def]
    """Count the cells by their number of raters (row) and of members (column)."""
    for group in range(len(sizes)):
        for c in range(indptr[group], indptr[group + 1]):
            n_cells[raters[c], sizes[group]] += 1
