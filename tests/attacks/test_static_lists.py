"""The static attack: what one release tells about single people."""

import numpy as np
import pytest
from tests.attacks.static_lists import static_exposure

from recloak._ratings.model import Ratings
from recloak._related.model import Lists
from recloak._related.options import SimilarityOptions
from recloak._related.similarity import nearest


def test_a_list_of_one_rater_is_that_persons_own_items():
    # Ann alone rated items 0, 1, 2; five people rated items 3 and 4.
    users = [0, 0, 0, *range(1, 6), *range(1, 6)]
    items = [0, 1, 2, *[3] * 5, *[4] * 5]
    ratings = Ratings.from_arrays(users, items, np.ones(len(users)))
    found = static_exposure(nearest(ratings, 2), ratings)
    assert (found.lists, found.lists_of_one, found.entries) == (5, 3, 8)
    assert found.entries_of_one.rate == found.to_items_of_one.rate == found.sure_and_few.rate == 6 / 8
    assert found.people.rate == 1 / 6
    safe = static_exposure(nearest(ratings, 2, SimilarityOptions(min_support=5)), ratings)
    assert (safe.lists, safe.entries, safe.people.rate, safe.sure_and_few.rate) == (2, 2, 0, 0)
    assert safe.to_json()["bets"]["rate"] == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_plain_sets(seed):
    rng = np.random.default_rng(seed)
    cells = rng.permutation(8 * 7)[:25]
    ratings = Ratings.from_arrays(cells // 7, cells % 7, np.ones(25))
    lists: Lists = nearest(ratings, 3)
    holders = [set(ratings.users()[ratings.items == item].tolist()) for item in range(ratings.n_items)]
    pairs = [(j, int(i)) for j in range(lists.n_items) for i in lists.items[j] if i >= 0]
    found = static_exposure(lists, ratings)
    assert found.entries_of_one.n == len(pairs) or not pairs
    right = sum(len(holders[j] & holders[i]) for j, i in pairs)
    assert found.bets.rate == pytest.approx(right / sum(len(holders[j]) for j, _ in pairs))
