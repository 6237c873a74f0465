"""Positions of entries in a list: where an item tells nothing, and which empty position it can fill.

An item that was in the list in every earlier release of the window is *quiet* at a position not above any it had: it
neither appears nor rises, whichever releases are compared. The lowest position that it had is its safe position.
An item that was in only some of them has one too: there it distinguishes its list only from the releases without it.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._related.model import EMPTY, ListRelease

_NEVER = 3  # the turn of an item that need not be at its safe position


def stacked(releases: tuple[ListRelease, ...]) -> NDArray[np.int32]:
    """Return the lists of several releases as one array, padded with empty positions: (n_releases, n_items, top)."""
    top = max(release.lists.top for release in releases)
    stack = np.full((len(releases), releases[0].lists.n_items, top), EMPTY, np.int32)
    for number, release in enumerate(releases):
        stack[number, :, : release.lists.top] = release.lists.items
    return stack


@njit(cache=True)
def _safe_position(stack, owner, item):  # type: ignore[no-untyped-def]
    """Return the lowest position that an item had in the earlier lists of an owner, and how many of them held it."""
    lowest = n_present = 0
    for a in range(len(stack)):
        for p in range(stack.shape[2]):
            if stack[a, owner, p] == item:
                lowest = max(lowest, p)
                n_present += 1
    return lowest, n_present


@njit(cache=True)
def _fits(safe, chosen, extra, top):  # type: ignore[no-untyped-def]
    """Return whether all chosen items and one more can be at or below their safe positions (Hall's condition)."""
    for p in range(top):
        n_wanting = 1 if safe[extra] >= p else 0
        for c in range(len(safe)):
            n_wanting += chosen[c] and safe[c] >= p
        if n_wanting > top - p:
            return False
    return True


@njit(cache=True)
def _turn(n_present, n_releases, must):  # type: ignore[no-untyped-def]
    """Return the turn of an item: first those that were in every release, then those that must and were in some."""
    if n_present == n_releases:
        return 0 if must else 1
    return 2 if must and n_present else _NEVER


@njit(cache=True)
def _chosen(safe, turns, top):  # type: ignore[no-untyped-def]
    """Return which items get their safe positions: turn by turn, in a turn by rank, as many as fit."""
    chosen = np.zeros(len(safe), np.bool_)
    for turn in range(_NEVER):
        for c in range(len(safe)):
            if turns[c] == turn and safe[c] < top and _fits(safe, chosen, c, top):
                chosen[c] = True
    return chosen


@njit(cache=True)
def _first_free(out, start):  # type: ignore[no-untyped-def]
    p = start
    while out[p] != EMPTY:
        p += 1
    return p


@njit(cache=True)
def _place(items, safe, turns, top, out):  # type: ignore[no-untyped-def]
    """Place the chosen items at the first free position from their safe one on, earlier turns first, then the rest."""
    chosen = _chosen(safe, turns, top)
    out[:] = EMPTY
    for safe_at in range(top):
        for turn in range(_NEVER):
            for c in range(len(items)):
                if chosen[c] and safe[c] == safe_at and turns[c] == turn:
                    out[_first_free(out, safe_at)] = items[c]
    for c in range(len(items)):
        if not chosen[c]:
            out[_first_free(out, 0)] = items[c]


@njit(cache=True)
def rearrange(owners, ranked, must, stack, out):  # type: ignore[no-untyped-def]
    """Write quiet lists of the owners into ``out``: the items of ``ranked``, placed to tell as little as possible.

    ``must[j, r]`` is set if the r-th item of j's list has to be at its safe position if it can, although it was
    missing once.
    """
    top = out.shape[1]
    for j in owners:
        n = 0
        while n < top and ranked[j, n] != EMPTY:
            n += 1
        safe, turns = np.empty(n, np.int64), np.empty(n, np.int64)
        for r in range(n):
            safe[r], n_present = _safe_position(stack, j, ranked[j, r])
            turns[r] = _turn(n_present, len(stack), must[j, r])
        _place(ranked[j, :n], safe, turns, top, out[j])


@njit(cache=True)
def _empty_for(row, safe_at):  # type: ignore[no-untyped-def]
    """Return the best empty position for an item: the first at or below its safe one, else the lowest."""
    lowest = -1
    for p in range(len(row)):
        if row[p] == EMPTY:
            if p >= safe_at:
                return p
            lowest = p
    return lowest


@njit(cache=True)
def _first_empty(row):  # type: ignore[no-untyped-def]
    for p in range(len(row)):
        if row[p] == EMPTY:
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
    """Write for every list with an empty position its next candidate and the position it would fill.

    ``since`` marks the earlier releases that it would distinguish. An item of -1 means nothing to propose.
    """
    for w in range(len(owners)):
        j = owners[w]
        items[w] = EMPTY
        if _first_empty(lists[j]) < 0:
            continue
        while pointers[j] < candidates.shape[1]:
            item = candidates[j, pointers[j]]
            pointers[j] += 1
            if item in (EMPTY, j) or _contains(lists[j], item):
                continue
            safe_at, n_present = _safe_position(stack, j, item)
            place = _empty_for(lists[j], safe_at) if n_present else _first_empty(lists[j])
            items[w], places[w] = item, place
            for a in range(len(stack)):
                since[w, a] = not _was_at_or_above(stack[a, j], item, place)
            break


@njit(cache=True)
def _was_at_or_above(row, item, place):  # type: ignore[no-untyped-def]
    return _contains(row[: place + 1], item)
