"""Lower the within-group error of one bin by exchanging members between near groups.

With points x_u, weights w_u and the groups' plain means as centres, what is lowered is

    E = sum_C ( sum_{u in C} w_u |x_u - S_C / n_C|^2  +  crowding W_C^2 / n_C^2 )
      = const + sum_C ( W_C |S_C|^2 / n_C^2 - 2 T_C . S_C / n_C + crowding W_C^2 / n_C^2 ),

    S = sum x_u,  T = sum w_u x_u,  W = sum w_u  over the members of a group.

The label of a group is the plain mean of its members, so the weights never move a centre: they say how often a member's
row is asked for. The second part is the noise that members' own ratings bring into each other's rows (see
`_releases.group.crowding`); it keeps heavy raters apart. A swap of u in A and v in B, or a move of u from A to B,
changes two terms of the sum, and the change needs a few dot products only. Each is taken when it lowers E, so E never
rises, and sizes stay in [k, 2k - 1].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recloak._core.threads import in_shares
from recloak._releases.nearest_points import REORDERED, columns_of, measure_gaps, smallest

_LEAST_GAIN = 1e-6  # share of a point's mean weighted norm: less is rounding, and could go round in circles
LISTED = 28  # groups that are looked through for those near a point


class Groups(NamedTuple):
    """The groups of one bin and what is known about them."""

    points: NDArray[np.float32]  # (n, d) x_u
    weights: NDArray[np.float32]  # (n,) w_u
    crowding: float
    norms: NDArray[np.float32]  # (n,) |x_u|^2
    labels: NDArray[np.int32]  # (n,) group of each point
    members: NDArray[np.int32]  # (n_groups, 2k - 1) points of each group
    sizes: NDArray[np.int32]  # (n_groups,)
    sums: NDArray[np.float32]  # (n_groups, d) S
    pulls: NDArray[np.float32]  # (n_groups, d) T
    mass: NDArray[np.float64]  # (n_groups,) W
    cross: NDArray[np.float64]  # (n_groups,) T . S
    square: NDArray[np.float64]  # (n_groups,) S . S
    terms: NDArray[np.float64]  # (n_groups,) the group's part of E
    on_sum: NDArray[np.float32]  # (n,) x_u . S of its own group
    on_pull: NDArray[np.float32]  # (n,) x_u . T of its own group


@njit(cache=True, nogil=True, fastmath=REORDERED, forceinline=True)
def dot(xs, x, ys, y):  # type: ignore[no-untyped-def]
    """Multiply row x of one table by row y of another; rows are not cut out first, for that costs more than this."""
    total = np.float32(0)
    for j in range(xs.shape[1]):
        total += xs[x, j] * ys[y, j]
    return total


@njit(cache=True, nogil=True, fastmath=REORDERED, forceinline=True)
def three_dots(points, v, u, sums, pulls, g):  # type: ignore[no-untyped-def]
    """Multiply point v by point u, by the sum and by the pull of group g: one pass, for most time is spent here."""
    both, on_sum, on_pull = np.float32(0), np.float32(0), np.float32(0)
    for j in range(points.shape[1]):
        both += points[v, j] * points[u, j]
        on_sum += points[v, j] * sums[g, j]
        on_pull += points[v, j] * pulls[g, j]
    return both, on_sum, on_pull


@njit(cache=True, nogil=True, forceinline=True)
def term(cross, square, mass, share, crowding):  # type: ignore[no-untyped-def]
    """Compute one group's part of E; ``share`` is 1 / n."""
    return share * (share * mass * (square + crowding * mass) - 2.0 * cross)


@njit(cache=True, nogil=True, fastmath=REORDERED)
def tally(groups, g):  # type: ignore[no-untyped-def]
    """Sum up group g from its members, afresh, so that no rounding piles up."""
    points, sums, pulls = groups.points, groups.sums, groups.pulls
    mass = 0.0
    for j in range(points.shape[1]):
        sums[g, j] = pulls[g, j] = 0.0
    for m in range(groups.sizes[g]):
        u = groups.members[g, m]
        mass += groups.weights[u]
        for j in range(points.shape[1]):
            sums[g, j] += points[u, j]
            pulls[g, j] += groups.weights[u] * points[u, j]
    groups.mass[g] = mass
    groups.cross[g] = dot(pulls, g, sums, g)
    groups.square[g] = dot(sums, g, sums, g)
    groups.terms[g] = term(groups.cross[g], groups.square[g], mass, 1.0 / groups.sizes[g], groups.crowding)
    for m in range(groups.sizes[g]):
        u = groups.members[g, m]
        groups.on_sum[u] = dot(points, u, sums, g)
        groups.on_pull[u] = dot(points, u, pulls, g)


@njit(cache=True, nogil=True)
def gather(points, weights, crowding, labels, n_groups, k):  # type: ignore[no-untyped-def]
    """Set up the groups that the labels say."""
    n, d = points.shape
    groups = Groups(
        points,
        weights,
        crowding,
        np.empty(n, np.float32),
        labels,
        np.empty((n_groups, 2 * k - 1), np.int32),
        np.zeros(n_groups, np.int32),
        np.empty((n_groups, d), np.float32),
        np.empty((n_groups, d), np.float32),
        np.empty(n_groups, np.float64),
        np.empty(n_groups, np.float64),
        np.empty(n_groups, np.float64),
        np.empty(n_groups, np.float64),
        np.empty(n, np.float32),
        np.empty(n, np.float32),
    )
    for u in range(n):
        g = labels[u]
        groups.norms[u] = dot(points, u, points, u)
        groups.members[g, groups.sizes[g]] = u
        groups.sizes[g] += 1
    for g in range(n_groups):
        tally(groups, g)
    return groups


@njit(cache=True, nogil=True)
def near_lists(groups, count):  # type: ignore[no-untyped-def]
    """Give each group the groups with the nearest centres: (n_groups, count)."""
    n_groups, d = groups.sums.shape
    columns, norms = columns_of(groups.sums, np.arange(n_groups))
    for g in range(n_groups):
        norms[g] = groups.square[g] / groups.sizes[g] ** 2
        for j in range(d):
            columns[j, g] /= groups.sizes[g]
    lists, gaps, centre = np.empty((n_groups, count), np.int32), np.empty(n_groups, np.float32), columns[:, 0].copy()
    for g in range(n_groups):
        centre[:] = columns[:, g]
        measure_gaps(columns, norms, n_groups, centre, gaps)
        gaps[g] = np.inf
        smallest(gaps, lists[g])
    return lists


@njit(cache=True, nogil=True)
def find_near(groups, u, listed, near):  # type: ignore[no-untyped-def]
    """Fill in the listed groups that are no farther from u than the rest of its own, nearest first; give their number.

    A swap that lowers E lowers the part of one of the two at least, so it is found from that one's side.
    """
    points, sums, square, sizes = groups.points, groups.sums, groups.square, groups.sizes
    A, norm, found = groups.labels[u], groups.norms[u], 0
    rest = 1.0 / (sizes[A] - 1)
    on_rest = groups.on_sum[u] - norm
    limit = rest * (rest * (square[A] - 2.0 * groups.on_sum[u] + norm) - 2.0 * on_rest)
    gaps = np.empty(len(near), np.float32)
    for B in listed:
        if B == A:
            continue
        share = 1.0 / sizes[B]
        gap = share * (share * square[B] - 2.0 * dot(points, u, sums, B))
        if gap > limit or (found == len(near) and gap >= gaps[found - 1]):
            continue
        found = min(found + 1, len(near))
        spot = found - 1
        while spot > 0 and gaps[spot - 1] > gap:
            gaps[spot], near[spot] = gaps[spot - 1], near[spot - 1]
            spot -= 1
        gaps[spot], near[spot] = gap, B
    return found


@njit(cache=True, nogil=True, forceinline=True)
def moved(cross, square, mass, size, crowding, sign, w, norm, on_sum, on_pull):  # type: ignore[no-untyped-def]
    """Compute a group's part of E after a point came (sign 1) or went (-1); on_sum is x . S, on_pull is x . T."""
    cross += sign * (on_pull + w * on_sum) + w * norm
    square += sign * 2.0 * on_sum + norm
    return term(cross, square, mass + sign * w, 1.0 / (size + sign), crowding)


@njit(cache=True, nogil=True, forceinline=True)
def swapped(cross, square, mass, share, crowding, d_w, d_sum, d_cross, gap, twist):  # type: ignore[no-untyped-def]
    """Compute a group's part of E after one point came in for another.

    The differences are "in minus out": of w, of x . S, of x . T + w x . S; ``gap = |x_in - x_out|^2``,
    ``twist = (w_in x_in - w_out x_out) . (x_in - x_out)``.
    """
    return term(cross + d_cross + twist, square + 2.0 * d_sum + gap, mass + d_w, share, crowding)


@njit(cache=True, nogil=True)
def best_change(groups, u, k, near):  # type: ignore[no-untyped-def]
    """Find the best move or swap of u: gain, group, and the place there of the point to swap with (-1: a move).

    Fields are taken out of the tuple once: to do so in the loop would cost more than the arithmetic.
    """
    points, weights, crowding, norms, labels, members, sizes, sums, pulls, mass = groups[:10]
    cross, square, terms, on_sum, on_pull = groups[10:]
    A, w_u, norm_u = labels[u], weights[u], norms[u]
    share_a, cross_u = 1.0 / sizes[A], on_pull[u] + w_u * on_sum[u]
    best, to, place = 0.0, -1, -1
    for B in near:
        now, share_b = terms[A] + terms[B], 1.0 / sizes[B]
        sum_u, pull_u = dot(points, u, sums, B), dot(points, u, pulls, B)
        if sizes[A] > k and sizes[B] < 2 * k - 1:
            after = moved(cross[A], square[A], mass[A], sizes[A], crowding, -1, w_u, norm_u, on_sum[u], on_pull[u])
            after += moved(cross[B], square[B], mass[B], sizes[B], crowding, 1, w_u, norm_u, sum_u, pull_u)
            if now - after > best:
                best, to, place = now - after, B, -1
        for m in range(sizes[B]):
            v = members[B, m]
            w_v, d_w = weights[v], weights[v] - w_u
            both, sum_v, pull_v = three_dots(points, v, u, sums, pulls, A)
            gap = norm_u + norms[v] - 2.0 * both
            twist = w_v * norms[v] + w_u * norm_u - (w_u + w_v) * both
            d_sum, d_cross = sum_v - on_sum[u], pull_v + w_v * sum_v - cross_u
            after = swapped(cross[A], square[A], mass[A], share_a, crowding, d_w, d_sum, d_cross, gap, twist)
            d_sum, d_cross = sum_u - on_sum[v], pull_u + w_u * sum_u - on_pull[v] - w_v * on_sum[v]
            after += swapped(cross[B], square[B], mass[B], share_b, crowding, -d_w, d_sum, d_cross, gap, twist)
            if now - after > best:
                best, to, place = now - after, B, m
    return best, to, place


@njit(cache=True, nogil=True)
def change(groups, u, B, place):  # type: ignore[no-untyped-def]
    """Carry out a move of u to group B, or its swap with the point at a place there."""
    A = np.int64(groups.labels[u])  # as B is, so that one form of `tally` is compiled
    here = 0
    while groups.members[A, here] != u:
        here += 1
    if place < 0:
        groups.sizes[A] -= 1
        groups.members[A, here] = groups.members[A, groups.sizes[A]]
        groups.members[B, groups.sizes[B]] = u
        groups.sizes[B] += 1
    else:
        v = groups.members[B, place]
        groups.members[A, here] = v
        groups.members[B, place] = u
        groups.labels[v] = A
    groups.labels[u] = B
    tally(groups, A)
    tally(groups, B)


@njit(cache=True, nogil=True)
def exchange(points, weights, crowding, labels, n_groups, k, n_near, rounds):  # type: ignore[no-untyped-def]
    """Change ``labels`` in place, up to ``rounds`` times over all points, and give the sum of the gains."""
    groups = gather(points, weights, crowding, labels, n_groups, k)
    lists = near_lists(groups, min(LISTED, n_groups - 1))
    near = np.empty(min(n_near, n_groups - 1), np.int32)
    floor = _LEAST_GAIN * (weights * groups.norms).mean()
    total = 0.0
    for _ in range(rounds):
        before = total
        for u in range(len(points)):
            found = find_near(groups, u, lists[labels[u]], near)
            gain, to, place = best_change(groups, u, k, near[:found])
            if gain > floor:
                change(groups, u, to, place)
                total += gain
        if total == before:
            break
    return total


def exchange_bins(
    points: NDArray[np.float32],
    weights: NDArray[np.float32],
    crowding: float,
    labels: NDArray[np.int32],
    groups: tuple[NDArray[np.int64], NDArray[np.int64]],
    bins: tuple[NDArray[np.int64], NDArray[np.int64]],
    *,
    k: int,
    near: int,
    rounds: int,
) -> float:
    """Exchange members inside each bin of groups, changing the labels in place, and give the gain.

    ``groups`` are firsts and users: group g holds ``users[firsts[g]:firsts[g + 1]]``; ``bins`` are order and starts:
    bin b holds the groups ``order[starts[b]:starts[b + 1]]``.
    """
    gains = np.zeros(len(bins[1]) - 1)
    work = (points, weights, crowding, labels), groups, bins, (k, near, rounds)
    in_shares(_exchange_bins, len(gains), *work, gains, little=2)
    return float(gains.sum())


@njit(cache=True, nogil=True)
def _exchange_bins(share, n_shares, users, groups, bins, limits, gains):  # type: ignore[no-untyped-def]
    order, starts = bins
    for b in range(share, len(gains), n_shares):
        gains[b] = _exchange_inside(users, groups, order[starts[b] : starts[b + 1]], limits)


@njit(cache=True, nogil=True)
def _exchange_inside(users, groups, chosen, limits):  # type: ignore[no-untyped-def]
    """Cut the chosen groups out, exchange, and put the labels back."""
    points, weights, crowding, labels = users
    firsts, members = groups
    k, near, rounds = limits
    n = 0
    for g in chosen:
        n += firsts[g + 1] - firsts[g]
    inside, own, n = np.empty(n, np.int64), np.empty(n, np.int32), 0
    for place in range(len(chosen)):
        for m in range(firsts[chosen[place]], firsts[chosen[place] + 1]):
            inside[n], own[n] = members[m], place
            n += 1
    gain = exchange(points[inside], weights[inside], crowding, own, len(chosen), k, near, rounds)
    for m in range(n):
        labels[inside[m]] = chosen[own[m]]
    return gain
