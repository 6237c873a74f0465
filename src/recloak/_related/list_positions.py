"""Positions of entries in a list without gaps: where an item tells nothing, and what can be added at its end.

An item that was in the list in every earlier release of the window is *quiet* at a position not above any it had: it
neither appears nor rises, whichever releases are compared. The lowest position that it had is its safe position.
An item that was in only some of them has one too: there it distinguishes its list only from the releases without it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._related.model import EMPTY, ListRelease, Sight

_NEVER = 3  # the turn of an item that need not be at its safe position


Views = tuple[NDArray[np.int32], NDArray[np.int32]]  # entries and their positions: (n_views, n_items, width) each


def views_of_releases(releases: tuple[ListRelease, ...]) -> Views:
    """Return every release as a view of its own: what a window compares with."""
    top = max(release.lists.top for release in releases)
    items = np.full((len(releases), releases[0].lists.n_items, top), EMPTY, np.int32)
    for number, release in enumerate(releases):
        items[number, :, : release.lists.top] = release.lists.items
    return items, np.ascontiguousarray(np.broadcast_to(np.arange(top, dtype=np.int32), items.shape))


def views_of_sights(sights: Sequence[Sight]) -> Views:
    """Return what is seen from every start as a view: the entries that lasted, at the lowest position of each."""
    width = max(sight.lasting.shape[1] for sight in sights)
    items = np.full((len(sights), len(sights[0].lasting), width), EMPTY, np.int32)
    positions = np.zeros_like(items)
    for number, sight in enumerate(sights):
        items[number, :, : sight.lasting.shape[1]] = sight.lasting
        positions[number, :, : sight.lasting.shape[1]] = sight.lowest
    return items, positions


@njit(cache=True)
def _safe_position(views, owner, item):  # type: ignore[no-untyped-def]
    """Return the lowest position that an item had in the earlier lists of an owner, and how many of them held it."""
    items, positions = views
    lowest = n_present = 0
    for a in range(len(items)):
        for p in range(items.shape[2]):
            if items[a, owner, p] == item:
                lowest = max(lowest, positions[a, owner, p])
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
def rearrange(owners, ranked, must, views, out):  # type: ignore[no-untyped-def]
    """Write quiet lists of the owners into ``out``: the items of ``ranked``, placed to tell as little as possible.

    The n items of a list take its first n positions, so that there is no gap. ``must[j, r]`` is set if the r-th item of
    j's list has to be at its safe position if it can, although it was missing once.
    """
    for j in owners:
        n = 0
        while n < out.shape[1] and ranked[j, n] != EMPTY:
            n += 1
        safe, turns = np.empty(n, np.int64), np.empty(n, np.int64)
        for r in range(n):
            safe[r], n_present = _safe_position(views, j, ranked[j, r])
            turns[r] = _turn(n_present, len(views[0]), must[j, r])
        for p in range(n, out.shape[1]):
            out[j, p] = EMPTY
        _place(ranked[j, :n], safe, turns, n, out[j, :n])


@njit(cache=True)
def _contains(row, item):  # type: ignore[no-untyped-def]
    found = False
    for other in row:
        found |= other == item
    return found


@njit(cache=True)
def propose(lists, candidates, pointers, views, owners, items, places, since):  # type: ignore[no-untyped-def]
    """Write for every list that is not full its next candidate, and the end of the list as its position.

    ``since`` marks the views in which it would be new or higher. An item of -1 means nothing to propose.
    """
    for w in range(len(owners)):
        j = owners[w]
        items[w] = EMPTY
        place = 0
        while place < lists.shape[1] and lists[j, place] != EMPTY:
            place += 1
        while place < lists.shape[1] and pointers[j] < candidates.shape[1]:
            item = candidates[j, pointers[j]]
            pointers[j] += 1
            if item in (EMPTY, j) or _contains(lists[j], item):
                continue
            items[w], places[w] = item, place
            for a in range(len(views[0])):
                since[w, a] = not _was_at_or_above(views, a, j, item, place)
            break


@njit(cache=True)
def _was_at_or_above(views, a, owner, item, place):  # type: ignore[no-untyped-def]
    items, positions = views
    found = False
    for p in range(items.shape[2]):
        found |= items[a, owner, p] == item and positions[a, owner, p] <= place
    return found
