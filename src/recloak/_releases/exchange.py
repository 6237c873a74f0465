"""Lower the within-group error of one bin by exchanging members between near groups.

With points x_u, weights w_u and pulls c_u on the centre, what is lowered is

    E = sum_C ( sum_{u in C} w_u |x_u - S_C / n_C|^2  +  crowding W_C^2 / n_C^2 )
      = const + sum_C ( W_C |S_C|^2 / n_C^2 - 2 T_C . S_C / n_C + crowding W_C^2 / n_C^2 ),

    S = sum c_u x_u,  n = sum c_u,  T = sum w_u x_u,  W = sum w_u  over the members of a group.

The weights say how often a member's row is asked for. Where the row of a group is the plain mean of its members, every
c_u is 1 and the weights never move a centre; where it is fitted to all their ratings, c_u is w_u. The second part is
the noise that members' own ratings bring into each other's rows (see `_releases.group.crowding`); it keeps heavy raters
apart. A swap of u in A and v in B, or a move of u from A to B,
changes two terms of the sum, and the change needs a few dot products only. Each is taken when it lowers E, so E never
rises, and sizes stay in [k, 2k - 1].
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._releases.nearest_points import as_columns, dot, measure_gaps, smallest
from recloak._releases.ordered_sums import ordered_dots

MASS, CROSS, SQUARE, TERM, COUNT = range(5)  # columns of the totals
NORM, ON_SUM, ON_PULL = range(3)  # columns of the dots
_LEAST_GAIN = 1e-6  # share of a point's mean weighted norm: less is rounding, and could go round in circles
LISTED = 28  # groups that are looked through for those near a point


class Groups(NamedTuple):
    """The groups of one bin and what is known about them."""

    points: NDArray[np.float32]  # (n, d) x_u
    weights: NDArray[np.float32]  # (n,) w_u
    parts: NDArray[np.float32]  # (n,) c_u
    crowding: float
    labels: NDArray[np.int32]  # (n,) group of each point
    members: NDArray[np.int32]  # (n_groups, 2k - 1) points of each group
    sizes: NDArray[np.int32]  # (n_groups,)
    sums: NDArray[np.float32]  # (n_groups, d) S
    pulls: NDArray[np.float32]  # (n_groups, d) T
    totals: NDArray[np.float64]  # (n_groups, 5) W, T . S, S . S, the group's part of E, n: every array costs compiling
    dots: NDArray[np.float32]  # (n, 3) |x_u|^2, and x_u . S and x_u . T of its own group


@njit(cache=True, nogil=True, forceinline=True)
def three_dots(points, v, u, sums, pulls, g):  # type: ignore[no-untyped-def]
    """Multiply point v by point u, by the sum and by the pull of group g: one pass, for most time is spent here."""
    return ordered_dots(points, v, u, sums, pulls, g)


@njit(cache=True, nogil=True, inline="always")
def term(cross, square, mass, share, crowding):  # type: ignore[no-untyped-def]
    """Compute one group's part of E; ``share`` is 1 / n."""
    return share * (share * mass * (square + crowding * mass) - 2.0 * cross)


@njit(cache=True, nogil=True)
def tally(groups, first, stop):  # type: ignore[no-untyped-def]
    """Sum up some consecutive groups from their members, afresh, so that no rounding piles up."""
    points, weights, parts, crowding, _, members, sizes, sums, pulls, totals, dots = groups
    for g in range(first, stop):
        mass, count = 0.0, 0.0
        for j in range(points.shape[1]):
            sums[g, j] = pulls[g, j] = 0.0
        for m in range(sizes[g]):
            u = members[g, m]
            mass += weights[u]
            count += parts[u]
            for j in range(points.shape[1]):
                sums[g, j] += parts[u] * points[u, j]
                pulls[g, j] += weights[u] * points[u, j]
        cross, square = np.float64(dot(pulls, g, sums, g)), np.float64(dot(sums, g, sums, g))
        totals[g, MASS], totals[g, CROSS], totals[g, SQUARE], totals[g, COUNT] = mass, cross, square, count
        totals[g, TERM] = term(cross, square, mass, 1.0 / count, crowding)
        for m in range(sizes[g]):
            u = np.int64(members[g, m])  # as g is, so that one form of `dot` is compiled
            dots[u, NORM] = dot(points, u, points, u)
            dots[u, ON_SUM] = dot(points, u, sums, g)
            dots[u, ON_PULL] = dot(points, u, pulls, g)


def gather(
    points: NDArray[np.float32],
    weights: NDArray[np.float32],
    parts: NDArray[np.float32],
    crowding: float,
    labels: NDArray[np.int32],
    n_groups: int,
    k: int,
) -> Groups:
    """Set up the groups that the labels say."""
    n, d = points.shape
    sizes, order = np.bincount(labels, minlength=n_groups), np.argsort(labels, kind="stable")
    members = np.zeros((n_groups, 2 * k - 1), np.int32)
    members[labels[order], np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)] = order
    sums, pulls = np.empty((n_groups, d), np.float32), np.empty((n_groups, d), np.float32)
    totals, dots = np.empty((n_groups, 5), np.float64), np.empty((n, 3), np.float32)
    by_user = points, weights, parts, crowding, labels
    groups = Groups(*by_user, members, sizes.astype(np.int32), sums, pulls, totals, dots)
    tally(groups, 0, n_groups)
    return groups


def near_lists(groups: Groups, count: int) -> NDArray[np.int32]:
    """Return for each group the groups with the nearest centres: (n_groups, count)."""
    n_groups, counts = len(groups.sizes), groups.totals[:, COUNT]
    columns = as_columns(groups.sums / counts[:, None])
    norms = (groups.totals[:, SQUARE] / counts**2).astype(np.float32)
    lists, gaps = np.empty((n_groups, count), np.int32), np.empty(n_groups, np.float32)
    for g in range(n_groups):
        measure_gaps(columns, norms, n_groups, columns[:, g].copy(), gaps)
        gaps[g] = np.inf
        smallest(gaps, lists[g])
    return lists


@njit(cache=True, nogil=True, inline="always")
def find_near(groups, u, listed, near, gaps):  # type: ignore[no-untyped-def]
    """Fill in the listed groups that are no farther from u than the rest of its own, nearest first; give their number.

    A swap that lowers E lowers the part of one of the two at least, so it is found from that one's side.
    """
    points, sums, totals, dots, c = groups.points, groups.sums, groups.totals, groups.dots, groups.parts[u]
    A, norm, on_sum, found = groups.labels[u], dots[u, NORM], dots[u, ON_SUM], 0
    rest = 1.0 / (totals[A, COUNT] - c)
    on_rest = on_sum - c * norm
    limit = rest * (rest * (totals[A, SQUARE] - 2.0 * c * on_sum + c * c * norm) - 2.0 * on_rest)
    for place in range(len(listed)):
        B = np.int64(listed[place])
        if B == A:
            continue
        share = 1.0 / totals[B, COUNT]
        gap = share * (share * totals[B, SQUARE] - 2.0 * dot(points, u, sums, B))
        if gap > limit or (found == len(near) and gap >= gaps[found - 1]):
            continue
        found = min(found + 1, len(near))
        spot = found - 1
        while spot > 0 and gaps[spot - 1] > gap:
            gaps[spot], near[spot] = gaps[spot - 1], near[spot - 1]
            spot -= 1
        gaps[spot], near[spot] = gap, B
    return found


@njit(cache=True, nogil=True, inline="always")
def moved(cross, square, mass, count, crowding, sign, w, c, norm, on_sum, on_pull):  # type: ignore[no-untyped-def]
    """Compute a group's part of E after a point came (sign 1) or went (-1); on_sum is x . S, on_pull is x . T."""
    cross += sign * (c * on_pull + w * on_sum) + c * w * norm
    square += sign * 2.0 * c * on_sum + c * c * norm
    return term(cross, square, mass + sign * w, 1.0 / (count + sign * c), crowding)


@njit(cache=True, nogil=True, inline="always")
def swapped(cross, square, mass, share, crowding, d_w, d_sum, d_cross, gap, twist):  # type: ignore[no-untyped-def]
    """Compute a group's part of E after one point came in for another.

    The differences are "in minus out": of w, of c x . S, of c x . T + w x . S; ``gap = |c_in x_in - c_out x_out|^2``,
    ``twist = (w_in x_in - w_out x_out) . (c_in x_in - c_out x_out)``.
    """
    return term(cross + d_cross + twist, square + 2.0 * d_sum + gap, mass + d_w, share, crowding)


@njit(cache=True, nogil=True, inline="always")
def best_change(groups, u, k, near):  # type: ignore[no-untyped-def]
    """Find the best move or swap of u: gain, group, and the place there of the point to swap with (-1: a move).

    Fields are taken out of the tuple once: to do so in the loop would cost more than the arithmetic.
    """
    points, weights, parts, crowding, labels, members, sizes, sums, pulls, totals, dots = groups
    A, w_u, norm_u, on_sum, on_pull = labels[u], weights[u], dots[u, NORM], dots[u, ON_SUM], dots[u, ON_PULL]
    mass_a, cross_a, square_a, count_a = totals[A, MASS], totals[A, CROSS], totals[A, SQUARE], totals[A, COUNT]
    c_u = parts[u]
    cross_u = c_u * on_pull + w_u * on_sum
    best, to, place = 0.0, np.int64(-1), -1
    for n in range(len(near)):
        B = np.int64(near[n])
        now, count_b = totals[A, TERM] + totals[B, TERM], totals[B, COUNT]
        mass_b, cross_b, square_b = totals[B, MASS], totals[B, CROSS], totals[B, SQUARE]
        sum_u, pull_u = dot(points, u, sums, B), dot(points, u, pulls, B)
        if sizes[A] > k and sizes[B] < 2 * k - 1:
            after = moved(cross_a, square_a, mass_a, count_a, crowding, -1, w_u, c_u, norm_u, on_sum, on_pull)
            after += moved(cross_b, square_b, mass_b, count_b, crowding, 1, w_u, c_u, norm_u, sum_u, pull_u)
            if now - after > best:
                best, to, place = now - after, B, -1
        for m in range(sizes[B]):
            v = members[B, m]
            w_v, c_v, norm_v, d_w = weights[v], parts[v], dots[v, NORM], weights[v] - w_u
            both, sum_v, pull_v = three_dots(points, v, u, sums, pulls, A)
            gap = c_u * c_u * norm_u + c_v * c_v * norm_v - 2.0 * c_u * c_v * both
            twist = c_v * w_v * norm_v + c_u * w_u * norm_u - (c_v * w_u + c_u * w_v) * both
            d_sum, d_cross = c_v * sum_v - c_u * on_sum, c_v * pull_v + w_v * sum_v - cross_u
            share = 1.0 / (count_a + (c_v - c_u))
            after = swapped(cross_a, square_a, mass_a, share, crowding, d_w, d_sum, d_cross, gap, twist)
            d_sum = c_u * sum_u - c_v * dots[v, ON_SUM]
            d_cross = c_u * pull_u + w_u * sum_u - c_v * dots[v, ON_PULL] - w_v * dots[v, ON_SUM]
            share = 1.0 / (count_b + (c_u - c_v))
            after += swapped(cross_b, square_b, mass_b, share, crowding, -d_w, d_sum, d_cross, gap, twist)
            if now - after > best:
                best, to, place = now - after, B, m
    return best, to, place


@njit(cache=True, nogil=True, inline="always")
def change(groups, u, B, place):  # type: ignore[no-untyped-def]
    """Carry out a move of u to group B, or its swap with the point at a place there."""
    labels, members, sizes = groups.labels, groups.members, groups.sizes
    A = np.int64(labels[u])  # as B is, so that one form of `tally` is compiled
    here = 0
    while members[A, here] != u:
        here += 1
    if place < 0:
        sizes[A] -= 1
        members[A, here] = members[A, sizes[A]]
        members[B, sizes[B]] = u
        sizes[B] += 1
    else:
        v = members[B, place]
        members[A, here] = v
        members[B, place] = u
        labels[v] = A
    labels[u] = B
    for g in (A, B):
        tally(groups, g, g + 1)


def exchange_bins(
    points: NDArray[np.float32],
    weights: NDArray[np.float32],
    parts: NDArray[np.float32],
    crowding: float,
    labels: NDArray[np.int32],
    groups: tuple[NDArray[np.int64], NDArray[np.int64]],
    bins: tuple[NDArray[np.int64], NDArray[np.int64]],
    *,
    k: int,
    near: int,
    rounds: int,
) -> float:
    """Exchange members inside each bin of groups, changing the labels in place, and return the gain.

    ``groups`` are starts and users: group g holds ``users[starts[g]:starts[g + 1]]``; ``bins`` are order and starts:
    bin b holds the groups ``order[starts[b]:starts[b + 1]]``.
    """
    gains = np.zeros(len(bins[1]) - 1)
    work = (points, weights, parts, crowding, labels), groups, bins, (k, near, rounds)
    in_shares(_exchange_bins, len(gains), *work, gains, little=2)
    return float(gains.sum())


def _exchange_bins(
    share: int,
    n_shares: int,
    users: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], float, NDArray[np.int32]],
    by_group: tuple[NDArray[np.int64], NDArray[np.int64]],
    bins: tuple[NDArray[np.int64], NDArray[np.int64]],
    limits: tuple[int, int, int],
    gains: NDArray[np.float64],
) -> None:
    """Cut out the points of each bin of a share, let its groups exchange members, and put the labels back."""
    points, weights, parts, crowding, labels = users
    group_starts, members = by_group
    order, starts = bins
    k, near, rounds = limits
    for b in range(share, len(gains), n_shares):
        chosen = order[starts[b] : starts[b + 1]]
        n_groups, sizes = len(chosen), group_starts[chosen + 1] - group_starts[chosen]
        own = np.repeat(np.arange(n_groups, dtype=np.int32), sizes)
        inside = members[np.arange(len(own)) + np.repeat(group_starts[chosen] - np.cumsum(sizes) + sizes, sizes)]
        groups = gather(points[inside], weights[inside], parts[inside], crowding, own, n_groups, k)
        n_near, lists = min(near, n_groups - 1), near_lists(groups, min(LISTED, n_groups - 1))
        gains[b] = _exchange(groups, lists, np.empty(n_near, np.int32), np.empty(n_near, np.float32), k, rounds)
        labels[inside] = chosen[groups.labels]


@njit(cache=True, nogil=True)
def _exchange(groups, lists, near, gaps, k, rounds):  # type: ignore[no-untyped-def]
    """Go up to ``rounds`` times over all points of a bin and return the gain; ``near`` and ``gaps`` are work space.

    What it calls is written into it, one level deep: as functions of their own they would be compiled again with each
    caller, and the tuple of groups is dear to hand over.
    """
    labels, n, norm, total, before = groups.labels, len(groups.labels), np.float32(0), 0.0, -1.0
    for u in range(n):
        norm += groups.weights[u] * groups.dots[u, NORM]
    floor = _LEAST_GAIN * np.float32(norm / n)
    for _ in range(rounds):
        if total == before:
            break
        before = total
        for u in range(n):
            found = find_near(groups, u, lists[labels[u]], near, gaps)
            gain, to, place = best_change(groups, u, k, near[:found])
            if gain > floor:
                change(groups, u, to, place)
                total += gain
    return total
