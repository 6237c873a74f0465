"""The paper's own way to group: sampling, bins, bounded t-means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._releases.bounded_means import assign
from recloak._releases.distance import METRICS
from recloak._releases.group import GroupOptions, bin_users, group
from recloak._releases.sampled_grouping import merge_small
from tests.releases.test_group import padding_of, some_points


@settings(max_examples=40)
@given(k=st.integers(2, 6), n_clusters=st.integers(1, 5), more=st.integers(0, 5), seed=st.integers(0, 99))
def test_bounded_assignment_gives_every_cluster_at_least_k(k, n_clusters, more, seed):
    n, stream = n_clusters * k + more % k, np.random.default_rng(seed)
    labels = assign(stream.random((n, n_clusters)).astype(np.float32), stream.permutation(n), k)
    sizes = np.bincount(labels, minlength=n_clusters)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


def test_the_member_that_loses_least_leaves_a_full_cluster():
    table = np.array([[0.0, 0.9], [0.0, 0.1], [0.0, 0.5], [0.4, 0.3]], np.float32)
    assert assign(table, np.arange(4), 2).tolist() == [0, 1, 0, 1]


def test_a_small_bin_goes_to_the_nearest_one():
    between = np.array([[0, 1, 9], [1, 0, 9], [9, 9, 0]], np.float32)
    assert merge_small(np.array([0, 1, 1, 2, 2]), between, 2).tolist() == [1, 1, 1, 2, 2]


@settings(max_examples=20)
@given(st.integers(2, 5), st.integers(0, 40), st.integers(0, 9), st.sampled_from(["virtual", "real"]))
def test_the_papers_groups_have_k_to_2k_minus_1_members(k, more, seed, centres):
    options = GroupOptions(k=k, method="paper", centres=centres)
    grouping = group(padding_of(some_points(k + more, 2, seed)), options, rng=seed)
    assert len(grouping.labels) == k + more


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_separates_two_obvious_clusters(metric):
    taste = np.repeat([[3.0], [-3.0]], 6, axis=0)
    padding = padding_of(taste + 0.01 * some_points(12, 1), n_items=20)
    labels = group(padding, GroupOptions(k=6, method="paper", metric=metric), rng=1).labels
    assert len(set(labels[:6])) == 1
    assert labels[0] != labels[6]


def test_bins_are_at_most_the_root_of_the_number_of_users():
    bins = bin_users(padding_of(some_points(100)), rng=0)
    assert bins.shape == (100,)
    assert bins.max() < 10
