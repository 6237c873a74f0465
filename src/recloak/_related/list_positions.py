"""Where the entries of a list sit: positions at which an item tells nothing, and holes to fill.

An item that stood in every earlier release of the window is *quiet* at a position not above any it had: it neither
appears nor rises, whoever compares. That lowest position is its seat. An item that stood in some of them only has such
a seat too: there it distinguishes its list from those releases alone in which it was missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._related.model import HOLE, ListRelease

_NEVER = 3  # the turn of an item that need not sit at its seat


def stacked(releases: tuple[ListRelease, ...]) -> NDArray[np.int32]:
    """Put the lists of several releases into one array, short ones filled up with holes: (n_releases, n_items, top)."""
    top = max(release.lists.top for release in releases)
    stack = np.full((len(releases), releases[0].lists.n_items, top), HOLE, np.int32)
    for number, release in enumerate(releases):
        stack[number, :, : release.lists.top] = release.lists.items
    return stack


@njit(cache=True)
def _seat(stack, owner, item):  # type: ignore[no-untyped-def]
    """Give the lowest position that an item had in the earlier lists of an owner, and in how many it stood."""
    lowest = n_stood = 0
    for a in range(len(stack)):
        for p in range(stack.shape[2]):
            if stack[a, owner, p] == item:
                lowest = max(lowest, p)
                n_stood += 1
    return lowest, n_stood


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
def _turn(n_stood, n_releases, must):  # type: ignore[no-untyped-def]
    """Say when an item may choose: those that stood everywhere first, then those that must and stood somewhere."""
    if n_stood == n_releases:
        return 0 if must else 1
    return 2 if must and n_stood else _NEVER


@njit(cache=True)
def _seated(seats, turns, top):  # type: ignore[no-untyped-def]
    """Choose which items sit at their seats: turn by turn, in a turn by rank, as many as fit."""
    chosen = np.zeros(len(seats), np.bool_)
    for turn in range(_NEVER):
        for c in range(len(seats)):
            if turns[c] == turn and seats[c] < top and _fits(seats, chosen, c, top):
                chosen[c] = True
    return chosen


@njit(cache=True)
def _first_free(out, start):  # type: ignore[no-untyped-def]
    p = start
    while out[p] != HOLE:
        p += 1
    return p


@njit(cache=True)
def _place(items, seats, turns, top, out):  # type: ignore[no-untyped-def]
    """Seat the chosen at the first free position at or below their seats, earlier turns first; others from the top."""
    chosen = _seated(seats, turns, top)
    out[:] = HOLE
    for seat in range(top):
        for turn in range(_NEVER):
            for c in range(len(items)):
                if chosen[c] and seats[c] == seat and turns[c] == turn:
                    out[_first_free(out, seat)] = items[c]
    for c in range(len(items)):
        if not chosen[c]:
            out[_first_free(out, 0)] = items[c]


@njit(cache=True)
def reseat(owners, ranked, must, stack, out):  # type: ignore[no-untyped-def]
    """Write quiet lists of the owners into ``out``: the same items as ``ranked``, seated to tell as little as may be.

    ``must[j, r]`` says that the r-th item of j's list has to sit at its seat if it can, although it was missing once.
    """
    top = out.shape[1]
    for j in owners:
        n = 0
        while n < top and ranked[j, n] != HOLE:
            n += 1
        seats, turns = np.empty(n, np.int64), np.empty(n, np.int64)
        for r in range(n):
            seats[r], n_stood = _seat(stack, j, ranked[j, r])
            turns[r] = _turn(n_stood, len(stack), must[j, r])
        _place(ranked[j, :n], seats, turns, top, out[j])


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
            seat, n_stood = _seat(stack, j, item)
            place = _hole_for(lists[j], seat) if n_stood else _first_hole(lists[j])
            items[w], places[w] = item, place
            for a in range(len(stack)):
                since[w, a] = not _stood_at_or_above(stack[a, j], item, place)
            break


@njit(cache=True)
def _stood_at_or_above(row, item, place):  # type: ignore[no-untyped-def]
    return _contains(row[: place + 1], item)
