"""From rows in file order to a sparse matrix: the compiled kernels behind `recloak.ratings.model`.

Rows are placed by a counting sort on the user (stable, so file order survives inside a user), then each user's row is
sorted by item, and of a repeated pair the latest is kept: the greatest time, among equal times the last in the file.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray


def assemble_rows(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    values: NDArray[np.float32],
    times: NDArray[np.int64] | None,
    n_users: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.int64] | None]:
    """Sort rows by user and item and drop all but the latest of each pair."""
    timed = times is not None
    given_times = times if times is not None else np.empty(0, np.int64)
    indptr, row_items, row_values, row_times = _scatter(users, items, values, given_times, n_users)
    kept = np.zeros(n_users, np.int64)
    _sort_rows(indptr, row_items, row_values, row_times, timed, kept)
    if int(kept.sum()) < len(users):
        indptr, row_items, row_values, row_times = _close_up(indptr, row_items, row_values, row_times, kept)
    return indptr, row_items, row_values, row_times if timed else None


@njit(cache=True)
def _scatter(users, items, values, times, n_users):  # type: ignore[no-untyped-def]
    n, timed = len(users), len(times) > 0
    indptr = np.zeros(n_users + 1, np.int64)
    for r in range(n):
        indptr[users[r] + 1] += 1
    for u in range(n_users):
        indptr[u + 1] += indptr[u]
    place = indptr[:-1].copy()
    row_items, row_values = np.empty(n, np.int32), np.empty(n, np.float32)
    row_times = np.empty(n if timed else 0, np.int64)
    for r in range(n):
        p = place[users[r]]
        place[users[r]] = p + 1
        row_items[p] = items[r]
        row_values[p] = values[r]
        if timed:
            row_times[p] = times[r]
    return indptr, row_items, row_values, row_times


@njit(cache=True, parallel=True)
def _sort_rows(indptr, items, values, times, timed, kept):  # type: ignore[no-untyped-def]
    for u in prange(len(indptr) - 1):
        start, stop = indptr[u], indptr[u + 1]
        order = np.argsort(items[start:stop], kind="mergesort")
        row_items = items[start:stop][order]
        row_values = values[start:stop][order]
        row_times = times[start:stop][order] if timed else times
        n = 0
        for r in range(stop - start):
            repeated = n > 0 and items[start + n - 1] == row_items[r]
            if repeated and timed and row_times[r] < times[start + n - 1]:
                continue
            p = start + n - 1 if repeated else start + n
            items[p] = row_items[r]
            values[p] = row_values[r]
            if timed:
                times[p] = row_times[r]
            if not repeated:
                n += 1
        kept[u] = n


@njit(cache=True)
def _close_up(indptr, items, values, times, kept):  # type: ignore[no-untyped-def]
    n_users, timed = len(kept), len(times) > 0
    new_indptr = np.zeros(n_users + 1, np.int64)
    for u in range(n_users):
        new_indptr[u + 1] = new_indptr[u] + kept[u]
    total = new_indptr[-1]
    new_items, new_values = np.empty(total, np.int32), np.empty(total, np.float32)
    new_times = np.empty(total if timed else 0, np.int64)
    for u in range(n_users):
        a, b, n = new_indptr[u], indptr[u], kept[u]
        new_items[a : a + n] = items[b : b + n]
        new_values[a : a + n] = values[b : b + n]
        if timed:
            new_times[a : a + n] = times[b : b + n]
    return new_indptr, new_items, new_values, new_times


@njit(cache=True)
def transpose_rows(indptr, items, n_items):  # type: ignore[no-untyped-def]
    """Give column starts, the row of each column entry, and the order that takes row entries to column entries."""
    n = len(items)
    starts = np.zeros(n_items + 1, np.int64)
    for r in range(n):
        starts[items[r] + 1] += 1
    for i in range(n_items):
        starts[i + 1] += starts[i]
    place = starts[:-1].copy()
    rows, order = np.empty(n, np.int32), np.empty(n, np.int64)
    for u in range(len(indptr) - 1):
        for r in range(indptr[u], indptr[u + 1]):
            p = place[items[r]]
            place[items[r]] = p + 1
            rows[p] = u
            order[p] = r
    return starts, rows, order
