"""Keep what is drawn in step with the source: how often each item occurs, and each linked pair of items.

Trial draws over a sample of groups move the levels a_i and the strengths of links until popularity and pairs fit. In
the last pass rows are drawn in blocks of groups, in random order, and what one block drew too much or too little the
next ones make good, so that the whole fits better than independent draws could.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._releases.drawn_rows.item_links import Links

_LEVEL_STEP = 0.8
_LINK_STEP = 0.7
_STRONGEST = 9.0
_LARGEST_STEP = 1.5
_MOST_CHANGE = 2.5  # of an item's odds from one block to the next
_DRIFT = 0.15


class RowCounts(NamedTuple):
    """How often items (by place) and linked pairs occur in some rows."""

    items: NDArray[np.int64]  # (n_items,)
    pairs: NDArray[np.int64]  # (n_items, leads)

    def plus(self, other: RowCounts) -> RowCounts:
        """Add the counts of other rows."""
        return RowCounts(self.items + other.items, self.pairs + other.pairs)


def count_rows(
    rows: NDArray[np.int64], ends: NDArray[np.int64], counts: NDArray[np.int64], places: NDArray[np.int32],
    leads: NDArray[np.int32],
) -> RowCounts:  # fmt: skip
    """Count the items and linked pairs of some rows."""
    found = RowCounts(np.zeros(len(leads), np.int64), np.zeros(leads.shape, np.int64))
    _count(rows, ends, counts, places, leads, found.items, found.pairs, np.zeros(len(leads), np.bool_))
    return found


@njit(cache=True, nogil=True)
def _count(rows, ends, counts, places, leads, items, pairs, here):  # type: ignore[no-untyped-def]
    for row in rows:
        first, stop = ends[row], ends[row] + counts[row]
        for c in range(first, stop):
            here[places[c]] = True
        for c in range(first, stop):
            item = places[c]
            items[item] += 1
            for q in range(leads.shape[1]):
                if leads[item, q] < 0:
                    break
                pairs[item, q] += here[leads[item, q]]
        for c in range(first, stop):
            here[places[c]] = False


def next_level(level: NDArray[np.float64], wanted: RowCounts, drawn: RowCounts) -> NDArray[np.float64]:
    """Move the items' levels after a trial."""
    return level + _LEVEL_STEP * np.clip(np.log((wanted.items + 2) / (drawn.items + 2)), -1, 1)


def next_links(links: Links, wanted: RowCounts, drawn: RowCounts) -> Links:
    """Move the strengths of links after a trial; a link never pushes items apart."""
    step = np.clip(np.log((wanted.pairs + 1) / (drawn.pairs + 1)), -_LARGEST_STEP, _LARGEST_STEP)
    return _with_strength(links, links.strength + _LINK_STEP * step)


def _with_strength(links: Links, strength: NDArray[np.floating]) -> Links:
    kept = np.where(links.leads >= 0, np.clip(strength, 0, _STRONGEST), 0)
    return Links(links.leads, kept.astype(np.float32))


def corrected(
    level: NDArray[np.float64],
    links: Links,
    wanted: RowCounts,
    drawn: RowCounts,
    done: float,
    n_blocks: int,
) -> tuple[NDArray[np.float64], Links]:
    """Return level and links for the next block, given the share of rows that is done and what it holds."""
    ahead = min(1 - done, max((1 - done) / 2, 2 / n_blocks))
    items = _needed(wanted.items, drawn.items, done, ahead, 0.3)
    pairs = _needed(wanted.pairs, drawn.pairs, done, ahead, 0.5)
    return level + items, _with_strength(links, links.strength + 0.6 * pairs)


def drifted(level: NDArray[np.float64], wanted: RowCounts, drawn: RowCounts, done: float) -> NDArray[np.float64]:
    """Return the level that lasting errors lead to."""
    return level + _DRIFT * np.clip(np.log((done * wanted.items + 2) / (drawn.items + 2)), -0.5, 0.5)


def _needed(
    wanted: NDArray[np.int64], drawn: NDArray[np.int64], done: float, ahead: float, spare: float
) -> NDArray[np.float64]:
    """Return the log of how much more often than usual something must occur to make its debt good."""
    usual = wanted * ahead + spare
    return np.log(np.clip((usual + wanted * done - drawn) / usual, 1 / _MOST_CHANGE, _MOST_CHANGE))
