"""Exchanges inside a bin: what the kernel says it gains is what the plain formula says."""

from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._releases.bin_grouping import _close_up, by_group, group_bin, start_bins
from recloak._releases.exchange import best_change, exchange_bins, gather
from recloak._releases.model.steps import Grouping


def naive_error(points, weights, parts, crowding, labels):
    total = 0.0
    for g in np.unique(labels):
        inside = labels == g
        gaps = points[inside] - np.average(points[inside], axis=0, weights=parts[inside])
        share = weights[inside].sum() / parts[inside].sum()
        total += (weights[inside] * (gaps**2).sum(axis=1)).sum() + crowding * share**2
    return total


def naive_best_gain(points, weights, parts, crowding, labels, u, k):
    """Try every move and every swap of u."""
    before, best, sizes = naive_error(points, weights, parts, crowding, labels), 0.0, np.bincount(labels)
    for v in range(len(points)):
        changed = labels.copy()
        changed[u], changed[v] = labels[v], labels[u]
        best = max(best, before - naive_error(points, weights, parts, crowding, changed))
        if labels[v] != labels[u] and sizes[labels[u]] > k and sizes[labels[v]] < 2 * k - 1:
            changed[v] = labels[v]
            best = max(best, before - naive_error(points, weights, parts, crowding, changed))
    return best


@st.composite
def bins(draw):
    k, seed = draw(st.integers(2, 4)), draw(st.integers(0, 999))
    n = draw(st.integers(2 * k, 6 * k))
    stream = np.random.default_rng(seed)
    points = stream.normal(size=(n, 3)).astype(np.float32)
    labels = (np.arange(n) % (n // k)).astype(np.int32)
    weights = stream.uniform(0.2, 3, n).astype(np.float32)
    parts = draw(st.sampled_from([np.ones_like(weights), weights, weights[::-1].copy()]))
    return points, weights, parts, draw(st.sampled_from([0.0, 0.3])), labels, k


@settings(max_examples=50)
@given(bins())
def test_the_kernel_finds_the_best_move_or_swap(drawn):
    points, weights, parts, crowding, labels, k = drawn
    n_groups = int(labels.max()) + 1
    groups = gather(points, weights, parts, crowding, labels.copy(), n_groups, k)
    for u in range(len(points)):
        others = np.array([g for g in range(n_groups) if g != labels[u]], np.int32)
        gain, _, _ = best_change(groups, u, k, others)
        expected = naive_best_gain(points.astype(float), weights, parts, crowding, labels, u, k)
        assert abs(gain - expected) < 1e-4


@settings(max_examples=50)
@given(bins(), st.integers(1, 4))
def test_the_error_falls_by_the_gain_and_never_rises(drawn, rounds):
    points, weights, parts, crowding, labels, k = drawn
    before = naive_error(points.astype(float), weights, parts, crowding, labels)
    n_groups = int(labels.max()) + 1
    one_bin, groups = (np.arange(n_groups), np.array([0, n_groups])), by_group(labels)
    gain = exchange_bins(points, weights, parts, crowding, labels, groups, one_bin, k=k, near=3, rounds=rounds)
    assert gain >= 0
    assert abs(before - naive_error(points.astype(float), weights, parts, crowding, labels) - gain) < 1e-3
    Grouping(labels, k).require_bounds()


def test_a_bin_starts_with_the_farthest_point_and_its_nearest_then_at_the_other_end():
    points = np.array([[0.0], [0.1], [5.0], [5.1], [50.0], [51.0], [0.2]], np.float32)
    labels = start_bins(points, np.arange(7), np.array([0, 7]), 2)
    assert labels.tolist() == [1, 1, 2, 2, 0, 0, 2]


def test_places_taken_are_closed_up_whatever_their_order():
    for taken in permutations(range(5), 3):
        left = np.array([-1 if place in taken else place for place in range(5)])
        columns, norms, gaps = np.arange(5, dtype=np.float32)[None].copy(), np.arange(5.0), np.arange(5.0)
        n = _close_up(left, columns, norms, gaps, np.array(taken), 5)
        assert sorted(left[:n]) == sorted(columns[0, :n]) == [place for place in range(5) if place not in taken]


def test_the_exchange_mends_a_bad_start():
    points = np.repeat(np.array([[0.0], [10.0], [20.0]], np.float32), 3, axis=0)
    labels = group_bin(points, 3)
    assert [len(set(labels[i : i + 3])) for i in (0, 3, 6)] == [1, 1, 1]


def test_heavy_raters_are_kept_apart_where_crowding_counts():
    points, weights = np.zeros((4, 1), np.float32), np.array([9, 9, 1, 1], np.float32)
    labels = group_bin(points, 2, weights=weights, crowding=1.0)
    assert labels[0] != labels[1]
