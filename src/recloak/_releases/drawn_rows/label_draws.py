"""Draw the ratings of rows: what the model says of a taste drawn for the row, and what goes together beyond it.

A row of group C draws its taste t_r around the mean taste of C, with the pooled covariance W of members around their
means. The latent rating of item i with numbers z_i = (q_i, 1) is

    base_i + z_i . t_r + d_i e_ri,    e_ri = sum over leads j in the row of beta_j e_rj + noise

with betas from the pooled correlations of the leads (`item_links`), so that what is liked together beyond tastes stays
so in the row; d_i is what tastes leave of the item's standard deviation. Latent ratings are cut to the published
values so that the whole has the source's histogram. No rating of anybody enters a row by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._ratings.model import Ratings
from recloak._ratings.synthetic.kernel_random import normal, walk
from recloak._releases.drawn_rows.item_draws import DrawKey
from recloak._releases.drawn_rows.item_links import RatingLinks
from recloak._releases.embed import root
from recloak._releases.grid import Grid
from recloak._releases.group_fit import item_beliefs, rating_levels
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.row_solver import RatingRows, solve_rows

_SAMPLE = 2000  # users whose uncertainty is looked at
_PRIOR = 5.0  # ratings with the mean variance that are added to an item's own
_OWN = 3.0  # likewise with the model's mean
_LEAST_LEFT = 0.25  # of an item's variance that tastes never explain
_MOST_LEADS = 5  # in a row that count
_RIDGE = 0.1
_MOST_EXPLAINED = 0.85  # of an item's rest by its leads
_FARTHEST = 3.0  # standard deviations
_LOOKED_AT = 2_000_000  # latent ratings that decide where they are cut


class Tastes(NamedTuple):
    """Tastes of groups, how members differ, and how much both vary over all people: (bias last)."""

    means: NDArray[np.float32]  # (n_groups, rank + 1)
    within: NDArray[np.float32]  # (rank + 1, directions): W = within within^T
    overall: NDArray[np.float64]  # (rank + 1, rank + 1)
    centre: NDArray[np.float64]  # (rank + 1,)


def find_tastes(ratings: Ratings, padding: Padding, grouping: Grouping) -> Tastes:
    """Measure tastes; how unsure the model is of each member belongs to how members differ."""
    own = np.column_stack((padding.user_factors, padding.user_bias)).astype(np.float64)
    labels, sizes = grouping.labels, grouping.sizes
    means = np.stack([np.bincount(labels, column) for column in own.T], axis=1) / sizes[:, None]
    deviations = (own - means[labels]) * np.sqrt(sizes / (sizes - 1))[labels, None]
    within = np.einsum("uf,ug->fg", deviations, deviations) / len(own) + np.diag(_unsure(ratings, padding))
    centre = means[labels].mean(0)
    between = np.einsum("uf,ug->fg", means[labels] - centre, means[labels] - centre) / len(own)
    return Tastes(means.astype(np.float32), root(within).astype(np.float32), within + between, centre)


def _unsure(ratings: Ratings, padding: Padding) -> NDArray[np.float64]:
    """Return the mean variance that the model leaves to each number of a user."""
    noise, prior = rating_levels(ratings, padding)
    rows = RatingRows(ratings.indptr, ratings.items, ratings.values).block(0, min(_SAMPLE, ratings.n_users))
    users, _ = solve_rows(rows, item_beliefs(ratings, padding, noise, prior), mu=padding.mu, noise=noise, prior=prior)
    return users.variance.mean(0, dtype=np.float64)


class ItemSide(NamedTuple):
    """What the latent rating of an item is made of; items by number."""

    base: NDArray[np.float64]  # (n_items,)
    numbers: NDArray[np.float32]  # (n_items, rank + 1)
    deviations: NDArray[np.float32]  # (n_items,) d_i
    tastes: NDArray[np.float32]  # (n_items, directions): dot products are what tastes explain of covariances
    surprises: NDArray[np.float32]  # (n_ratings,) rating less its item's centre


def find_items(ratings: Ratings, padding: Padding, tastes: Tastes, holders: int) -> ItemSide:
    """Measure the items: centre (of an item with few raters the model's), variance, and what tastes explain of it."""
    numbers = np.column_stack((padding.item_factors, np.ones(ratings.n_items))).astype(np.float32)
    base = padding.mu + padding.item_bias.astype(np.float64)
    centre = base + np.einsum("if,f->i", numbers, tastes.centre)
    counts = ratings.popularity
    sums, squares, surprises = np.zeros(len(base)), np.zeros(len(base)), np.empty(ratings.n_ratings, np.float32)
    _add_surprises(ratings.items, ratings.values, centre, sums, squares, surprises)
    off = np.where(counts >= holders, sums / (counts + _OWN), 0.0)
    squares[:] = 0.0
    _add_surprises(ratings.items, ratings.values, centre + off, sums, squares, surprises)
    variance = (squares + _PRIOR * squares.sum() / ratings.n_ratings) / (counts + _PRIOR)
    explained = np.einsum("if,fg->ig", numbers, root(tastes.overall))
    left = np.maximum(variance - np.square(explained).sum(1), np.maximum(_LEAST_LEFT * variance, 1e-6))
    return ItemSide(base + off, numbers, np.sqrt(left).astype(np.float32), explained.astype(np.float32), surprises)


@njit(cache=True, nogil=True)
def _add_surprises(items, values, centre, sums, squares, surprises):  # type: ignore[no-untyped-def]
    """Fill in how far each rating lies from its item's centre, and add these up by item."""
    for c in range(len(items)):
        off = values[c] - centre[items[c]]
        surprises[c] = off
        sums[items[c]] += off
        squares[items[c]] += off * off


class LabelMaker(NamedTuple):
    """All that ratings of rows are drawn from; items by place."""

    tastes: NDArray[np.float32]  # (n_groups, rank + 1)
    within: NDArray[np.float32]
    base: NDArray[np.float64]
    numbers: NDArray[np.float32]
    deviations: NDArray[np.float32]
    links: RatingLinks


def draw_latent(
    groups: NDArray[np.int64], starts: NDArray[np.int64], maker: LabelMaker, ends: NDArray[np.int64],
    places: NDArray[np.int32], counts: NDArray[np.int64], draw_key: DrawKey, latent: NDArray[np.float32],
) -> None:  # fmt: skip
    """Fill in the latent ratings of the rows of some groups, whose items were drawn."""
    in_shares(_latent_share, len(groups), groups, starts, maker, ends, places, counts, draw_key, latent, little=8)


def _latent_share(share: int, n_shares: int, *work: Any) -> None:
    maker = work[2]
    n, n_leads = maker.links.leads.shape
    room = (
        np.zeros(n), np.zeros(n, np.bool_), np.empty((n_leads, n_leads + 1)), np.empty(n_leads, np.int64),
        np.empty(maker.tastes.shape[1]),
    )  # fmt: skip
    _draw_latent(share, n_shares, *work, room)


@njit(cache=True, nogil=True)
def _draw_latent(share, n_shares, groups, starts, maker, ends, places, counts, draw_key, latent, room):  # type: ignore[no-untyped-def]
    rest, here, system, chosen, taste = room
    for g in range(share, len(groups), n_shares):
        group = groups[g]
        for row in range(starts[group], starts[group + 1]):
            state = walk(draw_key.key, row, draw_key.stage)
            _draw_taste(group, maker, state, taste)
            first, stop = ends[row], ends[row] + counts[row]
            for c in range(first, stop):
                item = places[c]
                n = _leads_here(item, maker.links.leads, here, chosen)
                mean, left = _expected(item, n, chosen, maker.links, rest, system)
                drawn = mean + np.sqrt(left) * normal(state)
                rest[item] = min(max(drawn, -_FARTHEST), _FARTHEST)
                here[item] = True
                value = maker.base[item] + maker.deviations[item] * rest[item]
                for f in range(len(taste)):
                    value += taste[f] * maker.numbers[item, f]
                latent[c] = value
            for c in range(first, stop):
                here[places[c]] = False


@njit(cache=True, nogil=True)
def _draw_taste(group, maker, state, taste):  # type: ignore[no-untyped-def]
    for f in range(len(taste)):
        taste[f] = maker.tastes[group, f]
    for d in range(maker.within.shape[1]):
        step = normal(state)
        for f in range(len(taste)):
            taste[f] += step * maker.within[f, d]


@njit(cache=True, nogil=True)
def _leads_here(item, leads, here, chosen):  # type: ignore[no-untyped-def]
    """List the first few leads that stand in the row."""
    n = 0
    for q in range(leads.shape[1]):
        if leads[item, q] >= 0 and n < _MOST_LEADS and here[leads[item, q]]:
            chosen[n] = q
            n += 1
    return n


@njit(cache=True, nogil=True)
def _expected(item, n, chosen, links, rest, system):  # type: ignore[no-untyped-def]
    """Return the mean and the variance of an item's rest, given those of its leads.

    Correlations of pairs, each measured on other people, need not fit together: the ridge grows until they do.
    """
    ridge = _RIDGE
    for _ in range(6):
        if n == 0:
            break
        for a in range(n):
            for b in range(n):
                system[a, b] = links.correlations[item, chosen[a], chosen[b]]
            system[a, a] = 1.0 + ridge
            system[a, n] = links.correlations[item, chosen[a], links.leads.shape[1]]
        if _solve(system, n):
            mean, explained = 0.0, 0.0
            for a in range(n):
                mean += system[a, n] * rest[links.leads[item, chosen[a]]]
                explained += system[a, n] * links.correlations[item, chosen[a], links.leads.shape[1]]
            if explained < _MOST_EXPLAINED:
                return mean, 1.0 - explained
        ridge = 3.0 * ridge + 0.1
    return 0.0, 1.0


@njit(cache=True, nogil=True)
def _solve(system, n):  # type: ignore[no-untyped-def]
    """Solve a small system in place; tell whether it could be done safely."""
    for a in range(n):
        if system[a, a] <= 0.05:
            return False
        for b in range(a + 1, n):
            factor = system[b, a] / system[a, a]
            for c in range(a, n + 1):
                system[b, c] -= factor * system[a, c]
    for a in range(n - 1, -1, -1):
        for b in range(a + 1, n):
            system[a, n] -= system[a, b] * system[b, n]
        system[a, n] /= system[a, a]
    return True


def centres_of(maker: LabelMaker) -> NDArray[np.float64]:
    """Return the latent rating of each item at the mean taste."""
    return maker.base + np.einsum("if,f->i", maker.numbers, maker.tastes.mean(0, dtype=np.float64))


def published(
    latent: NDArray[np.float32], places: NDArray[np.int32], centres: NDArray[np.float64], true: NDArray[np.float32],
    grid: Grid,
) -> NDArray[np.float32]:  # fmt: skip
    """Return the published ratings: items brought back to their centres, then cut at the histogram of the source."""
    n = np.bincount(places, minlength=len(centres))
    sums, squares, level = np.zeros(len(n)), np.zeros(len(n)), np.empty(len(latent), np.float32)
    _add_surprises(places, latent, np.zeros(len(n)), sums, squares, level)
    _add_surprises(places, latent, (sums - n * centres) / (n + _PRIOR), sums, squares, level)
    some = true[:: -(-len(true) // _LOOKED_AT)]
    codes = np.bincount(np.searchsorted((grid.values[1:] + grid.values[:-1]) / 2, some), minlength=len(grid.values))
    ordered = np.sort(level[:: -(-len(level) // _LOOKED_AT)])
    cuts = np.minimum(np.floor(np.cumsum(codes)[:-1] / len(some) * len(ordered)).astype(np.int64), len(ordered) - 1)
    in_shares(_cut_share, len(level), ordered[cuts], grid.values, level)
    return level


@njit(cache=True, nogil=True)
def _cut_share(share, n_shares, cuts, values, level):  # type: ignore[no-untyped-def]
    """Put a published value in the place of each latent rating, those of one share side by side."""
    for c in range(share * len(level) // n_shares, (share + 1) * len(level) // n_shares):
        code = 0
        while code < len(cuts) and level[c] >= cuts[code]:
            code += 1
        level[c] = values[code]
