"""What an observer of related lists sees of a person and an item between two releases, as numbers.

A *sign* is one number for each (person, item). It adds up what happened in the lists of the items that the person is
known to hold, and in the item's own list. The signs come in groups, so that an attack can leave one out and measure
what it tells:

- ``moves``: the item appeared or rose in lists of known items, or known items did in its list;
- ``vanished``: the same for entries that sank or left;
- ``frozen``: entries that stayed where they were;
- ``delayed``: all of these over the releases that follow, so that evidence of several pairs is joined;
- ``prior``: what can be said without any move: how popular the item is, where it stood before, how much is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from recloak._related.model import EMPTY, Lists

GROUPS = ("moves", "vanished", "frozen", "delayed", "prior")
PRIOR = "prior"

Sparse = Any  # scipy's sparse arrays


@dataclass(frozen=True, eq=False, slots=True)
class Signs:
    """The signs of some people and all items, and the group of each sign."""

    values: NDArray[np.float32]  # (n_people, n_items, n_signs)
    groups: tuple[str, ...]  # (n_signs,)
    touched: NDArray[np.bool_]  # (n_people, n_items) whether a list speaks of the item and something known


@dataclass(frozen=True, eq=False, slots=True)
class Period:
    """What happened from one release to a later one; rows are the items that own a list, columns its entries."""

    up: Sparse
    down: Sparse
    still: Sparse
    before: Sparse  # height in the earlier list: its number of positions for the first, 1 for the last

    @classmethod
    def between(cls, earlier: Lists, later: Lists) -> Period:
        """Return what happened between two releases."""
        top = max(earlier.top, later.top)
        before, after = _heights(earlier, top), _heights(later, top)
        change = (after - before).tocsr()
        still = (_ones(before) - _ones(change)).maximum(0)
        return cls(_clean(change.maximum(0)), _clean((-change).maximum(0)), _clean(still), before)


def _heights(lists: Lists, top: int) -> Sparse:
    owners, places = np.nonzero(lists.items != EMPTY)
    shape = (lists.n_items, lists.n_items)
    heights = (top - places).astype(np.float32)
    return scipy.sparse.csr_array((heights, (owners, lists.items[owners, places])), shape=shape)


def _ones(matrix: Sparse) -> Sparse:
    found = matrix.copy()
    found.eliminate_zeros()
    found.data = np.ones_like(found.data)
    return found


def _clean(matrix: Sparse) -> Sparse:
    matrix = matrix.tocsr()
    matrix.eliminate_zeros()
    return matrix


def signs_of(known: Sparse, now: Period, later: Period, support: NDArray[np.int64]) -> Signs:
    """Return the signs of people with known items: (n_people, n_items) of 1 where an item is known."""
    scarce = known.multiply((1 / (1 + support)).astype(np.float32)[None, :]).tocsr()
    named = [
        *_happened(known, scarce, now, ""),
        *_happened(known, scarce, later, "delayed"),
        *_prior(known, scarce, now, support),
    ]
    values, touched = np.empty((*known.shape, len(named)), np.float32), np.zeros(known.shape, np.bool_)
    for place, (_, sign) in enumerate(named):
        values[:, :, place] = sign
        if sign.shape == known.shape:  # the others are the same for every person, or for every item
            touched |= sign != 0
    return Signs(values, tuple(group for group, _ in named), touched)


def _happened(known: Sparse, scarce: Sparse, period: Period, group: str) -> Iterator[tuple[str, Any]]:
    """Yield the signs of what happened, with their groups."""
    for name, heights in (("moves", period.up), ("vanished", period.down)):
        happened = _ones(heights)
        for sign in (known @ happened, scarce @ happened, known @ heights, known @ happened.T, known @ heights.T):
            yield group or name, sign.toarray()
        for axis in (0, 1):  # in all lists, and in all of its own list
            yield group or name, np.asarray(happened.sum(axis=axis)).ravel()[None, :]
    for sign in (known @ period.still, known @ period.still.T):
        yield group or "frozen", sign.toarray()
    yield group or "frozen", np.asarray(period.still.sum(axis=1)).ravel()[None, :]


def _prior(known: Sparse, scarce: Sparse, now: Period, support: NDArray[np.int64]) -> Iterator[tuple[str, Any]]:
    stood = _ones(now.before)
    for sign in (known @ stood, scarce @ stood, known @ now.before, known @ stood.T):
        yield PRIOR, sign.toarray()
    yield PRIOR, np.log1p(support)[None, :]
    yield PRIOR, np.log1p(np.asarray(known.sum(axis=1)).ravel())[:, None]
