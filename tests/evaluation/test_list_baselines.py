"""Other ways to publish: the sensitivity holds for every neighbour, and the lists are what they should be."""

import numpy as np
import pytest

from recloak._core.errors import OptionError
from recloak._evaluation.list_baselines import (
    DELTA,
    bounded,
    counts_at,
    delayed,
    every_nth,
    noise_scale,
    noisy_lists,
    squared_sensitivity,
)
from recloak._ratings.model import Ratings
from recloak._related.model import EMPTY, ListRelease, Lists

N_USERS, N_ITEMS, MOST = 6, 7, 3


def drawn(seed):
    chance = np.random.default_rng(seed)
    users, items = np.divmod(np.sort(chance.choice(N_USERS * N_ITEMS, 25, replace=False)), N_ITEMS)
    return users, items, chance.integers(1, 9, 25)


def vector(rows, time):
    """Return all counts of a release; the ids of users and items do not depend on what is left out."""
    users, items, times = rows
    ratings = Ratings.from_arrays(
        [*users, *[99] * N_ITEMS],
        [*items, *range(N_ITEMS)],
        [3.0] * (len(users) + N_ITEMS),
        [*times, *[10**6] * N_ITEMS],
    )
    single, pairs = counts_at(ratings, bounded(ratings, MOST), time, np.arange(N_ITEMS))
    return np.concatenate([single, pairs[np.triu_indices(N_ITEMS, 1)]])


@pytest.mark.parametrize("seed", range(8))
def test_no_person_and_no_rating_changes_the_counts_by_more_than_the_sensitivity(seed):
    rows = drawn(seed)
    for time in (4, 9):
        whole = vector(rows, time)
        for user in range(N_USERS):
            kept = rows[0] != user
            change = whole - vector([part[kept] for part in rows], time)
            assert (change**2).sum() <= squared_sensitivity("person", MOST)
        for place in range(len(rows[0])):
            kept = np.arange(len(rows[0])) != place
            change = whole - vector([part[kept] for part in rows], time)
            assert (change**2).sum() <= squared_sensitivity("rating", MOST)


def test_everybody_counts_with_their_first_items():
    ratings = Ratings.from_arrays([0, 0, 0, 1], [2, 0, 1, 2], [5.0] * 4, [3, 2, 1, 9])
    assert bounded(ratings, 2).tolist() == [
        True,
        True,
        False,
        True,
    ]  # rows by item: 0 (time 2), 1 (1), 2 (3); then user 1


def test_the_noise_spends_the_epsilon_of_all_releases():
    scale = noise_scale(2.0, 10, 6.0)
    rho = 10 * 6.0 / (2 * scale**2)
    assert rho + 2 * np.sqrt(rho * np.log(1 / DELTA)) == pytest.approx(2.0)
    with pytest.raises(OptionError, match="unit must be person or rating"):
        squared_sensitivity("night", 3)


def test_with_hardly_any_noise_the_lists_are_those_of_the_counts():
    users, items, times = drawn(1)
    ratings = Ratings.from_arrays(users.tolist(), items.tolist(), [3.0] * 25, times.tolist())
    made = next(noisy_lists(ratings, [9], 3, epsilon=1e12, unit="rating", most=10, min_support=1, rng=0))
    single, pairs = counts_at(ratings, bounded(ratings, 10), 9, np.arange(ratings.n_items))
    scores = pairs / np.sqrt(np.outer(single, single))
    for owner, row in enumerate(made.items):
        best = np.sort(scores[owner])[::-1][:3]
        np.testing.assert_allclose(scores[owner][row[row != EMPTY]], best[: (row != EMPTY).sum()], atol=1e-3)


def test_rarer_and_later_lists_are_seen_by_eye():
    releases = [ListRelease(n + 1, n, Lists(np.array([[n]], np.int32))) for n in range(5)]
    assert [int(one.items[0, 0]) for one in every_nth(releases, 2)] == [0, 0, 2, 2, 4]
    assert [int(one.items[0, 0]) for one in delayed(releases, 2)] == [0, 0, 0, 1, 2]
