"""Lower the within-group error of one bin by exchanging members between near groups.

With points x_u, weights w_u and the groups' plain means as centres the error is

    E = sum_C sum_{u in C} w_u |x_u - S_C / n_C|^2
      = const + sum_C ( W_C |S_C|^2 / n_C^2 - 2 T_C . S_C / n_C ),    S = sum x_u, T = sum w_u x_u, W = sum w_u.

The label of a group is the plain mean of its members, so the weights never move a centre: they say how often a member's
row is asked for. A swap of u in A and v in B, or a move of u from A to B, changes two terms of the sum, and the change
needs a few dot products only. Each is taken when it lowers E, so E never rises, and sizes stay in [k, 2k - 1].
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

Groups = namedtuple(
    "Groups",
    [
        "points",  # (n, d) x_u
        "weights",  # (n,) w_u
        "norms",  # (n,) |x_u|^2
        "labels",  # (n,) group of each point
        "members",  # (n_groups, 2k - 1) points of each group
        "sizes",  # (n_groups,)
        "sums",  # (n_groups, d) S
        "pulls",  # (n_groups, d) T
        "mass",  # (n_groups,) W
        "cross",  # (n_groups,) T . S
        "square",  # (n_groups,) S . S
        "on_sum",  # (n,) x_u . S of its own group
        "on_pull",  # (n,) x_u . T of its own group
    ],
)

_LEAST_GAIN = 1e-7  # of a point's mean error: less is rounding, and could go round in circles


@njit(cache=True, fastmath=True)
def dot(x, y):  # type: ignore[no-untyped-def]
    """Multiply two vectors."""
    total = np.float32(0)
    for j in range(len(x)):
        total += x[j] * y[j]
    return total


@njit(cache=True)
def smallest(values, count):  # type: ignore[no-untyped-def]
    """Give the places of the ``count`` smallest values, ascending; the first wins a tie."""
    places = np.empty(count, np.int32)
    found = 0
    if count == 0:
        return places
    for i in range(len(values)):
        if found == count and values[i] >= values[places[count - 1]]:
            continue
        if found < count:
            found += 1
        spot = found - 1
        while spot > 0 and values[places[spot - 1]] > values[i]:
            places[spot] = places[spot - 1]
            spot -= 1
        places[spot] = i
    return places[:found]


@njit(cache=True)
def term(cross, square, mass, size):  # type: ignore[no-untyped-def]
    """Compute one group's part of the error, ``W |S|^2 / n^2 - 2 T . S / n``."""
    return mass * square / (size * size) - 2.0 * cross / size


@njit(cache=True)
def group_term(groups, g):  # type: ignore[no-untyped-def]
    """Compute the part of the error of group g as it stands."""
    return term(groups.cross[g], groups.square[g], groups.mass[g], groups.sizes[g])


@njit(cache=True, fastmath=True)
def tally(groups, g):  # type: ignore[no-untyped-def]
    """Sum up group g from its members, afresh, so that no rounding piles up."""
    groups.sums[g] = 0.0
    groups.pulls[g] = 0.0
    groups.mass[g] = 0.0
    for m in range(groups.sizes[g]):
        u = groups.members[g, m]
        groups.sums[g] += groups.points[u]
        groups.pulls[g] += groups.weights[u] * groups.points[u]
        groups.mass[g] += groups.weights[u]
    groups.cross[g] = dot(groups.pulls[g], groups.sums[g])
    groups.square[g] = dot(groups.sums[g], groups.sums[g])
    for m in range(groups.sizes[g]):
        u = groups.members[g, m]
        groups.on_sum[u] = dot(groups.points[u], groups.sums[g])
        groups.on_pull[u] = dot(groups.points[u], groups.pulls[g])


@njit(cache=True)
def gather(points, weights, labels, n_groups, k):  # type: ignore[no-untyped-def]
    """Set up the groups that the labels say."""
    n, d = points.shape
    groups = Groups(
        points,
        weights,
        (points * points).sum(axis=1),
        labels,
        np.empty((n_groups, 2 * k - 1), np.int32),
        np.zeros(n_groups, np.int32),
        np.empty((n_groups, d), np.float32),
        np.empty((n_groups, d), np.float32),
        np.empty(n_groups, np.float64),
        np.empty(n_groups, np.float64),
        np.empty(n_groups, np.float64),
        np.empty(n, np.float64),
        np.empty(n, np.float64),
    )
    for u in range(n):
        g = labels[u]
        groups.members[g, groups.sizes[g]] = u
        groups.sizes[g] += 1
    for g in range(n_groups):
        tally(groups, g)
    return groups


@njit(cache=True)
def near_groups(groups, u, count):  # type: ignore[no-untyped-def]
    """Give the groups with the nearest centres to u, its own left out."""
    gaps = np.empty(len(groups.sizes), np.float32)
    for g in range(len(gaps)):
        n = groups.sizes[g]
        gaps[g] = groups.square[g] / (n * n) - 2.0 * dot(groups.points[u], groups.sums[g]) / n
    gaps[groups.labels[u]] = np.inf
    return smallest(gaps, min(count, len(gaps) - 1))


@njit(cache=True)
def move_gain(groups, u, B, u_sum, u_pull):  # type: ignore[no-untyped-def]
    """Compute by how much E falls if u moves to group B; ``u_sum`` is x_u . S_B, ``u_pull`` is x_u . T_B."""
    A, w, norm = groups.labels[u], groups.weights[u], groups.norms[u]
    cross_a = groups.cross[A] - groups.on_pull[u] - w * groups.on_sum[u] + w * norm
    square_a = groups.square[A] - 2.0 * groups.on_sum[u] + norm
    cross_b = groups.cross[B] + u_pull + w * u_sum + w * norm
    square_b = groups.square[B] + 2.0 * u_sum + norm
    after = term(cross_a, square_a, groups.mass[A] - w, groups.sizes[A] - 1)
    after += term(cross_b, square_b, groups.mass[B] + w, groups.sizes[B] + 1)
    return group_term(groups, A) + group_term(groups, B) - after


@njit(cache=True)
def swap_gain(groups, u, v, u_sum, u_pull):  # type: ignore[no-untyped-def]
    """Compute by how much E falls if u and v change places; ``u_sum``, ``u_pull`` as for a move, B the group of v."""
    A, B = groups.labels[u], groups.labels[v]
    w_u, w_v, norm_u, norm_v = groups.weights[u], groups.weights[v], groups.norms[u], groups.norms[v]
    v_sum, v_pull = dot(groups.points[v], groups.sums[A]), dot(groups.points[v], groups.pulls[A])
    both = dot(groups.points[u], groups.points[v])
    gap = norm_u + norm_v - 2.0 * both  # |x_v - x_u|^2
    twist = w_v * norm_v + w_u * norm_u - (w_u + w_v) * both  # (w_v x_v - w_u x_u) . (x_v - x_u)
    cross_a = groups.cross[A] + v_pull - groups.on_pull[u] + w_v * v_sum - w_u * groups.on_sum[u] + twist
    cross_b = groups.cross[B] + u_pull - groups.on_pull[v] + w_u * u_sum - w_v * groups.on_sum[v] + twist
    square_a = groups.square[A] + 2.0 * (v_sum - groups.on_sum[u]) + gap
    square_b = groups.square[B] + 2.0 * (u_sum - groups.on_sum[v]) + gap
    after = term(cross_a, square_a, groups.mass[A] + w_v - w_u, groups.sizes[A])
    after += term(cross_b, square_b, groups.mass[B] + w_u - w_v, groups.sizes[B])
    return group_term(groups, A) + group_term(groups, B) - after


@njit(cache=True)
def best_change(groups, u, k, near):  # type: ignore[no-untyped-def]
    """Find the best move or swap of u: gain, group, and the place there of the point to swap with (-1: a move)."""
    best, to, place = 0.0, -1, -1
    spare = groups.sizes[groups.labels[u]] > k
    for B in near_groups(groups, u, near):
        u_sum, u_pull = dot(groups.points[u], groups.sums[B]), dot(groups.points[u], groups.pulls[B])
        if spare and groups.sizes[B] < 2 * k - 1:
            gain = move_gain(groups, u, B, u_sum, u_pull)
            if gain > best:
                best, to, place = gain, B, -1
        for m in range(groups.sizes[B]):
            gain = swap_gain(groups, u, groups.members[B, m], u_sum, u_pull)
            if gain > best:
                best, to, place = gain, B, m
    return best, to, place


@njit(cache=True)
def change(groups, u, B, place):  # type: ignore[no-untyped-def]
    """Carry out a move of u to group B, or its swap with the point at a place there."""
    A = groups.labels[u]
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


@njit(cache=True)
def exchange(points, weights, labels, n_groups, k, near, rounds):  # type: ignore[no-untyped-def]
    """Change ``labels`` in place, up to ``rounds`` times over all points, and give the sum of the gains."""
    groups = gather(points, weights, labels, n_groups, k)
    floor = _LEAST_GAIN * (weights * groups.norms).sum() / max(1, len(points))
    total = 0.0
    for _ in range(rounds):
        changed = False
        for u in range(len(points)):
            gain, to, place = best_change(groups, u, k, near)
            if gain > floor:
                change(groups, u, to, place)
                total += gain
                changed = True
        if not changed:
            break
    return total
