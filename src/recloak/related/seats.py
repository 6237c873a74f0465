"""Where the entries of a list sit: positions at which an item tells nothing, and holes to fill.

An item that stood in every earlier release of the window is *quiet* at a position not above any it had: it neither
appears nor rises, whoever compares. That lowest position is its seat; an item that was missing once has none.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recloak.related.model import ABSENT, HOLE, Release

_NO_SEAT = int(ABSENT)


def stacked(releases: tuple[Release, ...]) -> NDArray[np.int32]:
    """Put the lists of several releases into one array, short ones filled up with holes: (n_releases, n_items, top)."""
    top = max(release.lists.top for release in releases)
    stack = np.full((len(releases), releases[0].lists.n_items, top), HOLE, np.int32)
    for number, release in enumerate(releases):
        stack[number, :, : release.lists.top] = release.lists.items
    return stack


@njit(cache=True)
def _seat(stack, owner, item):  # type: ignore[no-untyped-def]
    """Give the lowest position that an item had in the earlier lists of an owner."""
    lowest = 0
    for a in range(len(stack)):
        found = _NO_SEAT
        for p in range(stack.shape[2]):
            if stack[a, owner, p] == item:
                found = p
        lowest = max(lowest, found)
    return lowest


@njit(cache=True)
def _fits(seats, chosen, extra, top):  # type: ignore[no-untyped-def]
    """Tell whether all chosen items and one more can sit at or below their seats (Hall's condition)."""
    for p in range(top):
        wanting = 1 if seats[extra] >= p else 0
        for c in range(len(seats)):
            wanting += chosen[c] and seats[c] >= p
        if wanting > top - p:
            return False
    return True


@njit(cache=True)
def _quiet_items(seats, must, top):  # type: ignore[no-untyped-def]
    """Choose which items sit quietly: those that must come first, then by rank, as many as fit."""
    quiet = np.zeros(len(seats), np.bool_)
    for first in (True, False):
        for c in range(len(seats)):
            if must[c] == first and seats[c] < top and _fits(seats, quiet, c, top):
                quiet[c] = True
    return quiet


@njit(cache=True)
def _place(items, seats, quiet, top, out):  # type: ignore[no-untyped-def]
    """Seat quiet items at the first free position at or below their seats, then the others from the top."""
    out[:] = HOLE
    for seat in range(top):
        for c in range(len(items)):
            if quiet[c] and seats[c] == seat:
                p = seat
                while out[p] != HOLE:
                    p += 1
                out[p] = items[c]
    p = 0
    for c in range(len(items)):
        if not quiet[c]:
            while out[p] != HOLE:
                p += 1
            out[p] = items[c]


@njit(cache=True)
def reseat(owners, ranked, must, stack, out):  # type: ignore[no-untyped-def]
    """Write quiet lists of the owners into ``out``: the same items as ``ranked``, seated to tell as little as may be.

    ``must[j, r]`` says that the r-th item of j's list has to sit quietly if any can.
    """
    top = out.shape[1]
    for j in owners:
        n = 0
        while n < top and ranked[j, n] != HOLE:
            n += 1
        seats = np.empty(n, np.int64)
        for r in range(n):
            seats[r] = _seat(stack, j, ranked[j, r])
        _place(ranked[j, :n], seats, _quiet_items(seats, must[j, :n], top), top, out[j])


@njit(cache=True)
def _hole_for(seats, seat):  # type: ignore[no-untyped-def]
    """Give the best hole of a list for an item: the first at or below its seat, else the lowest."""
    lowest = -1
    for p in range(len(seats)):
        if seats[p] == HOLE:
            if p >= seat:
                return p
            lowest = p
    return lowest


@njit(cache=True)
def _first_hole(seats):  # type: ignore[no-untyped-def]
    for p in range(len(seats)):
        if seats[p] == HOLE:
            return p
    return -1


@njit(cache=True)
def _contains(row, item):  # type: ignore[no-untyped-def]
    found = False
    for other in row:
        found |= other == item
    return found


@njit(cache=True)
def propose(lists, candidates, pointers, stack, owners, items, places, since):  # type: ignore[no-untyped-def]
    """Name for every list with a hole its next candidate and the hole it would take.

    ``since`` says against which earlier releases it would distinguish. An item of -1 means nothing to propose.
    """
    for w in range(len(owners)):
        j = owners[w]
        items[w] = HOLE
        if _first_hole(lists[j]) < 0:
            continue
        while pointers[j] < candidates.shape[1]:
            item = candidates[j, pointers[j]]
            pointers[j] += 1
            if item in (HOLE, j) or _contains(lists[j], item):
                continue
            seat = _seat(stack, j, item)
            place = _hole_for(lists[j], seat) if seat < _NO_SEAT or _known(stack, j, item) else _first_hole(lists[j])
            items[w], places[w] = item, place
            for a in range(len(stack)):
                since[w, a] = not _stood_at_or_above(stack[a, j], item, place)
            break


@njit(cache=True)
def _known(stack, owner, item):  # type: ignore[no-untyped-def]
    found = False
    for a in range(len(stack)):
        found |= _contains(stack[a, owner], item)
    return found


@njit(cache=True)
def _stood_at_or_above(row, item, place):  # type: ignore[no-untyped-def]
    return _contains(row[: place + 1], item)
