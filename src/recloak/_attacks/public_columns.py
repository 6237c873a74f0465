"""The public columns as compiled functions take them, and what is asked of them again and again."""

from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.factor_release import coded_columns
from recloak._attacks.model import Public
from recloak._core.compiling import njit
from recloak._core.threads import in_shares

_NO_TIMES = np.empty(0, np.int64)
_NO_TIMES.flags.writeable = False  # as the times there are: one form of each kernel
_MOST_MADE = 200_000_000  # cells of the columns that are computed at once

_MEANS: "WeakKeyDictionary[Public, NDArray[np.float64]]" = WeakKeyDictionary()


class PublicColumns(NamedTuple):
    """A `Public`; cell ``c`` of item i belongs to profile ``holders[c - shift[i]]``."""

    indptr: NDArray[np.int64]
    shift: NDArray[np.int64]  # (n_items,) where all columns share their holders, the start of each; else 0
    holders: NDArray[np.int32]
    codes: NDArray[np.unsignedinteger]
    values: NDArray[np.float32]
    times: NDArray[np.int64]  # empty where times are unknown or do not count
    complete: bool


def columns_of(public: Public, *, timed: bool = False) -> PublicColumns:
    """Bring what is public into the form of the compiled functions, one form whoever read it: each compiles once."""
    if not public.holds_cells:
        raise ValueError("the cells are not held: ask for the columns of some items")
    shift = public.indptr[:-1] if public.is_complete else np.zeros(public.n_items, np.int64)
    shift.flags.writeable = False
    times = public.times if timed and public.times is not None else _NO_TIMES
    return PublicColumns(public.indptr, shift, public.holders, public.codes, public.values, times, public.is_complete)


def columns_for(public: Public, items: NDArray[np.integer], *, timed: bool = False) -> PublicColumns:
    """Return the same for whoever looks at the columns of some items alone; the others may be empty."""
    if public.holds_cells or public.factors is None:
        return columns_of(public, timed=timed)
    wanted, height = np.unique(items), np.zeros(public.n_items + 1, np.int64)
    height[1:][wanted] = public.n_profiles
    indptr, codes = np.cumsum(height), coded_columns(public.factors, wanted)
    indptr.flags.writeable = codes.flags.writeable = False
    return PublicColumns(indptr, indptr[:-1], public.holders, codes, public.values, _NO_TIMES, complete=True)


def in_batches(public: Public, indptr: NDArray[np.int64]) -> Iterator[slice]:
    """Yield targets, of whom some items each are looked at, so few at a time that their columns can be held."""
    first, last = 0, len(indptr) - 1
    while first < last:
        most = indptr[first] + max(_MOST_MADE // max(public.n_profiles, 1), 1)
        stop = last if public.holds_cells else max(int(np.searchsorted(indptr, most, "right")) - 1, first + 1)
        yield slice(first, stop)
        first = stop


def blocks_of_columns(public: Public) -> Iterator[PublicColumns]:
    """Yield all columns, some items at a time, the columns of the others empty, where the cells are not held."""
    step = public.n_items if public.holds_cells else max(_MOST_MADE // max(public.n_profiles, 1), 1)
    for first in range(0, public.n_items, max(step, 1)):
        yield columns_for(public, np.arange(first, min(first + step, public.n_items)))


@njit(cache=True, nogil=True, inline="always")
def place_of(columns, item, profile):  # type: ignore[no-untyped-def]
    """Return the cell of a profile in the column of an item, or -1."""
    low, stop = columns.indptr[item], columns.indptr[item + 1]
    if columns.complete:
        return low + profile
    high = stop
    while low < high:
        middle = (low + high) // 2
        if columns.holders[middle] < profile:
            low = middle + 1
        else:
            high = middle
    return low if low < stop and columns.holders[low] == profile else -1


def labels_for(public: Public, profiles: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the label of each (profile, item) pair, nan where the profile lacks the item."""
    if public.factors is not None:
        return public.factors.cells(profiles, items)
    found = np.full(len(items), np.nan, np.float32)
    profiles, items = profiles.astype(np.int32, copy=False), items.astype(np.int32, copy=False)
    in_shares(_labels_for, len(items), columns_of(public), profiles, items, found)
    return found


@njit(cache=True, nogil=True)
def _labels_for(share, n_shares, columns, profiles, items, found):  # type: ignore[no-untyped-def]
    for r in range(share * len(items) // n_shares, (share + 1) * len(items) // n_shares):
        place = place_of(columns, items[r], profiles[r])
        if place >= 0:
            found[r] = columns.values[columns.codes[place]]


def lengths(public: Public) -> NDArray[np.int64]:
    """Count the items of each profile."""
    if public.is_complete:
        return np.full(public.n_profiles, public.n_items)
    return _count(public.holders, np.zeros(public.n_profiles, np.int64))


@njit(cache=True)
def _count(numbers, counts):  # type: ignore[no-untyped-def]
    """Count as bincount does, without its copy in wider numbers."""
    for number in numbers:
        counts[number] += 1
    return counts


def support(public: Public) -> NDArray[np.int64]:
    """Count the users whose profile has each item, as the public sees it."""
    if public.is_complete:
        return np.full(public.n_items, public.n_users)
    return _sums(public)[0].astype(np.int64)


def users_by_label(public: Public) -> NDArray[np.int64]:
    """Count the users behind the cells of each label, over all items; nothing as large as the release is made."""
    users = np.zeros(len(public.values), np.int64)
    for columns in blocks_of_columns(public):
        _by_label(columns, public.weights, users)
    return users


@njit(cache=True)
def _by_label(columns, weights, users):  # type: ignore[no-untyped-def]
    for item in range(len(columns.indptr) - 1):
        for place in range(columns.indptr[item], columns.indptr[item + 1]):
            users[columns.codes[place]] += weights[columns.holders[place - columns.shift[item]]]


def item_means(public: Public) -> NDArray[np.float64]:
    """Return the mean label of each item, each user counting once; nan where nobody has it. Worked out once."""
    if public not in _MEANS:
        count, total = _sums(public)
        _MEANS[public] = np.divide(total, count, out=np.full(public.n_items, np.nan), where=count > 0)
        _MEANS[public].flags.writeable = False
    return _MEANS[public]


def _sums(public: Public) -> NDArray[np.float64]:
    """Sum up each column: its users, and their labels."""
    sums = np.zeros((2, public.n_items))
    if public.factors is not None:
        sums[0] = public.n_users
        sums[1] = public.n_users * public.factors.column_means(public.weights)
    else:
        in_shares(_add_up, public.n_items, columns_of(public), public.weights, sums)
    return sums


@njit(cache=True, nogil=True)
def _add_up(share, n_shares, columns, weights, sums):  # type: ignore[no-untyped-def]
    for item in range(share, len(columns.indptr) - 1, n_shares):
        for place in range(columns.indptr[item], columns.indptr[item + 1]):
            weight = weights[columns.holders[place - columns.shift[item]]]
            sums[0, item] += weight
            sums[1, item] += weight * columns.values[columns.codes[place]]
