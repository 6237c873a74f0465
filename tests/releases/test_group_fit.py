"""The row of a group, fitted to all ratings of its members: the kernel against the plain formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._ratings.model import Ratings
from recloak._releases import group_fit
from recloak._releases.group_fit import fit_groups
from recloak._releases.model.steps import Grouping, Padding
from tests.releases.helpers import some_grouping, some_padding, some_ratings


def naive_rows(ratings: Ratings, padding: Padding, grouping: Grouping) -> np.ndarray:
    """The weighted mean of the members, each by what is known of it, with dense matrices in double precision."""
    users = ratings.users()
    noise = np.square(ratings.values - padding.predict(users, ratings.items)).mean(dtype=np.float64)
    x = np.column_stack((padding.user_factors, padding.user_bias)).astype(np.float64)
    ridge = np.diag(noise / np.maximum(np.square(x).mean(axis=0), 1e-6 * noise))
    items = np.column_stack((padding.item_factors, padding.item_bias)).astype(np.float64)
    prior, own = np.maximum(np.square(x).mean(0), 1e-6 * noise), np.maximum(np.square(items).mean(0), 1e-6 * noise)
    unsure = noise / (ratings.popularity[:, None] * prior + noise / own)
    unsure[:, -1] = 0  # the last number of an item that a user's row meets is 1
    rows = []
    for g in range(grouping.n_groups):
        total, pull = np.zeros_like(ridge), np.zeros(len(ridge))
        for u in np.flatnonzero(grouping.labels == g):
            own_rows = users == u
            z = np.column_stack((padding.item_factors[ratings.items[own_rows]], np.ones(own_rows.sum()))).astype(
                np.float64
            )
            known = z.T @ z + np.diag(unsure[ratings.items[own_rows]].sum(0))
            known += 0.7 * ridge * grouping.k / np.count_nonzero(grouping.labels == g)
            best = np.linalg.solve(
                known, z.T @ (ratings.values[own_rows] - padding.mu - padding.item_bias[ratings.items[own_rows]])
            )
            total, pull = total + known, pull + known @ best
        rows.append(np.linalg.solve(total, pull))
    return np.array(rows)


@given(st.integers(0, 999), st.integers(2, 5), st.integers(0, 4))
def test_a_group_is_the_mean_of_its_members_weighted_by_what_is_known_of_each(seed, k, rank):
    ratings = some_ratings(20, 8, seed=seed)
    padding, grouping = some_padding(ratings, rank=rank, seed=seed), some_grouping(20, k, seed)
    found = fit_groups(ratings, padding, grouping)
    wanted = naive_rows(ratings, padding, grouping)
    assert np.column_stack((found.factors, found.bias)) == pytest.approx(wanted, abs=2e-3)


def test_groups_are_fitted_alike_however_many_ratings_are_brought_together(monkeypatch):
    ratings = some_ratings(60, 20)
    padding, grouping = some_padding(ratings), some_grouping(60, 3)
    whole = fit_groups(ratings, padding, grouping)
    monkeypatch.setattr(group_fit, "_BLOCK", 50)
    parts = fit_groups(ratings, padding, grouping)
    assert all(np.array_equal(one, other) for one, other in zip(whole, parts, strict=True))


def test_a_model_that_knows_nothing_of_users_keeps_its_item_means():
    ratings = some_ratings(12, 6)
    items = np.linspace(0, 0.5, 6, dtype=np.float32)
    nothing = np.zeros((12, 2), np.float32), np.zeros((6, 2), np.float32)
    padding = Padding(3.0, np.zeros(12, np.float32), items, *nothing, ratings.scale)
    found = fit_groups(ratings, padding, some_grouping(12, 3))
    assert np.abs(found.bias).max() < 1e-3
    assert np.abs(found.factors).max() < 1e-3


def test_items_with_few_raters_have_one_label_for_all_groups_but_for_their_bias():
    ratings = some_ratings(80, 12)
    padding = some_padding(ratings, rank=3)
    for k in (5, 20):
        rare = ratings.popularity < 2 * k
        found = fit_groups(ratings, padding, some_grouping(80, k))
        assert not found.item_factors[:, rare].any()
        assert np.array_equal(found.item_factors[:, ~rare], padding.item_factors[~rare].T)
    assert rare.any()
    assert not rare.all()
