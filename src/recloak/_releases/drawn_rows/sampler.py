"""Draw as many rows for each group as it has members; none is a member's, and all of a group are exchangeable.

What a row is drawn from: of its group C the tally of items, the mean taste and the mean length; of the groups nearest
to C the tallies; everything else (how members of a group differ, links between items, noise, popularity, histogram) is
pooled over everybody. `item_draws` draws the items, `label_draws` the ratings, `balance` keeps them in step with the
source.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.progress import Advance, task
from recloak._core.randomness import Randomness
from recloak._core.threads import in_shares
from recloak._ratings.model import Ratings
from recloak._releases.drawn_rows.balance import (
    RowCounts,
    corrected,
    count_rows,
    drifted,
    next_level,
    next_links,
)
from recloak._releases.drawn_rows.canonical_users import row_places
from recloak._releases.drawn_rows.item_draws import DrawKey, Pull, Tallies, draw_items
from recloak._releases.drawn_rows.item_links import PRESENCE_LEADS, Links, PlaceRows, presence_links, rating_links
from recloak._releases.drawn_rows.label_draws import (
    LabelMaker,
    centres_of,
    draw_latent,
    find_items,
    find_tastes,
    published,
)
from recloak._releases.drawn_rows.near_groups import nearest_groups
from recloak._releases.drawn_rows.presence_axes import PresenceAxes, within_groups
from recloak._releases.drawn_rows.row_lengths import draw_lengths
from recloak._releases.grid import Grid
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.profiles import SparseProfiles

HOLDERS = 5  # fewest people behind a link between items, a tally of an item and a row's length; at least k
_TRIALS = 5
_TRIAL_ROWS = 12_000
_BLOCKS = 20


class DrawnRows(NamedTuple):
    """Rows by group: those of group g follow each other from ``starts[g]`` on."""

    profiles: SparseProfiles
    starts: NDArray[np.int64]
    n_links: int  # between items, of both kinds


def draw_rows(
    ratings: Ratings,
    padding: Padding,
    grouping: Grouping,
    axes: PresenceAxes,
    points: NDArray[np.float32],
    grid: Grid,
    *,
    boost: float,
    rng: Randomness,
) -> DrawnRows:
    """Draw the rows of all groups; ``points`` are where users lie, as they were grouped."""
    source = _Source.of(ratings, grouping, max(HOLDERS, grouping.k), rng)
    pull = _first_pull(source, axes, grouping, boost)
    near = nearest_groups(_centres(points, grouping), rng.stream("near groups"))
    sampler = _Sampler(source, source.tallies._replace(near=near), rng.stream("rows"))
    with task("drawing rows", _TRIALS + _BLOCKS) as advance:
        pull = sampler.tried(pull, advance)
        maker = sampler.label_maker(ratings, padding, grouping)
        drawn, latent = sampler.drawn(pull, maker, advance)
    labels = published(latent, drawn.places, centres_of(maker), ratings.values, grid)
    n_links = np.count_nonzero(pull.links.leads >= 0) + np.count_nonzero(maker.links.leads >= 0)
    return DrawnRows(_profiles(drawn, labels, source.items), source.tallies.starts, int(n_links))


def _centres(points: NDArray[np.float32], grouping: Grouping) -> NDArray[np.float32]:
    sums = np.stack([np.bincount(grouping.labels, column) for column in points.T], axis=1)
    return (sums / grouping.sizes[:, None]).astype(np.float32)


class _Source(NamedTuple):
    """The source with items by place, users by group."""

    items: NDArray[np.int64]  # (n_items,) place -> item
    rows: PlaceRows  # users by group; surprises are filled in later
    order: NDArray[np.int32]  # users by group
    tallies: Tallies
    lengths: NDArray[np.int64]  # of drawn rows
    holders: int

    @classmethod
    def of(cls, ratings: Ratings, grouping: Grouping, holders: int, rng: Randomness) -> _Source:
        """Renumber the items by popularity and count."""
        popularity = ratings.popularity
        items = np.argsort(-popularity, kind="stable")
        place = np.empty(ratings.n_items, np.int32)
        place[items] = np.arange(ratings.n_items, dtype=np.int32)
        starts, order = grouping.members()
        cells = SparseProfiles(ratings.indptr, ratings.items, ratings.values, ratings.n_items).rows(order)
        rows = PlaceRows(cells.indptr, place[cells.items], np.zeros(0, np.float32))
        ends = rows.indptr[starts]
        tallies = Tallies(
            starts, ends, rows.places, np.diff(ends), np.empty((0, 0), np.int32),
            popularity[items] / ratings.n_ratings, popularity[items] >= holders,
        )  # fmt: skip
        lengths = draw_lengths(ratings.activity, grouping, ratings.n_items, rng.stream("row lengths"), together=holders)
        return cls(items, rows, order, tallies, lengths, holders)


def _first_pull(source: _Source, axes: PresenceAxes, grouping: Grouping, boost: float) -> Pull:
    """Return what draws items before anything was tried: no links, and levels that allow for the axes."""
    spread = within_groups(axes, grouping.labels, grouping.sizes)
    by_place = np.ascontiguousarray(axes.items[source.items])
    level = -0.5 * np.einsum("if,f->i", np.square(by_place, dtype=np.float64), spread)
    links = Links.none(len(by_place), PRESENCE_LEADS)
    return Pull(boost, by_place, np.sqrt(spread).astype(np.float32), level, links)


class _Drawn(NamedTuple):
    """Rows drawn so far; row r holds ``places[ends[r]:ends[r] + counts[r]]``."""

    groups: NDArray[np.int64]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    places: NDArray[np.int32]


class _Sampler:
    """Draws rows of some groups after each other; every random number is named by its row and the pass."""

    def __init__(self, source: _Source, tallies: Tallies, stream: np.random.Generator) -> None:
        self.source, self.tallies = source, tallies
        self.n_groups = len(tallies.totals)
        self.key = np.uint64(stream.integers(2**63))
        self.order = stream.permutation(self.n_groups)

    def _rows_of(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        return row_places(self.tallies.starts, groups)[0]

    def _room(self, groups: NDArray[np.int64]) -> _Drawn:
        """Make room for the rows of some groups."""
        wanted = np.zeros(len(self.source.lengths), np.int64)
        rows = self._rows_of(groups)
        wanted[rows] = self.source.lengths[rows]
        ends = np.concatenate(([0], np.cumsum(wanted)))
        return _Drawn(groups, ends, np.zeros(len(wanted), np.int64), np.empty(ends[-1], np.int32))

    def _draw(self, groups: NDArray[np.int64], pull: Pull, drawn: _Drawn, stage: int) -> None:
        work = self.source.lengths, drawn.ends, DrawKey(self.key, stage), drawn.places, drawn.counts
        draw_items(groups, self.tallies, pull, *work)

    def tried(self, pull: Pull, advance: Advance) -> Pull:
        """Find levels and links by trials on some groups."""
        mean = max(1, len(self.source.lengths) // self.n_groups)
        groups = np.sort(self.order[: max(1, _TRIAL_ROWS // mean)])
        rows = self._rows_of(groups)
        true = self._true_rows(rows)
        for trial in range(_TRIALS):
            drawn = self._room(groups)
            self._draw(groups, pull, drawn, trial)
            if trial == 0:
                pull = pull._replace(links=self._links(true, drawn, rows))
            wanted = self._counted(true, np.arange(len(rows)), pull)
            found = count_rows(rows, drawn.ends, drawn.counts, drawn.places, pull.links.leads)
            if trial < _TRIALS - 1:
                links = next_links(pull.links, wanted, found)
                pull = pull._replace(level=next_level(pull.level, wanted, found), links=links)
            advance(1)
        return pull

    def _true_rows(self, rows: NDArray[np.int64]) -> PlaceRows:
        """Return the true rows of the members of some groups."""
        cells, indptr = row_places(self.source.rows.indptr, rows)
        return PlaceRows(indptr, self.source.rows.places[cells], np.zeros(len(cells), np.float32))

    @staticmethod
    def _counted(rows: PlaceRows, which: NDArray[np.int64], pull: Pull) -> RowCounts:
        return count_rows(which, rows.indptr, np.diff(rows.indptr), rows.places, pull.links.leads)

    def _links(self, true: PlaceRows, drawn: _Drawn, rows: NDArray[np.int64]) -> Links:
        """Choose links by what a trial without them missed."""
        counts = drawn.counts[rows]
        starts = np.concatenate(([0], np.cumsum(counts)))
        cells = np.arange(starts[-1]) + np.repeat(drawn.ends[rows] - starts[:-1], counts)
        missing = PlaceRows(starts, drawn.places[cells], np.zeros(len(cells), np.float32))
        return presence_links(true, missing, len(self.source.items), self.source.holders)

    def label_maker(self, ratings: Ratings, padding: Padding, grouping: Grouping) -> LabelMaker:
        """Measure all that ratings are drawn from; correlations on the members of some groups."""
        tastes = find_tastes(ratings, padding, grouping)
        side, items = find_items(ratings, padding, tastes, self.source.holders), self.source.items
        mean = max(1, len(self.source.lengths) // self.n_groups)
        users = self.source.order[self._rows_of(np.sort(self.order[: max(1, _TRIAL_ROWS // mean)]))]
        cells = SparseProfiles(ratings.indptr, ratings.items, side.surprises, len(items)).rows(users)
        place = np.empty(len(items), np.int32)
        place[items] = np.arange(len(items), dtype=np.int32)
        true = PlaceRows(cells.indptr, place[cells.items], cells.labels)
        deviations = side.deviations[items]
        links = rating_links(true, np.ascontiguousarray(side.tastes[items]), deviations, self.source.holders)
        numbers = np.ascontiguousarray(side.numbers[items])
        return LabelMaker(tastes.means, tastes.within, side.base[items], numbers, deviations, links)

    def drawn(self, pull: Pull, labels: LabelMaker, advance: Advance) -> tuple[_Drawn, NDArray[np.float32]]:
        """Draw all rows, block by block, each making good what was drawn too much or too little before."""
        everybody = np.arange(len(self.source.lengths))
        drawn, wanted = self._room(np.arange(self.n_groups)), self._counted(self.source.rows, everybody, pull)
        found = RowCounts(np.zeros_like(wanted.items), np.zeros_like(wanted.pairs))
        latent, level, now, n_done = np.empty(len(drawn.places), np.float32), pull.level, pull, 0
        for groups in np.array_split(self.order, _BLOCKS):
            self._draw(groups, now, drawn, _TRIALS)
            work = drawn.ends, drawn.places, drawn.counts, DrawKey(self.key, 2 * _TRIALS + 2), latent
            draw_latent(groups, self.tallies.starts, labels, *work)
            rows = self._rows_of(groups)
            found = found.plus(count_rows(rows, drawn.ends, drawn.counts, drawn.places, pull.links.leads))
            n_done += len(rows)
            done = n_done / len(everybody)
            if done < 1:
                corrections = corrected(level, pull.links, wanted, found, done, _BLOCKS)
                now = now._replace(level=corrections[0], links=corrections[1])
                level = drifted(level, wanted, found, done)
            advance(1)
        return _without_gaps(drawn, latent)


def _without_gaps(drawn: _Drawn, latent: NDArray[np.float32]) -> tuple[_Drawn, NDArray[np.float32]]:
    """Close up rows that could not get their length."""
    if drawn.counts.sum() == len(drawn.places):
        return drawn, latent
    starts = np.cumsum(drawn.counts) - drawn.counts
    kept = np.arange(drawn.counts.sum()) + np.repeat(drawn.ends[:-1] - starts, drawn.counts)
    whole = drawn._replace(ends=np.append(starts, len(kept)), places=drawn.places[kept])
    return whole, latent[kept]


def _profiles(drawn: _Drawn, labels: NDArray[np.float32], items: NDArray[np.int64]) -> SparseProfiles:
    """Return the rows with items by number, ascending; what was drawn is overwritten."""
    in_shares(_number_share, len(drawn.counts), drawn.ends, items.astype(np.int32), drawn.places, labels)
    return SparseProfiles(drawn.ends, drawn.places, labels, len(items))


@njit(cache=True, nogil=True)
def _number_share(share, n_shares, ends, items, places, labels):  # type: ignore[no-untyped-def]
    """Replace places by the items' numbers, and put each row in their order."""
    for row in range(share, len(ends) - 1, n_shares):
        first, n = ends[row], ends[row + 1] - ends[row]
        order = np.empty(n, np.int64)
        for c in range(n):
            order[c] = (np.int64(items[places[first + c]]) << 32) | c
        order.sort()
        before = labels[first : first + n].copy()
        for c in range(n):
            places[first + c], labels[first + c] = order[c] >> 32, before[order[c] & 0xFFFFFFFF]
