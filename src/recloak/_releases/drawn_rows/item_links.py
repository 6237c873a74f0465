"""Links between items: which pairs occur together more than groups explain, and whose ratings go together.

Items are numbered by popularity here, the most popular first, and a link leads from an item to a more popular one, its
*lead*. Both kinds are pooled over everybody and need a minimum of people who hold the pair:

    presence   the pair stands together in more true rows than in rows drawn without links
    rating     the two ratings of a person differ from the model's in the same (or opposite) direction

so that series and other strong pairs stay together, and no pattern that few people hold can be copied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._ratings.assemble import transpose_rows

PRESENCE_LEADS = 10
RATING_LEADS = 8
_LEAST_EXCESS = 1.5  # in standard deviations, of a pair that gets a link
_LEAST_STRENGTH = 1.0  # likewise of the correlation of two ratings
_SHRINK = 5.0  # people without correlation that are added to every pair


class PlaceRows(NamedTuple):
    """Rows of items by place (0 is the most popular), with what each rating differs from the model by."""

    indptr: NDArray[np.int64]
    places: NDArray[np.int32]
    surprises: NDArray[np.float32]

    def in_order(self) -> PlaceRows:
        """Return the same rows with the most popular items first."""
        n_items = int(self.places.max(initial=0)) + 1
        rows = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        order = np.argsort(rows * n_items + self.places)
        return PlaceRows(self.indptr, self.places[order], self.surprises[order])


class PairRows(NamedTuple):
    """Rows in order, and of each item where it stands in which rows: what is more popular stands before it."""

    starts: NDArray[np.int64]  # (n_cells,) of the rows, item by item
    cells: NDArray[np.int64]  # (n_cells,) item by item
    indptr: NDArray[np.int64]  # (n_items + 1,)
    places: NDArray[np.int32]
    surprises: NDArray[np.float32]

    @classmethod
    def of(cls, rows: PlaceRows, n_items: int) -> PairRows:
        """Put the rows in order."""
        rows = rows.in_order()
        indptr, holders, cells = transpose_rows(rows.indptr, rows.places, n_items)
        return cls(rows.indptr[holders], cells.astype(np.int64), indptr, rows.places, rows.surprises)


class Links(NamedTuple):
    """The leads of each item (-1 behind the last) and how strong each link is."""

    leads: NDArray[np.int32]  # (n_items, leads)
    strength: NDArray[np.float32]  # (n_items, leads)

    @classmethod
    def none(cls, n_items: int, n_leads: int) -> Links:
        """Return no links at all."""
        return cls(np.full((n_items, n_leads), -1, np.int32), np.zeros((n_items, n_leads), np.float32))


def presence_links(true: PlaceRows, drawn: PlaceRows, n_items: int, holders: int) -> Links:
    """Return links between items that true rows hold together more often than drawn ones; their strength is still 0."""
    found = Links.none(n_items, PRESENCE_LEADS)
    sides = PairRows.of(true, n_items), PairRows.of(drawn, n_items)
    in_shares(_presence_share, n_items, *sides, holders, found.leads, little=64)
    return found


def _presence_share(share: int, n_shares: int, true: Any, drawn: Any, holders: int, leads: NDArray[np.int32]) -> None:
    n = len(leads)
    _choose_presence(
        share, n_shares, true, drawn, holders, leads, np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n)
    )


@njit(cache=True, nogil=True)
def _choose_presence(share, n_shares, true, drawn, holders, leads, held, shown, scores):  # type: ignore[no-untyped-def]
    for item in range(share, len(leads), n_shares):
        _count_pairs(item, true, held)
        _count_pairs(item, drawn, shown)
        for lead in range(item):
            scores[lead] = (held[lead] - shown[lead]) / np.sqrt(shown[lead] + 2.0) if held[lead] >= holders else 0.0
            held[lead], shown[lead] = 0, 0
        _take_best(scores, item, _LEAST_EXCESS, leads[item])


@njit(cache=True, nogil=True)
def _count_pairs(item, rows, counts):  # type: ignore[no-untyped-def]
    """Count the rows that hold the item with each more popular one."""
    for h in range(rows.indptr[item], rows.indptr[item + 1]):
        for c in range(rows.starts[h], rows.cells[h]):
            counts[rows.places[c]] += 1


@njit(cache=True, nogil=True)
def _take_best(scores, n, least, leads):  # type: ignore[no-untyped-def]
    """Fill in the places of the largest scores above the least one, largest first."""
    found = 0
    for lead in range(n):
        if scores[lead] <= least or (found == len(leads) and scores[lead] <= scores[leads[found - 1]]):
            continue
        found = min(found + 1, len(leads))
        spot = found - 1
        while spot > 0 and scores[leads[spot - 1]] < scores[lead]:
            leads[spot] = leads[spot - 1]
            spot -= 1
        leads[spot] = lead


class RatingLinks(NamedTuple):
    """The leads of each item's ratings, with the correlations among the leads and, last, with the item itself."""

    leads: NDArray[np.int32]  # (n_items, leads)
    correlations: NDArray[np.float32]  # (n_items, leads, leads + 1)


def rating_links(
    true: PlaceRows, tastes: NDArray[np.float32], deviations: NDArray[np.float32], holders: int
) -> RatingLinks:
    """Return links between items whose surprises go together beyond what tastes explain.

    ``tastes`` are the items' numbers so scaled that their dot product is the covariance that tastes explain;
    ``deviations`` is what is left of each item's standard deviation.
    """
    n_items = len(tastes)
    found = Links.none(n_items, RATING_LEADS)
    work = PairRows.of(true, n_items), tastes, deviations, holders
    in_shares(_rating_share, n_items, *work, found.leads, little=64)
    wanted = _wanted_pairs(found.leads)
    values = np.zeros(len(wanted[1]), np.float32)
    in_shares(_correlation_share, n_items, *work, *wanted, values, little=64)
    return RatingLinks(found.leads, _looked_up(found.leads, *wanted, values))


def _rating_share(share: int, n_shares: int, rows: Any, tastes: Any, deviations: Any, holders: int, leads: Any) -> None:
    n = len(leads)
    room = np.zeros(n, np.int32), np.zeros(n), np.zeros(n)
    _choose_ratings(share, n_shares, rows, tastes, deviations, holders, leads, *room)


@njit(cache=True, nogil=True)
def _choose_ratings(share, n_shares, rows, tastes, deviations, holders, leads, held, products, scores):  # type: ignore[no-untyped-def]
    for item in range(share, len(leads), n_shares):
        _add_products(item, rows, held, products)
        for lead in range(item):
            value = _correlation(item, lead, held[lead], products[lead], tastes, deviations, holders)
            scores[lead] = abs(value) * np.sqrt(held[lead])
            held[lead], products[lead] = 0, 0.0
        _take_best(scores, item, _LEAST_STRENGTH, leads[item])


@njit(cache=True, nogil=True)
def _add_products(item, rows, held, products):  # type: ignore[no-untyped-def]
    """Add up the products of surprises over the people who rated the item and a more popular one."""
    for h in range(rows.indptr[item], rows.indptr[item + 1]):
        own = np.float64(rows.surprises[rows.cells[h]])
        for c in range(rows.starts[h], rows.cells[h]):
            held[rows.places[c]] += 1
            products[rows.places[c]] += own * rows.surprises[c]


@njit(cache=True, nogil=True)
def _correlation(one, two, n, product, tastes, deviations, holders):  # type: ignore[no-untyped-def]
    """Return the correlation that tastes leave over, 0 for a pair that too few people hold."""
    if n < holders:
        return 0.0
    explained = 0.0
    for f in range(tastes.shape[1]):
        explained += np.float64(tastes[one, f]) * tastes[two, f]
    value = (product - n * explained) / (n + _SHRINK) / (np.float64(deviations[one]) * deviations[two])
    return min(max(value, -0.9), 0.9)


def _wanted_pairs(leads: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the pairs whose correlation is needed, each with its less popular item first: by rows."""
    n = len(leads)
    with_item = np.concatenate((np.arange(n, dtype=np.int32)[:, None], leads), axis=1)
    one, two = np.triu_indices(with_item.shape[1], 1)
    pairs = np.stack((with_item[:, one].ravel(), with_item[:, two].ravel())).astype(np.int64)
    pairs = pairs[:, pairs.min(0) >= 0]
    keys = np.unique(pairs.max(0) * n + pairs.min(0))
    indptr = np.searchsorted(keys, np.arange(n + 1) * n)
    return indptr, (keys % n).astype(np.int32)


def _correlation_share(share: int, n_shares: int, rows: Any, *work: Any) -> None:
    n = len(work[0])
    _correlate(share, n_shares, rows, *work, np.zeros(n, np.int32), np.zeros(n))


@njit(cache=True, nogil=True)
def _correlate(share, n_shares, rows, tastes, deviations, holders, indptr, others, values, held, products):  # type: ignore[no-untyped-def]
    for item in range(share, len(tastes), n_shares):
        if indptr[item] == indptr[item + 1]:
            continue
        _add_products(item, rows, held, products)
        for w in range(indptr[item], indptr[item + 1]):
            two = others[w]
            values[w] = _correlation(item, two, held[two], products[two], tastes, deviations, holders)
        for lead in range(item):
            held[lead], products[lead] = 0, 0.0


def _looked_up(
    leads: NDArray[np.int32], indptr: NDArray[np.int64], others: NDArray[np.int32], values: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the correlations of all leads of an item with each other and with the item."""
    n, n_leads = leads.shape
    keys = np.repeat(np.arange(n), np.diff(indptr)) * n + others
    right = np.concatenate((leads, np.arange(n, dtype=np.int32)[:, None]), axis=1).astype(np.int64)
    table = np.zeros((n, n_leads, n_leads + 1), np.float32)
    for a in range(n_leads):
        one, two = np.broadcast_arrays(right[:, a : a + 1], right)
        known = (one >= 0) & (two >= 0) & (one != two)
        wanted = np.maximum(one, two)[known] * n + np.minimum(one, two)[known]
        table[:, a][known] = values[np.searchsorted(keys, wanted)]
    return table
